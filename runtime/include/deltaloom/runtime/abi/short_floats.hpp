#pragma once
// The scalars of 16 bits, as tensors of DL_BF16 and DL_F16 hold them, and their way from and to float. `bits` is all
// that is in them: a buffer of std::uint16_t in one of these formats is an array of them.
#include <bit>
#include <cstdint>

namespace deltaloom {

namespace short_floats {
// m / 2^shift to the nearest integer, ties to even; shift > 0.
constexpr std::uint32_t shifted(std::uint32_t m, unsigned shift) {
    return (m + (1u << (shift - 1)) - 1 + (m >> shift & 1)) >> shift;
}
} // namespace short_floats

// The upper half of a float32: 8 bits of exponent, 8 of significand (7 stored).
struct bfloat16 {
    std::uint16_t bits;

    static constexpr bfloat16 nearest(float x) { // ties to even; a NaN stays one
        auto const whole = std::bit_cast<std::uint32_t>(x);
        if ((whole & 0x7fffffffu) > 0x7f800000u) return {std::uint16_t(whole >> 16 | 0x40u)};
        return {std::uint16_t(short_floats::shifted(whole, 16))};
    }
    explicit constexpr operator float() const { return std::bit_cast<float>(std::uint32_t(bits) << 16); }
};

// IEEE binary16: 5 bits of exponent, 11 of significand (10 stored); at most 65504.
struct float16 {
    std::uint16_t bits;

    static constexpr float16 nearest(float x) { // ties to even; infinite from 65520 on; a NaN stays one
        auto const whole = std::bit_cast<std::uint32_t>(x);
        std::uint32_t const sign = whole >> 16 & 0x8000u, size = whole & 0x7fffffffu, exponent = size >> 23;
        auto const signed_ = [&](std::uint32_t magnitude) { return float16{std::uint16_t(sign | magnitude)}; };
        if (size > 0x7f800000u) return signed_(0x7e00u | (size >> 13 & 0x3ffu));
        if (size >= 0x477ff000u) return signed_(0x7c00u);
        if (exponent >= 113) return signed_(short_floats::shifted(size - (112u << 23), 13));   // from 2^-14 on
        if (exponent < 102) return signed_(0);                                                 // below 2^-25
        return signed_(short_floats::shifted((size & 0x7fffffu) | 0x800000u, 126 - exponent)); // units of 2^-24
    }
    explicit constexpr operator float() const {
        std::uint32_t const sign = std::uint32_t(bits & 0x8000u) << 16, exponent = bits >> 10 & 31u,
                            fraction = bits & 0x3ffu;
        if (exponent == 0) return (sign ? -0x1p-24f : 0x1p-24f) * float(fraction);
        return std::bit_cast<float>(sign | (exponent == 31 ? 0xffu : exponent + 112) << 23 | fraction << 13);
    }
};

} // namespace deltaloom
