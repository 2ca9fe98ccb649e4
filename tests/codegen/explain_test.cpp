// What is said of a rule: its equations with its own names, the reasons, the costs, LaTeX that closes what it opens.
#include "codegen/explain/explain.hpp"
#include "tests/support/catalogue.hpp"
#include "tests/support/parse.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace deltaloom::codegen;
using deltaloom::test::parse_rule;

namespace {

Explanation explained(std::string const& line, std::string const& operands = "", ExplainSizes const& sizes = {}) {
    auto result = check(parse_rule("mine", line, operands));
    if (auto* all = std::get_if<1>(&result)) FAIL(line << ": " << (*all)[0].text);
    return explain(derive(std::get<0>(std::move(result))), sizes);
}

bool says(std::vector<Equation> const& equations, std::string const& line) {
    return std::any_of(equations.begin(), equations.end(), [&](Equation const& e) { return text(e) == line; });
}

// Of one component.
void check_chunk(Explanation const& x, std::vector<std::string> const& definitions,
                 std::vector<std::string> const& equations) {
    REQUIRE(x.chunks.size() == 1);
    INFO(text(x));
    for (auto const& line : definitions) {
        INFO(line);
        CHECK(says(x.chunks[0].definitions, line));
    }
    for (auto const& line : equations) {
        INFO(line);
        CHECK(says(x.chunks[0].equations, line));
    }
}

ExplainedCost row(Explanation const& x, std::string const& form, std::string const& direction) {
    for (auto const& r : x.costs.rows)
        if (r.form == form && r.direction == direction) return r;
    FAIL("no costs of " << form << " " << direction);
    return {};
}

// Empty, or what is wrong with the nesting of braces, environments and \left \right; outside verbatim.
std::string unbalanced(std::string tex) {
    for (auto begin = tex.find("\\begin{verbatim}"); begin != tex.npos; begin = tex.find("\\begin{verbatim}"))
        tex.erase(begin, tex.find("\\end{verbatim}") + std::string("\\end{verbatim}").size() - begin);
    std::vector<std::string> open;
    bool math = false;
    for (std::size_t i = 0; i < tex.size(); ++i) {
        auto const starts = [&](std::string const& word) { return tex.compare(i, word.size(), word) == 0; };
        auto const argument = [&] {
            auto const from = tex.find('{', i) + 1;
            return tex.substr(from, tex.find('}', from) - from);
        };
        auto const close = [&](std::string const& what) {
            if (open.empty() || open.back() != what) return false;
            open.pop_back();
            return true;
        };
        if (starts("% needs")) {
            i = tex.find('\n', i);
        } else if (starts("\\begin{")) {
            open.push_back(argument());
            if (open.back() == "align*") math = true;
        } else if (starts("\\end{")) {
            if (argument() == "align*") math = false;
            if (!close(argument())) return "\\end{" + argument() + "}";
        } else if (starts("\\left") && !starts("\\leftarrow")) {
            open.push_back("left");
        } else if (starts("\\right") && !starts("\\rightarrow")) {
            if (!close("left")) return "\\right";
        } else if (tex[i] == '\\' && std::string("{}$_&%#").find(tex[i + 1]) != std::string::npos) {
            ++i;
        } else if (tex[i] == '{') {
            open.push_back("{");
        } else if (tex[i] == '}') {
            if (!close("{")) return "}";
        } else if (tex[i] == '$') {
            math = !math;
        } else if ((tex[i] == '_' || tex[i] == '^') && !math) {
            return std::string("a bare ") + tex[i];
        }
    }
    return open.empty() && !math ? "" : "not closed: " + (open.empty() ? "$" : open.back());
}

} // namespace

TEST_CASE("a rule that only adds has nothing to solve") {
    auto const x = explained("S <<= S + v * T(k), o <<= S * q");
    CHECK(says(x.recurrence, "S <- S + v k^T"));
    check_chunk(x, {},
                {"U[e] = v[e]", "o[t] = S0 q[t] + sum(e <= t) <q[t], k[e]> U[e]", "S' = S0 + sum(e) U[e] k[e]^T"});
    CHECK(x.chunks[0].definitions.empty());
}

TEST_CASE("the triangular system of a rule that reads what it overwrites") {
    auto const x = explained("S <<= S + beta * (v - S * k) * T(k), o <<= S * q");
    CHECK(says(x.statements, "S <- S + beta (v - S k) k^T"));
    CHECK(says(x.recurrence, "S <- S + (beta v - beta S k) k^T"));
    check_chunk(x, {},
                {"M[i,e] = -beta[i] <k[i], k[e]>", "B[i] = (beta v)[i] - beta[i] S0 k[i]", "U = (I - M)^-1 B",
                 "U[i] = B[i] + sum(e < i) M[i,e] U[e]", "o[t] = S0 q[t] + sum(e <= t) <q[t], k[e]> U[e]",
                 "S' = S0 + sum(e) U[e] k[e]^T"});
    CHECK(x.missing.empty());
    CHECK(x.forms == std::vector<std::string>{"step", "recurrent", "chunked", "parallel", "summary"});
}

TEST_CASE("a number that decays stands between a write and its read") {
    auto const x = explained("S <<= alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k), o <<= S * q");
    CHECK(says(x.recurrence, "S <- alpha S + (beta v - alpha beta S k) k^T"));
    check_chunk(x, {"phi(e, i) = product(e < s < i) alpha[s]", "phi(e, t) = product(e < s <= t) alpha[s]"},
                {"M[i,e] = -(alpha beta)[i] phi(e, i) <k[i], k[e]>",
                 "B[i] = (beta v)[i] - (alpha beta)[i] phi(0, i) S0 k[i]",
                 "o[t] = phi(0, t) S0 q[t] + sum(e <= t) phi(e, t) <q[t], k[e]> U[e]",
                 "S' = phi(0, end) S0 + sum(e) phi(e, end) U[e] k[e]^T"});
}

TEST_CASE("a decay of a statement before the write reaches that write's read") {
    auto const x =
        explained("S <<= S * diag(exp(w)), S <<= S + beta * (v - S * k) * T(k), o <<= S * q", "GATE(w, log, dk)");
    check_chunk(x, {"D(e, i) = product(e < s <= i) exp(w)[s]", "D(e, t) = product(e < s <= t) exp(w)[s]"},
                {"M[i,e] = -beta[i] <D(e, i) . k[i], k[e]>", "B[i] = (beta v)[i] - beta[i] S0 (D(0, i) . k[i])",
                 "o[t] = S0 (D(0, t) . q[t]) + sum(e <= t) <D(e, t) . q[t], k[e]> U[e]",
                 "S' = S0 diag(D(0, end)) + sum(e) U[e] (D(e, end) . k[e])^T"});
    CHECK(text(x).find("w is in log form") != std::string::npos);
}

TEST_CASE("a read before the write sees earlier tokens only") {
    auto const x = explained("o <<= S * q, S <<= S * diag(w) + v * T(k)", "GATE(w, linear, dk)");
    check_chunk(x, {"D(e, t) = product(e < s < t) w[s]"},
                {"o[t] = S0 (D(0, t) . q[t]) + sum(e < t) <D(e, t) . q[t], k[e]> U[e]"});
    CHECK(text(x.recurrence[0]) == "o = S q");
    CHECK(text(x).find("log form") == std::string::npos);
}

TEST_CASE("coupled states mix by a matrix, and no symbol takes an operand's name") {
    auto const x = explained("M <<= mu * M + beta * (v - S * k) * T(k), S <<= alpha * S + M, o <<= S * q",
                             "STATE(M, dv, dk); GATE(mu, linear)");
    CHECK(says(x.recurrence, "M <- mu M + (beta v - beta S k) k^T"));
    CHECK(says(x.recurrence, "S <- M + alpha S"));
    check_chunk(x, {"T[s] = [mu[s], 0; 0, 1]", "T[s] = [1, 0; 1, alpha[s]]"},
                {"L[i,e] = -beta[i] phi[S,M](e, i) <k[i], k[e]>", "U = (I - L)^-1 B",
                 "B[i] = (beta v)[i] - beta[i] (phi[S,M](0, i) M0 k[i] + phi[S,S](0, i) S0 k[i])"});
}

TEST_CASE("a system for each value channel is said to be one") {
    auto const x = explained("S <<= diag(exp(h)) * S + beta * (v - S * k) * T(k), o <<= S * q", "GATE(h, log, dv)");
    check_chunk(x, {"E(e, i) = product(e < s < i) exp(h)[s]"},
                {"G[i,e] = <k[i], k[e]>", "U[i] = B[i] - beta[i] (sum(e < i) G[i,e] (E(e, i) . U[e]))",
                 "o[t] = E(0, t) . S0 q[t] + sum(e <= t) <q[t], k[e]> (E(e, t) . U[e])"});
    CHECK(text(x).find("csolve") != std::string::npos);
    REQUIRE(x.missing.size() == 1);
    CHECK(x.missing[0].forms == "summary");
}

TEST_CASE("several writes of a token are rows of their own") {
    check_chunk(
        explained("S <<= alpha * S, repeat<2>(S <<= S + beta * (v - S * k) * T(k)), o <<= S * q"),
        {"phi(e, i) = product(p(e) < p(s) < p(i)) alpha[s]", "phi(e, t) = product(p(e) < p(s) < p(t)) alpha[s]"},
        {"M[i,e] = c[i] phi(e, i) <r[i], x[e]>"});
    auto const x = explained("repeat<2>(S <<= S + beta * (v - S * k) * T(k)), o <<= S * q");
    check_chunk(x,
                {"x[e], P[e], c[e], r[e] = k.0, beta.0 v.0, -beta.0, k.0",
                 "x[e], P[e], c[e], r[e] = k.1, beta.1 v.1, -beta.1, k.1"},
                {"M[i,e] = c[i] <r[i], x[e]>", "o[t] = S0 q[t] + sum(p(e) < p(t)) <q[t], x[e]> U[e]"});
}

TEST_CASE("decays count from the start where nothing is written") {
    auto const kept = explained("S <<= exp(g) * S, o <<= S * q");
    check_chunk(kept, {"phi(0, t) = product(s <= t) exp(g)[s]"}, {"o[t] = phi(0, t) S0 q[t]", "S' = phi(0, end) S0"});
}

TEST_CASE("a normaliser is a component of its own, and the output is written with both reads") {
    auto const x = explained("S <<= S + v * T(k), z <<= z + k, o <<= (S * q) / dot(z, q)");
    REQUIRE(x.chunks.size() == 2);
    REQUIRE(x.outputs.size() == 1);
    CHECK(text(x.outputs[0]) == "o[t] = (S q / <q, z>)[t]");
    auto const& z = x.chunks[0].states == "z" ? x.chunks[0] : x.chunks[1];
    CHECK(says(z.equations, "<q, z>[t] = <z0, q[t]> + sum(e <= t) <q[t], k[e]> U_z[e]"));
    CHECK(says(z.equations, "z' = z0 + sum(e) U_z[e] k[e]"));
}

TEST_CASE("a rule without chunked form has its line and the reason at its operator") {
    auto const x = explained("S <<= tanh(S) + v * T(k), o <<= S * q");
    CHECK(x.recurrence.empty());
    CHECK(x.chunks.empty());
    CHECK(says(x.statements, "S <- tanh(S) + v k^T"));
    REQUIRE(x.missing.size() == 1);
    CHECK(x.missing[0].forms == "chunked, parallel, summary");
    CHECK(x.missing[0].operation == "tanh");
    CHECK(x.missing[0].where.column == 7);
    CHECK(x.forms == std::vector<std::string>{"step", "recurrent"});
    CHECK(text(x).find("the operator tanh at rule:1:7") != std::string::npos);
}

TEST_CASE("a long statement names what it says more than once") {
    std::string const centred = "(S * k - sum(S * k) * v)", root = "sqrt(sum(" + centred + " % " + centred + ") + 1)";
    std::string const error = "(" + centred + " / " + root + " - v)";
    auto const line = "S <<= S - beta * (" + error + " - sum(" + error + " % " + centred + ") * v) / " + root +
                      " * T(k), o <<= S * q";
    auto const x = explained(line);
    INFO(text(x));
    CHECK(says(x.statements, "x1 = S k"));
    CHECK(says(x.statements, "x2 = x1 - sum(x1) v"));
    CHECK(says(x.statements, "x3 = sqrt(sum(x2 . x2) + 1)"));
    CHECK(says(x.statements, "x4 = x2 / x3 - v"));
    CHECK(says(x.statements, "S <- S - beta (x4 - sum(x4 . x2) v) / x3 k^T"));
    CHECK(x.statements.size() == 6);
    CHECK(x.line == equation(parse_rule("mine", line))); // the line itself stays as it is
    // No name of an operand; and nothing of a short line.
    auto const taken = explained("S <<= S + x1 * v * T(k) - " + line.substr(6), "INPUT(x1)");
    CHECK(says(taken.statements, "x1_ = S k"));
    CHECK(explained("S <<= S + (v - S * k) * T(k) + beta * (v - S * k) * T(q), o <<= S * q").statements.size() == 2);
}

TEST_CASE("MathML has what the text has") {
    auto const x = explained("S <<= exp(log_a) * S - beta * v * T(k) / 3, o <<= S * q", "GATE(log_a, log)");
    auto const& update = x.statements[0].right;
    CHECK(update.text == "exp(log_a) S - beta v k^T / 3");
    CHECK(update.mathml.find("<mi>exp</mi>") != std::string::npos);
    CHECK(update.mathml.find("<mi>log_a</mi>") != std::string::npos);
    CHECK(update.mathml.find("<mi>\u03b2</mi>") != std::string::npos);
    CHECK(update.mathml.find("<mo>\u2212</mo>") != std::string::npos);
    CHECK(update.mathml.find("<msup><mi>k</mi><mo>\u22a4</mo></msup>") != std::string::npos);
    CHECK(number(Rational(-1, 3)).mathml == "<mrow><mo>\u2212</mo><mfrac><mn>1</mn><mn>3</mn></mfrac></mrow>");
    CHECK(number(exact(1e-6)).mathml == "<msup><mn>10</mn><mrow><mo>\u2212</mo><mn>6</mn></mrow></msup>");
    CHECK(chain({symbol("e"), symbol("i")}, {"<"}).mathml == "<mrow><mi>e</mi><mo>&lt;</mo><mi>i</mi></mrow>");
    CHECK(power(symbol("M"), -1).mathml == "<msup><mi>M</mi><mrow><mo>\u2212</mo><mn>1</mn></mrow></msup>");
}

TEST_CASE("costs are those of one token") {
    std::string const line = "S <<= S + v * T(k), o <<= S * q";
    auto const x = explained(line, "", {32, 8, 4});
    CHECK(x.costs.floor_operations == 4 * 32 * 8);
    CHECK(x.costs.floor_forward == 4 * (32 + 32 + 8 + 8));
    CHECK(x.costs.floor_backward == 4 * (2 * (32 + 32 + 8) + 8));
    REQUIRE(x.costs.states.size() == 1);
    CHECK(x.costs.states[0].second == 4 * 32 * 8);
    CHECK(row(x, "step", "forward").operations >= x.costs.floor_operations);
    CHECK(row(x, "step", "forward").token_bytes == x.costs.floor_forward);
    CHECK(row(x, "step", "forward").state_bytes == 2 * 4 * 32 * 8);
    CHECK(row(x, "chunked", "forward").token_bytes == x.costs.floor_forward);
    CHECK(row(x, "chunked", "forward").state_bytes == 2 * 4 * 32 * 8 / 4.0);
    CHECK(row(x, "chunked", "backward").operations > row(x, "chunked", "forward").operations);
    auto const longer = explained(line, "", {32, 8, 8});
    CHECK(row(longer, "chunked", "forward").state_bytes == 2 * 4 * 32 * 8 / 8.0);
    CHECK(row(longer, "step", "forward").operations == row(x, "step", "forward").operations);
}

TEST_CASE("parameters are no traffic of a token") {
    auto const x = explained("S <<= exp(a) * S + v * T(k), o <<= S * q", "PARAMETER(a, log)");
    CHECK(row(x, "step", "forward").token_bytes == x.costs.floor_forward);
}

TEST_CASE("LaTeX closes what it opens, for every rule") {
    for (auto const& c : deltaloom::test::catalogue()) {
        auto const tex = latex(explained(c.text, c.operands));
        INFO(c.name << "\n" << tex);
        CHECK(unbalanced(tex) == "");
        CHECK(tex.find("\\\\\n\\end{align*}") == std::string::npos);
    }
}

TEST_CASE("LaTeX spells names") {
    auto const tex =
        latex(explained("S <<= exp(log_a) * S + beta * (v - S * k) * T(k), o <<= S * q", "GATE(log_a, log)"));
    CHECK(tex.find("\\operatorname{log\\_a}") != std::string::npos);
    CHECK(
        tex.find("S &\\leftarrow \\exp\\left(\\operatorname{log\\_a}\\right) S + \\left(\\beta v - \\beta S k\\right) "
                 "k^{\\top}") != std::string::npos);
    CHECK(tex.find("U &= \\left(I - M\\right)^{-1} B") != std::string::npos);
    CHECK(tex.find("M_{i, e} &= -\\beta_{i} \\phi\\left(e, i\\right) \\left\\langle k_{i}, k_{e}\\right\\rangle") !=
          std::string::npos);
}

TEST_CASE("the check of nesting finds what is wrong") {
    CHECK(unbalanced("\\begin{align*} a_{1} \\end{align*}") == "");
    CHECK(unbalanced("\\begin{align*} a_{1 \\end{align*}") != "");
    CHECK(unbalanced("\\begin{align*} \\left( a \\end{align*}") != "");
    CHECK(unbalanced("log_a") != "");
    CHECK(unbalanced("$a") != "");
}
