// How fast the operations run: GFLOP/s of one thread beside the FMA peak of the same run.
#include "deltaloom/runtime/ops/ops.hpp"

#include <benchmark/benchmark.h>

#include <vector>

using namespace deltaloom::runtime;

namespace {

template<class K> struct room {
    std::vector<K> memory;
    scratch<K> left;
    explicit room(std::size_t elements) : memory(elements + 64, K(0.01)) {
        auto const at = reinterpret_cast<std::uintptr_t>(memory.data());
        K* const first = memory.data() + (64 - at % 64) % 64 / sizeof(K);
        left = {first, memory.data() + memory.size()};
    }
    matrix<K> filled(deltaloom::runtime::index r, deltaloom::runtime::index c, K value) {
        auto const m = left.matrix(r, c);
        fill(m, value);
        return m;
    }
};
void report(benchmark::State& state, double flops) {
    state.counters["GFLOP/s"] =
        benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}

template<class K> void peak(benchmark::State& state) {
    constexpr int count = vector_lanes<K>, chains = 12;
    lanes<K, count> x[chains] = {}, y = lanes<K, count>{} + K(0.999);
    for (auto _ : state) {
        for (int k = 0; k < 1000; ++k) {
            DELTALOOM_UNROLL
            for (int i = 0; i < chains; ++i) x[i] = y + x[i] * y;
        }
        DELTALOOM_UNROLL
        for (int i = 0; i < chains; ++i) benchmark::DoNotOptimize(x[i]);
    }
    report(state, 2.0 * 1000 * chains * count);
}
// rows x depth x cols
template<class K> void products(benchmark::State& state, char which) {
    auto const r = state.range(0), k = state.range(1), c = state.range(2);
    room<K> memory(std::size_t(2 * (r * k + k * c + r * c) + 512));
    auto const out = memory.filled(r, c, 0), a = memory.filled(r, k, K(0.1)), at = memory.filled(k, r, K(0.1));
    auto const b = memory.filled(k, c, K(0.1)), bt = memory.filled(c, k, K(0.1));
    for (auto _ : state) {
        if (which == 'n') multiply(out, a, b);
        if (which == 'x') multiply_nt(out, a, bt);
        if (which == 't') multiply_tn(out, at, b);
        benchmark::ClobberMemory();
    }
    report(state, 2.0 * double(r * k * c));
}
void of_float(benchmark::State& state, char which) { products<float>(state, which); }
void of_double(benchmark::State& state, char which) { products<double>(state, which); }
template<class K> void systems(benchmark::State& state) {
    auto const n = state.range(0), c = state.range(1);
    room<K> memory(std::size_t(n * n + 2 * n * c + 512));
    auto const u = memory.filled(n, c, 0), m = memory.filled(n, n, K(0.01)), b = memory.filled(n, c, K(0.1));
    for (auto _ : state) {
        solve(u, m, b);
        benchmark::ClobberMemory();
    }
    report(state, double(n * (n - 1) * c));
}

constexpr int zero[] = {0}, one[] = {1};
constexpr span after{1, {zero, 1}, {event_rows::tokens, {one, 1}, {}}, {event_rows::tokens, {zero, 1}, {}}, true};
constexpr span same{1, {zero, 1}, {event_rows::tokens, {zero, 1}, {}}, {event_rows::tokens, {zero, 1}, {}}, true};

void decays(benchmark::State& state) {
    auto const n = state.range(0);
    room<float> memory(std::size_t(n * n + n + 512));
    auto const out = memory.filled(n, n, 0), a = memory.filled(n, 1, -0.1f);
    for (auto _ : state) {
        decay(out, after, n, {a}, domain::log);
        benchmark::ClobberMemory();
    }
    state.counters["entries/s"] = benchmark::Counter(double(n * n) / 2, benchmark::Counter::kIsIterationInvariantRate);
}
// tokens x channels; GFLOP/s counts n^2 / 2 pairs of one multiplication and one addition a channel.
void channels(benchmark::State& state, char which) {
    auto const n = state.range(0), d = state.range(1), gates = state.range(2);
    room<float> memory(std::size_t(2 * n * n + 5 * n * d + 1024));
    auto const w = memory.filled(n, n, 0.01f), r = memory.filled(n, d, 0.1f), x = memory.filled(n, d, 0.1f),
               y = memory.filled(n, d, 0);
    auto const a = memory.filled(n, gates, -0.1f), c = memory.filled(n, 1, 0.1f), g = memory.filled(n, n, 0);
    for (auto _ : state) {
        if (which == 'g') gram(g, after, n, r, x, a, domain::log);
        if (which == 'a') apply(y, after, n, w, x, a, domain::log);
        if (which == 't') applyt(y, after, n, w, r, a, domain::log);
        if (which == 's') spread(a.cols == 1 ? c : y, after, n, w, r, x, a, domain::log);
        if (which == 'c') csolve(y, same, n, w, c, x, a, domain::log);
        benchmark::ClobberMemory();
    }
    report(state, double(n * n * d));
}

} // namespace

BENCHMARK_TEMPLATE(peak, float);
BENCHMARK_TEMPLATE(peak, double);
#define SIZES                                                                                                          \
    Args({16, 128, 128})                                                                                               \
        ->Args({8, 128, 128})                                                                                          \
        ->Args({16, 128, 16})                                                                                          \
        ->Args({128, 16, 128})                                                                                         \
        ->Args({128, 8, 128})                                                                                          \
        ->Args({64, 128, 64})
BENCHMARK_CAPTURE(of_float, multiply, 'n')->SIZES;
BENCHMARK_CAPTURE(of_float, multiply_nt, 'x')->SIZES;
BENCHMARK_CAPTURE(of_float, multiply_tn, 't')->SIZES;
BENCHMARK_CAPTURE(of_double, multiply, 'n')->Args({16, 128, 128});
BENCHMARK_CAPTURE(of_double, multiply_nt, 'x')->Args({16, 128, 128});
BENCHMARK_TEMPLATE(systems, float)->Args({8, 128})->Args({16, 128})->Args({64, 128});
BENCHMARK(decays)->Arg(8)->Arg(16)->Arg(64)->Arg(512);
#define CHUNKS Args({8, 128, 128})->Args({16, 128, 128})->Args({64, 128, 128})->Args({16, 128, 1})->Args({64, 128, 1})
BENCHMARK_CAPTURE(channels, gram, 'g')->CHUNKS;
BENCHMARK_CAPTURE(channels, apply, 'a')->CHUNKS;
BENCHMARK_CAPTURE(channels, applyt, 't')->CHUNKS;
BENCHMARK_CAPTURE(channels, spread, 's')->CHUNKS;
BENCHMARK_CAPTURE(channels, csolve, 'c')->CHUNKS;
BENCHMARK_MAIN();
