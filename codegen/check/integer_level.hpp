#pragma once
// Level `integer`: the production kernels of every instruction set that the machine has, on numbers with which every
// operation is exact: small integers, linear decays from {0, 1/2, 1, -1}, log gates from {0, -inf}. Then sums in any
// order have the same bits, and the kernels' have those of the declaration: outputs, states and all gradients.
//
// With operands of 16 bits the same call has the same results, each rounded once, to nearest: bit for bit, whether 16
// bits hold them or not.
//
// That every operation was exact is not hoped for: the processor says so (its inexact flag). Where a kernel's answer
// differs and the flag is up, a point of fewer and smaller numbers is taken; the last one has to be exact.
#include "codegen/check/compiled.hpp"
#include "codegen/check/task.hpp"

namespace deltaloom::codegen {

struct IntegerLevel {
    std::uint64_t seed = 1;
    int trials = 3;
    std::vector<Form> forms;     // empty: all
    unsigned short_operands = 0; // scalars of 16 bits beside float: bits 1 << dl_scalar
};
// One for each instruction set that was compiled.
std::vector<Task> integer_tasks(Compiled const&, IntegerLevel const& = {});

} // namespace deltaloom::codegen
