#include "codegen/check/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deltaloom::codegen {

double rounded_to(double x, std::uint32_t scalar) {
    if (scalar == DL_F64 || x == 0 || !std::isfinite(x)) return x;
    if (scalar == DL_F32) return double(float(x));
    int exponent = 0;
    std::frexp(x, &exponent); // |x| < 2^exponent
    int const bits = scalar == DL_BF16 ? 8 : 11, least = scalar == DL_BF16 ? -133 : -24;
    double const step = std::ldexp(1.0, std::max(exponent - bits, least)), rounded = std::nearbyint(x / step) * step;
    double const most = scalar == DL_BF16 ? std::ldexp(255.0, 120) : 65504;
    return std::abs(rounded) > most ? std::copysign(std::numeric_limits<double>::infinity(), x) : rounded;
}

double unit_roundoff(std::uint32_t scalar) {
    return scalar == DL_BF16 ? 0x1p-8 : scalar == DL_F16 ? 0x1p-11 : scalar == DL_F32 ? 0x1p-24 : 0x1p-53;
}

double largest_stored(std::uint32_t scalar) {
    return scalar == DL_F16   ? 65504
           : scalar == DL_F64 ? std::numeric_limits<double>::max()
                              : double(std::numeric_limits<float>::max());
}

Precision Precision::of(TypedRule const& rule, CallShape const& shape) {
    Precision p;
    for (auto const& o : rule.operands) {
        auto const scalar = shape.stored(o.role);
        p.units.push_back(scalar != (shape.in_double() ? DL_F64 : DL_F32) ? unit_roundoff(scalar) : 0);
    }
    p.allow(shape.in_double() ? 1e-10 : 2e-5);
    return p;
}

void Precision::allow(double of_arithmetic) {
    inside = budget = of_arithmetic;
    for (double unit : units) budget = std::max(budget, unit);
}

double Precision::scale(OperandId id, double exact, double largest, double floor) const {
    double const rounding = std::isfinite(exact) ? unit(id) * std::abs(exact) : 0;
    return (rounding + inside * (floor + largest)) / budget;
}

// The errors of n roundings are independent, each at most unit times the result: their weighted sum deviates by at most
// unit * norm / sqrt(3); four times unit * norm is never met by chance.
double Precision::scale_along(OperandId id, double norm, double largest, double floor, std::size_t n) const {
    return (4 * unit(id) * norm + inside * (floor + largest) * std::sqrt(double(n))) / budget;
}

} // namespace deltaloom::codegen
