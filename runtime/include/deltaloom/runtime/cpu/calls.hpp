#pragma once
// The calls of the C ABI over an array of rules, under the names of one library.
#include <cstring>
#include <deltaloom/runtime/cpu/driver.hpp>

namespace deltaloom::runtime {
inline namespace DELTALOOM_HOST {

struct last_run {
    run_path path;
    char text[192];
};
inline last_run& last_of_thread() {
    static thread_local last_run one;
    return one;
}
inline char const* last_path() {
    last_run& last = last_of_thread();
    return describe(last.path, last.text, sizeof last.text);
}

// Is the rule one of the `count` at `rules`? What another library made is laid out in its own way.
inline int owned(dl_rule const* rule, dl_rule const* rules, std::size_t count, char const* library, dl_status* status) {
    for (std::size_t i = 0; i < count; ++i)
        if (!rule || rule == rules + i) return 0;
    if (rule->struct_size != sizeof(dl_rule) || rule->abi_version != DL_ABI_VERSION) return 0; // refused by validate
    return refuse(status, DL_BAD_FIELD, no_operand, no_axis,
                  "rule is not one of library %s: take one from its own dl_rule_at or dl_rule_named", library);
}

// A call with gradients is one for dl_backward: its workspace serves both directions.
inline int workspace(dl_rule const* rule, dl_call const* call, std::size_t* bytes, dl_status* status) {
    bool const both = call && call->struct_size == sizeof(dl_call) && call->gradient;
    if (int code = validate(rule, call, false, status)) return code;
    if (both)
        if (int code = validate(rule, call, true, status)) return code;
    if (!bytes) return refuse(status, DL_BAD_FIELD, no_operand, no_axis, "bytes is NULL");
    driver forward(*rule, *call, false), backward(*rule, *call, true);
    if (int code = forward.prepare(status)) return code;
    if (both)
        if (int code = backward.prepare(status)) return code;
    *bytes = forward.bytes > backward.bytes ? forward.bytes : backward.bytes;
    if (status) *status = {0, no_operand, no_axis, ""};
    return 0;
}

inline int execute(dl_rule const* rule, dl_call const* call, dl_status* status, bool backward) {
    last_of_thread().path = {};
    place_list places;
    if (int code = validate(rule, call, backward, status, places)) return code;
    driver d(*rule, *call, backward);
    if (int code = d.prepare(status)) return code;
    if (int code = d.execute(places, status)) return code;
    last_of_thread().path = d.path();
    return 0;
}

} // namespace DELTALOOM_HOST
} // namespace deltaloom::runtime

#if defined(__GNUC__)
#define DELTALOOM_EXPORT __attribute__((visibility("default")))
#else
#define DELTALOOM_EXPORT
#endif

// A library's calls, their names begun with PREFIX.
#define DELTALOOM_CALLS_NAMED(PREFIX, LIBRARY, RULES)                                                                  \
    extern "C" {                                                                                                       \
    DELTALOOM_EXPORT uint32_t PREFIX##_rule_count(void) { return uint32_t(sizeof RULES / sizeof RULES[0]); }           \
    DELTALOOM_EXPORT dl_rule const* PREFIX##_rule_at(uint32_t i) {                                                     \
        return i < sizeof RULES / sizeof RULES[0] ? &RULES[i] : nullptr;                                               \
    }                                                                                                                  \
    DELTALOOM_EXPORT dl_rule const* PREFIX##_rule_named(char const* name) {                                            \
        for (dl_rule const& r : RULES)                                                                                 \
            if (name && !std::strcmp(r.name, name)) return &r;                                                         \
        return nullptr;                                                                                                \
    }                                                                                                                  \
    DELTALOOM_EXPORT int PREFIX##_workspace(dl_rule const* r, dl_call const* c, size_t* n, dl_status* s) {             \
        int const code = deltaloom::runtime::owned(r, RULES, sizeof RULES / sizeof RULES[0], #LIBRARY, s);             \
        return code ? code : deltaloom::runtime::workspace(r, c, n, s);                                                \
    }                                                                                                                  \
    DELTALOOM_EXPORT int PREFIX##_forward(dl_rule const* r, dl_call const* c, dl_status* s) {                          \
        int const code = deltaloom::runtime::owned(r, RULES, sizeof RULES / sizeof RULES[0], #LIBRARY, s);             \
        return code ? code : deltaloom::runtime::execute(r, c, s, false);                                              \
    }                                                                                                                  \
    DELTALOOM_EXPORT int PREFIX##_backward(dl_rule const* r, dl_call const* c, dl_status* s) {                         \
        int const code = deltaloom::runtime::owned(r, RULES, sizeof RULES / sizeof RULES[0], #LIBRARY, s);             \
        return code ? code : deltaloom::runtime::execute(r, c, s, true);                                               \
    }                                                                                                                  \
    DELTALOOM_EXPORT char const* PREFIX##_last_path(void) { return deltaloom::runtime::last_path(); }                  \
    }

// A shared build has the plain names too, for a host that opens it at run time.
#ifdef DELTALOOM_SHARED
#define DELTALOOM_CALLS(LIBRARY, RULES)                                                                                \
    DELTALOOM_CALLS_NAMED(LIBRARY, LIBRARY, RULES)                                                                     \
    DELTALOOM_CALLS_NAMED(dl, LIBRARY, RULES)
#else
#define DELTALOOM_CALLS(LIBRARY, RULES) DELTALOOM_CALLS_NAMED(LIBRARY, LIBRARY, RULES)
#endif
