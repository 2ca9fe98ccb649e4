#include "worked_examples.hpp"

#include <cmath>

namespace {

using Rows = std::vector<double>;

// The query of every token is its own key where none are given; strength 1, no decay.
Pairs pairs(int dk, int dv, Rows keys, Rows values, Rows queries = {}, Rows beta = {}, Rows alpha = {}) {
    Pairs p{dk, dv, std::move(keys), std::move(values), std::move(queries), std::move(beta), std::move(alpha)};
    if (p.queries.empty()) p.queries = p.keys;
    if (p.beta.empty()) p.beta.assign(std::size_t(p.tokens()), 1.0);
    if (p.alpha.empty()) p.alpha.assign(std::size_t(p.tokens()), 1.0);
    return p;
}

} // namespace

std::vector<WorkedExample> worked_examples() {
    Rows const two{5, 3, 2, 7}; // (5,2) under (1,0) and (3,7) under (0,1)
    double const c = 1 / std::sqrt(3.0);
    return {
        {"three tokens of the sum rule",
         "sum",
         pairs(2, 2, {1, 0, 0, 1, 1, 1}, {2, 0, 0, 3, 1, 1}, {1, 1, 1, 1, 1, 1}),
         {},
         {3, 1, 1, 4},
         {4, 5}},
        {"two orthogonal pairs read back",
         "sum",
         pairs(2, 2, {1, 0, 0, 1}, {5, 2, 3, 7}, {1, 0, 0, 1}),
         {},
         two,
         {3, 7}},
        {"between two keys", "sum", pairs(2, 2, {1, 0, 0, 1}, {5, 2, 3, 7}, {1, 0, .5, .5}), {}, two, {4, 4.5}},
        {"three values under two keys' space",
         "sum",
         pairs(2, 3, {1, 0}, {5, 2, 9}),
         {},
         {5, 0, 2, 0, 9, 0},
         {5, 2, 9}},
        {"a third, crowded pair by the sum rule",
         "sum",
         pairs(2, 2, {.6, .8}, {9, 1}),
         two,
         {10.4, 10.2, 2.6, 7.8},
         {14.4, 7.8}},
        {"overwriting by delta, strength 0.8",
         "delta",
         pairs(2, 2, {1, 0}, {11, 4}, {0, 1}, {.8}),
         two,
         {9.8, 3, 3.6, 7},
         {3, 7}},
        {"repair of the crowded memory by delta",
         "delta",
         pairs(2, 2, {1, 0}, {5, 2}),
         {10.4, 10.2, 2.6, 7.8},
         {5, 10.2, 2, 7.8},
         {5, 2}},
        {"overwriting by gated, strength 0.8",
         "gated",
         pairs(2, 2, {0, 1}, {11, 4}, {1, 0}, {.8}),
         two,
         {1, 9.4, .4, 4.6},
         {1, .4}},
        {"the same by delta", "delta", pairs(2, 2, {0, 1}, {11, 4}, {1, 0}, {.8}), two, {5, 9.4, 2, 4.6}, {5, 2}},
        {"chunked sum of four tokens",
         "sum",
         pairs(2, 2, {1, 0, 0, 1, 1, 1, 1, 0}, {2, 0, 0, 3, 1, 1, 2, 2}),
         {},
         {5, 1, 3, 4},
         {5, 3}},
        {"the WY form of two delta steps",
         "delta",
         pairs(2, 2, {1, 0, .6, .8}, {11, 4, 9, 1}, {}, {.8, 1}),
         {},
         {11.032, 2.976, 2.648, -.736},
         {9, 1}},
        {"additive with a key written twice",
         "sum",
         pairs(2, 2, {1, 0, 0, 1, 1, 0}, {3, 1, -1, 2, 0, 4}),
         {},
         {3, -1, 5, 2},
         {3, 5}},
        {"delta with a key written twice",
         "delta",
         pairs(2, 2, {1, 0, 0, 1, 1, 0}, {3, 1, -1, 2, 0, 4}),
         {},
         {0, -1, 4, 2},
         {0, 4}},
        {"three keys in two dimensions, additive",
         "sum",
         pairs(2, 2, {1, 0, 0, 1, 1, 1}, {3, 1, -1, 2, 2, 0}),
         {},
         {5, 1, 1, 2},
         {6, 3}},
        {"a fourth key among three orthogonal ones",
         "sum",
         pairs(3, 2, {1, 0, 0, 0, 1, 0, 0, 0, 1, c, c, c}, {1, 2, 3, 4, 5, 6, 0, 0}),
         {},
         {},
         {9 * c, 12 * c}},
        {"one key twice: the newest value", "delta", pairs(2, 2, {.6, .8, .6, .8}, {1, 2, 3, 4}), {}, {}, {3, 4}},
        {"one key twice: the sum of both", "sum", pairs(2, 2, {.6, .8, .6, .8}, {1, 2, 3, 4}), {}, {}, {4, 6}},
        {"gated delta with alpha = 1 is delta",
         "gated_delta",
         pairs(2, 2, {1, 0}, {11, 4}, {0, 1}, {.8}),
         two,
         {9.8, 3, 3.6, 7},
         {3, 7}},
    };
}

double difference(WorkedExample const& example, Answer const& answer) {
    double worst = 0;
    auto const see = [&](double got, double want) {
        double const d = std::abs(got - want);
        if (!(d <= worst)) worst = std::isnan(d) ? INFINITY : d;
    };
    for (std::size_t i = 0; i < example.state.size(); ++i) see(answer.state[i], example.state[i]);
    for (std::size_t i = 0; i < example.reads.size(); ++i)
        see(answer.outputs[answer.outputs.size() - example.reads.size() + i], example.reads[i]);
    return worst;
}
