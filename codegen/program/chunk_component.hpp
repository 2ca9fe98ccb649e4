#pragma once
// One component of a recurrence over a chunk (design section 3). Its events, the writes of all tokens in order, are the
// rows of X, P and U; a read i sees a write e if and only if e's position is before i's. phi(e,i), D(e,i): the scalar
// and channel decays strictly between.
//
//   G[i,e]           phi(e,i) sum_j R[i,j] D_j(e,i) X[e,j]
//   U                (I - c . G)^-1 (P + c . phi(0,i) (R . D(0,i)) Sigma^T)
//   right read-out   phi(0,i) (Q . D(0,i)) Sigma^T + G_Q U
//   left read-out    phi(0,i) D(0,i) . (Q Sigma) + sum_e phi(e,i) <q_i, u_e> D(e,i) . x_e
//   Sigma after      phi(0,end) Sigma . D(0,end) + U^T (phi(e,end) D(e,end) . X)
//
// Value-channel decays stand in the same way on the side of U.
#include "codegen/program/decay_track.hpp"

namespace deltaloom::codegen {

struct ReadSlot {            // the j-th read of every event
    NodeId keys = -1;        // R: events x col; 0 where an event has no j-th read
    NodeId coefficient = -1; // c: events x 1, or events x row
    EventRows rows;
    std::string text, coefficient_text; // of R and c, for notes
};

struct ChunkComponent {
    ChunkValues& values;
    Component const& component;
    DecayTrack scalar, key, value;
    std::vector<NodeId> start; // Sigma_s before the chunk, row x col
    EventRows events;
    NodeId X = -1, P = -1;             // events x col, events x row; -1: the component writes nothing
    std::string key_text, direct_text; // of X and P, for notes
    std::vector<ReadSlot> reads;
    bool per_channel = false; // one triangular system per value channel; then there is one slot
    NodeId U = -1;            // events x row

    bool writes() const { return X >= 0; }
    std::string name() const; // of the component, for names of its own: "S"
};

ChunkComponent chunk_component(ChunkValues&, Component const&);

// The pseudo-values from the state before the chunk.
NodeId pseudo_values(ChunkComponent const&);

// Of a component with one state and no system per channel: U = u + w Sigma^T, neither depending on the state. u = -1:
// no write has a term of its own; w = -1: nothing is read.
struct SplitValues {
    NodeId u = -1, w = -1;
};
SplitValues split_values(ChunkComponent const&);
NodeId joined(ChunkComponent const&, SplitValues);

// The value of an atom of one of its states, for every token; the state after the chunk, as declared.
NodeId read_out(ChunkComponent const&, Atom const&);
NodeId state_after(ChunkComponent const&, int state);

} // namespace deltaloom::codegen
