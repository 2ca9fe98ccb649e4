#pragma once
#include <deltaloom/dsl.hpp>
namespace own {
using namespace deltaloom::dsl;
DELTALOOM_INPUT(e, dk);
DELTALOOM_INPUT(eta);
DELTALOOM_GATE(w, log, dk);
DELTALOOM_PARAMETER(u, dk);
DELTALOOM_PARAMETER(fade, log);

// Every kind of operand that a model can fill, in one rule: keys, values and strengths, of micro-steps too, both kinds
// of gate, free and log parameters, a hidden state.
inline constexpr auto everything =
    rule("everything", S <<= exp(fade) * (alpha * S * diag(exp(w))), repeat<2>(S <<= S + beta * (v - S * k) * T(k)),
         S <<= S - eta * (S * e) * T(previous(e)), o <<= S * (q % u));

inline constexpr auto gated_delta =
    rule("gated_delta", S <<= alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k), o <<= S * q);
} // namespace own
