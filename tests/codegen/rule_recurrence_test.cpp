// The canonical recurrence: what has one, how it prints, what compares equal, and the reason where there is none.
#include "codegen/rule/recurrence.hpp"
#include "tests/support/catalogue.hpp"
#include "tests/support/parse.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace deltaloom::codegen;
using deltaloom::test::parse_rule;

namespace {

std::string const more = "INPUT(e, dk); INPUT(f, dv); INPUT(eta); GATE(w, log, dk); GATE(h, log, dv); GATE(r, linear); "
                         "GATE(g2, log); GATE(a, linear, dk); PARAMETER(u, dk); PARAMETER(W, dk, dk); STATE(n, dk); "
                         "STATE(M, dv, dk); STATE(Q, dk, dk); OUTPUT(y, dv); OUTPUT(x, dk); INPUT(A, dk, dk); "
                         "INPUT(B, dv, dk); OUTPUT(s)";

TypedRule typed(std::string const& text, std::string const& operands = more) {
    auto result = check(parse_rule("r", text, operands));
    if (auto* all = std::get_if<1>(&result)) FAIL(text << ": " << (*all)[0].text);
    return std::get<0>(std::move(result));
}

Recurrence recurrence(TypedRule const& rule) {
    auto result = normalise(rule);
    if (auto* reason = std::get_if<1>(&result)) FAIL(rule.equation << ": " << reason->text);
    return std::get<0>(std::move(result));
}

std::string canonical(std::string const& text) {
    auto const rule = typed(text);
    return print(rule, recurrence(rule));
}

Reason reason(std::string const& text, std::string const& operands = more) {
    auto result = normalise(typed(text, operands));
    if (!std::get_if<1>(&result)) FAIL(text << " has a recurrence");
    return std::get<1>(result);
}

std::string const output = ", o <<= S * q";

} // namespace

TEST_CASE("every rule of the catalogue has its recurrence or its reason") {
    for (auto const& c : deltaloom::test::catalogue()) {
        INFO(c.name);
        auto const rule = typed(c.text, c.operands);
        auto const result = normalise(rule);
        if (c.reason.empty()) {
            auto const* why = std::get_if<1>(&result);
            INFO((why ? why->text : ""));
            REQUIRE(why == nullptr);
        } else {
            REQUIRE(std::get_if<1>(&result));
            CHECK(std::get<1>(result).text.find(c.reason) != std::string::npos);
            CHECK(std::get<1>(result).where.known());
        }
    }
}

TEST_CASE("canonical text") {
    CHECK(canonical("S <<= exp(g) * (S - beta * (S * k) * T(k)) + beta * v * T(k), o <<= S * q") ==
          "component S: dv x dk\n"
          "  S <- exp(g) S\n"
          "      + ( beta v + -beta exp(g) . S [k] ) [k]^T\n"
          "o = (S.1 [q])\n");
    CHECK(canonical("S <<= diag(exp(h)) * S, S <<= S + beta * v * T(k - T(S) * v), o <<= S * q, x <<= T(S) * v") ==
          "component S: dk x dv, transposed\n"
          "  S^T <- 1 S^T diag(exp(h))\n"
          "  S^T <- 1 S^T\n"
          "      + ( beta k + -beta . S^T [v] ) [v]^T\n"
          "o = (S.2 [q])\n"
          "x = (S.2^T [v])\n");
    CHECK(
        canonical("S <<= diag(exp(h)) * S + f % (v - S * k) * T(k), n <<= n + k, o <<= (S * q) / max(dot(n, q), 1)") ==
        "component S: dv x dk, one system per row\n"
        "  S <- 1 diag(exp(h)) S\n"
        "      + ( f v + -f . S [k] ) [k]^T\n"
        "component n: 1 x dk, transposed\n"
        "  n^T <- 1 n^T\n"
        "      + ( 1 ) [k]^T\n"
        "o = max(1, <n.1 q>_dk)^-1 (S.1 [q])\n");
    CHECK(canonical("M <<= r * M + beta * (v - S * k) * T(k), S <<= alpha * S - 2 * M, o <<= S * q") ==
          "component M S: dv x dk\n"
          "  M <- r M\n"
          "      + ( beta v + -beta . S [k] ) [k]^T\n"
          "  S <- -2 M + alpha S\n"
          "o = (S.1 [q])\n");
    CHECK(canonical("S <<= v * T(k) + 3 * previous(beta) * v * T(e), o <<= S * q") ==
          "component beta_previous: 1 x 1, transposed\n"
          "  beta_previous^T <- 0\n"
          "      + ( beta ) [1]^T\n"
          "component S: dv x dk\n"
          "  S <- 0\n"
          "      + ( 3 beta_previous v ) [e]^T\n"
          "      + ( v ) [k]^T\n"
          "o = (S.1 [q])\n");
}

TEST_CASE("decays that are sums") {
    CHECK(canonical("S <<= alpha * S * diag(a) - 2 * alpha * S * diag(e), o <<= S * q") ==
          "component S: dv x dk\n"
          "  S <- alpha S diag(a - 2 e)\n"
          "o = (S.1 [q])\n");
    CHECK(canonical("S <<= eta * diag(v) * S * diag(a) + beta * diag(3 * f) * S * diag(a), o <<= S * q") ==
          "component S: dv x dk\n"
          "  S <- 1 diag(3 beta f + eta v) S diag(a)\n"
          "o = (S.1 [q])\n");
    CHECK(canonical("S <<= diag(eta * f + beta * v) * S * diag(a + 2 * e), o <<= S * q") ==
          "component S: dv x dk\n"
          "  S <- 1 diag(beta v + eta f) S diag(a + 2 e)\n"
          "o = (S.1 [q])\n");
    CHECK(canonical("S <<= S - 2 * beta * (S * k) * T(k) + 6 * beta * (S * e) * T(k), o <<= S * q") ==
          "component S: dv x dk\n"
          "  S <- 1 S\n"
          "      + ( 6 beta . S [e - 1/3 k] ) [k]^T\n"
          "o = (S.1 [q])\n");
}

TEST_CASE("positions after each update") {
    auto const rule =
        typed("S <<= alpha * S, M <<= M + S, repeat<2>(S <<= S + v * T(k - T(M) * v)), o <<= S * q + M * q");
    auto const r = recurrence(typed("M <<= r * M + (v - S * k) * T(k), S <<= S + M, M <<= r * M, o <<= S * q"));
    REQUIRE(r.components.size() == 1);
    CHECK(r.components[0].after == std::vector<std::vector<int>>{{0, 1, 3}, {0, 2}});
    CHECK(r.components[0].micro[2].statement == 2);
    CHECK(recurrence(rule).components.size() == 1);
    // a state added whole belongs to the sum, though it does not read it
    CHECK(recurrence(typed("M <<= r * M + v * T(k), S <<= S + M, o <<= S * q")).components.size() == 1);
    CHECK(recurrence(typed("M <<= r * M + v * T(k), S <<= S + (M * q) * T(k), o <<= S * q")).components.size() == 2);
}

// {one, other, equal statement by statement, equal as maps of a token}
struct Pair {
    std::string one, other;
    bool statements, tokens;
};

TEST_CASE("equal maths, equal text") {
    std::vector<Pair> const pairs{
        {"S <<= alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k)",
         "S <<= v * beta * T(k) - alpha * beta * (S * k) * T(k) + S * alpha", true, true},
        {"S <<= S + beta * (v - S * k) * T(k)", "S <<= S * 1.0 - (S * (beta * k)) * T(k) + (v * T(k)) * beta", true,
         true},
        {"S <<= (1 - beta) * S + v * T(k)", "S <<= S - beta * S + v * T(k)", true, true},
        {"S <<= S + v * T(k + e) - (S * k) * T(e)", "S <<= S + v * T(k) + (v - S * k) * T(e)", true, true},
        {"S <<= S * diag(a % e)", "S <<= (S * diag(a)) * diag(e)", true, true},
        {"S <<= exp(g + g2) * S", "S <<= exp(g) * exp(g2) * S", true, true},
        {"S <<= exp(2 * g) * S", "S <<= exp(g) * S * exp(g)", true, true},
        {"S <<= S + (2 * v) * T(k + e) - v * T(e)", "S <<= S + v * T(k) + v * T(k + e)", true, true},
        {"S <<= S + beta * v * T(k - T(S) * v)", "S <<= S + beta * v * T(k) - beta * v * (T(v) * S)", true, true},
        {"S <<= S + max(v, f) * T(k)", "S <<= S + max(f, v) * T(k)", true, true},
        {"S <<= S + T(k * T(v))", "S <<= S + v * T(k)", true, true},
        {"S <<= S + sum(k % q) * v * T(k)", "S <<= S + dot(q, k) * v * T(k)", true, true},
        {"S <<= S + v * T(k) + f * T(e) - f * T(e)", "S <<= S + v * T(k)", true, true},
        {"S <<= S + (max(v, 0) - max(v, f - f)) * T(k) + v * T(k)", "S <<= S + v * T(k)", true, true},
        {"S <<= S + v * max(T(k), T(e))", "S <<= S + v * max(T(e), T(k))", true, true},
        {"S <<= S / (2 * beta) + v * T(k)", "S <<= 0.5 * S / beta + v * T(k)", true, true},
        {"S <<= S * diag(exp(w)), S <<= S + beta * (v - S * k) * T(k)",
         "S <<= S * diag(exp(w)) + beta * (v - S * (exp(w) % k)) * T(k)", false, true},
        {"S <<= S + beta * (v - S * k) * T(k)", "S <<= S + beta * (v - S * k) * T(e)", false, false},
        {"S <<= alpha * S + v * T(k)", "S <<= S + v * T(k)", false, false},
        {"S <<= S + l2norm(v, 1e-6) * T(k)", "S <<= S + l2norm(v, 1e-5) * T(k)", false, false},
        {"S <<= S + dot(k, q) * v * T(k)", "S <<= S + dot(k, e) * v * T(k)", false, false},
    };
    for (auto const& p : pairs) {
        INFO(p.one << "\n" << p.other);
        auto const a = typed(p.one + output), b = typed(p.other + output);
        CHECK((print(a, recurrence(a)) == print(b, recurrence(b))) == p.statements);
        REQUIRE(token_map(a).has_value());
        CHECK((token_map(a) == token_map(b)) == p.tokens);
    }
}

TEST_CASE("scalars that are sums over several reads have one form") {
    std::string const update = "S <<= S + v * T(k), M <<= M + f * T(k), Q <<= Q + k * T(q), o <<= S * q + M * Q * q, ";
    std::vector<std::pair<std::string, std::string>> const same{
        {"s <<= dot(S * q, M * k)", "s <<= T(M * k) * S * q"},
        {"s <<= dot(S * q, M * k)", "s <<= dot(k, T(M) * (S * q))"},
        {"s <<= dot(S * q, v)", "s <<= dot(T(S) * v, q)"},
        {"s <<= dot(S * (k % (Q * e)), f)", "s <<= dot(k % (Q * e), T(S) * f)"},
        {"s <<= dot(S * (k % (Q * e)), f)", "s <<= dot(e, T(Q) * (k % (T(S) * f)))"},
        {"s <<= sum(S) + sum(v * T(k))", "s <<= sum(v) * sum(k) + sum(T(S))"},
        {"s <<= dot(S * q, S * q)", "s <<= dot(q, (T(S) * S) * q)"},
        {"s <<= sum(S * diag(e))", "s <<= sum(S * e)"},
        {"s <<= sum(diag(k % e)) + sum(S)", "s <<= dot(e, k) + sum(S)"},
        {"s <<= sum(diag(k) * diag(e)) + sum(S)", "s <<= dot(e, k) + sum(S)"},
        {"s <<= sum(T(diag(k))) + sum(S)", "s <<= sum(k) + sum(S)"},
        {"s <<= sum((S * W) * q)", "s <<= sum(S * (W * q))"},
    };
    for (auto const& [first, second] : same) {
        INFO(first << "\n" << second);
        CHECK(canonical(update + first) == canonical(update + second));
    }
}

TEST_CASE("the text does not depend on the order of operands and of independent statements") {
    auto const a = typed("M <<= M + v * T(e), S <<= S + (M * q) * T(k), y <<= M * q, o <<= S * q");
    auto const b = typed("M <<= v * T(e) + M, y <<= M * q, S <<= (M * q) * T(k) + S, o <<= S * q");
    CHECK(print(a, recurrence(a)) == print(b, recurrence(b)));
    std::string const coupled = "M <<= r * M + (S * k) * T(k), S <<= alpha * S + M";
    auto const c = typed("o <<= S * q, y <<= M * q, " + coupled), d = typed("y <<= M * q, o <<= S * q, " + coupled);
    CHECK(c.operands[0].name != d.operands[0].name);
    CHECK(print(c, recurrence(c)) == print(d, recurrence(d)));
}

// {rule, words, the text at the caret}
struct Missing {
    std::string text;
    std::vector<std::string> words;
    std::string caret;
};

TEST_CASE("each reason is at its operator") {
    std::vector<Missing> const all{
        {"S <<= S - beta * (S * k) * T(k) - eta * v *  T(T(S) * v)" + output,
         {"both sides", "not generated"},
         "*  T(T"},
        {"S <<= S + v * T(k), S <<= S / max(1, norm(S))" + output, {"norm of the state", "not affine"}, "norm"},
        {"S <<= tanh(S) + v * T(k)" + output, {"tanh of the state", "not affine"}, "tanh"},
        {"S <<= S + sigmoid(S * k) * T(k)" + output, {"sigmoid of the state", "not affine"}, "sigmoid"},
        {"S <<= S + beta * (v - (S * k) / sqrt(1 + dot(S * k, S * k))) * T(k)" + output, {"sqrt of the state"}, "sqrt"},
        {"S <<= S + v * T(k) / (1 + dot(S * k, v))" + output, {"division by the state"}, "/"},
        {"S <<= S + l2norm(S * k) * T(k)" + output, {"l2norm of the state"}, "l2norm"},
        {"S <<= S + dot(S * k, v) *  (S * k) * T(k)" + output, {"two state reads"}, "*  (S"},
        {"S <<= S * A + v * T(k)" + output, {"dense matrix", "no low-rank factor"}, "* A"},
        {"S <<= S * W + v * T(k)" + output, {"dense matrix", "no low-rank factor"}, "* W"},
        {"S <<= S + v * T(A * k)" + output, {"matrix of every token"}, "A * k"},
        {"S <<= diag(v) * S + S *  diag(a) + v * T(k)" + output, {"not diag(g) S diag(a)"}, "*  diag(a)"},
        {"S <<= S + B" + output, {"not of low rank", "no low-rank factor"}, "B"},
        {"S <<= S + dot(S * k, v) * v * T(k)" + output, {"dot product", "not generated"}, "dot"},
        {"Q <<= Q + T(Q) + k * T(k), x <<= Q * q", {"transposed state", "no low-rank factor"}, "T(Q)"},
        {"M <<= M *  diag(a) + beta * (v - S * k) * T(k), S <<= S + M" + output,
         {"coupled", "not generated"},
         "*  diag"},
        {"n <<= n + T(S) * v, S <<= S + v * T(n)" + output, {"different shapes", "not generated"}, "* v"},
        {"S <<= S + v * T(k), o <<= S * q / norm(S)", {"norm of the state"}, "norm"},
        {"S <<= S + exp(v * T(k))" + output, {"exp of a matrix"}, "exp"},
        {"Q <<= Q + diag(k), x <<= Q * q", {"low rank"}, "diag"},
        {"n <<= n + n % n % k, o <<= v * dot(n, q)", {"two state reads"}, "% n"},
        {"n <<= n + dot(n % n, k) * k, o <<= v * dot(n, q)", {"two state reads"}, "* k"},
        {"S <<= dot(S * k, v) *  S + v * T(k)" + output, {"two state reads"}, "*  S"},
        {"S <<= S % B + v * T(k)" + output, {"entrywise product of two matrices"}, "% B"},
        {"S <<= S + dot(S * k, S * k) * v * T(k)" + output, {"two state reads"}, "* T(k)"},
        {"S <<= S + dot(tanh(S * k), v) * v * T(k)" + output, {"tanh of the state"}, "tanh"},
        {"S <<= S + v * T(k) / dot(S * k, v)" + output, {"division by the state"}, "/"},
    };
    for (auto const& m : all) {
        INFO(m.text);
        auto const r = reason(m.text);
        INFO(r.text);
        for (auto const& w : m.words) CHECK(r.text.find(w) != std::string::npos);
        CHECK(m.text.substr(r.where.column - 1, m.caret.size()) == m.caret);
    }
}

TEST_CASE("multiplying out has an end, and says so") {
    std::string product = "v", operands = "";
    for (int i = 0; i < 20; ++i) {
        std::string const name = "a" + std::to_string(i);
        product = "(" + product + " * (1 + " + name + "))";
        operands += "INPUT(" + name + "); ";
    }
    CHECK(reason("S <<= S + " + product + " * T(k), o <<= S * q", operands).text.find("20000 terms") !=
          std::string::npos);
}

namespace {

std::vector<Tree*> nodes_of(Tree& t) {
    std::vector<Tree*> all{&t};
    for (auto& a : t.arguments)
        for (auto* n : nodes_of(a)) all.push_back(n);
    return all;
}

void damage(Declaration& d, std::mt19937_64& draw) {
    auto const pick = [&](auto const& from) -> auto const& { return from[draw() % from.size()]; };
    std::vector<Tree*> all;
    for (auto& s : d.statements)
        for (auto* n : nodes_of(s)) all.push_back(n);
    static std::vector<std::string> const heads{"+",    "-",       "*",      "/",        "%",   "exp",  "T",
                                                "diag", "dot",     "l2norm", "previous", "max", "tanh", "norm",
                                                "sum",  "softmax", "min",    "repeat",   "<<=", ""};
    Tree& at = *pick(all);
    switch (draw() % 7) {
    case 0: at.head = pick(heads); break;
    case 1: at.operand = static_cast<int>(draw() % (d.operands.size() + 2)) - 1; break;
    case 2: at.kind = static_cast<TreeKind>(draw() % 7); break;
    case 3: at = Tree(*pick(all)); break;
    case 4: at.count = static_cast<int>(draw() % 5) - 1; break;
    case 5: at.number = static_cast<double>(draw() % 5) - 2; break;
    case 6:
        if (!at.arguments.empty()) at.arguments.pop_back();
        break;
    }
}

} // namespace

TEST_CASE("damaged trees are refused or normalised, never followed") {
    unsigned const seed = 41;
    std::mt19937_64 draw(seed);
    int accepted = 0;
    for (int round = 0; round < 40; ++round)
        for (auto const& c : deltaloom::test::catalogue()) {
            Declaration d = parse_rule(c.name, c.text, c.operands);
            for (auto n = 1 + draw() % 3; n > 0; --n) damage(d, draw);
            INFO("seed " << seed << " round " << round << " " << c.name);
            auto const result = check(d);
            auto const* rule = std::get_if<0>(&result);
            if (!rule) {
                CHECK_FALSE(std::get<1>(result).empty());
                continue;
            }
            ++accepted;
            CHECK_FALSE(print(*rule).empty());
            auto const form = normalise(*rule);
            if (auto const* r = std::get_if<0>(&form)) CHECK_FALSE(print(*rule, *r).empty());
            token_map(*rule);
        }
    CHECK(accepted > 100);
}
