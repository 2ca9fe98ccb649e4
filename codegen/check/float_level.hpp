#pragma once
// Level `float`: the production kernels, called through the driver of the C ABI, against the declaration in double, on
// inputs rounded to what they are stored in. Error: the largest difference of any output, state or gradient from the
// oracle's, over 1 + the largest entry of that tensor, in 16 bits as rounding.hpp says; a NaN is infinite. Gradients
// are compared along random directions and entry by entry at sampled places.
#include "codegen/check/compiled.hpp"
#include "codegen/check/rounding.hpp"
#include "codegen/check/task.hpp"

namespace deltaloom::codegen {

struct FloatLevel {
    std::uint64_t seed = 1;
    int trials = 3;
    std::vector<Form> forms;   // empty: all
    unsigned scalars = 1;      // of operands: bits 1 << dl_scalar. States are float32, beside double float64
    unsigned short_states = 0; // states of 16 bits whose error is told: bits 1 << dl_scalar
    int chunk = 16;
};
// One for each scalar, one for each scalar of a short state.
std::vector<Task> float_tasks(Compiled const&, FloatLevel const& = {});
// What a state of 16 bits costs (float_state.cpp).
std::vector<Task> short_state_tasks(Compiled const&, FloatLevel const&);
std::string short_state_name(std::uint32_t scalar); // "state in bfloat16"

} // namespace deltaloom::codegen
