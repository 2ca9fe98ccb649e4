#pragma once
// value + tangent * epsilon with epsilon^2 = 0: directional derivatives over any scalar K, the field included.

namespace deltaloom::runtime {

template<class K> struct dual {
    K value{}, tangent{};

    constexpr dual() = default;
    constexpr explicit dual(double x) : value(K(x)), tangent(K(0.0)) {}
    constexpr dual(K v, K t) : value(v), tangent(t) {}

    friend constexpr bool operator==(dual const&, dual const&) = default;
    friend constexpr dual operator+(dual a, dual b) { return {a.value + b.value, a.tangent + b.tangent}; }
    friend constexpr dual operator-(dual a, dual b) { return {a.value - b.value, a.tangent - b.tangent}; }
    friend constexpr dual operator-(dual a) { return {-a.value, -a.tangent}; }
    friend constexpr dual operator*(dual a, dual b) {
        return {a.value * b.value, a.value * b.tangent + a.tangent * b.value};
    }
    friend constexpr dual operator/(dual a, dual b) {
        K const quotient = a.value / b.value;
        return {quotient, (a.tangent - quotient * b.tangent) / b.value};
    }
    constexpr dual& operator+=(dual b) { return *this = *this + b; }
    constexpr dual& operator-=(dual b) { return *this = *this - b; }
    constexpr dual& operator*=(dual b) { return *this = *this * b; }
    constexpr dual& operator/=(dual b) { return *this = *this / b; }
};

} // namespace deltaloom::runtime
