#pragma once
// The tensors of a call: which there are, what each is to the call, its extents and the memory that it spans.
#include <cstdlib>
#include <cstring>
#include <deltaloom/runtime/cpu/library.hpp>

namespace deltaloom::runtime {
inline namespace DELTALOOM_HOST {

__extension__ typedef __int128 wide; // sums and products of extents and strides, without overflow

// A dimension's extent; a step axis is written as its number.
inline index extent(dl_rule const& rule, dl_call const& call, char const* name) {
    for (std::uint32_t d = 0; d < rule.dim_count; ++d) // most often the name is the very same string
        if (rule.dims[d] == name) return call.dim[d];
    for (std::uint32_t d = 0; d < rule.dim_count; ++d)
        if (!std::strcmp(rule.dims[d], name)) return call.dim[d];
    return std::atoll(name);
}

enum class use_kind {
    operand,
    gradient,
    state_in,
    state_out,
    state_in_gradient,
    state_out_gradient,
    snapshots,
};

struct tensor_use {
    dl_tensor const* tensor;
    std::uint32_t operand, state; // state: the how manieth state it is of
    use_kind kind;
    bool written, broadcast; // broadcast: a stride of 0 is meant
    index extents[6];        // batch (of states: sequence), token (of snapshots: slot), head, trailing axes; 1: no such

    bool empty() const {
        for (index n : extents)
            if (n == 0) return true;
        return false;
    }
};

// "the gradient of %s" and its kin.
inline char const* phrase(use_kind kind) {
    switch (kind) {
    case use_kind::operand: return "operand";
    case use_kind::gradient: return "gradient of";
    case use_kind::state_in: return "initial state";
    case use_kind::state_out: return "final state";
    case use_kind::state_in_gradient: return "gradient of initial state";
    case use_kind::state_out_gradient: return "gradient of final state";
    case use_kind::snapshots: return "snapshots of";
    }
    return "";
}

inline index sequences_of(dl_call const& call) { return call.offsets ? call.sequences : call.batch; }

// Where the trailing axis `a` of an operand lies in memory: the flag exchanges the two axes of a matrix state.
inline int trailing_axis(dl_operand const& o, dl_call const& call, int a) {
    bool const exchanged = o.kind == DL_STATE && o.rank == 2 && call.flags & DL_STATE_TRANSPOSED;
    return exchanged ? 1 - a : a;
}

// Calls f(use) for every tensor that a direction looks at, present or not, in the operands' order; stops at the first
// f that returns other than 0. Backward looks at nothing that forward has written but, where asked to, the chunk
// states. The arrays of operands and gradients are there.
template<class F> int each_tensor(dl_rule const& rule, dl_call const& call, bool backward, F f) {
    bool const chunk_states = call.flags & DL_CHUNK_STATES;
    std::uint32_t state = 0;
    for (std::uint32_t i = 0; i < rule.operand_count; ++i) {
        dl_operand const& o = rule.operands[i];
        auto const see = [&](dl_tensor const* t, use_kind kind, bool written, bool broadcast, index rows,
                             index tokens) {
            if (!t) return 0;
            tensor_use use{t, i, state, kind, written, broadcast, {rows, tokens, index(t->heads), 1, 1, 1}};
            for (int a = 0; a < int(o.rank) && a < 3; ++a)
                use.extents[3 + trailing_axis(o, call, a)] = extent(rule, call, o.dims[a]);
            return f(use);
        };
        if (o.kind == DL_STATE) {
            auto const state_tensor = [&](dl_tensor const* all, use_kind kind, bool written, index slots) {
                return see(all ? all + state : nullptr, kind, written, false, sequences_of(call), slots);
            };
            if (int code = state_tensor(call.state_in, use_kind::state_in, false, 1)) return code;
            if (!backward)
                if (int code = state_tensor(call.state_out, use_kind::state_out, true, 1)) return code;
            if (call.snapshots > 0 && (!backward || chunk_states))
                if (int code = state_tensor(call.state_snapshots, use_kind::snapshots, !backward, call.snapshots))
                    return code;
            if (backward) {
                if (int code = state_tensor(call.state_in_gradient, use_kind::state_in_gradient, true, 1)) return code;
                if (int code = state_tensor(call.state_out_gradient, use_kind::state_out_gradient, false, 1))
                    return code;
            }
            ++state;
            continue;
        }
        bool const output = o.kind == DL_OUTPUT, parameter = o.varies == DL_PER_HEAD;
        index const rows = parameter ? 1 : call.batch, tokens = parameter ? 1 : call.tokens;
        if (!(backward && output))
            if (int code = see(&call.operand[i], use_kind::operand, output, !output, rows, tokens)) return code;
        if (backward)
            if (int code = see(&call.gradient[i], use_kind::gradient, !output, false, rows, tokens)) return code;
    }
    return 0;
}

// What a direction writes, if anything.
inline bool writes_something(dl_rule const& rule, dl_call const& call, bool backward) {
    return each_tensor(rule, call, backward,
                       [](tensor_use const& u) { return u.written && u.tensor->data && !u.empty() ? 1 : 0; });
}

} // namespace DELTALOOM_HOST
} // namespace deltaloom::runtime
