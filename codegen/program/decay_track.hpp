#pragma once
// The decay rows of one kind over a chunk: a row a token for every micro-step that decays, none for the others.
#include "codegen/program/chunk_values.hpp"

namespace deltaloom::codegen {

struct DecayTrack {
    int micro_steps = 1;
    std::vector<int> decaying; // the micro-steps that have a row
    std::vector<NodeId>
        rows; // A: one matrix for channels; n x n columns, entry by entry, for the transitions of n coupled states
    std::string factor; // what a row holds, as mathematics: "exp(g)"

    explicit operator bool() const { return !decaying.empty(); }
    Span span(EventRows reads, EventRows writes) const {
        return {micro_steps, decaying, std::move(reads), std::move(writes), true};
    }
};

// What the micro-steps multiply the n states by: entry [i][j] of the transition of a step that writes state i is
// mix[j]; the identity elsewhere.
DecayTrack transition_track(ChunkValues&, Component const&);
DecayTrack key_track(ChunkValues&, Component const&);
DecayTrack value_track(ChunkValues&, Component const&);

} // namespace deltaloom::codegen
