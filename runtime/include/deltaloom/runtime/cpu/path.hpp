#pragma once
// Which kernel ran last, and how: kept as numbers, written as a sentence only for those who ask.
#include <cstdio>
#include <deltaloom/runtime/cpu/features.hpp>
#include <deltaloom/runtime/sequence.hpp>

namespace deltaloom::runtime {
inline namespace DELTALOOM_HOST {

struct run_path {
    char const* form = nullptr; // null: nothing ran
    bool backward = false, nothing = false, given = false, in_double = false;
    isa_level level = isa_base;
    char const* schedule = "heads"; // what the units are that go to the lanes
    index chunk = 1, units = 0, lanes = 0, segment = 1;
};

// "chunked backward v4 f32 chunk 16, schedule heads: 8 units on 2 lanes, a state kept every 3"
inline char const* describe(run_path const& p, char* text, std::size_t size) {
    char const* const direction = p.backward ? "backward" : "forward";
    text[0] = 0;
    if (!p.form) return text;
    if (p.nothing) {
        std::snprintf(text, size, "none %s: nothing it writes is wanted", direction);
        return text;
    }
    int const at = std::snprintf(text, size, "%s %s %s %s chunk %lld, schedule %s: %lld units on %lld lanes", p.form,
                                 direction, isa_name(p.level), p.in_double ? "f64" : "f32", (long long)p.chunk,
                                 p.schedule, (long long)p.units, (long long)p.lanes);
    if (!p.backward || at < 0 || std::size_t(at) >= size) return text;
    if (p.given)
        std::snprintf(text + at, size - std::size_t(at), ", states given");
    else
        std::snprintf(text + at, size - std::size_t(at), ", a state kept every %lld", (long long)p.segment);
    return text;
}

} // namespace DELTALOOM_HOST
} // namespace deltaloom::runtime
