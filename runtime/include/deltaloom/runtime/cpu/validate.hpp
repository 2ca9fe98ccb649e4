#pragma once
// A call against its rule: which field is wrong, and why. Nothing is read through a tensor and nothing written before
// this has passed.
#include <deltaloom/runtime/cpu/validate_tensors.hpp>

namespace deltaloom::runtime {
inline namespace DELTALOOM_HOST {

inline constexpr std::uint32_t known_flags = DL_CHECK_VALUES | DL_STATE_TRANSPOSED | DL_CHUNK_STATES;

template<class... X> int bad_field(dl_status* status, char const* text, X... x) {
    if constexpr (sizeof...(X) == 0)
        return refuse(status, DL_BAD_FIELD, no_operand, no_axis, "%s", text);
    else
        return refuse(status, DL_BAD_FIELD, no_operand, no_axis, text, x...);
}

inline int validate_offsets(dl_call const& c, dl_status* status) {
    auto const field = [&](char const* text, auto... x) { return bad_field(status, text, x...); };
    if (!c.offsets)
        return c.sequences == 0 ? 0
                                : field("sequences is %lld without offsets: give offsets (sequences + 1 of them), or 0",
                                        (long long)c.sequences);
    if (c.batch != 1) return field("batch is %lld: with offsets it is 1", (long long)c.batch);
    if (c.sequences < 0) return field("sequences is %lld, at least 0 is allowed", (long long)c.sequences);
    if (reinterpret_cast<std::uintptr_t>(c.offsets) % alignof(std::int64_t))
        return field("offsets are not aligned to 8 bytes");
    if (c.offsets[0] != 0) return field("offsets[0] is %lld, not 0", (long long)c.offsets[0]);
    for (std::int64_t s = 0; s < c.sequences; ++s) {
        if (c.offsets[s + 1] < c.offsets[s])
            return field("offsets[%lld] = %lld is below the one before, %lld: offsets never decrease", (long long)s + 1,
                         (long long)c.offsets[s + 1], (long long)c.offsets[s]);
        if (c.form == DL_STEP && c.offsets[s + 1] - c.offsets[s] != 1)
            return field("offsets: form step takes one token a sequence, sequence %lld has %lld", (long long)s,
                         (long long)(c.offsets[s + 1] - c.offsets[s]));
    }
    if (c.offsets[c.sequences] != c.tokens)
        return field("offsets end at %lld, tokens is %lld: they must be equal", (long long)c.offsets[c.sequences],
                     (long long)c.tokens);
    return 0;
}

// Form, chunk and what depends on them.
inline int validate_form(dl_rule const& r, dl_call const& c, bool backward, dl_status* status) {
    auto const field = [&](char const* text, auto... x) { return bad_field(status, text, x...); };
    if (c.form > DL_SUMMARY) return field("form is %u, 0 to 5 are known", c.form);
    if (c.form != DL_CHOOSE && !(r.forms >> c.form & 1)) {
        bool const known = r.missing && r.missing[c.form];
        return refuse(status, DL_NO_FORM, no_operand, no_axis, "form: %s has no form %u: %s", r.name, c.form,
                      known ? r.missing[c.form] : "not in this library");
    }
    if (c.form == DL_STEP && !c.offsets && c.tokens != 1)
        return field("tokens is %lld: form step takes 1", (long long)c.tokens);
    if (backward && !(r.directions & 2))
        return refuse(status, DL_NO_FORM, no_operand, no_axis, "%s was built without a backward", r.name);
    if (c.chunk) {
        if (c.form != DL_CHOOSE && c.form != DL_CHUNKED && c.form != DL_SUMMARY)
            return field("chunk is %u: only forms chunked and summary have one; 0 leaves it to the library", c.chunk);
        bool offered = false;
        for (std::uint32_t const* o = r.chunks; o && *o; ++o) offered |= *o == c.chunk;
        if (!offered)
            return field("chunk is %u, which %s does not offer: take one of dl_rule::chunks, or 0", c.chunk, r.name);
    }
    if (c.flags & ~known_flags)
        return field("flags has the unknown bits 0x%x; 0x%x are known", c.flags & ~known_flags, known_flags);
    if (c.snapshots < 0) return field("snapshots is %lld, at least 0 is allowed", (long long)c.snapshots);
    if (c.snapshots > 0 && !c.state_snapshots)
        return field("state_snapshots is NULL with snapshots = %lld: one tensor for each state",
                     (long long)c.snapshots);
    if (c.flags & DL_CHUNK_STATES) {
        bool const chunked = c.form == DL_CHUNKED && c.chunk, one = c.form == DL_STEP || c.form == DL_RECURRENT;
        if (!chunked && !one && c.form != DL_PARALLEL)
            return field("flags has DL_CHUNK_STATES: say which form, and for form chunked which chunk");
        std::int64_t longest = c.offsets ? 0 : c.tokens;
        for (std::int64_t s = 0; c.offsets && s < c.sequences; ++s)
            longest = c.offsets[s + 1] - c.offsets[s] > longest ? c.offsets[s + 1] - c.offsets[s] : longest;
        std::int64_t const chunk = chunked       ? c.chunk
                                   : one         ? 1
                                   : longest > 1 ? longest
                                                 : 1,
                           needed = longest / chunk + (longest % chunk != 0);
        if (c.snapshots < needed)
            return field("snapshots is %lld: DL_CHUNK_STATES needs one for each of the %lld chunks",
                         (long long)c.snapshots, (long long)needed);
    }
    return 0;
}

// Every extent within its bounds, and what a feature map makes of a dimension as large as it has to be.
inline int validate_dims(dl_rule const& r, dl_call const& c, dl_status* status) {
    for (std::uint32_t d = 0; d < r.dim_count; ++d) {
        if (c.dim[d] < 1 || c.dim[d] > (std::int64_t(1) << 24))
            return refuse(status, DL_BAD_FIELD, no_operand, d, "dim[%u] (%s) is %lld, 1 to 2^24 is allowed", d,
                          r.dims[d], (long long)c.dim[d]);
        if (r.fixed_extent[d] && c.dim[d] != r.fixed_extent[d])
            return refuse(status, DL_BAD_FIELD, no_operand, d, "dim[%u] (%s) is %lld, the rule fixes it at %lld", d,
                          r.dims[d], (long long)c.dim[d], (long long)r.fixed_extent[d]);
    }
    auto const* mapped = static_cast<rule_kernels const*>(r.implementation)->mapped;
    for (std::uint32_t d = 0; mapped && d < r.dim_count; ++d) {
        auto const [of, constant, linear, square] = mapped[d];
        if (of < 0) continue;
        std::int64_t const base = c.dim[of], needed = constant + base * (linear + base * square);
        if (c.dim[d] != needed)
            return refuse(status, DL_BAD_FIELD, no_operand, d, "dim[%u] (%s) is %lld: with %s = %lld it is %lld", d,
                          r.dims[d], (long long)c.dim[d], r.dims[of], (long long)base, (long long)needed);
    }
    return 0;
}

inline int validate(dl_rule const* rule, dl_call const* call, bool backward, dl_status* status, place_list& places) {
    auto const field = [&](char const* text, auto... x) { return bad_field(status, text, x...); };
    if (!rule) return field("rule is NULL: take one from dl_rule_at or dl_rule_named");
    if (rule->struct_size != sizeof(dl_rule))
        return field("rule: its struct_size is %u, this library has sizeof(struct dl_rule) = %zu", rule->struct_size,
                     sizeof(dl_rule));
    if (rule->abi_version != DL_ABI_VERSION)
        return field("rule: its abi_version is %u, this library has %u", rule->abi_version, DL_ABI_VERSION);
    if (!call) return field("call is NULL");
    dl_rule const& r = *rule;
    dl_call const& c = *call;
    if (c.struct_size != sizeof(dl_call))
        return field("struct_size is %u, this library has sizeof(struct dl_call) = %zu", c.struct_size,
                     sizeof(dl_call));
    if (c.abi_version != DL_ABI_VERSION)
        return field("abi_version is %u, this library has %u", c.abi_version, DL_ABI_VERSION);
    if (c.batch < 0) return field("batch is %lld, at least 0 is allowed", (long long)c.batch);
    if (c.tokens < 0) return field("tokens is %lld, at least 0 is allowed", (long long)c.tokens);
    if (c.value_heads < 1) return field("value_heads is %lld, at least 1 is allowed", (long long)c.value_heads);
    if (c.threads < 0) return field("threads is %d, at least 0 is allowed", c.threads);
    if (c.stream) return field("stream is for CUDA, this library runs on the CPU: leave it NULL");
    if (int code = validate_dims(r, c, status)) return code;
    if (int code = validate_offsets(c, status)) return code;
    std::int64_t const rows = c.batch > c.sequences ? c.batch : c.sequences, most = std::int64_t(1) << 62;
    std::int64_t all = 0;
    if (__builtin_mul_overflow(c.value_heads, c.tokens > 1 ? c.tokens : 1, &all) ||
        __builtin_mul_overflow(all, rows > 1 ? rows : 1, &all) || all > most)
        return field("%s * tokens * value_heads is over 2^62: extents are %lld, %lld, %lld",
                     c.offsets ? "sequences" : "batch", (long long)rows, (long long)c.tokens, (long long)c.value_heads);
    if (int code = validate_form(r, c, backward, status)) return code;
    if (!c.operand) return field("operand is NULL: one tensor for each of the rule's %u operands", r.operand_count);
    if (backward && !c.gradient)
        return field("gradient is NULL: one tensor for each of the rule's %u operands", r.operand_count);
    if (int code = validate_each(r, c, backward, places, status)) return code;
    return validate_overlaps(r, c, backward, places, status);
}
inline int validate(dl_rule const* rule, dl_call const* call, bool backward, dl_status* status) {
    place_list places;
    return validate(rule, call, backward, status, places);
}

} // namespace DELTALOOM_HOST
} // namespace deltaloom::runtime
