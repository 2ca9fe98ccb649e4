// The oracle on worked examples, exactly over the field and to 1e-12 in double, and on each part of the language.
#include "codegen/check/data.hpp"
#include "tests/support/parse.hpp"

#include <catch2/catch.hpp>

#include <cmath>

using namespace deltaloom::codegen;
using deltaloom::runtime::dual;
using deltaloom::runtime::field;
using deltaloom::test::parse_rule;

namespace {

template<class K> K decimal(double x) {
    return K(std::round(x * 1e6)) / K(1e6);
} // "9.8" is 98/10, not its nearest double
template<class K> bool near(K a, K b) {
    if constexpr (std::is_same_v<K, double>)
        return std::abs(a - b) <= 1e-12 * (1 + std::abs(b));
    else
        return a == b;
}
template<class K> Dense<K> matrix(std::vector<std::vector<double>> const& rows) {
    Dense<K> m(int(rows.size()), int(rows[0].size()));
    for (int i = 0; i < m.rows; ++i)
        for (int j = 0; j < m.cols; ++j) m(i, j) = decimal<K>(rows[i][j]);
    return m;
}
template<class K> Dense<K> column(std::vector<double> const& x) {
    Dense<K> m(int(x.size()), 1);
    for (int i = 0; i < m.rows; ++i) m(i, 0) = decimal<K>(x[i]);
    return m;
}
template<class K> bool same(Dense<K> const& a, Dense<K> const& b) {
    bool equal = a.rows == b.rows && a.cols == b.cols;
    for (std::size_t i = 0; equal && i < a.e.size(); ++i) equal = near(a.e[i], b.e[i]);
    return equal;
}

Declaration const sum = parse_rule("sum", "S <<= S + v * T(k), o <<= S * q");
Declaration const gated = parse_rule("gated", "S <<= (1 - beta) * S + beta * v * T(k), o <<= S * q");
Declaration const delta = parse_rule("delta", "S <<= S + beta * (v - S * k) * T(k), o <<= S * q");

using Columns = std::vector<std::vector<double>>;
template<class K>
OracleData<K> tokens(Columns const& k, Columns const& v, Columns const& q, std::vector<double> const& beta = {}) {
    OracleData<K> data;
    data.length = int(k.size());
    for (int t = 0; t < data.length; ++t) {
        data.tokens["k"].push_back({column<K>(k[t])});
        data.tokens["v"].push_back({column<K>(v[t])});
        data.tokens["q"].push_back({column<K>(q[t])});
        data.tokens["beta"].push_back({column<K>({beta.empty() ? 1 : beta[t]})});
    }
    data.states["S"] = Dense<K>(int(v[0].size()), int(k[0].size()));
    return data;
}
// S of the first two pairs of most examples: (1, 0) -> (5, 2), (0, 1) -> (3, 7).
std::vector<std::vector<double>> const two{{5, 3}, {2, 7}};

} // namespace

TEMPLATE_TEST_CASE("worked examples of the sum rule", "", field, double) {
    using K = TestType;
    // 1
    auto r = run(sum, tokens<K>({{1, 0}, {0, 1}, {1, 1}}, {{2, 0}, {0, 3}, {1, 1}}, {{1, 1}, {1, 1}, {1, 1}}));
    CHECK(same(r.states.at("S"), matrix<K>({{3, 1}, {1, 4}})));
    CHECK(same(r.outputs[2].at("o"), column<K>({4, 5})));
    // 2, 3
    r = run(sum, tokens<K>({{1, 0}, {0, 1}}, {{5, 2}, {3, 7}}, {{1, 0}, {.5, .5}}));
    CHECK(same(r.states.at("S"), matrix<K>(two)));
    CHECK(same(r.outputs[0].at("o"), column<K>({5, 2})));
    CHECK(same(r.outputs[1].at("o"), column<K>({4, 4.5})));
    r = run(sum, tokens<K>({{1, 0}}, {{5, 2, 9}}, {{1, 0}}));
    CHECK(same(r.states.at("S"), matrix<K>({{5, 0}, {2, 0}, {9, 0}})));
    CHECK(same(r.outputs[0].at("o"), column<K>({5, 2, 9})));
    // 4
    r = run(sum, tokens<K>({{1, 0}, {0, 1}, {.6, .8}}, {{5, 2}, {3, 7}, {9, 1}}, {{1, 0}, {1, 0}, {.6, .8}}));
    CHECK(same(r.states.at("S"), matrix<K>({{10.4, 10.2}, {2.6, 7.8}})));
    CHECK(same(r.outputs[2].at("o"), column<K>({14.4, 7.8})));
    // 9: two chunks, the second from nothing
    auto const q = Columns{{1, 0}, {1, 0}};
    CHECK(same(run(sum, tokens<K>({{1, 0}, {0, 1}}, {{2, 0}, {0, 3}}, q)).states.at("S"), matrix<K>({{2, 0}, {0, 3}})));
    auto second = tokens<K>({{1, 1}, {1, 0}}, {{1, 1}, {2, 2}}, q);
    CHECK(same(run(sum, second).states.at("S"), matrix<K>({{3, 1}, {3, 1}})));
    second.states["S"] = matrix<K>({{2, 0}, {0, 3}});
    CHECK(same(run(sum, second).states.at("S"), matrix<K>({{5, 1}, {3, 4}})));
    // 11 and 13, in the transposed orientation
    r = run(sum, tokens<K>({{1, 0}, {0, 1}, {1, 0}}, {{3, 1}, {-1, 2}, {0, 4}}, {{1, 0}, {1, 0}, {1, 0}}));
    CHECK(same(r.states.at("S"), matrix<K>({{3, -1}, {5, 2}})));
    r = run(sum, tokens<K>({{1, 0}, {0, 1}, {1, 1}}, {{3, 1}, {-1, 2}, {2, 0}}, {{1, 0}, {0, 1}, {.5, .5}}));
    CHECK(same(r.states.at("S"), matrix<K>({{5, 1}, {1, 2}})));
    CHECK(same(r.outputs[2].at("o"), column<K>({3, 1.5}))); // minus v3: (1, 1.5)
    // 15
    r = run(sum, tokens<K>({{.6, .8}, {.6, .8}}, {{1, 2}, {5, 1}}, {{.6, .8}, {.6, .8}}));
    CHECK(same(r.outputs[1].at("o"), column<K>({6, 3})));
}

TEMPLATE_TEST_CASE("worked examples of the gated and the delta rule", "", field, double) {
    using K = TestType;
    // 5
    auto data = tokens<K>({{1, 0}}, {{11, 4}}, {{0, 1}}, {.8});
    data.states["S"] = matrix<K>(two);
    auto r = run(delta, data);
    CHECK(same(r.states.at("S"), matrix<K>({{9.8, 3}, {3.6, 7}})));
    CHECK(same(r.outputs[0].at("o"), column<K>({3, 7})));
    // 6
    data = tokens<K>({{1, 0}}, {{5, 2}}, {{0, 1}});
    data.states["S"] = matrix<K>({{10.4, 10.2}, {2.6, 7.8}});
    r = run(delta, data);
    CHECK(same(r.states.at("S"), matrix<K>({{5, 10.2}, {2, 7.8}})));
    CHECK(same(r.outputs[0].at("o"), column<K>({10.2, 7.8})));
    // 7
    data = tokens<K>({{0, 1}}, {{11, 4}}, {{1, 0}}, {.8});
    data.states["S"] = matrix<K>(two);
    r = run(gated, data);
    CHECK(same(r.states.at("S"), matrix<K>({{1, 9.4}, {.4, 4.6}})));
    CHECK(same(r.outputs[0].at("o"), column<K>({1, .4})));
    CHECK(same(run(delta, data).states.at("S"), matrix<K>({{5, 9.4}, {2, 4.6}})));
    // 10
    data = tokens<K>({{1, 0}, {.6, .8}}, {{11, 4}, {9, 1}}, {{1, 0}, {1, 0}}, {.8, 1});
    r = run(delta, data);
    CHECK(same(r.states.at("S"), matrix<K>({{11.032, 2.976}, {2.648, -.736}})));
    CHECK(same(r.outputs[1].at("o"), column<K>({11.032, 2.648})));
    // 11
    r = run(delta, tokens<K>({{1, 0}, {0, 1}, {1, 0}}, {{3, 1}, {-1, 2}, {0, 4}}, {{1, 0}, {1, 0}, {1, 0}}));
    CHECK(same(r.states.at("S"), matrix<K>({{0, -1}, {4, 2}})));
    // 15: the loss (1 - read)^2 of a repeated write falls by .25
    r = run(delta, tokens<K>({{.6, .8}, {.6, .8}}, {{1, 2}, {5, 1}}, {{.6, .8}, {.6, .8}}));
    CHECK(same(r.outputs[1].at("o"), column<K>({5, 1})));
    r = run(delta, tokens<K>({{.6, .8}, {.6, .8}}, {{1}, {1}}, {{.6, .8}, {.6, .8}}, {.5, .5}));
    CHECK(same(r.outputs[0].at("o"), column<K>({.5})));
    CHECK(same(r.outputs[1].at("o"), column<K>({.75})));
}

TEST_CASE("a log gate is an element of the field, exp and sums of gates are its products") {
    auto const rule = parse_rule("r", "S <<= exp(2 * g + h) * S, o <<= S * q", "GATE(h, log)");
    OracleData<field> data;
    data.length = 1;
    data.states["S"] = Dense<field>(1, 1, field(5.0));
    data.tokens["g"] = {{Dense<field>(1, 1, field(3.0))}};
    data.tokens["h"] = {{Dense<field>(1, 1, field(7.0))}};
    data.tokens["q"] = {{Dense<field>(1, 1, field(1.0))}};
    CHECK(run(rule, data).states.at("S").e[0] == field(3.0 * 3 * 7 * 5));
    // Over floats the same gate is the logarithm; over dual numbers the tangent is the logarithm's.
    OracleData<dual<double>> slope;
    slope.length = 1;
    slope.states["S"] = Dense<dual<double>>(1, 1, dual<double>(5.0));
    slope.tokens["g"] = {{Dense<dual<double>>(1, 1, {-0.25, 1.0})}};
    slope.tokens["h"] = {{Dense<dual<double>>(1, 1, dual<double>(-0.5))}};
    slope.tokens["q"] = {{Dense<dual<double>>(1, 1, dual<double>(1.0))}};
    auto const o = run(rule, slope).outputs[0].at("o").e[0];
    CHECK(o.value == Approx(5 * std::exp(-1.0)));
    CHECK(o.tangent == Approx(2 * 5 * std::exp(-1.0)));
}

TEST_CASE("the order of statements, repeat and previous") {
    auto value = [](Declaration const& rule, OracleData<double> const& data, char const* output, int t) {
        return run(rule, data).outputs[t].at(output).e[0];
    };
    OracleData<double> data;
    data.length = 2;
    auto scalar = [](double x) { return Dense<double>(1, 1, x); };
    data.states["S"] = scalar(10);
    data.states["k_previous"] = scalar(100);
    data.tokens["k"] = {{scalar(2)}, {scalar(3)}};
    data.tokens["v"] = {{scalar(5)}, {scalar(7)}};
    data.tokens["q"] = {{scalar(1)}, {scalar(1)}};
    CHECK(value(parse_rule("r", "o <<= S * q, S <<= S + v * T(k)"), data, "o", 1) == 20);
    CHECK(value(parse_rule("r", "S <<= S + v * T(k), o <<= S * q"), data, "o", 1) == 41);
    // Writes of one statement do not see each other, those of two do.
    CHECK(value(parse_rule("r", "S <<= S + v * T(k) + (S * k) * T(k), o <<= S * q"), data, "o", 0) == 60);
    CHECK(value(parse_rule("r", "S <<= S + v * T(k), S <<= S + (S * k) * T(k), o <<= S * q"), data, "o", 0) == 100);
    auto const previous = parse_rule("r", "S <<= S + v * T(previous(k)) + 0 * k * T(k), o <<= S * q");
    CHECK(value(previous, data, "o", 0) == 510);
    CHECK(value(previous, data, "o", 1) == 524);
    CHECK(run(previous, data).states.at("k_previous").e[0] == 3);
    // A step axis: two micro-steps of one token are two tokens.
    auto const repeated = parse_rule("r", "repeat<2>(S <<= S + beta * (v - S * k) * T(k)), o <<= S * q");
    data.length = 1;
    data.tokens["k"] = {{scalar(2), scalar(3)}};
    data.tokens["v"] = {{scalar(5), scalar(7)}};
    data.tokens["beta"] = {{scalar(.5), scalar(.25)}};
    double const first = 10 + .5 * (5 - 10 * 2) * 2, second = first + .25 * (7 - first * 3) * 3;
    CHECK(value(repeated, data, "o", 0) == Approx(second));
    CHECK(uses(repeated)[0].steps == 0);
    for (std::size_t i = 0; i < repeated.operands.size(); ++i)
        CHECK(uses(repeated)[i].steps == (repeated.operands[i].name == "k" || repeated.operands[i].name == "v" ||
                                                  repeated.operands[i].name == "beta"
                                              ? 2
                                              : 0));
}

TEST_CASE("each function, against its formula") {
    Draw draw(7);
    auto const x = [&] {
        Dense<double> m(3, 1);
        for (double& e : m.e) e = draw.normal();
        return m;
    };
    Dense<double> const k = x(), q = x();
    double const beta = 0.375;
    auto output = [&](std::string const& text) {
        auto const rule = parse_rule("r", "z <<= z, o <<= " + text + " + 0 * z", "OUTPUT(o, dk)");
        OracleData<double> data;
        data.length = 1;
        data.states["z"] = Dense<double>(3, 1);
        data.tokens["k"] = {{k}}, data.tokens["q"] = {{q}}, data.tokens["beta"] = {{Dense<double>(1, 1, beta)}};
        return run(rule, data).outputs[0].at("o").e;
    };
    auto squares = 0.0, total = 0.0, exps = 0.0, inner = 0.0;
    for (int i = 0; i < 3; ++i)
        squares += k.e[i] * k.e[i], total += k.e[i], exps += std::exp(k.e[i]), inner += k.e[i] * q.e[i];
    auto expect = [&](std::string const& text, auto f) {
        auto const got = output(text);
        for (int i = 0; i < 3; ++i) {
            INFO(text << " [" << i << "]");
            CHECK(got[i] == Approx(f(k.e[i], q.e[i])).epsilon(1e-12));
        }
    };
    expect("exp(k)", [](double a, double) { return std::exp(a); });
    expect("log(1 + abs(k))", [](double a, double) { return std::log1p(std::abs(a)); });
    expect("sqrt(abs(k))", [](double a, double) { return std::sqrt(std::abs(a)); });
    expect("neg(k) - (-k)", [](double, double) { return 0; });
    expect("tanh(k)", [](double a, double) { return std::tanh(a); });
    expect("sigmoid(k)", [](double a, double) { return 1 / (1 + std::exp(-a)); });
    expect("softplus(k)", [](double a, double) { return std::log1p(std::exp(a)); });
    expect("relu(k)", [](double a, double) { return a > 0 ? a : 0; });
    expect("elu1(k)", [](double a, double) { return a > 0 ? a + 1 : std::exp(a); });
    expect("silu(k)", [](double a, double) { return a / (1 + std::exp(-a)); });
    expect("max(k, q)", [](double a, double b) { return std::max(a, b); });
    expect("min(k, q)", [](double a, double b) { return std::min(a, b); });
    expect("max(0.25, k)", [](double a, double) { return std::max(a, .25); });
    expect("min(k, 0.25)", [](double a, double) { return std::min(a, .25); });
    expect("k % q", [](double a, double b) { return a * b; });
    expect("k / beta", [=](double a, double) { return a / beta; });
    expect("k / 4", [](double a, double) { return a / 4; });
    expect("(2 / beta) * k", [=](double a, double) { return 2 / beta * a; });
    expect("1 - k", [](double a, double) { return 1 - a; });
    expect("dot(k, q) * k", [=](double a, double) { return inner * a; });
    expect("norm(k) * q", [=](double, double b) { return std::sqrt(squares) * b; });
    expect("sum(k) * q", [=](double, double b) { return total * b; });
    expect("l2norm(k, 0.5)", [=](double a, double) { return a / std::sqrt(squares + .5); });
    expect("sum_norm(k, 0.5)", [=](double a, double) { return a / (total + .5); });
    expect("(dot(taylor2(k), taylor2(q)) - 1 - dot(k, q)) * k",
           [=](double a, double) { return inner * inner / 2 * a; });
    expect("softmax(k)", [=](double a, double) { return std::exp(a) / exps; });
    expect("T(softmax(T(k)))", [=](double a, double) { return std::exp(a) / exps; });
    expect("diag(k) * q", [](double a, double b) { return a * b; });
}

TEST_CASE("dual numbers give the slope that differences give") {
    auto const rule =
        parse_rule("r", "S <<= exp(g) * S + sigmoid(beta) * (silu(v) - S * l2norm(k, 1e-2)) * T(softmax(k)), "
                        "o <<= (S * q) / max(abs(dot(q, k)), 0.01) + norm(S) * min(v, 0.5)");
    Draw draw(3);
    auto const data = draw_data(rule, {{"dk", 3}, {"dv", 2}}, 3, draw);
    auto direction = mapped<double, double>(data, [&](std::string const&, Dense<double> m) {
        for (double& x : m.e) x = draw.normal();
        return m;
    });
    auto moved = [&](double h) {
        auto d = data;
        for (auto& [name, tokens] : d.tokens)
            for (int t = 0; t < d.length; ++t)
                for (std::size_t i = 0; i < tokens[t][0].e.size(); ++i)
                    tokens[t][0].e[i] += h * direction.tokens.at(name)[t][0].e[i];
        return run(rule, d).outputs[2].at("o").e;
    };
    auto dualled = mapped<double, dual<double>>(data, [](std::string const&, Dense<double> const& m) {
        Dense<dual<double>> r(m.rows, m.cols);
        for (std::size_t i = 0; i < m.e.size(); ++i) r.e[i].value = m.e[i];
        return r;
    });
    for (auto& [name, tokens] : dualled.tokens)
        for (int t = 0; t < data.length; ++t)
            for (std::size_t i = 0; i < tokens[t][0].e.size(); ++i)
                tokens[t][0].e[i].tangent = direction.tokens.at(name)[t][0].e[i];
    auto const slope = run(rule, dualled).outputs[2].at("o").e;
    auto const up = moved(1e-6), down = moved(-1e-6);
    for (int i = 0; i < 2; ++i) CHECK(slope[i].tangent == Approx((up[i] - down[i]) / 2e-6).epsilon(1e-6));
}

TEST_CASE("data follow the operands' roles and domains") {
    auto const rule = parse_rule(
        "r", "S <<= exp(w) % S - beta * (S * (e % k)) * T(k) + alpha * v * T(previous(k)), o <<= S * q + u % v",
        "STATE(S, dv, dk); GATE(w, log, dv, dk); INPUT(e, dk); PARAMETER(u, dv)");
    Draw draw(11);
    auto const data = draw_data(rule, {{"dk", 5}, {"dv", 4}}, 40, draw);
    auto norm = [](Dense<double> const& m) {
        double s = 0;
        for (double x : m.e) s += x * x;
        return std::sqrt(s);
    };
    for (int t = 0; t < 40; ++t) {
        for (double x : data.tokens.at("w")[t][0].e) CHECK((x >= -1 && x <= 0));
        CHECK((data.tokens.at("alpha")[t][0].e[0] >= 0.5 && data.tokens.at("alpha")[t][0].e[0] <= 1));
        CHECK((data.tokens.at("beta")[t][0].e[0] >= 0 && data.tokens.at("beta")[t][0].e[0] <= 1));
        CHECK(norm(data.tokens.at("k")[t][0]) == Approx(1));
        CHECK(norm(data.tokens.at("e")[t][0]) == Approx(1));
    }
    CHECK(norm(data.states.at("k_previous")) == Approx(1));
    CHECK(norm(data.tokens.at("q")[0][0]) != Approx(1));
    CHECK(norm(data.tokens.at("v")[0][0]) != Approx(1));
}
