#pragma once
// The integers modulo the prime 2^61 - 1: the scalar of the proofs. Every finite double m * 2^e is exactly one element,
// and 2^61 = 1 makes its power of two a rotation.
#include <cstdint>

namespace deltaloom::runtime {

struct field {
    static constexpr std::uint64_t prime = (std::uint64_t(1) << 61) - 1;
    std::uint64_t element = 0; // below the prime

    constexpr field() = default;
    // The element m * 2^e of a finite x = m * 2^e.
    constexpr explicit field(double x) {
        std::uint64_t const bits = __builtin_bit_cast(std::uint64_t, x);
        int const biased = int(bits >> 52 & 0x7ff);
        std::uint64_t const fraction = bits & ((std::uint64_t(1) << 52) - 1);
        std::uint64_t const mantissa = biased ? fraction | std::uint64_t(1) << 52 : fraction;
        int const exponent = (biased ? biased : 1) - 1075; // at least -1074
        element = rotated(mantissa, (exponent + 61 * 18) % 61);
        if (bits >> 63 && element) element = prime - element;
    }
    static constexpr field from_element(std::uint64_t x) {
        field r;
        r.element = reduced(x);
        return r;
    }

    friend constexpr bool operator==(field, field) = default;
    friend constexpr field operator+(field a, field b) { return made(below(a.element + b.element)); }
    friend constexpr field operator-(field a, field b) { return made(below(a.element + (prime - b.element))); }
    friend constexpr field operator-(field a) { return made(a.element ? prime - a.element : 0); }
    friend constexpr field operator*(field a, field b) {
        wide const product = wide(a.element) * b.element; // below 2^122
        return made(below((std::uint64_t(product) & prime) + std::uint64_t(product >> 61)));
    }
    friend constexpr field operator/(field a, field b) { return a * inverse(b); }
    constexpr field& operator+=(field b) { return *this = *this + b; }
    constexpr field& operator-=(field b) { return *this = *this - b; }
    constexpr field& operator*=(field b) { return *this = *this * b; }
    constexpr field& operator/=(field b) { return *this = *this / b; }

    // a^(prime - 2); of 0 it is 0.
    friend constexpr field inverse(field a) {
        field r = from_element(1);
        for (std::uint64_t e = prime - 2; e; e >>= 1, a = a * a)
            if (e & 1) r = r * a;
        return r;
    }

private:
    __extension__ typedef unsigned __int128 wide;
    static constexpr field made(std::uint64_t x) {
        field r;
        r.element = x;
        return r;
    }
    static constexpr std::uint64_t below(std::uint64_t x) { return x >= prime ? x - prime : x; } // of x < 2 prime
    static constexpr std::uint64_t reduced(std::uint64_t x) { return below((x & prime) + (x >> 61)); }
    static constexpr std::uint64_t rotated(std::uint64_t x, int by) { // x * 2^by for 0 <= by < 61
        wide const shifted = wide(x) << by;
        return below((std::uint64_t(shifted) & prime) + reduced(std::uint64_t(shifted >> 61)));
    }
};

} // namespace deltaloom::runtime
