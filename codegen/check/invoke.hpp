#pragma once
// One call of the C ABI on a point, in any manner that a host may choose: layouts, absent tensors, scalars in memory,
// threads, state in place, buffers between forbidden pages.
#include "codegen/check/described.hpp"
#include "codegen/check/point.hpp"

namespace deltaloom::codegen {

enum class Layout {
    contiguous,
    spaced,        // rubbish between the elements of every axis
    turned,        // the token axis has stride 1, a vector the number of tokens; a matrix goes column by column
    guarded_front, // contiguous, a forbidden page before the begin of every buffer
    guarded_back,  // the same behind its end
};
// A parallel_for of the host's own; watched: in order, with an eye on the processor's inexact flag.
enum class Host { none, in_order, reversed, watched };

struct Manner {
    std::uint32_t form = DL_CHOOSE; // a dl_form, or what is none
    int chunk = 0, threads = 1;
    Layout layout = Layout::contiguous;
    Host host = Host::none;
    bool forward = true, backward = true;
    unsigned char rubbish = 0xff; // every byte of outputs and workspace before the call
    bool in_place = false;        // state_out is state_in; for a forward alone
    bool state_in = true, state_out = true, arriving_outputs = true, arriving_states = true; // false: absent
    std::vector<std::uint32_t> scalars{}; // by operand, of what is given and what comes back; empty: as the shape says
    std::uint32_t flags = 0;              // with DL_STATE_TRANSPOSED, states are described that way
    int snapshots = 0;                    // of the last states; with DL_CHUNK_STATES: of those before each chunk
    bool overlap = false;                 // the first output lies where an input lies: to be refused
};

struct Answer {
    std::uint32_t code = 0; // of the call that was refused
    dl_status status{};
    std::string path;               // of the last call
    std::string stray;              // what was touched and must not be; empty: nothing
    bool exact = false;             // watched, at least two sequences or heads, and no kernel rounded anything
    CallTensors snapshots;          // of states: [sequences, slots, heads, axes]
    CallTensors forward, gradients; // row-major, as the point; absent ones empty
    bool good() const { return code == 0 && stray.empty(); }
};
Answer invoke(Described const&, TypedRule const&, Point const&, Manner const&);

} // namespace deltaloom::codegen
