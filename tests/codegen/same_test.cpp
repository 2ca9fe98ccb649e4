// Two rules: the same by recurrence, by token map, at random points, or told apart by small numbers; each verdict by
// rules that deserve it.
#include "codegen/check/same.hpp"
#include "tests/support/catalogue.hpp"
#include "tests/support/parse.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <map>

using namespace deltaloom::codegen;
using deltaloom::test::parse_rule;

namespace {

struct Rule {
    Declaration declaration;
    Derived derived;
    Rule(std::string const& name, std::string const& line, std::string const& operands)
        : declaration(parse_rule(name, line, operands)) {
        auto result = check(declaration);
        if (auto* all = std::get_if<1>(&result)) FAIL(line << ": " << (*all)[0].text);
        derived = derive(std::get<0>(std::move(result)));
    }
    operator ComparedRule() const { return {declaration, derived}; }
};

std::string const more = "INPUT(e, dk); GATE(h, log); GATE(gk, log, dk); GATE(w, linear, dk); INPUT(a, dk); "
                         "INPUT(b, dk); INPUT(kappa, dk); INPUT(x, dv); STATE(M, dv, dk); GATE(mu, linear)";

RuleComparison compared(std::string const& one, std::string const& two) {
    return compare_rules(Rule("one", one, more), Rule("two", two, more), 1);
}
void expect(Sameness verdict, std::string const& one, std::string const& two) {
    INFO(one << "\n" << two);
    CHECK(std::string(name(compared(one, two).verdict)) == name(verdict));
    CHECK(std::string(name(compared(two, one).verdict)) == name(verdict));
}
std::string memory(std::string const& update) { return "S <<= " + update + ", o <<= S * q"; }

} // namespace

TEST_CASE("statement by statement the same") {
    auto const same_lines = [](std::string const& first, std::string const& second) {
        expect(Sameness::recurrence, memory(first), memory(second));
    };
    same_lines("alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k)",
               "alpha * S - alpha * beta * (S * k) * T(k) + v * T(beta * k)");
    same_lines("S + beta * (v - S * k) * T(k)", "S + beta * v * T(k) - (beta * (S * k)) * T(k) * 1");
    same_lines("S * diag(w % e) + v * T(k)", "(S * diag(w)) * diag(e) + v * T(k)");
    same_lines("exp(g + h) * S + v * T(k)", "exp(g) * exp(h) * S + v * T(k)");
    same_lines("S + (2 * v) * T(k + e) - v * T(e)", "S + v * T(k) + v * T(k + e)");
    // A low-rank transition, written with its own sign and scale.
    same_lines("S * diag(w) + (S * -kappa) * T(kappa % e) + v * T(k)",
               "S * diag(w) - (S * kappa) * T(e % kappa) + v * T(k)");
    same_lines("S * diag(exp(gk)) + (S * a) * T(b) + v * T(k)",
               "v * T(k) + 2 * (S * (0.5 * a)) * T(b) + S * diag(exp(gk))");
}

TEST_CASE("one token the same, in other statements") {
    expect(Sameness::token_map, "S <<= S * diag(w), S <<= S + beta * (v - S * k) * T(k), o <<= S * q",
           memory("S * diag(w) + beta * (v - S * (w % k)) * T(k)"));
    expect(Sameness::token_map, "S <<= S * diag(exp(gk)), S <<= S + beta * (v - S * k) * T(k), o <<= S * q",
           memory("S * diag(exp(gk)) + beta * (v - S * (exp(gk) % k)) * T(k)"));
    expect(Sameness::token_map, "S <<= S + v * T(k), o <<= S * q", "o <<= S * q + v * dot(k, q), S <<= S + v * T(k)");
    // The right form and the mirror image of it.
    expect(Sameness::token_map, "M <<= mu * M + v * T(k), S <<= S + M, o <<= S * q",
           "S <<= S + mu * M + v * T(k), M <<= mu * M + v * T(k), o <<= S * q");
}

TEST_CASE("what has no normal form is compared at points") {
    expect(Sameness::points, memory("tanh(S) + v * T(k)"), memory("v * T(k) + tanh(S)"));
    expect(Sameness::points, memory("S + v * T(k) / (1 + beta)"),
           memory("S + v * T(k) * (1 - beta) / (1 - beta * beta)"));
    auto const c = compared(memory("tanh(S) + v * T(k)"), memory("v * T(k) + tanh(S)"));
    CHECK(c.points >= 4);
    CHECK(c.functions);
    CHECK(c.bound_log2 <= -40);
    CHECK(c.bound_log2 == std::log2(double(c.degree)) - 61);
    expect(Sameness::differs, memory("tanh(S) + v * T(k)"), memory("tanh(S) - v * T(k)"));
}

TEST_CASE("what differs is shown on small numbers") {
    auto const told_apart = [](std::string const& first, std::string const& second) {
        auto const c = compared(first, second);
        INFO(first << "\n" << second);
        REQUIRE(c.verdict == Sameness::differs);
        REQUIRE(c.counterexample);
        CHECK(c.counterexample->one != c.counterexample->two);
        CHECK(c.counterexample->tokens <= 2);
        for (auto const& [dim, extent] : c.counterexample->dims) CHECK(extent <= 2);
        return *c.counterexample;
    };
    auto const c = told_apart(memory("S + beta * (v - S * k) * T(k)"), memory("S + 2 * beta * (v - S * k) * T(k)"));
    CHECK(c.operand == "o");
    CHECK(c.tokens == 1);
    CHECK(c.one == "1");
    CHECK(c.two == "2");
    told_apart(memory("alpha * S + v * T(k)"), memory("alpha * alpha * S + v * T(k)"));
    told_apart(memory("S + beta * (v - S * k) * T(e) + 0 * (S * k) * T(k)"), memory("S + beta * (v - S * e) * T(k)"));
    told_apart(memory("exp(g) * S + v * T(k)"), memory("exp(2 * g) * S + v * T(k)"));
    told_apart(memory("S + sigmoid(beta) * v * T(k)"), memory("S + (1 - sigmoid(beta)) * v * T(k) + 0 * S"));
    // Only where the state has room: in one channel both are the same.
    auto const room = told_apart(memory("S * diag(k) + v * T(q)"), memory("dot(k, 0 * k + 1) * S + v * T(q)"));
    CHECK(room.dims.at(room.dims[0].first == "dk" ? 0 : 1).second == 2);
    // The state alone tells.
    auto const hidden = told_apart("M <<= mu * M + v * T(k), S <<= S + v * T(k), o <<= S * q + 0 * (M * q)",
                                   "M <<= mu * M - v * T(k), S <<= S + v * T(k), o <<= S * q + 0 * (M * q)");
    CHECK(hidden.operand == "M");
    CHECK(hidden.token == -1);
    auto const fraction = told_apart(memory("S + v * T(k) / (1 + beta)"), memory("S + v * T(k) / (2 + beta)"));
    CHECK(fraction.two == "1/2");
}

TEST_CASE("states over what a feature map makes of a dimension") {
    std::string const state = "STATE(P, dv, dpfp_dim<2, dk>)";
    auto const rule = [&](char const* name, std::string const& update) {
        return Rule(name, "P <<= " + update + ", o <<= P * dpfp<2>(q)", state);
    };
    auto const delta = rule("one", "P + beta * (v - P * dpfp<2>(k)) * T(dpfp<2>(k))");
    auto const open = rule("two", "P - beta * (P * dpfp<2>(k)) * T(dpfp<2>(k)) + beta * v * T(dpfp<2>(k))");
    CHECK(compare_rules(delta, open, 1).verdict == Sameness::recurrence);
    auto const told = compare_rules(delta, rule("three", "P + beta * v * T(dpfp<2>(k))"), 1);
    REQUIRE(told.verdict == Sameness::differs);
    REQUIRE(told.counterexample);
    std::map<std::string, int> dims(told.counterexample->dims.begin(), told.counterexample->dims.end());
    CHECK(dims["dk"] > 0);
    CHECK(dims["dpfp_dim<2, dk>"] == 4 * dims["dk"]);
}

TEST_CASE("a difference of outputs is told before one of states") {
    auto const c = compared("S <<= S + v * T(k), o <<= S * q", "S <<= S + beta * v * T(k), o <<= beta * (S * q)");
    CHECK(c.verdict == Sameness::operands); // the first takes no beta
    auto const d = compared("S <<= alpha * S + v * T(k), o <<= S * q", "S <<= v * T(k) - alpha * S, o <<= S * q");
    REQUIRE(d.counterexample);
    CHECK(d.counterexample->operand == "o");
    CHECK(d.counterexample->token == 0);
}

TEST_CASE("functions that agree on real numbers and not by name are left open") {
    expect(Sameness::undecided, memory("S + sigmoid(-beta) * v * T(k)"), memory("S + (1 - sigmoid(beta)) * v * T(k)"));
    expect(Sameness::undecided, memory("S + exp(beta + dot(k, e)) * v * T(k)"),
           memory("S + exp(beta) * exp(dot(k, e)) * v * T(k)"));
    expect(Sameness::recurrence, memory("S + tanh(beta + dot(k, e)) * v * T(k)"),
           memory("S + tanh(dot(e, k) + beta) * v * T(k)"));
}

TEST_CASE("operands are matched by name, role, domain, shape and steps") {
    auto const with = [](char const* line, char const* operands) { return Rule("rule", line, operands); };
    auto const mismatch = [&](Rule const& a, Rule const& b) {
        auto const c = compare_rules(a, b, 1);
        CHECK(c.verdict == Sameness::operands);
        REQUIRE(c.operands.size() == 1);
        return c.operands[0];
    };
    char const* const gated = "S <<= S * diag(x) + v * T(k), o <<= S * q";
    auto const domain = mismatch(with(gated, "GATE(x, linear, dk)"), with(gated, "INPUT(x, dk)"));
    CHECK(domain.name == "x");
    CHECK(domain.one == "linear gate of dk");
    CHECK(domain.two == "input of dk");
    auto const absent =
        mismatch(with("S <<= alpha * S + v * T(k), o <<= S * q", ""), with("S <<= S + v * T(k), o <<= S * q", ""));
    CHECK(absent.name == "alpha");
    CHECK(absent.two == "");
    auto const shape = mismatch(with("S <<= S * diag(x) + v * T(k), o <<= S * q", "INPUT(x, dk)"),
                                with("S <<= S * x + v * T(k), o <<= S * q", "INPUT(x)"));
    CHECK(shape.two == "input, a number");
    auto const steps = compare_rules(with("repeat<2>(S <<= S + v * T(k)), o <<= S * q", ""),
                                     with("repeat<3>(S <<= S + v * T(k)), o <<= S * q", ""), 1);
    CHECK(steps.operands.size() == 2);
    CHECK(compare_rules(with(gated, "GATE(x, linear, dk)"), with(gated, "GATE(x, linear, dk)"), 1).verdict ==
          Sameness::recurrence);
}

TEST_CASE("every rule is the same as itself, and told apart from itself with another output") {
    for (auto const& c : deltaloom::test::catalogue()) {
        INFO(c.name);
        Rule const rule(c.name, c.text, c.operands);
        auto const verdict = compare_rules(rule, rule, 3).verdict;
        CHECK(same(verdict));
        if (rule.derived.recurrence) CHECK(verdict == Sameness::recurrence);
        auto const at = c.text.find("o <<= ");
        if (at == std::string::npos) continue;
        auto doubled = c.text;
        doubled.insert(at + 6, "S * q + ");
        auto const names = [&](std::string const& operand) {
            for (auto const& o : rule.declaration.operands)
                if (o.name == operand) return true;
            return false;
        };
        if (!names("S") || !names("q")) continue;
        auto const other = compare_rules(rule, Rule("other", doubled, c.operands), 3);
        CHECK(other.verdict == Sameness::differs);
        CHECK(other.counterexample);
    }
}

TEST_CASE("numbers are written as fractions where they are") {
    using deltaloom::runtime::field;
    CHECK(number_text(0.0) == "0");
    CHECK(number_text(-3.0) == "-3");
    CHECK(number_text(0.625) == "5/8");
    CHECK(number_text(2.0 / 3) == "2/3");
    CHECK(number_text(0.1234567891) == "0.123456789");
    CHECK(number_text(field(-3.0), -3) == "-3");
    CHECK(number_text(field(22.0) / field(7.0), 22.0 / 7) == "22/7");
    CHECK(number_text(-field(1.0) / field(1000003.0), -1.0 / 1000003) == "-1/1000003");
    CHECK(number_text(field(22.0) / field(7.0), 3.0) == "3"); // no fraction near that number
}
