#pragma once
// How an overload is refused, compiler by compiler (refuse.hpp says what a refusal is).

// Arguments of the attribute diagnose_if: the text, and the condition under which it is said.
#ifdef __clang__
#define DELTALOOM_IF(TEXT, ...) ((__VA_ARGS__), TEXT, "error")
#define DELTALOOM_REFUSED                                                                                              \
    { return {}; }
#define DELTALOOM_REFUSED_BELOW // the body stands below
#define DELTALOOM_REFUSALS_BEGIN _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wgcc-compat\"")
#define DELTALOOM_REFUSALS_END _Pragma("clang diagnostic pop")
#else
#define DELTALOOM_IF(TEXT, ...) (TEXT)
#define DELTALOOM_REFUSED = delete
#define DELTALOOM_REFUSED_BELOW = delete
#define DELTALOOM_REFUSALS_BEGIN _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wattributes\"")
#define DELTALOOM_REFUSALS_END _Pragma("GCC diagnostic pop")
#endif
