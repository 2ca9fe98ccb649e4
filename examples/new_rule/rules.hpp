#pragma once
#include <deltaloom/dsl.hpp>
namespace mine {
using namespace deltaloom::dsl;
DELTALOOM_INPUT(e, dk);     // a second erase key
DELTALOOM_INPUT(eta);       // and its strength
DELTALOOM_GATE(w, log, dk); // a forget gate per key channel

inline constexpr auto twofold =
    rule("twofold", S <<= S * diag(exp(w)), S <<= S - eta * (S * e) * T(e) + beta * (v - S * k) * T(k), o <<= S * q);
} // namespace mine
