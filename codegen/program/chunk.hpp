#pragma once
// A chunk under construction: the components in order, each reading the values of the earlier ones.
#include "codegen/program/chunk_component.hpp"
#include "codegen/program/program.hpp"

#include <deque>

namespace deltaloom::codegen {

struct Chunk {
    Recurrence const& recurrence;
    ChunkValues values;
    std::deque<ChunkComponent> components; // stable addresses: read-outs refer to them

    Chunk(TypedRule const&, Recurrence const&, bool padded = false);
    Chunk(Chunk const&) = delete; // read-outs refer to it
    Chunk& operator=(Chunk const&) = delete;

    ChunkComponent& add(Component const&); // its U is still open
    Body finished();                       // with the outputs and the states after as results
};

// The states that the writes and decays of a component depend on, its own reads Sigma r aside.
std::set<OperandId> feeding(Component const&);

} // namespace deltaloom::codegen
