#include "capacity.hpp"

#include "memory.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <random>

namespace {

// [pair][repetition][entry], every vector of unit length.
std::vector<double> unit_vectors(int count, int repetitions, int d, std::mt19937& random) {
    std::normal_distribution<double> normal;
    std::vector<double> v(std::size_t(count * repetitions * d));
    for (std::size_t at = 0; at < v.size(); at += std::size_t(d)) {
        double norm = 0;
        for (int i = 0; i < d; ++i)
            v[at + std::size_t(i)] = normal(random), norm += v[at + std::size_t(i)] * v[at + std::size_t(i)];
        for (int i = 0; i < d; ++i) v[at + std::size_t(i)] /= std::sqrt(norm);
    }
    return v;
}

} // namespace

CapacityRow capacity(int pairs, int d, int repetitions, unsigned seed, int threads) {
    std::mt19937 random(seed);
    // The pairs are written, then every key is asked while nothing more is written: strength 0, value 0.
    auto const keys = unit_vectors(pairs, repetitions, d, random), values = unit_vectors(pairs, repetitions, d, random);
    std::size_t const written = keys.size();
    Pairs p{d, d, keys, values, {}, {}, {}};
    p.queries.assign(written, 0.0);
    p.beta.assign(std::size_t(pairs * repetitions), 1.0);
    p.keys.insert(p.keys.end(), keys.begin(), keys.end());
    p.queries.insert(p.queries.end(), keys.begin(), keys.end());
    p.values.resize(2 * written, 0.0);
    p.beta.resize(std::size_t(2 * pairs * repetitions), 0.0);
    p.alpha.assign(p.beta.size(), 1.0);
    auto const error = [&](std::string const& rule, int newest) {
        auto const answer = run(rule, p, {}, DL_CHUNKED, 0, repetitions, threads);
        double sum = 0;
        for (std::size_t i = std::size_t((pairs - newest) * repetitions * d); i < written; ++i)
            sum += std::pow(answer.outputs[written + i] - values[i], 2);
        return std::sqrt(sum / (newest * repetitions));
    };
    CapacityRow row{pairs, error("sum", pairs), error("delta", pairs), error("delta", std::min(8, pairs)), 0};
    double sum = 0;
    for (int r = 0; r < repetitions; ++r) {
        Eigen::MatrixXd K(pairs, d), V(pairs, d);
        for (int t = 0; t < pairs; ++t)
            for (int i = 0; i < d; ++i) {
                std::size_t const at = std::size_t((t * repetitions + r) * d + i);
                K(t, i) = keys[at], V(t, i) = values[at];
            }
        sum += (K * K.completeOrthogonalDecomposition().solve(V) - V).squaredNorm();
    }
    row.least_squares = std::sqrt(sum / (pairs * repetitions));
    return row;
}

double written_over(int pairs, int d, int rounds, unsigned seed) {
    std::mt19937 random(seed);
    auto const keys = unit_vectors(pairs, 1, d, random), values = unit_vectors(pairs, 1, d, random);
    Pairs p{d, d, {}, {}, {}, {}, {}};
    for (int r = 0; r < rounds; ++r)
        p.keys.insert(p.keys.end(), keys.begin(), keys.end()),
            p.values.insert(p.values.end(), values.begin(), values.end());
    p.queries = p.keys;
    p.beta.assign(std::size_t(p.tokens()), 1.0), p.alpha = p.beta;
    auto const state = run("delta", p).state;
    double worst = 0;
    for (int t = 0; t < pairs; ++t)
        for (int i = 0; i < d; ++i) {
            double read = 0;
            for (int j = 0; j < d; ++j) read += state[std::size_t(i * d + j)] * keys[std::size_t(t * d + j)];
            worst = std::max(worst, std::abs(read - values[std::size_t(t * d + i)]));
        }
    return worst;
}
