// The worked examples of the delta-rule literature, on the declarations themselves, at compile time. Decimals are exact
// quotients in the field. The catalogue's orientation: S is dv x dk, it reads S q.
#include <catch2/catch.hpp>
#include <deltaloom/evaluate.hpp>
#include <deltaloom/rules.hpp>

namespace {
using namespace deltaloom::oracle; // evaluate, environment, bind, mat
using deltaloom::dsl::alpha, deltaloom::dsl::beta, deltaloom::dsl::k, deltaloom::dsl::o, deltaloom::dsl::q;
using deltaloom::dsl::S, deltaloom::dsl::v;
namespace rules = deltaloom::rules;
using deltaloom::runtime::field;

constexpr field number(double x) { return field(x); }
constexpr field hundredths(int n) { return field(double(n)) / field(100.0); }
constexpr field thousandths(int n) { return field(double(n)) / field(1000.0); }

template<int N> using column = mat<field, N, 1>;
template<int R, int C> using matrix = mat<field, R, C>;
template<class... X> constexpr column<sizeof...(X)> vec(X... x) { return {{number(x)...}}; }

template<int V, int D> struct token {
    column<D> key;
    column<V> value;
    field rate = number(1);
    field fade = number(1);
    column<D> query{};
};
template<class Rule, int V, int D>
constexpr auto run_token(Rule const& rule, matrix<V, D> const& state, token<V, D> const& t) {
    return evaluate(rule, environment(bind(S, state)),
                    environment(bind(k, t.key), bind(v, t.value), bind(q, t.query),
                                bind(beta, mat<field, 1, 1>{{t.rate}}), bind(alpha, mat<field, 1, 1>{{t.fade}})));
}
template<class Rule, int V, int D>
constexpr matrix<V, D> write(Rule const& rule, matrix<V, D> const& state, token<V, D> const& t) {
    return run_token(rule, state, t)[name(S)];
}
// What the state holds for a key, read by a rule that writes nothing.
inline constexpr auto looked_up = deltaloom::dsl::rule("looked_up", o <<= S * q);
template<int V, int D> constexpr column<V> read(matrix<V, D> const& state, column<D> const& query) {
    return evaluate(looked_up, environment(bind(S, state), bind(q, query)))[name(o)];
}
template<class M> constexpr M plus(M const& a, M const& b) {
    return both(a, b, [](auto x, auto y) { return x + y; });
}

// 1. Three pairs, the sum rule, and the parallel form: dot products 1, 1, 2.
constexpr token<2, 2> first{vec(1, 0), vec(2, 0)}, second{vec(0, 1), vec(0, 3)};
constexpr token<2, 2> third{vec(1, 1), vec(1, 1), number(1), number(1), vec(1, 1)};
constexpr auto after_two = write(rules::sum, write(rules::sum, matrix<2, 2>{}, first), second);
constexpr auto one = run_token(rules::sum, after_two, third);
static_assert(one[name(S)] == matrix<2, 2>{{number(3), number(1), number(1), number(4)}});
static_assert(one[name(o)] == vec(4, 5));
static_assert(product(transpose(first.key), third.query)(0, 0) == number(1));
static_assert(product(transpose(second.key), third.query)(0, 0) == number(1));
static_assert(product(transpose(third.key), third.query)(0, 0) == number(2));
static_assert(plus(plus(first.value, second.value), scaled(third.value, number(2))) == one[name(o)]);

// 2. Two orthogonal keys read back exactly.
constexpr auto two =
    write(rules::sum, write(rules::sum, matrix<2, 2>{}, {vec(1, 0), vec(5, 2)}), {vec(0, 1), vec(3, 7)});
static_assert(two == matrix<2, 2>{{number(5), number(3), number(2), number(7)}});
static_assert(read(two, vec(1, 0)) == vec(5, 2) && read(two, vec(0, 1)) == vec(3, 7));
static_assert(read(two, vec(0.5, 0.5)) == vec(4, 4.5));

// 3. dv = 3, dk = 2.
constexpr auto three = write(rules::sum, matrix<3, 2>{}, {vec(1, 0), vec(5, 2, 9)});
static_assert(three == matrix<3, 2>{{number(5), number(0), number(2), number(0), number(9), number(0)}});
static_assert(read(three, vec(1, 0)) == vec(5, 2, 9));

// 4. A third, overlapping key by the sum rule: crosstalk.
constexpr column<2> overlapping{{hundredths(60), hundredths(80)}};
constexpr auto four = write(rules::sum, two, {overlapping, vec(9, 1)});
static_assert(four == matrix<2, 2>{{hundredths(1040), hundredths(1020), hundredths(260), hundredths(780)}});
static_assert(read(four, overlapping) == column<2>{{hundredths(1440), hundredths(780)}});
static_assert(read(four, vec(1, 0)) == column<2>{{hundredths(1040), hundredths(260)}});

// 5. The delta rule moves the first pair eight tenths of the way; the sum rule would add.
constexpr token<2, 2> moved{vec(1, 0), vec(11, 4), hundredths(80)};
constexpr auto five = write(rules::delta, two, moved);
static_assert(read(two, moved.key) == vec(5, 2));
static_assert(read(five, moved.key) == column<2>{{hundredths(980), hundredths(360)}});
static_assert(five == matrix<2, 2>{{hundredths(980), number(3), hundredths(360), number(7)}});
static_assert(read(five, vec(0, 1)) == vec(3, 7));
static_assert(read(write(rules::sum, two, moved), moved.key) == vec(16, 6));

// 6. The delta rule repairs the first key of 4. exactly; the second stays wrong.
constexpr auto six = write(rules::delta, four, {vec(1, 0), vec(5, 2)});
static_assert(six == matrix<2, 2>{{number(5), hundredths(1020), number(2), hundredths(780)}});
static_assert(read(six, vec(1, 0)) == vec(5, 2) &&
              read(six, vec(0, 1)) == column<2>{{hundredths(1020), hundredths(780)}});

// 7. Gated against delta: both move the written key alike, the gated rule fades the other.
constexpr token<2, 2> rewritten{vec(0, 1), vec(11, 4), hundredths(80)};
constexpr auto faded = write(rules::gated, two, rewritten), kept = write(rules::delta, two, rewritten);
static_assert(read(faded, vec(0, 1)) == column<2>{{hundredths(940), hundredths(460)}});
static_assert(read(faded, vec(1, 0)) == column<2>{{number(1), hundredths(40)}});
static_assert(read(kept, vec(0, 1)) == read(faded, vec(0, 1)) && read(kept, vec(1, 0)) == vec(5, 2));

// 9. The sum rule in chunks of two: a chunk's own sum is added to the state before it.
constexpr token<2, 2> fourth{vec(1, 0), vec(2, 2)};
constexpr auto later_chunk = write(rules::sum, write(rules::sum, matrix<2, 2>{}, third), fourth);
static_assert(after_two == matrix<2, 2>{{number(2), number(0), number(0), number(3)}});
static_assert(later_chunk == matrix<2, 2>{{number(3), number(1), number(3), number(1)}});
static_assert(plus(after_two, later_chunk) == matrix<2, 2>{{number(5), number(1), number(3), number(4)}});
static_assert(write(rules::sum, write(rules::sum, after_two, third), fourth) == plus(after_two, later_chunk));

// 10. Two delta tokens from zero, and their pseudo-values u1 = beta1 v1, u2 = v2 - <k1, k2> u1.
constexpr auto ten = write(rules::delta, write(rules::delta, matrix<2, 2>{}, moved), {overlapping, vec(9, 1)});
constexpr column<2> u1{{hundredths(880), hundredths(320)}}, u2{{hundredths(372), hundredths(-92)}};
static_assert(scaled(moved.value, moved.rate) == u1);
static_assert(plus(vec(9, 1), scaled(u1, field(0.0) - product(transpose(moved.key), overlapping)(0, 0))) == u2);
static_assert(ten == plus(product(u1, transpose(moved.key)), product(u2, transpose(overlapping))));
static_assert(ten == matrix<2, 2>{{thousandths(11032), thousandths(2976), thousandths(2648), thousandths(-736)}});

// 11. Given in the other orientation: S^T. The first key is written twice.
constexpr token<2, 2> notebook[] = {{vec(1, 0), vec(3, 1)}, {vec(0, 1), vec(-1, 2)}, {vec(1, 0), vec(0, 4)}};
template<class Rule> constexpr auto run_all(Rule const& rule, token<2, 2> const (&tokens)[3], int count) {
    matrix<2, 2> state{};
    for (int t = 0; t < count; ++t) state = write(rule, state, tokens[t]);
    return state;
}
static_assert(transpose(run_all(rules::sum, notebook, 3)) ==
              matrix<2, 2>{{number(3), number(5), number(-1), number(2)}});
static_assert(transpose(run_all(rules::delta, notebook, 3)) ==
              matrix<2, 2>{{number(0), number(4), number(-1), number(2)}});
static_assert(plus(run_all(rules::delta, notebook, 2), product(vec(-3, 3), transpose(vec(1, 0)))) ==
              run_all(rules::delta, notebook, 3));

// 13. Other orientation again: the error of every read after a third, overlapping key.
constexpr token<2, 2> crowded[] = {{vec(1, 0), vec(3, 1)}, {vec(0, 1), vec(-1, 2)}, {vec(1, 1), vec(2, 0)}};
constexpr auto thirteen = run_all(rules::sum, crowded, 3);
static_assert(transpose(run_all(rules::sum, crowded, 2)) ==
              matrix<2, 2>{{number(3), number(1), number(-1), number(2)}});
static_assert(transpose(thirteen) == matrix<2, 2>{{number(5), number(1), number(1), number(2)}});
constexpr column<2> error_of(token<2, 2> const& t) {
    field const length = product(transpose(t.key), t.key)(0, 0);
    return plus(scaled(read(thirteen, t.key), field(1.0) / length), scaled(t.value, field(-1.0)));
}
static_assert(error_of(crowded[0]) == vec(2, 0) && error_of(crowded[1]) == vec(2, 0));
static_assert(error_of(crowded[2]) == vec(1, 1.5));

// Between the rules: alpha = 1 makes the gated delta rule the delta rule; the decay comes before the correction.
static_assert(write(rules::gated_delta, two, moved) == five);
constexpr token<2, 2> halved{vec(1, 0), vec(11, 4), hundredths(80), hundredths(50)};
static_assert(write(rules::gated_delta, two, halved) == write(rules::delta, scaled(two, hundredths(50)), halved));
} // namespace

TEST_CASE("example 10 holds in double to 1e-12") {
    auto const written = [](auto const& rule) {
        mat<double, 2, 2> state{};
        mat<double, 2, 1> const keys[] = {{{1, 0}}, {{.6, .8}}}, values[] = {{{11, 4}}, {{9, 1}}};
        mat<double, 1, 1> const rates[] = {{{.8}}, {{1}}};
        for (int t = 0; t < 2; ++t)
            state = evaluate(rule, environment(bind(S, state)),
                             environment(bind(k, keys[t]), bind(v, values[t]), bind(q, keys[t]), bind(beta, rates[t]),
                                         bind(alpha, mat<double, 1, 1>{{1}})))[name(S)];
        return state;
    };
    double const expected[] = {11.032, 2.976, 2.648, -.736};
    auto const delta = written(rules::delta), gated_delta = written(rules::gated_delta);
    for (int i = 0; i < 4; ++i) {
        CAPTURE(i);
        CHECK(delta.e[i] == Approx(expected[i]).margin(1e-12).epsilon(0));
        CHECK(gated_delta.e[i] == Approx(expected[i]).margin(1e-12).epsilon(0));
    }
}
