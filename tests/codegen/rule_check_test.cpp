// What is refused about a rule: the words, the place, and beside it a rule that is accepted.
#include "codegen/rule/typed_rule.hpp"
#include "tests/support/parse.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>

using namespace deltaloom::codegen;
using deltaloom::test::parse_rule;

namespace {

struct Refusal {
    std::string text, operands; // the rule; `at` marks where the message points
    std::string at;             // the first occurrence of this text, or "" for the rule itself
    std::vector<std::string> words;
    std::string twin, twin_operands; // accepted
};

std::string const output = ", o <<= S * q";
std::string const delta = "S <<= S + beta * (v - S * k) * T(k)";

std::vector<Refusal> const refusals{
    {"S <<= S - (S * a::e) * T(k), o <<= S * q + b::e",
     "INPUT(a::e, dk); INPUT(b::e, dv)",
     "b::e",
     {"two operands", "::test::a::e", "::test::b::e"},
     "S <<= S - (S * a::e) * T(a::e), o <<= S * q",
     "INPUT(a::e, dk); INPUT(b::e, dv)"},
    {"S <<= S + v * T(dv)" + output,
     "INPUT(dv, dk)",
     "dv",
     {"operand and a dimension", "dv"},
     "S <<= S + v * T(e)" + output,
     "INPUT(e, dk)"},
    {"S <<= exp(g) * S + previous(v) * T(k), o <<= S * q + v_previous",
     "INPUT(v_previous, dv)",
     "previous",
     {"v_previous", "already"},
     "S <<= exp(g) * S + previous(v) * T(k), o <<= S * q + v_before",
     "INPUT(v_before, dv)"},
    {"S <<= S + v * T(k) * dot(dpfp<2>(k), dpfp<2>(T(k)))" + output,
     "",
     "dpfp<2>(T",
     {"dpfp of 1 x dk", "column"},
     "S <<= S + v * T(k) * dot(dpfp<2>(k), dpfp<2>(q))" + output,
     ""},
    {"S <<= S + v * T(k) * dot(dpfp<2>(k), dpfp<3>(k))" + output,
     "",
     "dot",
     {"dpfp_dim<2, dk> x 1", "dpfp_dim<3, dk> x 1"},
     "S <<= S + v * T(k) * dot(dpfp<3>(k), dpfp<3>(k))" + output,
     ""},
    {"S <<= S + sum(dpfp<0>(k)) * v * T(k)" + output,
     "",
     "dpfp",
     {"nu of at least 1"},
     "S <<= S + sum(dpfp<1>(k)) * v * T(k)" + output,
     ""},
    {"S <<= S + sum(taylor2(beta)) * v * T(k)" + output,
     "",
     "taylor2",
     {"taylor2 of a scalar", "column"},
     "S <<= S + sum(taylor2(k)) * v * T(k)" + output,
     ""},
    {"S <<= S + sum(taylor2(w)) * v * T(k)" + output,
     "GATE(w, log, dk)",
     "taylor2",
     {"log gate w", "exp(w)"},
     "S <<= S + sum(taylor2(exp(w))) * v * T(k)" + output,
     "GATE(w, log, dk)"},
    {"S <<= S + sum(random_features(v, W)) * v * T(k)" + output,
     "DIM(dr); PARAMETER(W, dr, dk)",
     "random_features",
     {"random_features of dv x 1 and dr x dk", "columns"},
     "S <<= S + sum(random_features(k, W)) * v * T(k)" + output,
     "DIM(dr); PARAMETER(W, dr, dk)"},
    {"S <<= S + sum(random_features(k, k)) * v * T(k)" + output,
     "",
     "random_features",
     {"random_features of dk x 1 and dk x 1"},
     "S <<= S + sum(random_features(k, k * T(k))) * v * T(k)" + output,
     ""},
    {"S <<= S + v * T(k), o <<= (S * q) * (sum(a) + sum(b) + sum(c) + sum(d) + sum(e) + sum(f) + sum(h))",
     "INPUT(a, d1); INPUT(b, d2); INPUT(c, d3); INPUT(d, d4); INPUT(e, d5); INPUT(f, d6); INPUT(h, d7)",
     "",
     {"9 dimensions", "at most 8"},
     "S <<= S + v * T(k), o <<= (S * q) * (sum(a) + sum(b) + sum(c) + sum(d) + sum(e) + sum(f))",
     "INPUT(a, d1); INPUT(b, d2); INPUT(c, d3); INPUT(d, d4); INPUT(e, d5); INPUT(f, d6)"},
    {"o <<= S * q", "", "S", {"never written", "S"}, "S <<= S, o <<= S * q", ""},
    {delta + ", z <<= z + k" + output, "", "z", {"read by nothing", "z"}, delta + ", z <<= z + k, o <<= S * z", ""},
    {"S <<= S + v * T(k), M <<= M + S, z <<= z + T(M) * v" + output,
     "STATE(M, dv, dk)",
     "M",
     {"read by nothing", "M"},
     "M <<= M + v * T(k), S <<= S + M, z <<= z + k, o <<= S * z",
     "STATE(M, dv, dk)"},
    {delta, "", "", {"no output"}, delta + output, ""},
    {delta + output + " + y",
     "OUTPUT(y, dv)",
     "y",
     {"output y", "read"},
     delta + output + ", y <<= S * k",
     "OUTPUT(y, dv)"},
    {delta + output + ", o <<= S *  k",
     "",
     "<<= S *  k",
     {"written twice"},
     delta + output + ", y <<= S *  k",
     "OUTPUT(y, dv)"},
    {"repeat<2>(S <<= S + v * T(k), o <<= S  * k)",
     "",
     "<<= S  * k",
     {"in a repeat", "o"},
     "repeat<2>(S <<= S + v * T(k))" + output,
     ""},
    {delta + ", o <<=  v", "", "<<=  v", {"reads no state", "o"}, delta + ", o <<= v + S * q", ""},
    {"repeat<2>(S <<= S + v * T(k)), o <<= S * q + v",
     "",
     "v,",
     {"inside repeat<2>", "outside", "v"}, // placed below
     "repeat<2>(S <<= S + v * T(k)), o <<= S * q + x",
     "INPUT(x, dv)"},
    {"repeat<2>(S <<= S + v * T(k)), repeat<3>(S <<= S + x * T( k))" + output,
     "INPUT(x, dv)",
     "k)), o",
     {"inside repeat<3>", "inside repeat<2>"},
     "repeat<2>(S <<= S + v * T(k)), repeat<2>(S <<= S + x * T( k))" + output,
     "INPUT(x, dv)"},
    {"S <<= exp(0 * g) * S + v * T(k)" + output,
     "",
     "* g",
     {"integer below 1", "0 * g"},
     "S <<= exp(1 * g) * S + v * T(k)" + output,
     ""},
    {"S <<= exp(g * -2) * S + v * T(k)" + output,
     "",
     "* -2",
     {"integer below 1", "-2 * g"},
     "S <<= exp(g * 2) * S + v * T(k)" + output,
     ""},
    {"S <<= exp(2.0 * g) * S + v * T(k)" + output,
     "",
     "* g",
     {"whole number", "written as an integer"},
     "S <<= exp(2 * g) * S + v * T(k)" + output,
     ""},
    {"S <<= g * S + v * T(k)" + output,
     "",
     "* S",
     {"log gate g", "exp(g)"},
     "S <<= exp(g) * S + v * T(k)" + output,
     ""},
    {"S <<= exp(1 - g) * S + v * T(k)" + output,
     "",
     "- g",
     {"log gate g", "exp"},
     "S <<= exp(1 - alpha) * S + v * T(k)" + output,
     ""},
    {"S <<= S * diag(w) + v * T(k)" + output,
     "GATE(w, log, dk)",
     "diag",
     {"log gate w"},
     "S <<= S * diag(exp(w)) + v * T(k)" + output,
     "GATE(w, log, dk)"},
    {"S <<= S + (S * v) * T(k)" + output,
     "",
     "* v",
     {"dv x dk", "dv x 1", "T"},
     "S <<= S + (S * k) * T(k)" + output,
     ""},
    {"S <<= S + v + k" + output, "", "+ v", {"dv x dk", "dv x 1"}, delta + output, ""},
    {"S <<= S + 1" + output, "", "1", {"number", "matrix"}, "S <<= S + v * T(1 - k)" + output, ""},
    {"S <<= S + v % k * T(k)" + output, "", "% k", {"dv x 1", "dk x 1"}, "S <<= S + v % v * T(k)" + output, ""},
    {"S <<= S / k + v * T(k)" + output, "", "/ k", {"division", "dk x 1"}, "S <<= S / (1 + dot(k, k))" + output, ""},
    {"S <<= S + v * T(k), o <<= l2norm(S) * q",
     "",
     "l2norm",
     {"l2norm", "dv x dk", "vector"},
     "S <<= S + v * T(k), o <<= l2norm(S * q)",
     ""},
    {"S <<= S + dot(v, k) * v * T(k)" + output,
     "",
     "dot",
     {"dot", "two columns"},
     "S <<= S + dot(q, k) * v * T(k)" + output,
     ""},
    {"S <<= S + previous(S) * v * T(k)" + output,
     "",
     "previous",
     {"previous", "input or a linear gate"},
     "S <<= S + previous(beta) * v * T(k)" + output,
     ""},
    {"S <<= S + previous(exp(g)) * v * T(k)" + output,
     "",
     "previous",
     {"by name"},
     "S <<= S + previous(alpha) * v * T(k)" + output,
     ""},
    {"repeat<2>(S <<= S + previous(v) * T(k))" + output,
     "",
     "previous",
     {"inside a repeat"},
     "S <<= S + previous(v) * T(k)" + output,
     ""},
    {"repeat<2>(repeat<2>(S <<= S + v * T(k)))" + output,
     "",
     "repeat<2>(S",
     {"repeat inside a repeat"},
     "repeat<2>(S <<= S + v * T(k))" + output,
     ""},
    {"repeat<0>(S <<= S + v * T(k))" + output,
     "",
     "repeat",
     {"repeat<0>", "1 to"},
     "repeat<1>(S <<= S + v * T(k))" + output,
     ""},
    {"k <<= k, S <<= S + v * T(k)" + output,
     "",
     "<<= k",
     {"only a state or an output"},
     "S <<= S + v * T(k)" + output,
     ""},
    {"S <<= S * q, o <<= S * q", "", "<<=", {"S is dv x dk", "dv x 1"}, "S <<= S, o <<= S * q", ""},
    {"S <<= cosh(S)" + output, "", "cosh", {"cosh", "no function"}, "S <<= tanh(S)" + output, ""},
};

std::vector<Diagnostic> faults(std::string const& text, std::string const& operands, std::string name = "r") {
    auto result = check(parse_rule(std::move(name), text, operands));
    auto* all = std::get_if<1>(&result);
    return all ? *all : std::vector<Diagnostic>{};
}

TypedRule accepted(std::string const& text, std::string const& operands = "") {
    auto result = check(parse_rule("r", text, operands));
    if (auto* all = std::get_if<1>(&result)) FAIL(text << ": " << (*all)[0].text);
    return std::get<0>(std::move(result));
}

bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("every refusal says its words at its place, and its twin is accepted") {
    for (auto const& r : refusals) {
        INFO(r.text);
        auto const all = faults(r.text, r.operands);
        REQUIRE_FALSE(all.empty());
        auto const told = std::find_if(all.begin(), all.end(), [&](Diagnostic const& d) {
            return std::all_of(r.words.begin(), r.words.end(), [&](auto const& w) { return contains(d.text, w); });
        });
        INFO(all[0].text);
        REQUIRE(told != all.end());
        CHECK(told->severity == Severity::error);
        bool const last = r.at == "v,"; // the second use
        auto const offset = r.at.empty() ? 0 : last ? r.text.size() - 1 : r.text.find(r.at);
        CHECK(told->where.column == offset + 1);
        CHECK(faults(r.twin, r.twin_operands).empty());
    }
}

TEST_CASE("all faults of a rule are told, in the order of the text") {
    auto const all = faults("S <<= g * S + (S * v) * T(k), o <<= S * q, o <<= S * k", "");
    REQUIRE(all.size() == 3);
    CHECK(contains(all[0].text, "log gate"));
    CHECK(contains(all[1].text, "dv x 1"));
    CHECK(contains(all[2].text, "written twice"));
    REQUIRE(all[2].notes.size() == 1);
}

TEST_CASE("a fault in a repeat is told once") {
    CHECK(faults("repeat<3>(S <<= S + v * T(v)), o <<= S * q", "").size() == 1);
}

TEST_CASE("names of rules") {
    CHECK(contains(faults(delta + output, "", "2x")[0].text, "no identifier"));
    CHECK(contains(faults(delta + output, "", "my-rule")[0].text, "no identifier"));
    CHECK(contains(faults(delta + output, "", "")[0].text, "no identifier"));
    for (char const* taken : {"library", "kernels_0", "std", "deltaloom", "dl_rule"})
        CHECK(contains(faults(delta + output, "", taken).at(0).text, "choose another name"));
    for (char const* free : {"library_", "kernels", "delta_loom", "dlrule"})
        CHECK(faults(delta + output, "", free).empty());
    CHECK(contains(faults(delta + output, "", "while")[0].text, "keyword"));
    CHECK(faults(delta + output, "", "delta_2").empty());

    auto const rule = [](std::string name) { return parse_rule(std::move(name), delta + output); };
    auto const twice = check_names({rule("a"), rule("b"), rule("a"), rule("a")});
    REQUIRE(twice.size() == 2);
    CHECK(contains(twice[0].text, "two rules are called \"a\""));
    CHECK(check_names({rule("a"), rule("b")}).empty());
}

TEST_CASE("trees that no reader produces are refused, not followed") {
    auto const broken = [](auto change) {
        Declaration d = parse_rule("r", delta + output);
        change(d);
        auto const result = check(d);
        auto* all = std::get_if<1>(&result);
        return all && !all->empty();
    };
    CHECK(broken([](Declaration& d) { d.statements[0].arguments.pop_back(); }));
    CHECK(broken([](Declaration& d) { d.statements[0].arguments[1].arguments.clear(); }));
    CHECK(broken([](Declaration& d) { d.statements[0].arguments[1].head = "@"; }));
    CHECK(broken([](Declaration& d) { d.statements[0].arguments[0].operand = 99; }));
    CHECK(broken([](Declaration& d) { d.statements[1].arguments[1].arguments[0].operand = -1; }));
    CHECK(broken([](Declaration& d) { d.operands[0].dims = {"a", "b", "c"}; }));
    CHECK(broken([](Declaration& d) { d.operands[0].dims.clear(); }));
    CHECK(broken([](Declaration& d) { d.operands[1].domain = Domain::log; }));
    CHECK(broken([](Declaration& d) { d.statements.clear(); }));
    CHECK(broken([](Declaration& d) { d.statements[0] = d.statements[0].arguments[1]; }));
    CHECK(broken([](Declaration& d) {
        Tree& sum = d.statements[0].arguments[1];
        sum.arguments[1] = {};
        sum.arguments[1].number = std::numeric_limits<double>::quiet_NaN();
    }));
}

TEST_CASE("sugar is gone from a checked rule") {
    CHECK(print(accepted("S <<= S / 3 - min(v, 0.5) * T(k), o <<= S * (q / norm(q))")) ==
          "rule r\n"
          "  state S: dv x dk\n"
          "  input v: dv x 1\n"
          "  input k: dk x 1\n"
          "  output o: dv x 1\n"
          "  input q: dk x 1\n"
          "  S <<= (+ (scale (inv 3) S) (neg (* (neg (max (neg v) (neg 1/2[dv x 1]))) (T k))))\n"
          "  o <<= (* S (scale (inv (sqrt (sum (% q q)))) q))\n");
    CHECK(
        print(accepted("repeat<2>(S <<= exp(2 * g + h) * S + v * T(u)), o <<= dot(k, q) * previous(x) + S * l2norm(q)",
                       "GATE(h, log); PARAMETER(u, dk); INPUT(x, dv)")) ==
        "rule r\n"
        "  state S: dv x dk\n"
        "  gate log g: a scalar, 2 steps\n"
        "  gate log h: a scalar, 2 steps\n"
        "  input v: dv x 1, 2 steps\n"
        "  parameter u: dk x 1\n"
        "  output o: dv x 1\n"
        "  input k: dk x 1\n"
        "  input q: dk x 1\n"
        "  input x: dv x 1\n"
        "  state x_previous: dv x 1, x of the token before\n"
        "  S <<= (+ (scale (exp (+ (2 g.0) h.0)) S) (* v.0 (T u)))\n"
        "  S <<= (+ (scale (exp (+ (2 g.1) h.1)) S) (* v.1 (T u)))\n"
        "  o <<= (+ (scale (* (T k) q) x_previous) (* S (l2norm[1e-06] q)))\n"
        "  x_previous <<= x\n");
}

TEST_CASE("repeated statements share their place in the text") {
    auto const rule = accepted("S <<= alpha * S, repeat<2>(S <<= S + v * T(k), z <<= z + k), o <<= S * z");
    std::vector<std::pair<int, int>> seen;
    for (auto const& s : rule.statements) seen.push_back({s.written, s.step});
    CHECK(seen == std::vector<std::pair<int, int>>{{0, 0}, {1, 0}, {2, 0}, {1, 1}, {2, 1}, {3, 0}});
    CHECK(rule.dims == std::vector<std::string>{"dv", "dk"});
    CHECK(rule.with_role(Role::input).size() == 3);
}

TEST_CASE("checking twice gives the same value") {
    auto const d = parse_rule("r", delta + output);
    CHECK(std::get<0>(check(d)) == std::get<0>(check(d)));
}
