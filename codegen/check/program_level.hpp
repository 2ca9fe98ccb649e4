#pragma once
// Level `program`: every form and direction of a rule, interpreted over the field of 2^61 - 1 elements, equals the
// declaration at random points.
#include "codegen/check/result.hpp"

namespace deltaloom::codegen {

struct ProgramLevel {
    std::uint64_t seed = 1;
    int trials = 3; // the first 7 tokens long, the second 6 with zeros for gates, the third 1 with equal extents
    std::vector<Form> forms; // empty: all
};
// One result for each form, direction and variant that the rule has: "declaration" (the form itself against the
// declaration), "padded" and "split" (of chunked).
std::vector<Result> check_program(Declaration const&, Derived const&, ProgramLevel const& = {});

} // namespace deltaloom::codegen
