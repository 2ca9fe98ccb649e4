#pragma once
// Scalar functions of the model over float, double and dual numbers, and sums in a fixed order that a compiler can put
// into vectors.
#include <bit>
#include <cstdint>
#include <deltaloom/runtime/scalar/scalar.hpp>
#include <type_traits>

namespace lm {

namespace scalar = deltaloom::runtime;

// exp(x) = 2^n exp(r), |r| <= ln 2 / 2, within 2e-7 of it; without branches, so that loops of it become vectors.
inline float exponential(float x) {
    x = x < -87.0f ? -87.0f : x > 88.0f ? 88.0f : x;
    float const shifted = x * 1.44269504f + 0x1.8p23f, n = shifted - 0x1.8p23f;
    float const r = (x - n * 0x1.62cp-1f) - n * 2.7608681e-4f;
    float const p = ((((1.3934141e-3f * r + 8.3333105e-3f) * r + 0.041666459f) * r + 0.16666667f) * r + 0.5f) * r * r;
    auto const exponent = std::bit_cast<std::uint32_t>(shifted) + 127u; // its low bits are n
    return (p + r + 1.0f) * std::bit_cast<float>(exponent << 23);
}
template<class K> K exponential(K x) { return scalar::map_value<scalar::function::exp>(x); }

template<class K> K sigmoid(K x) {
    if constexpr (std::is_same_v<K, float>)
        return 1.0f / (1.0f + exponential(-x));
    else
        return scalar::map_value<scalar::function::sigmoid>(x);
}
template<class K> K silu(K x) { return x * sigmoid(x); }
template<class K> K silu_slope(K x) {
    K const s = sigmoid(x);
    return s + x * s * (K(1.0) - s);
}
template<class K> K softplus(K x) { return scalar::map_value<scalar::function::softplus>(x); }
template<class K> K root(K x) { return scalar::map_value<scalar::function::sqrt>(x); }
template<class K> K logarithm(K x) { return scalar::map_value<scalar::function::log>(x); }

template<class K> double value_of(K x) {
    if constexpr (scalar::is_dual<K>)
        return value_of(x.value);
    else
        return double(x);
}

// sum of f(i) over i in 0 .. n-1, in 16 interleaved partial sums.
template<class K, class F> K sum(int n, F f) {
    K part[16] = {};
    int i = 0;
    for (; i + 16 <= n; i += 16)
        for (int j = 0; j < 16; ++j) part[j] += f(i + j);
    for (int j = 0; j < 16 && i + j < n; ++j) part[j] += f(i + j);
    for (int half = 8; half; half /= 2)
        for (int j = 0; j < half; ++j) part[j] += part[j + half];
    return part[0];
}

} // namespace lm
