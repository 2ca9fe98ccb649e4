// Random rules: the same bytes everywhere, the whole class among sixty, every rule of the language and stable on its
// data.
#include "codegen/check/data.hpp"
#include "codegen/check/random.hpp"
#include "tests/support/random_rules.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <regex>

using namespace deltaloom::codegen;

static std::uint64_t hash(std::string const& text) {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (unsigned char c : text) h = (h ^ c) * 0x100000001b3u;
    return h;
}

TEST_CASE("a seed gives the same bytes with every compiler") {
    CHECK(random_rules(1, 60, false) == random_rules(1, 60, false));
    CHECK(random_rules(1, 60, false) != random_rules(2, 60, false));
    CHECK(hash(random_rules(1, 300, false)) == 0x0e81fa0fce4eccefu);
    CHECK(hash(random_rules(18446744073709551615u, 300, true)) == 0x2d7e5b43b8c19fc8u);
    // A rule does not depend on how many others there are.
    CHECK(random_rule(5, 17, false).statements == random_rule(5, 17, false).statements);
    CHECK(random_rules(5, 30, true).find(random_rule(5, 17, true).statements.back()) != std::string::npos);
}

TEST_CASE("sixty rules hold the whole class") {
    for (std::uint64_t seed = 100; seed < 120; ++seed) {
        INFO("seed " << seed);
        auto const text = random_rules(seed, 60, false);
        for (char const* feature : {"STATE\\(", "diag\\(", "T\\(S\\w*\\)|T\\(M\\w*\\)", "repeat<", "exp\\(",
                                    "sigmoid\\(", "l2norm\\(", "previous\\("}) {
            INFO(feature);
            CHECK(std::regex_search(text, std::regex(feature)));
        }
        std::set<std::string> tags;
        for (int i = 0; i < 60; ++i) tags.merge(random_rule(seed, i, false).tags);
        for (char const* tag :
             {"left form", "erase", "coupled states", "repeat", "key-channel decay log", "value-channel decay log",
              "several statements", "feature map", "normaliser", "output nonlinear in reads", "no chunked form"})
            CHECK(tags.count(tag) == 1);
    }
}

TEST_CASE("random rules stay bounded on their data") {
    std::uint64_t const seed = 20;
    for (auto const& rule : deltaloom::test::random_declarations(seed, 200, false)) {
        Draw draw(seed, 1);
        int const T = 64;
        auto const dims = filled_dims(dimensions(rule), [&](std::string const&) { return draw.between(1, 6); });
        double largest = 0;
        auto const result = run(rule, draw_data(rule, dims, T, draw));
        for (auto const& [name, m] : result.states)
            for (double x : m.e) largest = std::max(largest, std::isfinite(x) ? std::abs(x) : INFINITY);
        for (auto const& outputs : result.outputs)
            for (auto const& [name, m] : outputs)
                for (double x : m.e) largest = std::max(largest, std::isfinite(x) ? std::abs(x) : INFINITY);
        INFO(equation(rule));
        CHECK(largest < 1e3);
    }
}
