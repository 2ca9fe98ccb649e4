#pragma once
// Operands that several rules of the catalogue share, beside the predefined ones. Gates carry the name that hosts give
// them; what is used by one rule alone is declared beside it.
#include <deltaloom/dsl.hpp>

namespace deltaloom::rules {
using namespace deltaloom::dsl;

DELTALOOM_GATE(gk, log, dk);     // log decay of every key channel, in [-inf, 0]
DELTALOOM_GATE(gv, log, dv);     // log decay of every value channel, in [-inf, 0]
DELTALOOM_GATE(w, linear, dk);   // decay of every key channel, in (0, 1)
DELTALOOM_PARAMETER(log_a, log); // log decay of a head, the same at every token
DELTALOOM_INPUT(a, dk);          // what a low-rank term of the transition reads with
DELTALOOM_INPUT(b, dk);          // and what it writes along
DELTALOOM_INPUT(mu);             // momentum, or a second step, in [0, 1]
DELTALOOM_STATE(M, dv, dk);      // a second memory: momentum

} // namespace deltaloom::rules
