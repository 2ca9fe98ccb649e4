#pragma once
// The calls of the C ABI over an array of rules, under the names of one library.
#include <cstring>
#include <deltaloom/runtime/cpu/driver.hpp>

namespace deltaloom::runtime {

inline thread_local char path[128] = "";

// A call with gradients is one for dl_backward: its workspace serves both directions.
inline int workspace(dl_rule const* rule, dl_call const* call, std::size_t* bytes, dl_status* status) {
    bool const both = call && call->gradient;
    if (int code = validate(rule, call, both, status)) return code;
    if (!bytes) return refuse(status, DL_BAD_FIELD, no_operand, 0, "bytes is NULL");
    driver forward(*rule, *call, false), backward(*rule, *call, true);
    if (int code = forward.prepare(status)) return code;
    if (both)
        if (int code = backward.prepare(status)) return code;
    *bytes = forward.bytes > backward.bytes ? forward.bytes : backward.bytes;
    if (status) *status = {};
    return 0;
}

inline int execute(dl_rule const* rule, dl_call const* call, dl_status* status, bool backward) {
    if (int code = validate(rule, call, backward, status)) return code;
    driver d(*rule, *call, backward);
    if (int code = d.prepare(status)) return code;
    if (int code = d.execute(status)) return code;
    char const* const forms[] = {"step", "recurrent", "chunked", "summary"};
    std::snprintf(path, sizeof path, "%s %s %s chunk %lld segment %lld lanes %lld", forms[d.form],
                  backward ? "backward" : "forward", isa_name(d.level), (long long)d.chunk, (long long)d.segment,
                  (long long)d.lanes);
    return 0;
}

} // namespace deltaloom::runtime

#define DELTALOOM_CALLS(LIB, RULES)                                                                                    \
    extern "C" {                                                                                                       \
    uint32_t LIB##_rule_count(void) { return uint32_t(sizeof RULES / sizeof RULES[0]); }                               \
    dl_rule const* LIB##_rule_at(uint32_t i) { return i < LIB##_rule_count() ? &RULES[i] : nullptr; }                  \
    dl_rule const* LIB##_rule_named(char const* name) {                                                                \
        for (dl_rule const& r : RULES)                                                                                 \
            if (name && !std::strcmp(r.name, name)) return &r;                                                         \
        return nullptr;                                                                                                \
    }                                                                                                                  \
    int LIB##_workspace(dl_rule const* r, dl_call const* c, size_t* n, dl_status* s) {                                 \
        return deltaloom::runtime::workspace(r, c, n, s);                                                              \
    }                                                                                                                  \
    int LIB##_forward(dl_rule const* r, dl_call const* c, dl_status* s) {                                              \
        return deltaloom::runtime::execute(r, c, s, false);                                                            \
    }                                                                                                                  \
    int LIB##_backward(dl_rule const* r, dl_call const* c, dl_status* s) {                                             \
        return deltaloom::runtime::execute(r, c, s, true);                                                             \
    }                                                                                                                  \
    char const* LIB##_last_path(void) { return deltaloom::runtime::path; }                                             \
    }
