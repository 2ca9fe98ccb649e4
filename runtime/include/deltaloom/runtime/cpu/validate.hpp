#pragma once
// A call against its rule: which field is wrong, and why. Nothing is read through a tensor and nothing written before
// this has passed.
#include <cstdarg>
#include <cstdio>
#include <deltaloom/runtime/cpu/library.hpp>

namespace deltaloom::runtime {

inline constexpr std::uint32_t no_operand = ~std::uint32_t(0);

#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
inline int
refuse(dl_status* status, std::uint32_t code, std::uint32_t operand, std::uint32_t axis, char const* format, ...) {
    if (status) {
        status->code = code, status->operand = operand, status->axis = axis;
        va_list arguments;
        va_start(arguments, format);
        std::vsnprintf(status->message, sizeof status->message, format, arguments);
        va_end(arguments);
    }
    return int(code);
}

inline bool float_scalar(std::uint32_t scalar) { return scalar <= DL_F16; }

// One tensor: heads divide the value heads, the scalar is known. `what` is "operand", "gradient of", "initial state",
// ...
inline int validate_tensor(dl_tensor const& t, dl_call const& c, std::uint32_t i, dl_rule const& r, char const* what,
                           dl_status* status) {
    char const* name = r.operands[i].name;
    if (!float_scalar(t.scalar))
        return refuse(status, DL_BAD_OPERAND, i, 0, "%s %s: scalar %u is none of f32 (0), f64 (1), bf16 (2), f16 (3)",
                      what, name, t.scalar);
    if (t.heads == 0 || c.value_heads % t.heads)
        return refuse(status, DL_BAD_OPERAND, i, 0, "%s %s: %u heads do not divide value_heads = %lld", what, name,
                      t.heads, (long long)c.value_heads);
    return 0;
}

inline int validate(dl_rule const* rule, dl_call const* call, bool backward, dl_status* status) {
    if (!rule)
        return refuse(status, DL_BAD_FIELD, no_operand, 0, "rule is NULL: take one from dl_rule_at or dl_rule_named");
    if (!call) return refuse(status, DL_BAD_FIELD, no_operand, 0, "call is NULL");
    dl_rule const& r = *rule;
    dl_call const& c = *call;
    auto const field = [&](char const* text, auto... x) {
        return refuse(status, DL_BAD_FIELD, no_operand, 0, text, x...);
    };
    if (c.struct_size != sizeof(dl_call))
        return field("struct_size is %u, this library has sizeof(struct dl_call) = %zu", c.struct_size,
                     sizeof(dl_call));
    if (c.abi_version != DL_ABI_VERSION)
        return field("abi_version is %u, this library has %u", c.abi_version, DL_ABI_VERSION);
    if (c.batch < 0) return field("batch is %lld, at least 0 is allowed", (long long)c.batch);
    if (c.tokens < 0) return field("tokens is %lld, at least 0 is allowed", (long long)c.tokens);
    if (c.value_heads < 1) return field("value_heads is %lld, at least 1 is allowed", (long long)c.value_heads);
    if (c.threads < 0) return field("threads is %d, at least 0 is allowed", c.threads);
    for (std::uint32_t d = 0; d < r.dim_count; ++d)
        if (c.dim[d] < 1 || c.dim[d] > (std::int64_t(1) << 24))
            return field("dim[%u] (%s) is %lld, 1 to 2^24 is allowed", d, r.dims[d], (long long)c.dim[d]);
    if (c.form > DL_SUMMARY) return field("form is %u, 0 to 5 are known", c.form);
    if (c.form != DL_CHOOSE && !(r.forms >> c.form & 1)) {
        bool const known = r.missing && r.missing[c.form];
        return refuse(status, DL_NO_FORM, no_operand, 0, "%s has no form %u: %s", r.name, c.form,
                      known ? r.missing[c.form] : "not in this library");
    }
    if (c.form == DL_STEP && c.tokens != 1) return field("form step takes tokens = 1, not %lld", (long long)c.tokens);
    if (backward && !(r.directions & 2))
        return refuse(status, DL_NO_FORM, no_operand, 0, "%s was built without a backward", r.name);
    if (c.offsets) {
        if (c.batch != 1) return field("batch is %lld: with offsets it is 1", (long long)c.batch);
        if (c.sequences < 0) return field("sequences is %lld, at least 0 is allowed", (long long)c.sequences);
        if (c.offsets[0] != 0) return field("offsets[0] is %lld, not 0", (long long)c.offsets[0]);
        for (std::int64_t s = 0; s < c.sequences; ++s)
            if (c.offsets[s + 1] < c.offsets[s])
                return field("offsets[%lld] = %lld is below the one before", (long long)s + 1,
                             (long long)c.offsets[s + 1]);
        if (c.offsets[c.sequences] != c.tokens)
            return field("offsets end at %lld, tokens is %lld", (long long)c.offsets[c.sequences], (long long)c.tokens);
    }
    if (!c.operand) return field("operand is NULL: one tensor for each of the rule's %u operands", r.operand_count);
    if (backward && !c.gradient)
        return field("gradient is NULL: one tensor for each of the rule's %u operands", r.operand_count);
    std::uint32_t state = 0;
    for (std::uint32_t i = 0; i < r.operand_count; ++i) {
        dl_operand const& o = r.operands[i];
        if (o.kind == DL_STATE) {
            dl_tensor const* const tensors[] = {c.state_in, c.state_out, backward ? c.state_in_gradient : nullptr,
                                                backward ? c.state_out_gradient : nullptr};
            char const* const names[] = {"initial state", "final state", "gradient of the initial state",
                                         "gradient of the final state"};
            for (int k = 0; k < 4; ++k)
                if (tensors[k] && tensors[k][state].data)
                    if (int code = validate_tensor(tensors[k][state], c, i, r, names[k], status)) return code;
            ++state;
            continue;
        }
        bool const empty = c.tokens == 0 || c.batch == 0;
        if (o.kind != DL_OUTPUT || !backward) {
            if (!c.operand[i].data && !(empty && o.varies == DL_PER_TOKEN) && o.kind != DL_OUTPUT)
                return refuse(status, DL_BAD_OPERAND, i, 0, "operand %s is missing; a rule without it is another rule",
                              o.name);
            if (c.operand[i].data)
                if (int code = validate_tensor(c.operand[i], c, i, r, "operand", status)) return code;
        }
        if (backward && c.gradient[i].data)
            if (int code = validate_tensor(c.gradient[i], c, i, r, "gradient of", status)) return code;
        if (o.kind == DL_OUTPUT)
            for (dl_tensor const* t : {&c.operand[i], backward ? &c.gradient[i] : nullptr})
                if (t && t->data && t->heads != c.value_heads)
                    return refuse(status, DL_BAD_OPERAND, i, 0, "output %s has %u heads, value_heads = %lld is needed",
                                  o.name, t->heads, (long long)c.value_heads);
    }
    return 0;
}

} // namespace deltaloom::runtime
