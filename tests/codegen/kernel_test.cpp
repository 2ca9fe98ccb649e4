// Schedules of bodies made by hand: what is fused, folded, updated in place, copied.
#include "codegen/kernel/kernel.hpp"
#include "codegen/kernel/names.hpp"
#include "tests/support/parse.hpp"

#include <catch2/catch.hpp>

using namespace deltaloom;
using namespace deltaloom::codegen;

namespace {

TypedRule rule_of(std::string const& text, std::string const& operands = "") {
    return std::get<TypedRule>(check(test::parse_rule("mine", text, operands)));
}
Extent const dv = Extent::dim(0), dk = Extent::dim(1), single = Extent::of(1), tokens = Extent::tokens(1);
TypedRule const plain = rule_of("S <<= S + v * T(k), o <<= S * q"); // dims in the order dv, dk

Program program(Form form, Body body) {
    return {
        form, Direction::forward, false, {{Phase::Kind::scan_forward, "outputs and states", std::move(body), {"S"}}}};
}
// The first function of the kernel as lines without indentation.
std::vector<std::string> lines(TypedRule const& rule, Form form, Builder const& b) {
    auto const text = print(schedule(rule, program(form, b.body)));
    std::vector<std::string> all;
    std::size_t at = text.find("\n\n") + 2;
    auto const end = text.find("\n\n", at);
    for (; at < text.size() && at < end;) {
        auto const next = text.find('\n', at);
        auto const line = text.substr(at, next - at);
        all.push_back(line.substr(line.find_first_not_of(' ')));
        at = next + 1;
    }
    return all;
}
int position(std::vector<std::string> const& all, std::string const& line) {
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i] == line) return int(i);
    return -1;
}
bool has(std::vector<std::string> const& all, std::string const& line) { return position(all, line) >= 0; }

#define CHECK_LINE(all, line)                                                                                          \
    do {                                                                                                               \
        for (auto const& one_line : all) UNSCOPED_INFO(one_line);                                                      \
        CHECK(has(all, line));                                                                                         \
    } while (false)

} // namespace

TEST_CASE("a state is updated where it is, after everybody has read the old value") {
    Builder b(plain.dims);
    auto const S = b.input("S", {dv, dk}), k = b.input("k", {dk, single}), q = b.input("q", {dk, single});
    auto const next = b.add(S, b.mul(b.matmul(S, k), b.transpose(k)));
    b.body.results = {{"o", b.matmul(S, q)}, {"S", next}}; // the output reads the state before the token
    auto const all = lines(plain, Form::step, b);
    CHECK_LINE(all, "each i < dv, j < dk: S(i, j) = S(i, j) + S_k(i, 0) * k(j, 0)");
    CHECK_LINE(all, "multiply(S_q, S, q)");
    CHECK(position(all, "multiply(S_q, S, q)") <
          position(all, "each i < dv, j < dk: S(i, j) = S(i, j) + S_k(i, 0) * k(j, 0)"));
    CHECK_LINE(all, "store_token(S_q, s.operand[3], token)");
}

TEST_CASE("a state that enters its own update as a matrix is computed apart") {
    auto const rule = rule_of("Q <<= Q + k * T(k), y <<= Q * q", "STATE(Q, dk, dk); OUTPUT(y, dk)");
    auto const d = Extent::dim(0);
    Builder b(rule.dims);
    auto const Q = b.input("Q", {d, d}), q = b.input("q", {d, single});
    auto const next = b.add(Q, b.transpose(Q));
    b.body.results = {{"y", b.matmul(next, q)}, {"Q", next}};
    auto const all = lines(rule, Form::step, b);
    CHECK_LINE(all, "each i < dk, j < dk: x(i, j) = Q(i, j) + Q(j, i)");
    CHECK(all.back() == "copy(Q, x)");
}

TEST_CASE("states that change places are read before they are written") {
    auto const rule = rule_of("S <<= S + v * T(k), M <<= M + S, o <<= S * q + M * k", "STATE(M, dv, dk)");
    Builder b(rule.dims);
    auto const S = b.input("S", {dv, dk}), M = b.input("M", {dv, dk}), q = b.input("q", {dk, single});
    b.body.results = {{"o", b.matmul(S, q)}, {"S", M}, {"M", S}};
    auto const all = lines(rule, Form::step, b);
    CHECK_LINE(all, "copy(M_after, S)");
    CHECK(position(all, "copy(S, M)") > position(all, "copy(M_after, S)"));
    CHECK(position(all, "copy(M, M_after)") > position(all, "copy(S, M)"));
}

TEST_CASE("transposes fold into products, and products into sums") {
    Builder b(plain.dims);
    auto const S = b.input("S", {dv, dk}), k = b.input("k", {tokens, dk}), v = b.input("v", {tokens, dv}),
               q = b.input("q", {tokens, dk});
    auto const next = b.add(b.scale(Rational(1, 2), S), b.matmul(b.transpose(v), k));
    b.body.results = {{"o", b.matmul(q, b.transpose(S))}, {"S", next}};
    auto const all = lines(plain, Form::chunked, b);
    CHECK_LINE(all, "multiply_nt(q_S, q, S)");
    CHECK_LINE(all, "each i < dv, j < dk: S(i, j) = 1/2 * S(i, j)");
    CHECK_LINE(all, "multiply_tn_add(S, v, k)");
}

TEST_CASE("a product of two transposes is computed transposed") {
    Builder b(plain.dims);
    auto const S = b.input("S", {dv, dk}), v = b.input("v", {tokens, dv}), k = b.input("k", {tokens, dk});
    auto const left = b.matmul(b.transpose(S), b.transpose(v)); // dk x tokens = (v S)^T
    b.body.results = {{"o", b.matmul(k, b.matmul(left, v))}, {"S", S}};
    auto const all = lines(plain, Form::chunked, b);
    CHECK_LINE(all, "S_v: n x dk");
    CHECK_LINE(all, "# S_v^T = S^T v^T");
    CHECK_LINE(all, "multiply(S_v, v, S)");
    CHECK_LINE(all, "multiply_tn(S_v_v, S_v, v)");
}

TEST_CASE("a matrix that is wanted the other way round is read so entry by entry, or copied so for an operation") {
    auto const rule = rule_of("S <<= alpha * S + v * T(k), o <<= S * q");
    Builder b(rule.dims);
    auto const k = b.input("k", {tokens, dk}), v = b.input("v", {tokens, dv}), S = b.input("S", {dv, dk}),
               alpha = b.input("alpha", {tokens, single});
    EventRows const row{EventRows::Kind::tokens, {0}, {}};
    auto const G = b.gram(k, k, alpha, {1, {0}, row, row, true});
    auto const both = b.interleave({G, b.transpose(G)});
    b.body.results = {{"o", b.pick(b.matmul(both, b.solve(b.transpose(G), v)), 0, 2)}, {"S", S}};
    auto const all = lines(rule, Form::chunked, b);
    CHECK_LINE(all, "interleave(rows, 0, 2, G)");
    CHECK_LINE(all, "each i < n, e < n: rows(2 * i + 1, e) = G(e, i)");
    CHECK_LINE(all, "transpose(G_t, G)");
    CHECK_LINE(all, "solve(U, G_t, v)");
}

TEST_CASE("a function of few entries is called once for each, not once for every entry of a wider loop") {
    auto const rule = rule_of("S <<= exp(g) * S + beta * v * T(k), o <<= S * q");
    Builder b(rule.dims);
    auto const S = b.input("S", {dv, dk}), g = b.input("g", {single, single}, true),
               beta = b.input("beta", {single, single});
    b.body.results = {{"o", b.constant(0, {dv, single})}, {"S", b.add(b.mul(b.unlog(g), S), b.mul(beta, S))}};
    auto const all = lines(rule, Form::step, b);
    CHECK_LINE(all, "each : x(0, 0) = unlog(g(0, 0))");
    CHECK_LINE(all, "each i < dv, j < dk: S(i, j) = x(0, 0) * S(i, j) + beta(0, 0) * S(i, j)");
    CHECK_LINE(all, "clear(zero)");
}

TEST_CASE("a sum that is negated or subtracted keeps its parentheses") {
    Builder b(plain.dims);
    auto const S = b.input("S", {dv, dk}), k = b.input("k", {dk, single}), v = b.input("v", {dv, single});
    auto const outer = b.mul(v, b.transpose(k));
    b.body.results = {{"o", b.scale(-1, b.add(b.map("tanh", v), v))},
                      {"S", b.add(S, b.scale(-1, b.mul(b.add(S, outer), outer)))}};
    auto const all = lines(plain, Form::step, b);
    CHECK_LINE(all, "each i < dv: x(i, 0) = -(map_tanh(v(i, 0)) + v(i, 0))");
    CHECK_LINE(all, "each i < dv, j < dk: S(i, j) = S(i, j) - (S(i, j) + v_k(i, j)) * v_k(i, j)");
}

TEST_CASE("masks select") {
    Builder b(plain.dims);
    auto const k = b.input("k", {tokens, dk}), v = b.input("v", {tokens, dv}), S = b.input("S", {dv, dk});
    EventRows const row{EventRows::Kind::tokens, {0}, {}}, after{EventRows::Kind::tokens, {1}, {}};
    auto const kk = b.matmul(k, b.transpose(k));
    auto const below = b.mul(b.mask({1, {}, row, row, true}), kk),
               with_diagonal = b.mul(b.mask({1, {}, after, row, true}), kk);
    b.body.results = {{"o", b.matmul(b.add(below, with_diagonal), v)}, {"S", S}};
    CHECK_LINE(lines(plain, Form::chunked, b),
               "each i < n, e < n: x(i, e) = (e < i ? k_k(i, e) : 0) + (e <= i ? k_k(i, e) : 0)");
}

TEST_CASE("dead memory is used again, in place where the same entry is read") {
    Builder b(plain.dims);
    auto const k = b.input("k", {tokens, dk}), S = b.input("S", {dv, dk}), q = b.input("q", {tokens, dk});
    auto const scores = b.matmul(q, b.transpose(k));
    auto const more = b.named(b.mul(scores, scores), "squares");
    b.body.results = {{"o", b.matmul(b.matmul(more, k), b.transpose(S))}, {"S", S}};
    CHECK_LINE(lines(plain, Form::chunked, b), "squares: n x n in place of q_k");
}

TEST_CASE("a sum over rows does not stand in the place of a row that it reads again and again") {
    auto const rule = rule_of("z <<= z + k, y <<= z % q", "OUTPUT(y, dk)");
    auto const d = Extent::dim(0);
    Builder b(rule.dims);
    auto const z = b.input("z", {d, single}), k = b.input("k", {tokens, d}), q = b.input("q", {tokens, d});
    auto const row = b.named(b.map("tanh", b.transpose(z)), "row");
    auto const sum = b.named(b.sum(b.mul(row, k), 0), "sum");
    b.body.results = {{"y", b.mul(q, sum)}, {"z", z}};
    auto const all = lines(rule, Form::chunked, b);
    CHECK_LINE(all, "row: 1 x dk");
    CHECK_LINE(all, "each i < n, j < dk: sum(0, j) = sum(0, j) + row(0, j) * k(i, j)");
    CHECK_LINE(all, "sum: 1 x dk");
}

TEST_CASE("names are identifiers, unique, and never a word of the text") {
    Names names;
    CHECK(names.fresh("k.1") == "k_1");
    CHECK(names.fresh("k_1") == "k_1_2");
    CHECK(names.fresh("solve") == "solve_");
    CHECK(names.fresh("double") == "double_");
    CHECK(names.fresh("a__b") == "a_b");
    CHECK(names.fresh("1st") == "x1st");
    CHECK(names.fresh("") == "x");
    CHECK(names.fresh("map_exp") == "map_exp_");
    CHECK(names.fresh("e") == "e_");
    CHECK(names.fresh("room") == "room_");
}

TEST_CASE("scheduling is a pure function") {
    auto const d = derive(plain);
    for (auto const& p : d.programs) {
        if (!has_kernel(p)) continue;
        CHECK(schedule(d.rule, p) == schedule(d.rule, p));
    }
}
