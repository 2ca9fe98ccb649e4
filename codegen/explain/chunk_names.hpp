#pragma once
// The symbols of a chunk: none of them is the name of an operand, and the reads of states that need an equation.
#include "codegen/explain/derivation.hpp"

#include <map>
#include <set>

namespace deltaloom::codegen {

struct FreshNames {
    std::set<std::string> used;
    Formula operator()(std::vector<std::string> const& wishes); // the first that is free
};

// Reads of states by the outputs and by later components, each once, what it depends on before it.
struct StateReads {
    std::vector<Atom const*> atoms;
    std::map<OperandId, std::set<int>> versions; // that are read
};
StateReads state_reads(TypedRule const&, Recurrence const&);
int read_position(Component const&, Atom const&); // after how many of the component's statements
int read_state(Component const&, Atom const&);    // index into its states; -1: of another component

bool varies(TypedRule const&, Value const&); // from token to token
// Names of the log gates that a value depends on.
std::set<std::string> log_gates(TypedRule const&, Value const&);

} // namespace deltaloom::codegen
