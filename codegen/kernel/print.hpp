#pragma once
// Pieces of a kernel as text, for `print` and for what emits source.
#include "codegen/kernel/kernel.hpp"

namespace deltaloom::codegen {

// An entry's value; `number` spells constants.
std::string print(Function const&, Scalar const&, std::string (*number)(Rational const&));
std::string print(EventRows const&); // "start", "end", "decays", "0 1:1": micro-step, and state where there are several
std::string print(Span const&);      // "reads 1, writes 0 of 2"

} // namespace deltaloom::codegen
