#pragma once
// Names of dimensions, for a host that fills dl_call::dim from them.
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace deltaloom {

// The extent of dl_rule::dims's entry `name`: plain(name) where it is the caller's to choose, and where a feature map
// makes it of another, what the formula in its name says: "dpfp_dim<2, dk>", "taylor2_dim<dpfp_dim<1, dv>>".
template<class Plain> std::int64_t extent_of(std::string_view name, Plain plain) {
    constexpr std::string_view taylor2 = "taylor2_dim<", dpfp = "dpfp_dim<";
    bool const closed = !name.empty() && name.back() == '>';
    if (closed && name.starts_with(taylor2)) {
        auto const d = extent_of(name.substr(taylor2.size(), name.size() - taylor2.size() - 1), plain);
        return 1 + d + d * d;
    }
    if (auto const comma = name.find(", "); closed && name.starts_with(dpfp) && comma != name.npos) {
        std::int64_t nu = 0;
        std::from_chars(name.data() + dpfp.size(), name.data() + comma, nu);
        return 2 * nu * extent_of(name.substr(comma + 2, name.size() - comma - 3), plain);
    }
    return plain(std::string(name));
}

} // namespace deltaloom
