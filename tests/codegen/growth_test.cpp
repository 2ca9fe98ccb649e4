// How fast states and solves grow, and how many digits are left: what is bounded is told from what is not.
#include "codegen/check/growth.hpp"
#include "tests/support/parse.hpp"
#include "tests/support/random_rules.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace deltaloom::codegen;
using deltaloom::test::parse_rule;

namespace {

struct Measured {
    Derived derived;
    std::vector<Growth> growth;
};
Measured measure(Declaration const& rule, std::uint64_t seed = 11) {
    auto checked = check(rule);
    if (auto const* faults = std::get_if<std::vector<Diagnostic>>(&checked))
        FAIL(rule.name << ": " << faults->at(0).text);
    Measured m{derive(std::get<TypedRule>(std::move(checked))), {}};
    m.growth = growth(rule, m.derived, seed);
    return m;
}
Measured measure(char const* text, char const* operands = "") { return measure(parse_rule("r", text, operands)); }

} // namespace

TEST_CASE("a sum grows, but not without bound") {
    for (auto const& g : measure("S <<= S + v * T(k), o <<= S * q").growth) {
        CHECK_FALSE(g.hopeless());
        CHECK(g.doubling >= 1);
        CHECK(g.doubling <= 2.5);
        CHECK(g.solve == 1);
        CHECK(g.digits_step > 5.5);
        CHECK(g.digits_chunked > 5.5);
    }
}

TEST_CASE("an erase by a unit key is stable; by a long key it is hopeless, in steps and chunks alike") {
    for (char const* rule : {"S <<= S + beta * (v - S * k) * T(k), o <<= S * q",
                             "S <<= alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k), o <<= S * q"}) {
        auto const m = measure(rule);
        REQUIRE(m.growth.size() == 2);
        CHECK_FALSE(m.growth[0].hopeless());
        CHECK(m.growth[0].solve < 100);
        CHECK(m.growth[0].digits_step > 5.5);
        CHECK(m.growth[0].digits_chunked > 5.5);
        CHECK(m.growth[1].hopeless());
        CHECK(m.growth[1].solve > 100);
        CHECK(advice(m.derived).find("erase key k") != std::string::npos);
        CHECK(advice(m.derived).find("l2norm") != std::string::npos);
    }
    // The same key, normalised by the rule itself.
    for (auto const& g : measure("S <<= S + beta * (v - S * l2norm(k)) * T(l2norm(k)), o <<= S * q").growth)
        CHECK_FALSE(g.hopeless());
}

TEST_CASE("a decay above one is hopeless on any data") {
    auto const m = measure("S <<= 1.25 * S + v * T(k), o <<= S * q");
    for (auto const& g : m.growth) CHECK(g.hopeless());
    CHECK(advice(m.derived).find("at most 1") != std::string::npos);
    CHECK_FALSE(measure("S <<= 0.75 * S + v * T(k), o <<= S * q").growth[0].hopeless());
}

TEST_CASE("what overflows and what is not affine in the state is measured too") {
    auto const overflows = measure("S <<= 1000 * S + v * T(k), o <<= S * q");
    for (auto const& g : overflows.growth) {
        CHECK(g.hopeless());
        CHECK(g.digits_step == 0);
    }
    auto const m = measure("S <<= tanh(S) + v * T(k), o <<= S * q");
    CHECK_FALSE(m.growth[0].hopeless());
    CHECK_FALSE(m.growth[0].chunked);
    CHECK(m.growth[0].digits_step > 5);
    CHECK(sentence(m.growth[0]).find("chunk") == std::string::npos);
}

TEST_CASE("random rules are stable on their data, and chunks lose no more digits than steps") {
    std::uint64_t const seed = 23;
    INFO("seed " << seed);
    for (auto const& rule : deltaloom::test::random_declarations(seed, 40, true)) {
        auto const m = measure(rule, seed);
        auto const& g = m.growth.at(0);
        INFO(equation(rule) << "\n" << sentence(g));
        CHECK_FALSE(g.hopeless());
        CHECK(g.digits_chunked > g.digits_step - 1.5);
        CHECK(g.digits_step > 4);
    }
}
