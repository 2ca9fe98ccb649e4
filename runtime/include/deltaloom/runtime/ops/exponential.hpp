#pragma once
// exp of vectors: x = n ln 2 + r with |r| <= ln 2 / 2, exp(x) = 2^n (1 + r + r^2 p(r)), p a Chebyshev interpolant of
// (exp(r) - 1 - r) / r^2. Error below 2 units in the last place. Below the smallest normal number (nearly) it is
// exactly 0, so exp(-inf) = 0.
#include "deltaloom/runtime/ops/lanes.hpp"

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

template<class K> struct exp_constants;
template<> struct exp_constants<float> {
    using integer = std::int32_t;
    static constexpr float low = -86.5f, high = 88.3f, rounder = 0x1.8p23f, ln2_high = 0x1.62cp-1f;
    static constexpr float ln2_low = 2.7608680994530943e-4f;
    static constexpr int bias = 127, mantissa_bits = 23;
    static constexpr float p[] = {0.5f, 0.166666672f, 0.0416664593f, 0.00833331048f, 0.0013934141f, 0.000198915353f};
};
template<> struct exp_constants<double> {
    using integer = std::int64_t;
    static constexpr double low = -707.5, high = 709.4, rounder = 0x1.8p52, ln2_high = 0.6931471804855391;
    static constexpr double ln2_low = 7.440617110012397e-11;
    static constexpr int bias = 1023, mantissa_bits = 52;
    static constexpr double p[] = {0.5,
                                   0.1666666666666667,
                                   0.04166666666666667,
                                   0.008333333333325815,
                                   0.001388888888888352,
                                   0.00019841269875934986,
                                   2.4801587326343517e-05,
                                   2.7557253994438254e-06,
                                   2.7557272639240534e-07,
                                   2.5105798898075085e-08,
                                   2.0915102501633008e-09};
};

template<class K, int count> DELTALOOM_INLINE lanes<K, count> lanes_exp(lanes<K, count> x) {
    using c = exp_constants<K>;
    constexpr int fewest = 16 / int(sizeof(K));
    if constexpr (count < fewest) { // the same operations in a vector of 16 bytes
        K all[fewest] = {};
        __builtin_memcpy(all, &x, sizeof x);
        auto const e = lanes_exp<K, fewest>(read_lanes<fewest>(all));
        __builtin_memcpy(&x, &e, sizeof x);
        return x;
    } else {
        using vector = lanes<K, count>;
        using integers = lanes<typename c::integer, count>;
        vector const shifted = x * K(1.4426950408889634) + c::rounder, n = shifted - c::rounder;
        vector const r = (x - n * c::ln2_high) - n * c::ln2_low;
        constexpr int terms = int(sizeof c::p / sizeof(K));
        vector p = vector{} + c::p[terms - 1];
        DELTALOOM_UNROLL
        for (int k = terms - 2; k >= 0; --k) p = p * r + c::p[k];
        vector const mantissa = (p * (r * r) + r) + K(1);
        // The low bits of `shifted` are the integer n.
        integers const exponent = (integers)shifted + typename c::integer(c::bias);
        vector const y = mantissa * (vector)(exponent << c::mantissa_bits);
        vector const small = x < c::low ? vector{} : y;
        return x > c::high ? vector{} + K(__builtin_inf()) : small;
    }
}

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
