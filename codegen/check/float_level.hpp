#pragma once
// Level `float`: the production kernels, called through the driver of the C ABI, against the declaration in double.
// Error: the largest difference of any output, state or gradient from the oracle's, over 1 + the largest entry of that
// tensor; a NaN is infinite. Gradients are compared along random directions and entry by entry at sampled places.
#include "codegen/check/compiled.hpp"
#include "codegen/check/task.hpp"

namespace deltaloom::codegen {

struct FloatLevel {
    std::uint64_t seed = 1;
    int trials = 3;
    std::vector<Form> forms;          // empty: all
    bool scalars[2] = {true, false};  // float, double
    double budget[2] = {2e-5, 1e-10}; // times 1 + the largest reference entry
    int chunk = 16;
};
// One for each scalar.
std::vector<Task> float_tasks(Compiled const&, FloatLevel const& = {});

} // namespace deltaloom::codegen
