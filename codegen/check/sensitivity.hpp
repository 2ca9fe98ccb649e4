#pragma once
// How far the declaration's own answer moves when every number that it is given moves by one unit roundoff of the
// point's scalar. Where that is far (a state that grows, a rule that is chaotic, a kink of max), no kernel can be asked
// to be closer: the budget of an inexact level follows it, and the result says so. It is asked only where a budget was
// not kept, and never lets a value pass that is not a number.
#include "codegen/check/reference.hpp"

#include <string>

namespace deltaloom::codegen {

// Relative to floor + the largest entry of the tensor or the row, as the errors are; infinite where an answer left the
// range of float32.
struct Sensitivity {
    double forward = 0, backward = 0;
};
// `got`: a kernel's gradients, for their scale.
Sensitivity sensitivity(Reference const&, CallTensors const& got, std::vector<Sampled> const& gradients, double floor,
                        Over);

// Why a point says nothing: "the line itself grows beyond float32 over 70 tokens".
std::string beyond_float32(char const* what, Point const&);

// Inputs move once, a kernel rounds in every sum over a dimension and at every token: its error may be so many times as
// large.
inline constexpr double roundings = 64;

} // namespace deltaloom::codegen
