// The exact numbers of the source material (docs/sources.md) at run time, by every form that was emitted.
#include "capacity.hpp"
#include "worked_examples.hpp"

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

namespace {

using Rows = std::vector<double>;

// One decode step a token, the state carried.
template<class K> Answer step_by_step(std::string const& rule, Pairs const& p, Rows state) {
    auto const token = [](Rows const& v, int t, int d) { return Rows(v.begin() + t * d, v.begin() + (t + 1) * d); };
    Answer all;
    for (int t = 0; t < p.tokens(); ++t) {
        Pairs const one{p.dk,
                        p.dv,
                        token(p.keys, t, p.dk),
                        token(p.values, t, p.dv),
                        token(p.queries, t, p.dk),
                        token(p.beta, t, 1),
                        token(p.alpha, t, 1)};
        auto const answer = run<K>(rule, one, state, DL_STEP);
        all.outputs.insert(all.outputs.end(), answer.outputs.begin(), answer.outputs.end());
        state = answer.state;
    }
    all.state = state;
    return all;
}
template<class K> void every_form(WorkedExample const& example, double budget) {
    auto const see = [&](char const* form, unsigned chunk, Answer const& answer) {
        INFO(example.what << ", " << example.rule << ", " << form << ", chunk " << chunk
                          << (sizeof(K) == 4 ? ", float" : ", double"));
        CHECK(difference(example, answer) <= budget);
    };
    see("step", 1, step_by_step<K>(example.rule, example.pairs, example.before));
    see("recurrent", 1, run<K>(example.rule, example.pairs, example.before, DL_RECURRENT));
    for (unsigned chunk : {1u, 2u, 3u, 16u})
        see("chunked", chunk, run<K>(example.rule, example.pairs, example.before, DL_CHUNKED, chunk));
    see("parallel", 0, run<K>(example.rule, example.pairs, example.before, DL_PARALLEL));
    see("summary", 1, run<K>(example.rule, example.pairs, example.before, DL_SUMMARY, 1));
}

struct Random {
    std::mt19937 generator;
    std::normal_distribution<double> normal{};
    std::uniform_real_distribution<double> uniform{0.0, 1.0};
    Rows vectors(int count, int d, bool unit) {
        Rows v(std::size_t(count * d));
        for (int t = 0; t < count; ++t) {
            double sum = 0;
            for (int i = 0; i < d; ++i)
                v[std::size_t(t * d + i)] = normal(generator),
                                      sum += v[std::size_t(t * d + i)] * v[std::size_t(t * d + i)];
            for (int i = 0; unit && i < d; ++i) v[std::size_t(t * d + i)] /= std::sqrt(sum);
        }
        return v;
    }
    Rows numbers(int count) {
        Rows v;
        for (int i = 0; i < count; ++i) v.push_back(uniform(generator));
        return v;
    }
};
Eigen::MatrixXd matrix(Rows const& v, int rows, int cols) {
    return Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> const>(v.data(), rows,
                                                                                                    cols);
}
double largest_difference(Rows const& a, Rows const& b) {
    REQUIRE(a.size() == b.size());
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        REQUIRE(std::isfinite(a[i]));
        worst = std::max(worst, std::abs(a[i] - b[i]));
    }
    return worst;
}
Rows ones(int count) { return Rows(std::size_t(count), 1.0); }

} // namespace

TEST_CASE("worked examples by every form") {
    auto const examples = worked_examples();
    REQUIRE(examples.size() >= 18);
    for (auto const& example : examples) {
        every_form<double>(example, 1e-12);
        every_form<float>(example, 1e-5);
    }
}

TEST_CASE("example 8: reflections do not commute") {
    auto const after = [](Rows const& keys, Rows const& state, int dv) {
        int const count = int(keys.size()) / 2;
        return run("delta", {2, dv, keys, Rows(std::size_t(count * dv)), keys, ones(count), ones(count)}, state).state;
    };
    CHECK(largest_difference(after({1, 0}, {3, 5}, 1), {0, 5}) <= 1e-15);
    CHECK(largest_difference(after({1, 0}, {1, 0, 0, 1}, 2), {0, 0, 0, 1}) <= 1e-15);
    CHECK(largest_difference(after({.6, .8}, {1, 0, 0, 1}, 2), {.64, -.48, -.48, .36}) <= 1e-15);
    CHECK(largest_difference(after({1, 0, .6, .8}, {1, 0, 0, 1}, 2), {0, 0, -.48, .36}) <= 1e-15);
    CHECK(largest_difference(after({.6, .8, 1, 0}, {1, 0, 0, 1}, 2), {0, -.48, 0, .36}) <= 1e-15);
}

TEST_CASE("example 12: orthogonal keys read back exactly") {
    Rows const keys{1, 0, 0, 0, 1, 0, 0, 0, 1}, values{1, 2, 3, 4, 5, 6};
    Pairs p{3, 2, keys, values, keys, {1, 1, 1}, {1, 1, 1}};
    CHECK(largest_difference(run("sum", p, {}, DL_CHUNKED, 2).outputs, values) <= 1e-15);
}

TEST_CASE("example 14: the product of six transitions") {
    Random random{std::mt19937(14)};
    constexpr int n = 6, d = 8;
    auto const keys = random.vectors(n, d, true), beta = random.numbers(n);
    Rows identity(d * d);
    for (int i = 0; i < d; ++i) identity[std::size_t(i * d + i)] = 1;
    Eigen::MatrixXd const K = matrix(keys, n, d), B = Eigen::Map<Eigen::VectorXd const>(beta.data(), n).asDiagonal();
    Eigen::MatrixXd const L = (B * K * K.transpose()).triangularView<Eigen::StrictlyLower>();
    Eigen::MatrixXd const T = (Eigen::MatrixXd::Identity(n, n) + L).inverse() * B;
    Eigen::MatrixXd const want = Eigen::MatrixXd::Identity(d, d) - K.transpose() * T * K;
    Pairs const p{d, d, keys, Rows(n * d), keys, beta, ones(n)};
    for (dl_form form : {DL_RECURRENT, DL_CHUNKED, DL_PARALLEL}) {
        auto const got = matrix(run("delta", p, identity, form, form == DL_CHUNKED ? 4 : 0).state, d,
                                d); // S = H_1 ... H_6, the transpose of the product
        CHECK((got.transpose() - want).cwiseAbs().maxCoeff() <= 1e-12);
    }
}

TEST_CASE("example 15: a write repeated at strength one half") {
    Rows keys, values;
    for (int t = 0; t < 6; ++t) keys.insert(keys.end(), {.6, .8}), values.insert(values.end(), {3, -4});
    Pairs const p{2, 2, keys, values, keys, Rows(6, .5), ones(6)};
    for (dl_form form : {DL_RECURRENT, DL_CHUNKED}) {
        auto const reads = run("delta", p, {}, form, form == DL_CHUNKED ? 4 : 0).outputs;
        double before = .5 * 25;
        for (std::size_t t = 0; t < 6; ++t) {
            double const loss = .5 * (std::pow(reads[2 * t] - 3, 2) + std::pow(reads[2 * t + 1] + 4, 2));
            CHECK(loss == Approx(.25 * before).epsilon(1e-12));
            before = loss;
        }
    }
}

TEST_CASE("example 16: chunks of every length give what the recurrence gives") {
    Random random{std::mt19937(16)};
    constexpr int n = 64, d = 8;
    Pairs const p{d,
                  d,
                  random.vectors(n, d, true),
                  random.vectors(n, d, false),
                  random.vectors(n, d, false),
                  random.numbers(n),
                  random.numbers(n)};
    for (std::string const rule : {"sum", "gated", "delta", "gated_delta"}) {
        auto const want = run(rule, p, {}, DL_RECURRENT), steps = step_by_step<double>(rule, p, {});
        auto const in_float = run<float>(rule, p, {}, DL_RECURRENT);
        CHECK(largest_difference(steps.outputs, want.outputs) <= 1e-12);
        for (unsigned chunk : {1u, 5u, 7u, 16u, 64u}) {
            INFO(rule << ", chunk " << chunk);
            auto const got = run(rule, p, {}, DL_CHUNKED, chunk);
            CHECK(largest_difference(got.outputs, want.outputs) <= 1e-12);
            CHECK(largest_difference(got.state, want.state) <= 1e-12);
            CHECK(largest_difference(run<float>(rule, p, {}, DL_CHUNKED, chunk).outputs, in_float.outputs) <= 2e-4);
        }
    }
}

TEST_CASE("segments side by side give what one after the other gives, on any number of threads") {
    Random random{std::mt19937(18)};
    constexpr int n = 150, d = 6, heads = 2; // segments of 32 tokens at chunk 2
    Pairs const p{d,
                  d,
                  random.vectors(heads * n, d, true),
                  random.vectors(heads * n, d, false),
                  random.vectors(heads * n, d, false),
                  random.numbers(heads * n),
                  random.numbers(heads * n)};
    auto const initial = random.vectors(heads * d, d, false);
    for (std::string const rule : {"sum", "gated", "delta", "gated_delta"}) {
        INFO(rule);
        auto const want = run(rule, p, initial, DL_RECURRENT, 0, heads);
        auto const one = run(rule, p, initial, DL_SUMMARY, 2, heads, 1);
        CHECK(largest_difference(one.outputs, want.outputs) <= 1e-12);
        CHECK(largest_difference(one.state, want.state) <= 1e-12);
        for (int threads : {2, 3, 16}) {
            auto const many = run(rule, p, initial, DL_SUMMARY, 2, heads, threads);
            CHECK(many.outputs == one.outputs);
            CHECK(many.state == one.state);
        }
    }
}

// The whole matrix of weights <query, key>, unmasked, as the emitted kernel reads it: all keys are written, each with a
// value of its own; then every query reads its row.
Eigen::MatrixXd attention(Rows const& queries, Rows const& keys, int n, int d) {
    Pairs p{d, n, keys, Rows(std::size_t(n * n)), Rows(std::size_t(n * d)), ones(2 * n), ones(2 * n)};
    for (int t = 0; t < n; ++t) p.values[std::size_t(t * n + t)] = 1;
    p.keys.resize(std::size_t(2 * n * d)), p.values.resize(std::size_t(2 * n * n));
    p.queries.insert(p.queries.end(), queries.begin(), queries.end());
    auto const reads = run("sum", p, {}, DL_CHUNKED, 16).outputs;
    return matrix({reads.begin() + n * n, reads.end()}, n, n);
}
Eigen::MatrixXd softmax(Eigen::MatrixXd const& scores) {
    Eigen::MatrixXd weights = scores.array().exp();
    for (int t = 0; t < weights.rows(); ++t) weights.row(t) /= weights.row(t).sum();
    return weights;
}
int rank(Eigen::MatrixXd const& m) { return int(Eigen::FullPivLU<Eigen::MatrixXd>(m).setThreshold(1e-10).rank()); }

TEST_CASE("example 17: what a linear attention matrix can be") {
    Random random{std::mt19937(17)};
    constexpr int n = 16, d = 4;
    auto const keys = random.vectors(n, d, false), queries = random.vectors(n, d, false);
    auto const weights = attention(queries, keys, n, d);
    Eigen::MatrixXd const scores = matrix(queries, n, d) * matrix(keys, n, d).transpose();
    CHECK((weights - scores).cwiseAbs().maxCoeff() <= 1e-12);
    CHECK(rank(weights) == d);
    CHECK(rank(softmax(scores)) == n);
}

TEST_CASE("example 17: six queries and six keys on a line") {
    constexpr int n = 6;
    Rows queries, keys;
    for (int i = 0; i < n; ++i) queries.push_back(-1 + .4 * i), keys.push_back(-.8 + .4 * i);
    auto const scores = attention(queries, keys, n, 1);
    CHECK(rank(scores) == 1);
    auto const weights = softmax(scores); // full rank, if only just
    CHECK(std::abs(weights.determinant() - 5.09e-13) <= .005e-13);
    auto const values = Eigen::JacobiSVD<Eigen::MatrixXd>(weights).singularValues();
    CHECK(std::abs(values(0) / values(n - 1) - 1.28e5) <= .005e5);
}

TEST_CASE("example 17: a positive map bounds the ratio of two weights, and one stored pair reads clean") {
    Random random{std::mt19937(170)};
    constexpr int d = 4, queries_count = 64;
    auto const mapped = [&](int count, double scale) { // elu(x) + 1
        auto v = random.vectors(count, d, false);
        for (double& x : v) x *= scale, x = x > 0 ? x + 1 : std::exp(x);
        return v;
    };
    auto const keys = mapped(2, 1), queries = mapped(queries_count, 4);
    double bound = 0;
    for (int m = 0; m < d; ++m) bound = std::max(bound, keys[std::size_t(m)] / keys[std::size_t(d + m)]);
    // Two written pairs with the values (1, 0) and (0, 1); a query reads both weights.
    Pairs p{d, 2, keys, {1, 0, 0, 1}, Rows(2 * d), ones(2 + queries_count), ones(2 + queries_count)};
    p.keys.resize(std::size_t((2 + queries_count) * d)), p.values.resize(2 * (2 + queries_count));
    p.queries.insert(p.queries.end(), queries.begin(), queries.end());
    auto const reads = run("sum", p, {}, DL_CHUNKED, 16).outputs;
    double largest = 0;
    for (std::size_t t = 2; t < 2 + queries_count; ++t) {
        double const first = reads[2 * t], second = reads[2 * t + 1];
        REQUIRE((first > 0 && second > 0)); // both pairs are heard, whatever is asked
        largest = std::max(largest, first / second);
    }
    CHECK(largest <= bound * (1 + 1e-12));
    CHECK(largest >= bound / 2); // and the bound is not idle
    // One pair alone, its read divided by its weight, is its value.
    Pairs single{d,   2,  Rows(keys.begin(), keys.begin() + d), {5, 2}, Rows(queries.begin(), queries.begin() + d),
                 {1}, {1}};
    auto const read = run("sum", single, {}, DL_CHUNKED, 16).outputs;
    single.values = {1, 1};
    auto const weight = run("sum", single, {}, DL_CHUNKED, 16).outputs;
    CHECK(std::abs(read[0] / weight[0] - 5) <= 1e-12);
    CHECK(std::abs(read[1] / weight[1] - 2) <= 1e-12);
}

TEST_CASE("Table A: how many pairs a memory holds") {
    struct Row {
        int pairs;
        double additive, delta, newest, least_squares;
    };
    constexpr Row table[] = {{8, .473, .360, .360, 0},
                             {16, .681, .537, .383, 0},
                             {32, .986, .771, .414, 0},
                             {64, 1.403, 1.030, .434, .707},
                             {128, 1.990, 1.224, .447, .867}};
    for (auto const& want : table) {
        auto const got = capacity(want.pairs, 32, 200, 7, 2);
        INFO(want.pairs << " pairs");
        CHECK(std::abs(got.additive - want.additive) <= .02);
        CHECK(std::abs(got.delta - want.delta) <= .02);
        CHECK(std::abs(got.delta_newest - want.newest) <= .02);
        CHECK(std::abs(got.least_squares - want.least_squares) <= .02);
    }
    CHECK(written_over(24, 32, 200, 7) <= 1e-4);
}
