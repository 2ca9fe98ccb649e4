#pragma once
// The table of elementwise functions: their names, and what a proof may count on.
#include <optional>
#include <string_view>

namespace deltaloom::runtime {

enum class function { exp, log, abs, neg, sqrt, tanh, sigmoid, softplus, relu, elu1, silu, inv };
inline constexpr int function_count = 12;

constexpr std::string_view text(function f) {
    switch (f) {
    case function::exp: return "exp";
    case function::log: return "log";
    case function::abs: return "abs";
    case function::neg: return "neg";
    case function::sqrt: return "sqrt";
    case function::tanh: return "tanh";
    case function::sigmoid: return "sigmoid";
    case function::softplus: return "softplus";
    case function::relu: return "relu";
    case function::elu1: return "elu1";
    case function::silu: return "silu";
    case function::inv: return "inv";
    }
    return "";
}
constexpr std::optional<function> function_named(std::string_view name) {
    for (int i = 0; i < function_count; ++i)
        if (text(function(i)) == name) return function(i);
    return std::nullopt;
}
// Floats compute it without rounding where the argument is a small integer.
constexpr bool exact_on_integers(function f) {
    switch (f) {
    case function::abs:
    case function::neg:
    case function::relu: return true;
    case function::exp:
    case function::log:
    case function::sqrt:
    case function::tanh:
    case function::sigmoid:
    case function::softplus:
    case function::elu1:
    case function::silu:
    case function::inv: return false;
    }
    return false;
}
// Formal degree of f(x) for x of the given degree: values of opaque functions, their derivatives and inverses are fresh
// variables.
constexpr long degree(function f, long argument) { return f == function::neg ? argument : 1; }

} // namespace deltaloom::runtime
