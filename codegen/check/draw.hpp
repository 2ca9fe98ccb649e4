#pragma once
// Seeded draws that are the same on every machine: integers and exact floating-point arithmetic only.
#include <cstdint>
#include <initializer_list>

namespace deltaloom::codegen {

class Draw {
public:
    explicit Draw(std::uint64_t seed) : state_(seed) {}
    // The stream of one item of a numbered series: independent of how many others are drawn.
    Draw(std::uint64_t seed, std::uint64_t item) : state_(seed) {
        state_ = next() ^ (item * 0xd1342543de82ef95u + 0x2545f4914f6cdd1du);
        next();
    }
    std::uint64_t next() { // SplitMix64: a Weyl sequence through a bijective mixer
        std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        return x ^ (x >> 31);
    }
    int below(int n) { return int(((next() >> 32) * std::uint64_t(n)) >> 32); } // 0 .. n - 1
    int between(int low, int high) { return low + below(high - low + 1); }      // both included
    double uniform() { return double(next() >> 11) * 0x1p-53; }                 // [0, 1)
    double uniform(double low, double high) { return low + (high - low) * uniform(); }
    bool chance(double p) { return uniform() < p; }
    // Mean 0, variance 1: a sum of twelve uniforms, so no logarithm whose last digit differs between libraries.
    double normal() {
        double sum = -6;
        for (int i = 0; i < 12; ++i) sum += uniform();
        return sum;
    }
    // An index with probability proportional to its weight.
    int weighted(std::initializer_list<int> weights) {
        int total = 0, i = 0;
        for (int w : weights) total += w;
        int left = below(total);
        for (int w : weights) {
            left -= w;
            if (left < 0) return i;
            ++i;
        }
        return 0;
    }

private:
    std::uint64_t state_;
};

} // namespace deltaloom::codegen
