#pragma once
// How many bits a stored number keeps, and what level float allows for it.
//
// A kernel computes in float32 or float64 and rounds a result once, to nearest, when it stores it:
//
//     stored = rounded(exact + d),  |d| <= inside * (floor + M),  |stored - exact| <= unit * |exact| + inside * (floor
//     + M)
//
// M: the largest entry of the tensor; once more of the row, so that large rows hide nothing in small ones. `inside` is
// what the arithmetic may lose: 2e-5 in float32, 1e-10 in float64. `unit` is the unit roundoff of a scalar of fewer
// bits than the arithmetic: 2^-8 of bfloat16 (8 bits of significand), 2^-11 of float16 (11 bits). So a result that is
// cut off instead of rounded, up to twice the unit away, is seen.
#include "codegen/check/calls.hpp"

namespace deltaloom::codegen {

double rounded_to(double, std::uint32_t scalar); // in double's own arithmetic, not by what the kernels store with
double unit_roundoff(std::uint32_t scalar);      // of float32 2^-24, ...
double largest_stored(std::uint32_t scalar);

// What M is of. A row: what one token of one head has, or one head of a state or a parameter.
enum class Over { tensor, row };

struct Precision {
    Over over = Over::tensor;
    double inside = 2e-5;
    std::vector<double> units; // by operand; empty: everything is stored in what it is computed in
    double budget = 2e-5;      // what the error of a result, over `scale`, may be

    static Precision of(TypedRule const&, CallShape const&);
    void allow(double of_arithmetic);
    double unit(OperandId id) const { return units.empty() ? 0 : units[std::size_t(id)]; }
    // Errors over this are at most the budget.
    double scale(OperandId, double exact, double largest, double floor) const;
    // Of a sum of n results along a direction: `norm` is that of the products.
    double scale_along(OperandId, double norm, double largest, double floor, std::size_t n) const;
};

} // namespace deltaloom::codegen
