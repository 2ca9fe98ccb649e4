#include "optimiser.hpp"

#include "threads.hpp"

#include <algorithm>
#include <cmath>

namespace lm {

double learning_rate(Settings const& s, int step) {
    if (step < s.warm_up) return s.rate * (step + 1) / s.warm_up;
    double const at = s.steps > s.warm_up ? double(step - s.warm_up) / (s.steps - s.warm_up) : 1;
    return s.final_rate + (s.rate - s.final_rate) * 0.5 * (1 + std::cos(M_PI * std::min(1.0, at)));
}

double update(Model const& model, std::vector<float>& parameters, Moments& moments, std::vector<float> const& gradient,
              int step, int threads) {
    constexpr double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
    auto const& s = model.settings;
    std::vector<double> squares(model.offsets.blocks.size());
    in_parallel(int(squares.size()), threads, [&](int b) {
        auto const& block = model.offsets.blocks[std::size_t(b)];
        for (std::size_t i = block.offset; i < block.offset + block.count; ++i)
            squares[std::size_t(b)] += double(gradient[i]) * gradient[i];
    });
    double norm = 0;
    for (double x : squares) norm += x;
    norm = std::sqrt(norm);
    double const rate = learning_rate(s, step);
    float const clip = float(norm > s.clip && s.clip > 0 ? s.clip / norm : 1.0);
    float const bias1 = float(rate / (1 - std::pow(beta1, step + 1)));
    float const bias2 = float(1 / (1 - std::pow(beta2, step + 1)));
    in_parallel(int(squares.size()), threads, [&](int b) {
        auto const& block = model.offsets.blocks[std::size_t(b)];
        float const shrink = block.decays ? float(1 - rate * s.decay) : 1.0f;
        float *const w = parameters.data(), *const m = moments.first.data(), *const v = moments.second.data();
        for (std::size_t i = block.offset; i < block.offset + block.count; ++i) {
            float const g = gradient[i] * clip;
            m[i] += float(1 - beta1) * (g - m[i]);
            v[i] += float(1 - beta2) * (g * g - v[i]);
            w[i] = w[i] * shrink - bias1 * m[i] / (std::sqrt(v[i] * bias2) + float(epsilon));
        }
    });
    return norm;
}

} // namespace lm
