#pragma once
// What a rules header includes: `using namespace deltaloom::dsl` brings the functions and the predefined operands. The
// operators are found by their operands, in the nodes' own namespace.
#include <deltaloom/dsl/operands.hpp>
#include <deltaloom/dsl/rule.hpp>

namespace deltaloom::dsl {
using ast::dpfp, ast::random_features, ast::taylor2, ast::dpfp_dim, ast::taylor2_dim;
using ast::exp, ast::log, ast::abs, ast::neg, ast::sqrt, ast::tanh, ast::sigmoid, ast::softplus, ast::relu, ast::elu1;
using ast::repeat, ast::previous, ast::rule;
using ast::silu, ast::max, ast::min;
using ast::T, ast::diag, ast::dot, ast::norm, ast::sum, ast::l2norm, ast::sum_norm, ast::softmax;

DELTALOOM_DIM(dk);
DELTALOOM_DIM(dv);
DELTALOOM_STATE(S, dv, dk);
DELTALOOM_STATE(z, dk);
DELTALOOM_INPUT(q, dk);
DELTALOOM_INPUT(k, dk);
DELTALOOM_INPUT(v, dv);
DELTALOOM_INPUT(beta);
DELTALOOM_GATE(alpha, linear);
DELTALOOM_GATE(g, log);
DELTALOOM_OUTPUT(o, dv);
} // namespace deltaloom::dsl
