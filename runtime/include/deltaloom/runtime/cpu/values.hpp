#pragma once
// DL_CHECK_VALUES: what is read is looked at before anything is written.
#include <deltaloom/runtime/cpu/validate.hpp>
#include <deltaloom/runtime/ops/storage.hpp>

namespace deltaloom::runtime {
inline namespace DELTALOOM_HOST {

// By their bits, whatever the compiler was told about NaN.
inline bool is_nan(double x) {
    return (__builtin_bit_cast(std::uint64_t, x) & ~(std::uint64_t(1) << 63)) > std::uint64_t(0x7ff) << 52;
}
inline bool is_infinite(double x) {
    return (__builtin_bit_cast(std::uint64_t, x) & ~(std::uint64_t(1) << 63)) == std::uint64_t(0x7ff) << 52;
}

// What may not be in an operand of that domain; null: the value may.
inline char const* misfit(double x, std::uint32_t domain) {
    if (is_nan(x)) return "NaN";
    if (domain == DL_LINEAR && is_infinite(x)) return "infinite, a linear gate is finite";
    if (domain == DL_LOG && x > 0) return "positive, a log gate lies in [-inf, 0]";
    return nullptr;
}

inline int validate_value(dl_rule const& r, tensor_use const& u, double x, index const* at, dl_status* status) {
    dl_operand const& o = r.operands[u.operand];
    char const* const wrong = misfit(x, u.kind == use_kind::operand ? o.domain : std::uint32_t(DL_REAL));
    if (!wrong) return 0;
    auto const say = [&](std::uint32_t axis, char const* text, auto... place) {
        return refuse(status, DL_BAD_VALUE, u.operand, axis, text, phrase(u.kind), o.name, place..., x, wrong);
    };
    auto const position = [](index i) { return static_cast<long long>(i); };
    if (o.varies == DL_PER_HEAD) return say(2, "%s %s: at head %lld it is %g: %s", position(at[2]));
    if (o.kind == DL_STATE)
        return say(2, "%s %s: at sequence %lld, head %lld it is %g: %s", position(at[0]), position(at[2]));
    return say(1, "%s %s: at batch %lld, token %lld, head %lld it is %g: %s", position(at[0]), position(at[1]),
               position(at[2]));
}

template<class Stored>
int validate_elements(dl_rule const& r, tensor_use const& u, Stored const* data, dl_status* status) {
    index const *n = u.extents, *s = u.tensor->stride;
    index at[3];
    for (at[0] = 0; at[0] < n[0]; ++at[0])
        for (at[1] = 0; at[1] < n[1]; ++at[1])
            for (at[2] = 0; at[2] < n[2]; ++at[2]) {
                Stored const* const mine = data + at[0] * s[0] + at[1] * s[1] + at[2] * s[2];
                for (index i = 0; i < n[3]; ++i)
                    for (index j = 0; j < n[4]; ++j)
                        for (index k = 0; k < n[5]; ++k)
                            if (int code = validate_value(r, u, widened<double>(mine[i * s[3] + j * s[4] + k * s[5]]),
                                                          at, status))
                                return code;
            }
    return 0;
}

// Chunk states are not looked at: slots past a sequence's last chunk hold nothing.
inline int validate_values(dl_rule const& r, dl_call const& c, bool backward, dl_status* status) {
    return each_tensor(r, c, backward, [&](tensor_use const& u) {
        int code = 0;
        if (!u.written && u.tensor->data && !u.empty() && u.kind != use_kind::snapshots)
            as_stored<double>(u.tensor->data, u.tensor->scalar,
                              [&](auto const* data) { code = validate_elements(r, u, data, status); });
        return code;
    });
}

} // namespace DELTALOOM_HOST
} // namespace deltaloom::runtime
