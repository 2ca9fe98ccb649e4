#pragma once
// A header of random rules: the same bytes for the same seed on every machine. Every rule is valid and stable on the
// data of data.hpp: erasing coefficients lie in [0, 1] and meet keys of unit norm, transitions do not expand, nothing
// bounded feeds back with a positive sign.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace deltaloom::codegen {

struct RandomRule {
    std::vector<std::string> statements; // as source text
    std::set<std::string> tags;          // what it exercises
};
// Rule number `item` of a seed; it does not depend on how many others are asked for. Of six consecutive ones, unless
// `chunkable`, one has no chunked form.
RandomRule random_rule(std::uint64_t seed, int item, bool chunkable);
// Rules random_0 .. random_(count - 1) with the declarations that they need.
std::string random_rules(std::uint64_t seed, int count, bool chunkable);

} // namespace deltaloom::codegen
