#pragma once
// A rule that shares its name, and nothing else, with a shipped one.
#include <deltaloom/dsl.hpp>

namespace abi_test {
using namespace deltaloom::dsl;
inline constexpr auto other = rule("delta", S <<= S + 3 * v * T(k), o <<= S * q);
} // namespace abi_test
