#pragma once
// The scalars in which operands lie in memory, and their way to and from the scalar K of a computation.
#include "deltaloom/runtime/abi/deltaloom.h"
#include "deltaloom/runtime/abi/short_floats.hpp"
#include "deltaloom/runtime/isa.hpp"
#include "deltaloom/runtime/scalar/scalar.hpp"

namespace deltaloom::runtime {

using deltaloom::bfloat16, deltaloom::float16; // their own functions are no instruction set's: not called here

inline namespace DELTALOOM_ISA {

__extension__ typedef _Float16 half;

template<class K, class Stored> K widened(Stored x) {
    if constexpr (std::is_same_v<Stored, bfloat16>)
        return K(__builtin_bit_cast(float, std::uint32_t(x.bits) << 16));
    else if constexpr (std::is_same_v<Stored, float16>)
        return K(float(__builtin_bit_cast(half, x.bits)));
    else
        return K(x);
}
// A float that rounds on to 16 bits as x itself does: of a double that is none, the neighbour whose last bit is 1.
template<class K> float on_the_way(K x) {
    float const nearest = float(x);
    if constexpr (std::is_same_v<K, double>) {
        double const back = nearest;
        auto bits = __builtin_bit_cast(std::uint32_t, nearest);
        if (back < x || back > x) {
            if ((back > x) == (x > 0)) --bits; // towards zero
            return __builtin_bit_cast(float, bits | 1u);
        }
    }
    return nearest;
}
// To nearest, ties to even; a NaN stays a NaN.
template<class Stored, class K> Stored narrowed(K x) {
    if constexpr (std::is_same_v<Stored, bfloat16>) {
        auto const bits = __builtin_bit_cast(std::uint32_t, on_the_way(x));
        if ((bits & 0x7fffffffu) > 0x7f800000u) return {std::uint16_t(bits >> 16 | 0x40u)};
        return {std::uint16_t((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
    } else if constexpr (std::is_same_v<Stored, float16>)
        return {__builtin_bit_cast(std::uint16_t, half(on_the_way(x)))};
    else
        return Stored(x);
}

// Calls body(Stored*) with the data as what they are; not at all where K has no way to that scalar: the field is only
// stored as itself.
template<class K, class Body> void as_stored(void* data, std::uint32_t scalar, Body body) {
    if constexpr (is_field<K>) {
        if (scalar == DL_EXACT) body(static_cast<field*>(data));
    } else {
        switch (scalar) {
        case DL_F32: return body(static_cast<float*>(data));
        case DL_F64: return body(static_cast<double*>(data));
        case DL_BF16: return body(static_cast<bfloat16*>(data));
        case DL_F16: return body(static_cast<float16*>(data));
        }
    }
}

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
