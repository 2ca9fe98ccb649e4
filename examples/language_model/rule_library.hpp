#pragma once
// A rule and the calls of its library's C ABI: of the library that CMake generated beside this program, or of one that
// is derived, compiled and loaded while it runs.
#include <deltaloom/runtime/abi/deltaloom.h>
#include <string>

namespace lm {

struct RuleCalls {
    dl_rule const* rule = nullptr;
    int (*workspace)(dl_rule const*, dl_call const*, size_t*, dl_status*) = nullptr;
    int (*forward)(dl_rule const*, dl_call const*, dl_status*) = nullptr;
    int (*backward)(dl_rule const*, dl_call const*, dl_status*) = nullptr;
};

// Throws Refusal, which names the rules that are there.
RuleCalls shipped_rule(std::string const& name);
// Asks `deltaloom emit` for the header's kernels and the compiler for a shared library, kept in
// $XDG_CACHE_HOME/deltaloom under a hash of the preprocessed sources. `scalars`: "float" or "float,double". The library
// stays loaded. `say` gets one line when something has to be compiled.
RuleCalls rule_of_header(std::string const& header, std::string const& name, std::string const& scalars = "float",
                         void (*say)(std::string const&) = nullptr);

} // namespace lm
