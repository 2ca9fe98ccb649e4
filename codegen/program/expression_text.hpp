#pragma once
// An expression of a typed rule in the language's own spelling, for the notes of emitted text.
#include "codegen/rule/typed_rule.hpp"

namespace deltaloom::codegen {

std::string text(TypedRule const&, ExprId); // "S + beta * (v - S * k) * T(k)"

// A name for the value where one suggests itself ("S_k" of S * k, "sigmoid_beta"), else empty.
std::string suggested_name(TypedRule const&, ExprId);

} // namespace deltaloom::codegen
