#pragma once
// Programs run over whole sequences on plain matrices over the field: what a driver does, without kernels.
#include "codegen/program/interpret.hpp"
#include "codegen/program/program.hpp"

#include <random>

namespace deltaloom::test {

using runtime::field;
using Matrix = codegen::Dense<field>;
using Values = codegen::Environment<field>;

// Operands of one sequence. Per-token operands: a row a token, a matrix flattened; inputs with a step axis are "k.0",
// "k.1".
struct Sequence {
    int tokens = 1;
    std::vector<int> dims;
    Values per_token, fixed, states;            // fixed: parameters
    Values output_cotangents, state_cotangents; // "d_o" (a row a token), "d_S" (after the last token)
};

// Of dims the plain ones count. resets: how often an entry of a gate is zero (a log gate: minus infinity).
Sequence draw(codegen::TypedRule const&, std::vector<int> dims, int tokens, double resets, std::mt19937_64&);

// "o": a row a token, "S": after the last token; "d_k": a row a token, "d_S": before the first; "d_u" of a parameter:
// summed. "S.right", "S.plus" of a summary: after the last token, from what `states` holds under these names.
Values run(codegen::TypedRule const&, codegen::Program const&, Sequence const&, int chunk, bool padded = false);

// The states before every chunk, the states after the last: by the step form, token by token.
std::vector<Values> states_between(codegen::TypedRule const&, Sequence const&);

Matrix product(Matrix const&, Matrix const&);
Matrix sum(Matrix const&, Matrix const&);
Matrix transposed(Matrix const&);

} // namespace deltaloom::test
