// The field against 128-bit integers, dual numbers against the rules of differentiation, maps against central
// differences.
#include "deltaloom/runtime/scalar/scalar.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>

using namespace deltaloom::runtime;

namespace {

__extension__ typedef unsigned __int128 wide;
constexpr std::uint64_t p = field::prime;

static_assert(field(0.5) + field(0.5) == field(1.0));
static_assert(field(-3.0) * field(2.0) == -field(6.0));
static_assert(field(0.0) == field() && field(-0.0) == field());
static_assert(field(2305843009213693951.0 + 1) == field(1.0)); // 2^61
static_assert(field(1e300) * inverse(field(1e300)) == field(1.0));
static_assert(field(5e-324) * field(4503599627370496.0) == field(2.2250738585072014e-308));
static_assert(field::from_element(~std::uint64_t(0)) == field(7.0)); // 2^64 - 1 = 8 - 1
static_assert(number<field>(9007199254740992.0, 1.0) == field::from_element(9007199254740993));
static_assert(rational<field>(3, 7) * field(7.0) == field(3.0));
static_assert(map_value<function::inv>(field(4.0)) == field(0.25));
static_assert(map_derivative(function::inv, field(4.0)) == field(-0.0625));
static_assert(map_derivative<function::exp>(field(4.0)) == map_value(function::exp, field(4.0)));
static_assert(map_value(function::neg, field(4.0)) == field(-4.0) &&
              map_derivative(function::neg, field(4.0)) == field(-1.0));
static_assert(!(map_sigmoid(field(4.0)) == map_tanh(field(4.0))) &&
              !(map_sigmoid(field(4.0)) == map_sigmoid(field(5.0))));
static_assert(!(map_sigmoid(field(4.0)) == derivative_sigmoid(field(4.0))));
static_assert(unlog(addlog(field(3.0), field(5.0))) == field(15.0) && unlog(log_one<field>()) == field(1.0));

field draw(std::mt19937_64& random) {
    switch (random() % 8) {
    case 0: return field::from_element(random() % 4);
    case 1: return field::from_element(p - 1 - random() % 4);
    default: return field::from_element(random());
    }
}

} // namespace

TEST_CASE("the field is the integers modulo 2^61 - 1") {
    unsigned const seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 20000; ++i) {
        field const a = draw(random), b = draw(random), c = draw(random);
        std::uint64_t const sum = std::uint64_t((wide(a.element) + b.element) % p),
                            product = std::uint64_t(wide(a.element) * b.element % p);
        if ((a + b).element != sum || (a * b).element != product || !(a - b + b == a) || !(-a + a == field()) ||
            !(a * (b + c) == a * b + a * c))
            FAIL(a.element << " " << b.element << " " << c.element);
        if (!(b == field()) && i < 2000 && !(a / b * b == a)) FAIL(a.element << " / " << b.element);
    }
}

TEST_CASE("every double is one element: sums and products that are exact in doubles are the field's") {
    unsigned const seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 20000; ++i) {
        double const a = std::ldexp(double(random() % (1u << 25)) - (1u << 24), int(random() % 900) - 450);
        double const b = std::ldexp(double(random() % (1u << 25)) - (1u << 24), int(random() % 900) - 450);
        double const c = std::ldexp(double(random() % 999), int(std::ilogb(a == 0 ? 1 : a)) - 20);
        if (!(field(a) * field(b) == field(a * b)) || !(field(a) + field(c) == field(a + c)) ||
            !(field(-a) == -field(a)))
            FAIL(a << " " << b << " " << c);
    }
    CHECK(field(std::numeric_limits<double>::denorm_min()) * field(2.0) ==
          field(2 * std::numeric_limits<double>::denorm_min()));
}

TEST_CASE("names of functions") {
    for (int i = 0; i < function_count; ++i) CHECK(function_named(text(function(i))) == function(i));
    CHECK_FALSE(function_named("l2norm"));
    CHECK(exact_on_integers(function::relu));
    CHECK_FALSE(exact_on_integers(function::sigmoid));
    CHECK(degree(function::neg, 7) == 7);
    CHECK(degree(function::inv, 7) == 1);
}

TEST_CASE("derivatives of maps are those of the values") {
    for (int i = 0; i < function_count; ++i)
        for (double x : {-30.0, -3.0, -0.75, -0.1, 0.1, 0.6, 2.5, 30.0}) {
            auto const f = function(i);
            if (x < 0 && (f == function::log || f == function::sqrt)) continue;
            double const h = 1e-6 * std::max(1.0, std::fabs(x));
            auto const slope = [&](auto g) { return (g(x + h) - g(x - h)) / (2 * h); };
            double const first = slope([&](double y) { return map_value(f, y); }),
                         second = slope([&](double y) { return map_derivative(f, y); });
            CAPTURE(text(f), x);
            CHECK(std::fabs(map_derivative(f, x) - first) <= 1e-6 * (1 + std::fabs(first)));
            CHECK(std::fabs(nth_derivative<2>(f, x) - second) <= 1e-6 * (1 + std::fabs(second)));
            CHECK(map_value(f, float(x)) == Approx(map_value(f, x)).epsilon(1e-6));
            CHECK(map_derivative(f, float(x)) == Approx(map_derivative(f, x)).epsilon(2e-6));
        }
}

TEST_CASE("maps far out and at their corners") {
    for (double x : {-1e4, -800.0, 800.0, 1e4})
        for (function f : {function::sigmoid, function::softplus, function::silu, function::tanh}) {
            CAPTURE(text(f), x);
            CHECK(std::isfinite(map_value(f, x)));
            CHECK(std::isfinite(map_derivative(f, x)));
            CHECK(std::isfinite(map_value(f, float(x))));
            CHECK(std::isfinite(map_derivative(f, float(x))));
        }
    CHECK(map_softplus(1e4) == 1e4);
    CHECK(map_sigmoid(-1e4) == 0);
    CHECK(map_softplus(-40.0) == Approx(std::exp(-40.0)));
    CHECK(derivative_tanh(20.0) == Approx(4 * std::exp(-40.0)));
    CHECK(derivative_relu(0.0) == 0);
    CHECK(derivative_abs(0.0) == 0);
    CHECK(map_elu1(0.0) == 1);
    CHECK(map_exp(-std::numeric_limits<float>::infinity()) == 0);
}

TEMPLATE_TEST_CASE("dual numbers follow the rules of differentiation", "", double, field) {
    using K = TestType;
    using D = dual<K>;
    auto const same = [](K a, K b) {
        if constexpr (is_field<K>)
            return a == b;
        else
            return std::fabs(a - b) <= 1e-12 * (1 + std::fabs(b));
    };
    K const x(0.75), y(-1.25), one(1.0), zero(0.0);
    D const a(x, one), b(y, K(3.0));
    CHECK(same((a + b).tangent, K(4.0)));
    CHECK(same((a - b).tangent, K(-2.0)));
    CHECK(same((a * b).tangent, y + x * K(3.0)));
    CHECK(same((a / b * b).value, x));
    CHECK(same((a / b * b).tangent, one));
    for (int i = 0; i < function_count; ++i) {
        CHECK(same(map_value(function(i), a).tangent, map_derivative(function(i), x)));
        CHECK(same(map_value(function(i), D(x, K(5.0))).tangent, map_derivative(function(i), x) * K(5.0)));
        CHECK(same(map_derivative(function(i), a).tangent, nth_derivative<2>(function(i), x)));
    }
    CHECK(same(larger(a, b).value, larger(x, y)));
    CHECK(same(larger(a, b).tangent, is_larger(x, y) + (one - is_larger(x, y)) * K(3.0)));
    D const g = addlog(D(K(0.5), K(2.0)), D(K(0.25), K(3.0)));
    CHECK(same(g.tangent, K(5.0)));
    CHECK(same(unlog(g).tangent, unlog(g).value * K(5.0)));
    CHECK(same(unlog(log_one<D>()).value, one));
    CHECK(same(unlog(aslog(a)).tangent, map_exp(x)));
    CHECK(same(number<D>(2.5).value, K(2.5)));
    CHECK(same(number<D>(2.5).tangent, zero));
}

TEST_CASE("larger along floats") {
    CHECK(larger(2.0, 1.0) == 2);
    CHECK(is_larger(2.0, 1.0) == 1);
    CHECK(larger(1.0, 2.0) == 2);
    CHECK(is_larger(1.0, 1.0) == 0.5);
    CHECK(larger(field(3.0), field(8.0)) == larger(field(8.0), field(3.0)));
    CHECK(is_larger(field(3.0), field(8.0)) + is_larger(field(8.0), field(3.0)) == field(1.0));
    CHECK(larger(dual<double>(1, 5), dual<double>(1, 7)).tangent == 6);
    CHECK(larger(dual<double>(1, 5), dual<double>(2, 7)).tangent == 7);
    CHECK(number<float>(3.0) / number<float>(7.0) == 3.0f / 7.0f);
    CHECK(rational<float>(1, 3) == float(1.0 / 3));
}
