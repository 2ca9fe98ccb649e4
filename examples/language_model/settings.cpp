#include "settings.hpp"

#include <fmt/format.h>

namespace lm {

void validate(Settings const& s) {
    auto const at_least = [](char const* name, auto value, auto least) {
        if (!(value >= least)) throw Refusal(fmt::format("--{} {}: at least {} is allowed", name, value, least));
    };
    for_each_setting(s, [&](std::string const& name, auto const& value, char const*) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, int>)
            at_least(name.c_str(), value, name == "steps" || name == "warm-up" ? 0 : 1);
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, double>) at_least(name.c_str(), value, 0.0);
    });
    at_least("length", s.length, 2);
    if (s.batch % s.shares)
        throw Refusal(fmt::format("--shares {} does not divide --batch {}", s.shares, s.batch));
}

std::map<std::string, int> extents(std::string const& dims) {
    std::map<std::string, int> found;
    for (std::size_t at = 0; at < dims.size();) {
        auto const end = std::min(dims.find(',', at), dims.size()), equal = dims.find('=', at);
        int n = 0;
        if (equal < end) n = std::atoi(dims.substr(equal + 1, end - equal - 1).c_str());
        if (n < 1) throw Refusal(fmt::format("--dim {}: write a name and its extent, as in r=8,s=2", dims));
        found[dims.substr(at, equal - at)] = n;
        at = end + 1;
    }
    return found;
}

} // namespace lm
