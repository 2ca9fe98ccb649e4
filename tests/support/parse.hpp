#pragma once
// The language's own statement text as a Declaration, without a compiler: for tests of everything after the reader.
//
//     parse_rule("mine", "S <<= S - (S * e) * T(k), o <<= S * q", "INPUT(e, dk)")
//
// Known without declaring: S z q k v o alpha beta g. `operands` declares more, in the spelling of the macros without
// their prefix: "INPUT(e, dk); GATE(w, log, dk); STATE(M, dv, dk); PARAMETER(u, dk); PARAMETER(a, log); OUTPUT(y, dv);
// DIM(dr)". A name may be qualified (a::e): its last part is the operand's name, all of it the tag. Constants fold as
// C++ folds them. Locations: file "rule", line 1, column = byte offset + 1.
#include "codegen/read/declaration.hpp"

#include <string>

namespace deltaloom::test {

// Throws std::invalid_argument, with the column, for text that is not of the language.
codegen::Declaration parse_rule(std::string name, std::string const& text, std::string const& operands = "");

} // namespace deltaloom::test
