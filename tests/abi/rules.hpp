#pragma once
// One rule with every kind of operand: a log and a linear gate, a parameter, a step axis, two states and a hidden one.
#include <deltaloom/dsl.hpp>

namespace abi_test {
using namespace deltaloom::dsl;
DELTALOOM_GATE(w, log, dk);
DELTALOOM_GATE(r, linear);
DELTALOOM_PARAMETER(u, dk);
DELTALOOM_STATE(n, dk);
DELTALOOM_INPUT(c, dv);

inline constexpr auto all_kinds = rule("all_kinds", repeat<2>(S <<= S + beta * v * T(k)), n <<= r * n + u % previous(q),
                                       o <<= S * (exp(w) % q) + dot(n, q) * c);
} // namespace abi_test
