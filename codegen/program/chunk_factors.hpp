#pragma once
// The factors that a component's chunk is made of: decays between events, Gram matrices, reads of the state before the
// chunk.
#include "codegen/program/chunk_component.hpp"

namespace deltaloom::codegen {

inline EventRows start_row(int state) { return {EventRows::Kind::start, {}, {state}}; }
inline EventRows end_row(int state) { return {EventRows::Kind::end, {}, {state}}; }

inline Extent row_extent(ChunkComponent const& c) { return Extent::dim(c.component.row); }
inline Extent col_extent(ChunkComponent const& c) { return Extent::dim(c.component.col); }

// Names a value for the emitted text; operands and constants have their own.
NodeId label(Builder&, NodeId, std::string hint, std::string note);
std::string at(std::string const& text, char const* row); // "k[i]", "(v - k)[i]"
std::string times(std::string const& factor);             // "beta ", "(-beta) ", nothing for "1"

std::string state_name(ChunkComponent const&, int state);
std::string writes_text(ChunkComponent const&); // "u[e]", or what U is; nothing where it is 1

// What a read of Sigma, or of its transpose, is called: "S q", "T(S) y", "dot(z, q)".
std::string read_text(ChunkComponent const&, int state, bool transposed, std::string const& argument);

// A factor of -1 is 1 throughout.
inline NodeId scaled(ChunkComponent const& c, NodeId factor, NodeId x) {
    return factor < 0 ? x : c.values.b.mul(factor, x);
}
// phi: -1 where nothing decays and every write is before every read.
NodeId between(ChunkComponent const&, EventRows reads, EventRows writes);
// Channel decays from the chunk's start to each read, reads x width, and from each write to the chunk's end, events x
// width.
NodeId channels_from_start(ChunkComponent const&, DecayTrack const&, EventRows const& reads, Extent width);
NodeId channels_to_end(ChunkComponent const&, DecayTrack const&, Extent width);

// sum_j Q[i,j] D_j(e,i) Y[e,j], and sum_e W[i,e] D_j(e,i) Y[e,j].
NodeId weigh(ChunkComponent const&, DecayTrack const&, NodeId Q, NodeId Y, EventRows const& reads);
NodeId collect(ChunkComponent const&, DecayTrack const&, NodeId W, NodeId Y, EventRows const& reads);
// G of reads R at X. masked: whoever uses it looks at writes before the read only. `text`: of R.
NodeId gram(ChunkComponent const&, NodeId R, EventRows const& reads, std::string const& text, bool masked);
// phi(0,i) (R . D(0,i)) Sigma^T, with value-channel decays to each read.
NodeId from_state(ChunkComponent const&, NodeId R, EventRows const& reads, std::string const& text,
                  std::string const& hint);

} // namespace deltaloom::codegen
