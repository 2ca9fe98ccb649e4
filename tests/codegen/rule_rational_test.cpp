#include "codegen/rule/rational.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <random>
#include <stdexcept>

using namespace deltaloom::codegen;

TEST_CASE("a double is exactly its fraction") {
    CHECK(exact(0.5) == Rational(1, 2));
    CHECK(exact(-3.0) == -3);
    CHECK(exact(0.0) == 0);
    CHECK(exact(0.1) != Rational(1, 10));
    CHECK(exact(std::numeric_limits<double>::denorm_min()) > 0);
    CHECK_THROWS_AS(exact(std::numeric_limits<double>::quiet_NaN()), std::domain_error);
    CHECK_THROWS_AS(exact(std::numeric_limits<double>::infinity()), std::domain_error);
    unsigned const seed = 7;
    INFO("seed " << seed);
    std::mt19937_64 draw(seed);
    for (int i = 0; i < 1000; ++i) {
        double const x =
            std::ldexp(std::uniform_real_distribution<>(-1, 1)(draw), static_cast<int>(draw() % 200) - 100);
        CHECK(nearest(exact(x)) == x);
    }
}

TEST_CASE("fractions print as people write them") {
    CHECK(print(Rational(3)) == "3");
    CHECK(print(Rational(-1, 2)) == "-1/2");
    CHECK(print(exact(0.1)) == "0.1");
    CHECK(print(exact(1e-6)) == "1e-06");
    CHECK(print(Rational(1, 3)) == "1/3");
    CHECK(print(exact(0.1) / 3).find('/') != std::string::npos);
}
