#pragma once
// Log gates and numbers. A log value is the logarithm g itself over floats, and the element exp(g) over the field,
// which has no logarithm; its tangent is that of g in both.
#include "deltaloom/runtime/scalar/maps.hpp"

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

// The log value of the number 1, under which the gate changes nothing.
template<class K> constexpr K log_one() {
    if constexpr (is_dual<K>)
        return {log_one<decltype(K::value)>(), decltype(K::value)(0.0)};
    else
        return K(is_field<K> ? 1.0 : 0.0);
}
template<class K> constexpr K unlog(K g) {
    if constexpr (is_dual<K>) {
        auto const value = unlog(g.value);
        return {value, value * g.tangent};
    } else if constexpr (is_field<K>)
        return g;
    else
        return map_exp(g);
}
// A real number as the logarithm of a gate.
template<class K> constexpr K aslog(K x) {
    if constexpr (is_dual<K>)
        return {aslog(x.value), x.tangent};
    else if constexpr (is_field<K>)
        return map_exp(x);
    else
        return x;
}
// The log value of the product of two gates.
template<class K> constexpr K addlog(K a, K b) {
    if constexpr (is_dual<K>)
        return {addlog(a.value, b.value), a.tangent + b.tangent};
    else if constexpr (is_field<K>)
        return a * b;
    else
        return a + b;
}

// The sum of the pieces: a number with more than 53 bits is the exact sum of several doubles, largest first.
template<class K, class... Pieces> constexpr K number(double x, Pieces... pieces) {
    if constexpr (is_float<K>)
        return K((x + ... + pieces));
    else
        return (K(x) + ... + K(pieces));
}
// numerator / denominator, rounded once over floats of less than double precision.
template<class K> constexpr K rational(double numerator, double denominator) {
    if constexpr (is_float<K>)
        return K(numerator / denominator);
    else
        return K(numerator) / K(denominator);
}

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
