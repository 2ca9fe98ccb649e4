#pragma once
// How the operands of a rule appear as inputs of a body.
#include "codegen/program/body.hpp"

namespace deltaloom::codegen {

inline Extents extents(Shape s) { return {Extent::dim(s.rows), Extent::dim(s.cols)}; }

// "k", or "k.1" for micro-step 1 of an operand with a step axis.
inline std::string input_name(Operand const& x, int step) {
    return x.steps > 0 ? x.name + "." + std::to_string(step) : x.name;
}

// The input of one token: shaped like the operand.
inline NodeId token_input(Builder& b, Operand const& x, int step) {
    return b.input(input_name(x, step), extents(x.shape), x.domain == Domain::log);
}

// The input of a chunk: a row a token; parameters and states as they are.
inline NodeId chunk_input(Builder& b, Operand const& x, int step) {
    if (!x.per_token()) return token_input(b, x, step);
    return b.input(input_name(x, step), {Extent::tokens(1), Extent::dim(x.shape.rows)}, x.domain == Domain::log);
}

} // namespace deltaloom::codegen
