#include "codegen/rule/rational.hpp"

#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace deltaloom::codegen {

using boost::multiprecision::cpp_int;
using boost::multiprecision::denominator;
using boost::multiprecision::numerator;

Rational exact(double x) {
    if (!std::isfinite(x)) throw std::domain_error("a number that is not finite is no fraction");
    int exponent = 0;
    double const mantissa = std::frexp(x, &exponent); // x = mantissa 2^exponent, mantissa 2^53 an integer
    cpp_int const whole = static_cast<long long>(std::ldexp(mantissa, 53));
    int const shift = exponent - 53;
    cpp_int const power = cpp_int(1) << (shift < 0 ? -shift : shift);
    return shift < 0 ? Rational(whole, power) : Rational(cpp_int(whole * power));
}

double nearest(Rational const& r) { return r.convert_to<double>(); }

std::string print(Rational const& r) {
    cpp_int const d = denominator(r);
    if (d == 1) return numerator(r).str();
    if (d <= 1000) return numerator(r).str() + "/" + d.str();
    double const x = nearest(r);
    if (!std::isfinite(x) || exact(x) != r) return numerator(r).str() + "/" + d.str();
    char text[40] = "";
    for (int digits = 1; digits <= 17; ++digits) {
        std::snprintf(text, sizeof text, "%.*g", digits, x);
        if (std::strtod(text, nullptr) == x) break;
    }
    return text;
}

} // namespace deltaloom::codegen
