#pragma once
// Exact numbers of the derivation: a double is exactly m * 2^e.
#include <boost/multiprecision/cpp_int.hpp>

#include <string>

namespace deltaloom::codegen {

using Rational = boost::multiprecision::cpp_rational;

Rational exact(double);             // throws std::domain_error for a NaN or an infinity
double nearest(Rational const&);    // the nearest double
std::string print(Rational const&); // "3", "-1/2", shortest decimal for what was a double such as 0.1

} // namespace deltaloom::codegen
