#pragma once
// Gradients of shared heads that lie in fewer bits than the kernels compute in: the value heads add theirs up in the
// kernels' own scalar, in memory of the lane, and the last of them rounds the sum into the caller's tensor, once.
#include <deltaloom/runtime/cpu/tensors.hpp>
#include <deltaloom/runtime/ops/storage.hpp>

namespace deltaloom::runtime {
inline namespace DELTALOOM_HOST {

// `sum`: contiguous [tokens, n], what `to` is rounded from.
template<class K> void round_into(strided const& to, void const* sum, index tokens, index const* n) {
    as_stored<K>(to.data, to.scalar, [&]<class Stored>(Stored* data) {
        auto const* from = static_cast<K const*>(sum);
        for (index t = 0; t < tokens; ++t)
            for (index i = 0; i < n[0]; ++i)
                for (index j = 0; j < n[1]; ++j)
                    for (index k = 0; k < n[2]; ++k)
                        data[t * to.token + i * to.axis[0] + j * to.axis[1] + k * to.axis[2]] =
                            narrowed<Stored>(*from++);
    });
}

// What one lane sums, by operand: an input's gradient over `tokens`, or that of an initial state.
struct shared_sums {
    dl_rule const& rule;
    dl_call const& call;
    index tokens;         // at once: a sequence's, or a segment's
    std::uint32_t scalar; // that the kernels compute in

    static constexpr index line = 64; // elements
    bool summed(dl_tensor const& t) const {
        return t.data && t.heads && index(t.heads) < call.value_heads &&
               element_bytes(t.scalar) < element_bytes(scalar);
    }
    wide elements(std::uint32_t operand, bool state) const {
        wide n = state ? 1 : tokens;
        for (std::uint32_t a = 0; a < rule.operands[operand].rank; ++a)
            n *= extent(rule, call, rule.operands[operand].dims[a]);
        return (n + line - 1) / line * line;
    }
    // f(operand, its gradient, is it a state's, the first of its elements) for each that is summed; returns how many
    // elements there are.
    template<class F> wide each(F f) const {
        wide at = 0;
        std::uint32_t state = 0;
        for (std::uint32_t i = 0; i < rule.operand_count; ++i) {
            dl_operand const& o = rule.operands[i];
            bool const is_state = o.kind == DL_STATE;
            dl_tensor const* const t = !is_state                ? &call.gradient[i]
                                       : call.state_in_gradient ? call.state_in_gradient + state
                                                                : nullptr;
            state += is_state;
            if (o.kind == DL_OUTPUT || o.varies == DL_PER_HEAD || !t || !summed(*t)) continue;
            f(i, *t, is_state, index(at));
            at += elements(i, is_state);
        }
        return at;
    }
};

} // namespace DELTALOOM_HOST
} // namespace deltaloom::runtime
