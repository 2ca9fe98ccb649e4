// The interpreter against definitions written out here: products of decays as loops over micro-steps, systems as
// residuals; zeros, -inf, no tokens and one.
#include "codegen/program/events.hpp"
#include "codegen/program/interpret.hpp"
#include "codegen/program/program.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

using namespace deltaloom::codegen;
using deltaloom::runtime::field;

namespace {

std::vector<std::string> const dims{"dk", "dv"};
auto const dk = Extent::dim(0), dv = Extent::dim(1), single = Extent::of(1);
double const infinity = std::numeric_limits<double>::infinity();

unsigned long seed() {
    auto const* given = std::getenv("DELTALOOM_SEED"); // DELTALOOM_SEED=... replays
    static unsigned long const chosen = given ? std::strtoul(given, nullptr, 10) : std::random_device{}();
    return chosen;
}

Span mixed() {
    Span s;
    s.micro_steps = 3;
    s.decaying = {0, 2};
    s.reads = {EventRows::Kind::tokens, {1, 3}, {}};
    s.writes = {EventRows::Kind::tokens, {0, 1, 2}, {}};
    return s;
}
Sizes of(int tokens) { return {{3, 2}, tokens, tokens}; }

Dense<double> draw(std::mt19937_64& bits, int rows, int cols) {
    Dense<double> m(rows, cols);
    for (auto& x : m.e) x = std::normal_distribution<>()(bits);
    return m;
}
// Gates between 0 and 1, some of them exactly 0; as logarithms if asked.
Dense<double> gates(std::mt19937_64& bits, int rows, int cols, bool log, double zeros) {
    Dense<double> m(rows, cols);
    for (auto& x : m.e) {
        x = std::uniform_real_distribution<>()(bits) < zeros ? 0 : std::uniform_real_distribution<>(0.1, 1)(bits);
        if (log) x = std::log(x);
    }
    return m;
}

// The decay between two positions, by walking over them: every micro-step after the write and before the read that
// decays.
double walked(Dense<double> const& A, bool log, int write, int read, int j) {
    double product = 1;
    for (int position = std::max(write + 1, 0); position < read; ++position) {
        int const token = position / 3, step = position % 3;
        if (step == 1) continue;
        double const gate = A(token * 2 + (step == 2), A.cols == 1 ? 0 : j);
        product *= log ? std::exp(gate) : gate;
    }
    return product;
}

void close(Dense<double> const& got, Dense<double> const& want) {
    REQUIRE(got.rows == want.rows);
    REQUIRE(got.cols == want.cols);
    for (int i = 0; i < got.rows; ++i)
        for (int j = 0; j < got.cols; ++j) {
            INFO("[" << i << ", " << j << "] got " << got(i, j) << ", want " << want(i, j));
            CHECK((std::abs(got(i, j) - want(i, j)) <= 1e-12 * (1 + std::abs(want(i, j)))));
        }
}

} // namespace

TEST_CASE("event rows: positions and the decay rows around them") {
    auto s = mixed();
    auto const check = [&](std::vector<EventRow> const& rows, std::vector<int> position, std::vector<int> decay) {
        REQUIRE(rows.size() == position.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            CHECK(rows[i].position == position[i]);
            CHECK(rows[i].decay == decay[i]);
        }
    };
    check(reads_of(s, 2), {1, 3, 4, 6}, {1, 2, 3, 4});
    check(writes_of(s, 2), {0, 1, 2, 3, 4, 5}, {0, 0, 1, 2, 2, 3});
    s.reads = {EventRows::Kind::end, {}, {}};
    s.writes = {EventRows::Kind::start, {}, {1}};
    check(reads_of(s, 2), {6}, {4});
    check(writes_of(s, 2), {-1}, {-1});
    CHECK(writes_of(s, 2)[0].state == 1);
    check(reads_of(s, 0), {0}, {0});
    s.reads = {EventRows::Kind::decays, {}, {}};
    REQUIRE(reads_of(s, 2).size() == 4);
    CHECK_FALSE(reads_of(s, 2)[3].position);
    CHECK(reads_of(s, 2)[3].decay == 3);
}

TEST_CASE("operations between events against walked products") {
    INFO("DELTALOOM_SEED=" << seed());
    std::mt19937_64 bits(seed());
    for (int tokens : {0, 1, 2, 5})
        for (bool log : {false, true})
            for (bool channels : {false, true})
                for (double zeros : {0.0, 0.3, 1.0}) {
                    INFO(tokens << " tokens, log " << log << ", channels " << channels << ", zeros " << zeros);
                    Builder b(dims);
                    auto const rows = [](int k) { return Extent::tokens(k); };
                    auto const A = b.input("A", {rows(2), channels ? dk : single}, log);
                    auto const W = b.input("W", {rows(2), rows(3)}), R = b.input("R", {rows(2), dk}),
                               X = b.input("X", {rows(3), dk});
                    b.body.results = {{"gram", b.gram(R, X, A, mixed())},
                                      {"apply", b.apply(W, X, A, mixed())},
                                      {"applyt", b.applyt(W, R, A, mixed())},
                                      {"spread", b.spread(W, R, X, A, mixed())}};
                    if (!channels) b.body.results.push_back({"decay", b.decay({A}, mixed(), 1)});
                    Environment<double> at{{"A", gates(bits, 2 * tokens, channels ? 3 : 1, log, zeros)},
                                           {"W", draw(bits, 2 * tokens, 3 * tokens)},
                                           {"R", draw(bits, 2 * tokens, 3)},
                                           {"X", draw(bits, 3 * tokens, 3)}};
                    auto got = interpret(b.body, at, of(tokens));
                    Dense<double> D(2 * tokens, 3 * tokens), G = D, Y(2 * tokens, 3), Z(3 * tokens, 3),
                                                             F(2 * tokens, channels ? 3 : 1);
                    auto const &w = at.at("W"), &r = at.at("R"), &x = at.at("X");
                    for (int i = 0; i < D.rows; ++i)
                        for (int e = 0; e < D.cols; ++e) {
                            int const read = i / 2 * 3 + (i % 2 ? 3 : 1), write = e;
                            if (write >= read) continue;
                            D(i, e) = walked(at.at("A"), log, write, read, 0);
                            for (int j = 0; j < 3; ++j) {
                                double const d = walked(at.at("A"), log, write, read, j);
                                G(i, e) += r(i, j) * d * x(e, j);
                                Y(i, j) += w(i, e) * d * x(e, j);
                                Z(e, j) += w(i, e) * d * r(i, j);
                                for (int position = write + 1; position < read; ++position) {
                                    if (position % 3 == 1) continue;
                                    double const others = walked(at.at("A"), log, write, position, j) *
                                                          walked(at.at("A"), log, position, read, j);
                                    F(position / 3 * 2 + (position % 3 == 2), channels ? j : 0) +=
                                        w(i, e) * r(i, j) * x(e, j) * others;
                                }
                            }
                        }
                    close(got.at("gram"), G);
                    close(got.at("apply"), Y);
                    close(got.at("applyt"), Z);
                    close(got.at("spread"), F);
                    if (!channels) close(got.at("decay"), D);
                }
}

TEST_CASE("systems: the residual is zero") {
    INFO("DELTALOOM_SEED=" << seed());
    std::mt19937_64 bits(seed());
    auto span = mixed();
    span.reads.position = span.writes.position = {0, 1};
    auto const rows = [](int k) { return Extent::tokens(k); };
    for (int tokens : {0, 1, 4})
        for (bool transposed : {false, true}) {
            INFO(tokens << " tokens, transposed " << transposed);
            Builder b(dims);
            auto const G = b.input("G", {rows(2), rows(2)}), c = b.input("c", {rows(2), dv}),
                       B = b.input("B", {rows(2), dv});
            auto const A = b.input("A", {rows(2), dv}, true);
            auto const U = b.csolve(G, c, B, A, span, transposed);
            auto const right = transposed ? b.applyt(G, b.mul(c, U), A, span) : b.mul(c, b.apply(G, U, A, span));
            Span lower;
            lower.micro_steps = 2;
            lower.reads.position = lower.writes.position = {0, 1};
            auto const M = b.mul(b.mask(lower), G);
            auto const V = b.solve(G, B, transposed); // reads only what is below the diagonal
            b.body.results = {{"U", U},
                              {"B + right", b.add(B, right)},
                              {"V", V},
                              {"B + M V", b.add(B, b.matmul(transposed ? b.transpose(M) : M, V))}};
            auto const got = interpret<double>(b.body,
                                               {{"G", draw(bits, 2 * tokens, 2 * tokens)},
                                                {"c", draw(bits, 2 * tokens, 2)},
                                                {"B", draw(bits, 2 * tokens, 2)},
                                                {"A", gates(bits, 2 * tokens, 2, true, 0.3)}},
                                               of(tokens));
            close(got.at("U"), got.at("B + right"));
            close(got.at("V"), got.at("B + M V"));
        }
}

TEST_CASE("resets are exact: -inf and 0 end every product through them, in values and gradients") {
    for (bool log : {true, false}) {
        Builder b(dims);
        Span s;
        s.decaying = {0};
        s.reads = {EventRows::Kind::tokens, {1}, {}};
        s.writes = {EventRows::Kind::tokens, {0}, {}};
        auto const A = b.input("A", {Extent::tokens(1), single}, log);
        b.body.results = {{"D", b.decay({A}, s, 1)}};
        Dense<double> gate(3, 1, log ? -0.5 : 0.5);
        gate(1, 0) = log ? -infinity : 0;
        auto const got =
            interpret<double>(differentiate(b.body, dims), {{"A", gate}, {"d_D", Dense<double>(3, 3, 1)}}, of(3));
        auto const& D = got.at("D");
        double const step = log ? std::exp(-0.5) : 0.5;
        CHECK(D(1, 0) == 0);
        CHECK(D(2, 0) == 0);
        CHECK(D(2, 1) == step);
        CHECK(D(0, 0) == 1);
        CHECK(D(0, 1) == 0);
        auto const& d = got.at("d_A");
        CHECK(d(0, 0) == 0);
        CHECK(d(1, 0) == (log ? 0 : 1 + step)); // (1, 0) without its only factor, (2, 0) without its reset
        CHECK(d(2, 0) == (log ? step : 1));
    }
}

TEST_CASE("coupled transitions: the later one stands on the left") {
    Builder b(dims);
    Span s;
    s.decaying = {0};
    s.reads = {EventRows::Kind::end, {}, {1}};
    s.writes = {EventRows::Kind::start, {}, {0}};
    std::vector<NodeId> A;
    Environment<double> at;
    double const value[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}; // of token 0, of token 1
    for (int q = 0; q < 4; ++q) {
        auto const name = std::string("A") + char('0' + q);
        A.push_back(b.input(name, {Extent::tokens(1), single}));
        at[name] = Dense<double>(2, 1);
        for (int t = 0; t < 2; ++t) at[name](t, 0) = value[t][q];
    }
    b.body.results = {{"D", b.decay(A, s, 2)}};
    CHECK(interpret(b.body, at, of(2)).at("D")(0, 0) == 7 * 1 + 8 * 3); // [1, 0] of A(1) A(0)
    for (auto& [name, m] : at) m = Dense<double>(0, 1);
    CHECK(interpret(b.body, at, of(0)).at("D")(0, 0) == 0); // [1, 0] of the identity
}

TEST_CASE("padding: rows of the tokens past the end are replaced") {
    Builder b(dims);
    auto const X = b.input("x", {Extent::tokens(2), dk}), g = b.input("g", {Extent::tokens(2), single}, true);
    b.body.results = {{"x", b.hold(X, 2, 5)}, {"g", b.hold(g, 2, 1)}};
    Environment<double> const at{{"x", Dense<double>(6, 3, 2)}, {"g", Dense<double>(6, 1, -infinity)}};
    auto const got = interpret(b.body, at, {{3, 2}, 3, 2});
    CHECK(got.at("x")(3, 0) == 2);
    CHECK(got.at("x")(4, 2) == 5);
    CHECK(got.at("g")(3, 0) == -infinity);
    CHECK(got.at("g")(4, 0) == 0);
    Environment<field> const exact{{"x", Dense<field>(6, 3)}, {"g", Dense<field>(6, 1)}};
    CHECK(interpret(b.body, exact, {{3, 2}, 3, 2}).at("g")(4, 0) == field(1.0));
}

TEST_CASE("vector maps against their definitions, along either axis") {
    auto const value = [&](std::string const& f, std::vector<double> const& given, int axis) {
        Builder b(dims);
        auto const s = axis == 1 ? Extents{single, dk} : Extents{dk, single};
        b.body.results = {{"y", b.vector_map(f, b.input("x", s), axis, Rational(1) / 2, dk)}};
        Dense<double> at(axis == 1 ? 1 : 3, axis == 1 ? 3 : 1);
        at.e = given;
        return interpret<double>(b.body, {{"x", at}}, of(1)).at("y").e;
    };
    for (int axis : {0, 1}) {
        CHECK(value("l2norm", {1, -2, 3}, axis)[1] == Approx(-2 / std::sqrt(14.5)));
        CHECK(value("sum_norm", {1, 2, 3}, axis)[2] == Approx(3 / 6.5));
        CHECK(value("softmax", {1000, 1001, -infinity}, axis)[0] == Approx(1 / (1 + std::exp(1))));
        CHECK(value("softmax", {1000, 1001, -infinity}, axis)[2] == 0);
    }
}

TEST_CASE("numbers of the derivation are exact over the field") {
    Builder b(dims);
    b.body.results = {{"third", b.scale(Rational(1) / 3, b.input("x", {single, single}))},
                      {"minus", b.scale(Rational(-5), b.input("x", {single, single}))}};
    auto const got = interpret<field>(b.body, {{"x", Dense<field>(1, 1, field(3.0))}}, of(1));
    CHECK(got.at("third")(0, 0) == field(1.0));
    CHECK(got.at("minus")(0, 0) == field(-15.0));
}

TEST_CASE("inputs that are missing or of another shape are named") {
    Builder b(dims);
    b.body.results = {{"y", b.scale(2, b.input("x", {single, dk}))}};
    CHECK_THROWS_WITH(interpret(b.body, Environment<double>{}, of(1)), "input x is not given");
    CHECK_THROWS_WITH(interpret<double>(b.body, {{"x", Dense<double>(2, 3)}}, of(1)), "input x has another shape");
}

TEST_CASE("degrees grow with the interval and the system") {
    Builder b(dims);
    auto span = mixed();
    auto const A = b.input("A", {Extent::tokens(2), single}), M = b.input("M", {Extent::tokens(1), Extent::tokens(1)});
    auto const B = b.input("B", {Extent::tokens(1), dv});
    b.body.results = {
        {"D", b.decay({A}, span, 1)}, {"U", b.solve(M, B)}, {"map", b.map("tanh", B)}, {"scaled", b.scale(3, B)}};
    auto const degree = degrees(b.body, {{"A", 1}, {"M", 2}, {"B", 5}}, of(4));
    CHECK(degree.at("D") == 7); // 8 decay rows, the first write has its own behind it
    CHECK(degree.at("U") == 5 + 3 * 2);
    CHECK(degree.at("map") == 1);
    CHECK(degree.at("scaled") == 5);
}
