#include "settings.hpp"

#include <fmt/format.h>

namespace lm {

void validate(Settings const& s) {
    auto const within = [](std::string const& name, auto value, auto least, auto most) {
        if (!(value >= least && value <= most))
            throw Refusal(fmt::format("--{} {}: {} to {} is allowed", name, value, least, most));
    };
    for_each_setting(s, [&](std::string const& name, auto const& value, char const*) {
        using T = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<T, int>) {
            bool const steps = name == "steps" || name == "warm-up";
            within(name, value, name == "length" ? 2 : steps ? 0 : 1, steps ? 1000000000 : 1 << 16);
        }
        if constexpr (std::is_same_v<T, double>) within(name, value, 0.0, 1e30);
    });
    if (s.batch % s.shares) throw Refusal(fmt::format("--shares {} does not divide --batch {}", s.shares, s.batch));
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
