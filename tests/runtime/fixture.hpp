#pragma once
// Random operands in the scalar under test and, beside them, in the scalar of the reference: the field itself, or long
// double for floats.
#include "reference.hpp"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

namespace fixture {
using namespace deltaloom::runtime;
using reference::table;

template<class K> struct exact_scalar {
    using type = long double;
};
template<> struct exact_scalar<field> {
    using type = field;
};
template<class K> using exact = typename exact_scalar<K>::type;

// The seed of a run; a failing one is printed and replays with DELTALOOM_SEED.
inline unsigned seed() {
    static unsigned const value = [] {
        char const* const given = std::getenv("DELTALOOM_SEED");
        return given ? unsigned(std::strtoul(given, nullptr, 10)) : unsigned(std::random_device{}());
    }();
    return value;
}

// A matrix with guards on both sides, and its exact twin.
template<class K> struct operand {
    table<exact<K>> twin;
    std::vector<K> memory;
    static constexpr int guard = 16;
    operand(int r, int c) : twin(r, c), memory(std::size_t(r * c + 2 * guard), K(777.0)) {}
    matrix<K> view() { return {memory.data() + guard, twin.rows, twin.cols}; }
    operator matrix<K>() { return view(); }
    bool guarded() const {
        for (int i = 0; i < guard; ++i)
            if (!(memory[std::size_t(i)] == K(777.0)) || !(memory[memory.size() - 1 - std::size_t(i)] == K(777.0)))
                return false;
        return true;
    }
};

enum class gates { usual, weak, strong, steep, cliff, resets };
template<class K> struct draw {
    std::mt19937_64 random;
    explicit draw(unsigned long salt) : random(seed() * 1000003ul + salt) {}

    double normal() { return std::normal_distribution<double>()(random); }
    double uniform() { return std::uniform_real_distribution<double>()(random); }
    operand<K> values(int rows, int cols, double scale = 1) {
        operand<K> x(rows, cols);
        for (int i = 0; i < rows * cols; ++i) {
            if constexpr (is_field<K>)
                x.view().data[i] = x.twin.entries[std::size_t(i)] = field::from_element(random());
            else {
                x.view().data[i] = K(scale * normal());
                x.twin.entries[std::size_t(i)] = x.view().data[i];
            }
        }
        return x;
    }
    // Decays as the domain holds them; the twin holds factors.
    operand<K> decays(int rows, int cols, domain d, gates kind) {
        operand<K> x(rows, cols);
        for (int i = 0; i < rows * cols; ++i) {
            K& to = x.view().data[i];
            auto& twin = x.twin.entries[std::size_t(i)];
            if constexpr (is_field<K>)
                to = twin = uniform() < 0.2 ? field() : field::from_element(random());
            else {
                double g = 0;
                switch (kind) {
                case gates::usual: g = -uniform(); break;
                case gates::weak: g = -1e-8; break;
                case gates::strong: g = -20; break;
                case gates::steep: g = i / cols % 2 ? -1e4 : -1e-3; break;
                case gates::cliff: g = i / cols < rows / 2 ? -90 : -1e-3; break;
                case gates::resets: {
                    double const choices[] = {-std::numeric_limits<double>::infinity(), 0, -1, -1e-3};
                    g = choices[random() % 4];
                }
                }
                if (d == domain::log)
                    to = K(g), twin = std::exp((long double)(to));
                else {
                    double factor = std::exp(g);
                    if (kind == gates::usual && random() % 4 == 0) factor = -factor;
                    if (kind == gates::resets && random() % 4 == 0) factor = -1;
                    to = K(factor), twin = to;
                }
            }
        }
        return x;
    }
};

template<class K> K poison() {
    if constexpr (is_field<K>)
        return field::from_element(123456789);
    else
        return std::numeric_limits<K>::quiet_NaN();
}
// An output full of what must not be left there.
template<class K> operand<K> output(int rows, int cols) {
    operand<K> x(rows, cols);
    for (int i = 0; i < rows * cols; ++i) x.view().data[i] = poison<K>();
    return x;
}

// The largest error over 1 + the largest reference; 0 or infinite over the field; infinite for a NaN.
template<class K> double error(operand<K>& got, table<exact<K>> const& want) {
    if (!got.guarded() || got.twin.rows != want.rows || got.twin.cols != want.cols)
        return std::numeric_limits<double>::infinity();
    long double most = 0, scale = 1;
    for (int i = 0; i < want.rows * want.cols; ++i) {
        auto const& w = want.entries[std::size_t(i)];
        K const g = got.view().data[i];
        if constexpr (is_field<K>) {
            if (!(g == w)) return std::numeric_limits<double>::infinity();
        } else {
            scale = std::max(scale, std::fabs(w));
            long double const e = std::fabs((long double)(g)-w);
            if (!(e <= most)) most = e == e ? e : std::numeric_limits<long double>::infinity();
        }
    }
    return double(most / scale);
}
template<class K> double budget() {
    if constexpr (std::is_same_v<K, float>)
        return 1e-6;
    else if constexpr (std::is_same_v<K, double>)
        return 1e-14;
    else
        return 0;
}

} // namespace fixture
