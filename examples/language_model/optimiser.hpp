#pragma once
// AdamW with warm-up and cosine, behind a clip of the gradient's norm (Loshchilov and Hutter 2019).
#include "model.hpp"

namespace lm {

struct Moments {
    std::vector<float> first, second;
};
// Rises over warm-up steps, then falls along a cosine to the final rate.
double learning_rate(Settings const&, int step);
// Returns the norm that the gradient had before it was clipped. `step` counts from 0. The bits do not depend on
// threads.
double update(Model const&, std::vector<float>& parameters, Moments&, std::vector<float> const& gradient, int step,
              int threads);

} // namespace lm
