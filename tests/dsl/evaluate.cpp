// Direct evaluation: every function and operator, derivatives by dual numbers, names at run time against Hana maps.
#include <catch2/catch.hpp>
#include <cmath>
#include <deltaloom/dsl.hpp>
#include <deltaloom/evaluate.hpp>
#include <deltaloom/rules.hpp>
#include <random>

namespace lines {
using namespace deltaloom::dsl;
DELTALOOM_GATE(w, log, dk);
DELTALOOM_PARAMETER(log_a, log);
DELTALOOM_PARAMETER(decay, linear, dk);
DELTALOOM_STATE(n, dk);

inline constexpr auto fading = rule("fading", S <<= exp(2 * g + log_a) * S * diag(exp(w)) + v * T(k), o <<= S * q);
inline constexpr auto shifted = rule("shifted", S <<= S + v * T(previous(k)), o <<= S * q);
inline constexpr auto twice =
    rule("twice", S <<= alpha * S, repeat<2>(S <<= S + beta * (v - S * k) * T(k)), o <<= S * q);
// Something of everything.
inline constexpr auto mixed =
    rule("mixed", o <<= S * q + dot(decay % k, q) * v, S <<= S * diag(exp(w)) - beta * (S * k) * T(l2norm(k)),
         repeat<2>(S <<= S + alpha * (v - S * previous(k)) * T(softmax(q)), n <<= decay % n + T(S) * silu(v)),
         S <<= S * max(norm(n), 1.0) / 2 + sum(n) * (2.0 * v) * T(min(k, 1) - 1));
// Helper functions of any name: nothing of the nodes' or of the oracle's takes their calls.
template<class X> constexpr auto lift(X x) { return x - 1; }
template<class X> constexpr auto transpose(X x) { return T(x); }
template<class X> constexpr auto total(X x) { return 2 * sum(x); }
template<class X> constexpr auto name(X x) { return -x; }
template<class X> constexpr auto each(X x, X y) { return x % y; }
template<class X, class Y> constexpr auto product(X x, Y y) { return dot(x, y); }
inline constexpr auto helped =
    rule("helped", S <<= S + lift(v) * transpose(each(k, k)), o <<= name(S * q) * total(q) + product(k, q) * v);
// Feature maps: memories of three kinds, and an inner product of features.
DELTALOOM_DIM(dr);
DELTALOOM_PARAMETER(W, dr, dk);
DELTALOOM_STATE(P, dv, dpfp_dim<2, dk>);
DELTALOOM_STATE(F, dv, taylor2_dim<dk>);
DELTALOOM_STATE(R, dv, dr);
inline constexpr auto featured =
    rule("featured", P <<= P + v * T(dpfp<2>(k)), F <<= F + v * T(taylor2(k)), R <<= R + v * T(random_features(k, W)),
         o <<= P * dpfp<2>(q) + F * taylor2(q) + R * random_features(q, W));
DELTALOOM_OUTPUT(blocks, dpfp_dim<9, dv>);
DELTALOOM_OUTPUT(series, taylor2_dim<dv>);
inline constexpr auto maps_of_value = rule("maps_of_value", blocks <<= dpfp<9>(v), series <<= taylor2(v));
template<class X, class Y> constexpr auto meeting(X x, Y y) { return rule("meeting", o <<= dot(x, y) * v); }
// Functions alone, of a column.
template<class F> constexpr auto of_value(F f) { return rule("of_value", o <<= f(v)); }
} // namespace lines

namespace {
using namespace deltaloom::oracle;
using deltaloom::dsl::alpha, deltaloom::dsl::beta, deltaloom::dsl::g, deltaloom::dsl::k, deltaloom::dsl::o;
using deltaloom::dsl::q, deltaloom::dsl::S, deltaloom::dsl::v;
using deltaloom::runtime::dual, deltaloom::runtime::field;

constexpr field number(double x) { return field(x); }
template<class K> constexpr mat<K, 1, 1> single(K x) { return {{x}}; }
template<class K, class... X> constexpr mat<K, sizeof...(X), 1> vec(X... x) { return {{K(double(x))...}}; }

// d/d beta of the delta rule at every element is (v - S k) T(k); along alpha the gated delta rule gives S - beta (S k)
// T(k).
using D = dual<field>;
template<class Rule> constexpr auto differentiated(Rule const& rule, D rate, D fade) {
    mat<D, 2, 2> const state{{D(5.0), D(3.0), D(2.0), D(7.0)}};
    return evaluate(rule, environment(bind(S, state), bind(k, vec<D>(1, 2)), bind(v, vec<D>(11, 4)),
                                      bind(q, vec<D>(0, 1)), bind(beta, single(rate)), bind(alpha, single(fade))));
}
constexpr field rate = number(3) / number(4);
constexpr auto along_beta = differentiated(deltaloom::rules::delta, {rate, number(1)}, D(1.0))[name(S)];
static_assert(along_beta(0, 0).tangent == number(0) && along_beta(0, 1).tangent == number(0)); // S k = (11, 16)
static_assert(along_beta(1, 0).tangent == number(-12) && along_beta(1, 1).tangent == number(-24));
static_assert(along_beta(1, 0).value == number(2) - rate * number(12));
constexpr auto along_alpha = differentiated(deltaloom::rules::gated_delta, {rate, number(0)}, {number(2), number(1)});
static_assert(along_alpha[name(S)](0, 1).tangent == number(3) - rate * number(22));
static_assert(along_alpha[name(o)](1, 0).tangent == number(7) - rate * number(32)); // q picks the second column

// A log gate over the field is bound to exp(g); its tangent is that of g. exp(2 g + log_a) is g g a there, -inf is 0.
constexpr auto faded =
    evaluate(lines::fading, environment(bind(S, mat<D, 2, 2>{{D(1.0), D(2.0), D(3.0), D(4.0)}})),
             environment(bind(k, vec<D>(0, 0)), bind(v, vec<D>(0, 0)), bind(q, vec<D>(1, 1)),
                         bind(g, single(D{number(3), number(1)})), bind(lines::log_a, single(D(5.0))),
                         bind(lines::w, mat<D, 2, 1>{{D(0.0), D(7.0)}})));
static_assert(faded[name(S)] ==
              mat<D, 2, 2>{{D(0.0), D{number(630), number(1260)}, D(0.0), D{number(1260), number(2520)}}});

// dpfp<2> of (1, -2), r = (f(1), f(-2), f(-1), f(2)) with f = relu as the field has it: r[i] r[i - 1], then r[i] r[i -
// 2].
constexpr field f(double x) { return deltaloom::runtime::map_relu(field(x)); }
constexpr auto featured = evaluate(lines::featured,
                                   environment(bind(lines::P, mat<field, 1, 8>{}), bind(lines::F, mat<field, 1, 7>{}),
                                               bind(lines::R, mat<field, 1, 3>{})),
                                   environment(bind(k, vec<field>(1, -2)), bind(q, vec<field>(0, 0)),
                                               bind(v, vec<field>(1)), bind(lines::W, mat<field, 3, 2>{})));
static_assert(featured[name(lines::P)] == mat<field, 1, 8>{{f(1) * f(2), f(-2) * f(1), f(-1) * f(-2), f(2) * f(-1),
                                                            f(1) * f(-1), f(-2) * f(2), f(-1) * f(1), f(2) * f(-2)}});
constexpr field share(0.70710678118654752440); // the double nearest to 1 / sqrt 2
static_assert(featured[name(lines::F)] == mat<field, 1, 7>{{number(1), number(1), number(-2), share, share* number(-2),
                                                            share* number(-2), share* number(4)}});
constexpr field power = deltaloom::runtime::map_exp(field(-2.5)) / deltaloom::runtime::map_sqrt(field(3.0)); // W = 0
static_assert(featured[name(lines::R)] == mat<field, 1, 3>{{power, power, power}});

// previous(x) is x of the token before, and x is passed on.
constexpr auto shifted = evaluate(lines::shifted, environment(bind(S, mat<field, 2, 2>{}), bind(q, vec<field>(1, 0)),
                                                              bind(k, vec<field>(1, 2)), bind(v, vec<field>(1, 1)),
                                                              bind_before(k, vec<field>(7, 8))));
static_assert(shifted[name(S)] == mat<field, 2, 2>{{number(7), number(8), number(7), number(8)}});
static_assert(shifted[name_before(k)] == vec<field>(1, 2));

// Micro-steps: an input of a repeat has a value per step.
constexpr auto twice = evaluate(lines::twice, environment(bind(S, mat<double, 2, 2>{{2, 0, 0, 2}}),
                                                          bind(alpha, single(0.5)), bind(q, vec<double>(1, 0)),
                                                          bind(k, steps<mat<double, 2, 1>, 2>{{{{1, 0}}, {{1, 1}}}}),
                                                          bind(v, steps<mat<double, 2, 1>, 2>{{{{3, 1}}, {{0, 1}}}}),
                                                          bind(beta, steps<mat<double, 1, 1>, 2>{{{{1}}, {{0.5}}}})));
static_assert(twice[name(S)] == mat<double, 2, 2>{{1.5, -1.5, 0.5, 0.5}});

// --rng-seed N replays.
unsigned fresh_seed() { return Catch::rngSeed() ? Catch::rngSeed() : std::random_device{}(); }

template<class F> std::vector<double> applied(F f, std::vector<double> x) {
    named_environment<double> env;
    env.values["v"] = {int(x.size()), 1, std::move(x)};
    return evaluate(lines::of_value(f), std::move(env)).values.at("o").e;
}
template<class F, class G> void compare(char const* what, F of_expression, G of_number) {
    INFO(what);
    std::vector<double> const points{-3, -0.5, 0.25, 1, 4};
    auto const y = applied(of_expression, points);
    for (std::size_t i = 0; i < points.size(); ++i) {
        double const expected = of_number(points[i]);
        INFO("at " << points[i]);
        if (std::isnan(expected))
            CHECK(std::isnan(y[i]));
        else
            CHECK(y[i] == Approx(expected).epsilon(1e-14));
    }
}
} // namespace

TEST_CASE("elementwise functions are the textbook's over double") {
    compare("exp", [](auto x) { return exp(x); }, [](double x) { return std::exp(x); });
    compare("log", [](auto x) { return log(x); }, [](double x) { return std::log(x); });
    compare("abs", [](auto x) { return abs(x); }, [](double x) { return std::abs(x); });
    compare("neg", [](auto x) { return neg(x); }, [](double x) { return -x; });
    compare("-", [](auto x) { return -x; }, [](double x) { return -x; });
    compare("sqrt", [](auto x) { return sqrt(x); }, [](double x) { return std::sqrt(x); });
    compare("tanh", [](auto x) { return tanh(x); }, [](double x) { return std::tanh(x); });
    compare("sigmoid", [](auto x) { return sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); });
    compare("softplus", [](auto x) { return softplus(x); }, [](double x) { return std::log1p(std::exp(x)); });
    compare("relu", [](auto x) { return relu(x); }, [](double x) { return std::fmax(x, 0); });
    compare("elu1", [](auto x) { return elu1(x); }, [](double x) { return x > 0 ? x + 1 : std::exp(x); });
    compare("silu", [](auto x) { return silu(x); }, [](double x) { return x / (1 + std::exp(-x)); });
    compare("max(x, c)", [](auto x) { return max(x, 0.5); }, [](double x) { return std::fmax(x, 0.5); });
    compare("max(c, x)", [](auto x) { return max(1, x); }, [](double x) { return std::fmax(x, 1); });
    compare("max(x, y)", [](auto x) { return max(x, x % x); }, [](double x) { return std::fmax(x, x * x); });
    compare("min(x, c)", [](auto x) { return min(x, 0.5); }, [](double x) { return std::fmin(x, 0.5); });
    compare("min(c, x)", [](auto x) { return min(1, x); }, [](double x) { return std::fmin(x, 1); });
    compare("min(x, y)", [](auto x) { return min(x % x, x); }, [](double x) { return std::fmin(x, x * x); });
    compare(
        "numbers", [](auto x) { return 3 - (x * 2 - 0.5) / 4 + 2.0 * x + 1; },
        [](double x) { return 3 - (x * 2 - 0.5) / 4 + 2 * x + 1; });
}

TEST_CASE("functions of a vector are the textbook's over double") {
    std::vector<double> const x{-3, 1, 4};
    double const squares = 26, powers = std::exp(-3) + std::exp(1) + std::exp(4);
    auto const is = [&](std::vector<double> const& y, auto expected) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            CAPTURE(i);
            CHECK(y[i] == Approx(expected(x[i])).epsilon(1e-14));
        }
    };
    is(applied([](auto e) { return l2norm(e); }, x), [&](double a) { return a / std::sqrt(squares + 1e-6); });
    is(applied([](auto e) { return l2norm(e, 0.5); }, x), [&](double a) { return a / std::sqrt(squares + 0.5); });
    is(applied([](auto e) { return sum_norm(e); }, x), [&](double a) { return a / 2; });
    is(applied([](auto e) { return sum_norm(e, 3); }, x), [&](double a) { return a / 5; });
    is(applied([](auto e) { return softmax(e); }, x), [&](double a) { return std::exp(a) / powers; });
    is(applied([](auto e) { return T(softmax(T(e))); }, x), [&](double a) { return std::exp(a) / powers; });
    is(applied([](auto e) { return sum(e * T(e)) * e; }, x), [&](double a) { return a * 4; });
    is(applied([](auto e) { return norm(e) * e; }, x), [&](double a) { return a * std::sqrt(squares); });
    is(applied([](auto e) { return norm(e * T(e)) * e; }, x), [&](double a) { return a * squares; });
    is(applied([](auto e) { return diag(e) * e; }, x), [&](double a) { return a * a; });
    is(applied([](auto e) { return dot(e, e) * e; }, x), [&](double a) { return a * squares; });
    is(applied([](auto e) { return 2 / dot(e, e) * e; }, x), [&](double a) { return a * 2 / squares; });
    CHECK(std::isfinite(applied([](auto e) { return softmax(1000.0 * e); }, x)[2]));
}

namespace {
// <left, right> of the two features of k and q.
template<class X, class Y>
double meeting(X x, Y y, std::vector<double> key, std::vector<double> query, dynamic_matrix<double> weights = {}) {
    named_environment<double> env;
    int const d = int(key.size());
    env.values = {{"v", {1, 1, {1}}}, {"k", {d, 1, std::move(key)}}, {"q", {d, 1, std::move(query)}}};
    env.values["W"] = std::move(weights);
    return evaluate(lines::meeting(x, y), std::move(env)).values.at("o")(0, 0);
}
} // namespace

TEST_CASE("feature maps are the textbook's over double") {
    std::vector<double> const x{-3, 1, 4}, r{0, 1, 4, 3, 0, 0};
    named_environment<double> env;
    env.values["v"] = {3, 1, x};
    env = evaluate(lines::maps_of_value, std::move(env));
    auto const &blocks = env.values.at("blocks").e, &series = env.values.at("series").e;
    REQUIRE(blocks.size() == 9 * 6);
    for (std::size_t j = 1; j <= 9; ++j)
        for (std::size_t i = 0; i < 6; ++i) CHECK(blocks[(j - 1) * 6 + i] == r[i] * r[(i + 54 - j) % 6]);
    REQUIRE(series.size() == 1 + 3 + 9);
    CHECK(series[0] == 1);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(series[1 + i] == x[i]);
        for (std::size_t j = 0; j < 3; ++j)
            CHECK(series[4 + 3 * i + j] == Approx(x[i] * x[j] / std::sqrt(2)).epsilon(1e-15));
    }
    std::vector<double> const y{0.5, -2, 1};
    double const inner = -1.5 - 2 + 4;
    CHECK(meeting(taylor2(k), taylor2(q), x, y) == Approx(1 + inner + inner * inner / 2).epsilon(1e-14));
}

TEST_CASE("DPFP of keys in different quadrants is orthogonal") {
    double const signs[][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    for (auto const& a : signs)
        for (auto const& b : signs) {
            std::vector<double> const key{0.6 * a[0], 0.8 * a[1]}, query{0.3 * b[0], 0.9 * b[1]};
            double const product = meeting(dpfp<1>(k), dpfp<1>(q), key, query);
            if (&a == &b)
                CHECK(product == Approx(0.6 * 0.8 * 0.3 * 0.9));
            else
                CHECK(product == 0);
        }
}

TEST_CASE("random features estimate exp(q . k) without bias") {
    constexpr int features = 1000000;
    unsigned const seed = 7; // one in 16,000 seeds is beyond four standard errors
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    dynamic_matrix<double> weights(features, 3);
    for (double& w : weights.e) w = normal(random);
    std::vector<double> const key{0.5, -0.25, 0.5}, query{0.25, 0.5, -0.5};
    double inner = 0, together = 0; // <q, k> and |q + k|^2
    for (std::size_t i = 0; i < 3; ++i)
        inner += key[i] * query[i], together += (key[i] + query[i]) * (key[i] + query[i]);
    double const estimate = meeting(random_features(k, lines::W), random_features(q, lines::W), key, query, weights);
    double const standard_error = std::sqrt((std::exp(together) - 1) / features);
    CHECK(std::abs(estimate / std::exp(inner) - 1) < 4 * standard_error);
    CHECK(standard_error < 1e-3);
}

TEST_CASE("helper functions may be called like the oracle's own, over float too") {
    named_environment<float> env;
    env.values = {{"S", {1, 1, {2}}}, {"k", {1, 1, {3}}}, {"q", {1, 1, {5}}}, {"v", {1, 1, {7}}}};
    env = evaluate(lines::helped, std::move(env));
    CHECK(env.values.at("S")(0, 0) == 2 + 6 * 9);
    CHECK(env.values.at("o")(0, 0) == -56 * 5 * 10 + 15 * 7);
}

TEST_CASE("over floats a log gate is bound to g, and -inf closes it") {
    named_environment<double> env;
    env.values = {{"S", {1, 2, {1, 2}}},         {"k", {2, 1, {0, 0}}}, {"v", {1, 1, {0}}},
                  {"q", {2, 1, {1, 1}}},         {"g", {1, 1, {-0.5}}}, {"log_a", {1, 1, {-0.25}}},
                  {"w", {2, 1, {-INFINITY, -1}}}};
    auto const after = evaluate(lines::fading, env);
    CHECK(after.values.at("S")(0, 0) == 0);
    CHECK(after.values.at("S")(0, 1) == Approx(2 * std::exp(-2.25)).epsilon(1e-15));
    env.values["g"] = {1, 1, {-INFINITY}};
    CHECK(evaluate(lines::fading, env).values.at("S")(0, 1) == 0);
}

TEST_CASE("names at run time and Hana maps give the same token") {
    unsigned const seed = fresh_seed();
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    auto const fill = [&](auto& m) {
        for (auto& x : m.e) x = dual<field>{field::from_element(random() >> 3), field::from_element(random() >> 3)};
    };
    constexpr int V = 3, N = 2;
    mat<D, V, N> s;
    mat<D, N, 1> key, key_before, query, decay, w, n;
    steps<mat<D, V, 1>, 2> values;
    steps<mat<D, 1, 1>, 2> fades;
    mat<D, 1, 1> b;
    fill(s), fill(key), fill(key_before), fill(query), fill(decay), fill(w), fill(n), fill(b);
    fill(values.at[0]), fill(values.at[1]), fill(fades.at[0]), fill(fades.at[1]);
    auto const after =
        evaluate(lines::mixed, environment(bind(S, s), bind(lines::n, n)),
                 environment(bind(k, key), bind_before(k, key_before), bind(q, query), bind(lines::decay, decay),
                             bind(lines::w, w), bind(v, values), bind(alpha, fades), bind(beta, b)));
    auto const loose = [](auto const& m) {
        return dynamic_matrix<D>(m.rows(), m.cols(), {std::begin(m.e), std::end(m.e)});
    };
    named_environment<D> env;
    env.values = {{"S", loose(s)}, {"k", loose(key)}, {"q", loose(query)}, {"decay", loose(decay)},
                  {"w", loose(w)}, {"n", loose(n)},   {"beta", loose(b)}};
    env.steps = {{"v", {loose(values.at[0]), loose(values.at[1])}},
                 {"alpha", {loose(fades.at[0]), loose(fades.at[1])}}};
    env.before = {{"k", loose(key_before)}};
    env = evaluate(lines::mixed, std::move(env));
    CHECK(env.values.at("S") == loose(after[name(S)]));
    CHECK(env.values.at("n") == loose(after[name(lines::n)]));
    CHECK(env.values.at("o") == loose(after[name(o)]));
    CHECK(env.before.at("k") == loose(key));
    CHECK(loose(after[name_before(k)]) == loose(key));
    CHECK_FALSE(env.values.at("S") == loose(s));
}

TEST_CASE("dual numbers agree with finite differences over double") {
    unsigned const seed = fresh_seed();
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(0.2, 0.9);
    auto const run = [&](double along, auto scalar) {
        using K = decltype(scalar);
        std::mt19937_64 same(seed);
        named_environment<K> env;
        auto const drawn = [&](int rows, int cols) {
            dynamic_matrix<K> m(rows, cols);
            for (auto& x : m.e) {
                double const value = uniform(same), direction = uniform(same);
                if constexpr (std::is_same_v<K, double>)
                    x = value + along * direction;
                else
                    x = K(value, direction);
            }
            return m;
        };
        env.values = {{"S", drawn(3, 2)}, {"k", drawn(2, 1)}, {"q", drawn(2, 1)},   {"decay", drawn(2, 1)},
                      {"w", drawn(2, 1)}, {"n", drawn(2, 1)}, {"beta", drawn(1, 1)}};
        env.steps = {{"v", {drawn(3, 1), drawn(3, 1)}}, {"alpha", {drawn(1, 1), drawn(1, 1)}}};
        env.before = {{"k", drawn(2, 1)}};
        return evaluate(lines::mixed, std::move(env));
    };
    double const h = 1e-6;
    auto const up = run(h, 0.0), down = run(-h, 0.0);
    auto const exact = run(0, dual<double>{});
    for (auto const* result : {"S", "n", "o"})
        for (std::size_t i = 0; i < exact.values.at(result).e.size(); ++i) {
            CAPTURE(result, i);
            double const slope = (up.values.at(result).e[i] - down.values.at(result).e[i]) / (2 * h);
            CHECK(exact.values.at(result).e[i].tangent == Approx(slope).epsilon(1e-6).margin(1e-6));
        }
}

TEST_CASE("what is missing or does not meet is said") {
    named_environment<double> env;
    env.values = {{"S", {2, 2}}, {"q", {2, 1}}, {"k", {2, 1}}};
    CHECK_THROWS_WITH(evaluate(deltaloom::rules::sum, env), "v has no value");
    env.values["v"] = {2, 1};
    CHECK_THROWS_WITH(evaluate(lines::shifted, env), "k has no value at the token before");
    env.values["v"] = {3, 1};
    CHECK_THROWS_WITH(evaluate(deltaloom::rules::sum, env), "the extents bound to the operands do not meet");
    env.values["alpha"] = {1, 1};
    env.steps = {{"k", {{2, 1}}}, {"v", {{2, 1}}}, {"beta", {{1, 1}}}};
    CHECK_THROWS_WITH(evaluate(lines::twice, env), Catch::Contains("has no value for step 1"));
    CHECK_THROWS_WITH((dynamic_matrix<double>(2, 2, {1, 2, 3})), "3 elements for a matrix of 2 x 2");
}
