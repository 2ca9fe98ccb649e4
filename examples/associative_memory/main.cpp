// The worked examples and the capacity table, beside the numbers of the source material (docs/sources.md).
#include "capacity.hpp"
#include "worked_examples.hpp"

#include <cmath>
#include <fmt/format.h>
#include <thread>

int main() {
    fmt::print("worked examples, by each form in double: largest difference from the exact numbers\n");
    for (auto const& example : worked_examples()) {
        double worst = 0;
        for (dl_form form : {DL_RECURRENT, DL_CHUNKED, DL_PARALLEL})
            worst = std::max(worst, difference(example, run(example.rule, example.pairs, example.before, form,
                                                            form == DL_CHUNKED ? 2 : 0)));
        fmt::print("  {:<44}{:<12}{:.1e}\n", example.what, example.rule, worst);
    }

    // Source: table of section 3 of the digest in docs/sources.md; r = d = 32, 200 repetitions.
    struct Source {
        int pairs;
        double additive, delta, newest, least_squares;
    };
    constexpr Source source[] = {{8, .473, .360, .360, 0},
                                 {16, .681, .537, .383, 0},
                                 {32, .986, .771, .414, 0},
                                 {64, 1.403, 1.030, .434, .707},
                                 {128, 1.990, 1.224, .447, .867}};
    int const threads = int(std::max(1u, std::thread::hardware_concurrency()));
    fmt::print("\nroot-mean-square error of the reads, 32 x 32 memory, 200 repetitions; (the source's "
               "number)\n{:>6}{:>18}{:>12}{:>18}{:>18}{:>18}{:>12}\n",
               "pairs", "additive", "theory", "delta, all", "delta, 8 newest", "least squares", "theory");
    double worst = 0;
    for (auto const& s : source) {
        auto const r = capacity(s.pairs, 32, 200, 7, threads);
        fmt::print("{:>6}{:>9.3f} ({:.3f}){:>12.3f}{:>9.3f} ({:.3f}){:>9.3f} ({:.3f}){:>9.3f} ({:.3f}){:>12.3f}\n",
                   s.pairs, r.additive, s.additive, std::sqrt((s.pairs - 1) / 32.0), r.delta, s.delta, r.delta_newest,
                   s.newest, r.least_squares, s.least_squares, std::sqrt(std::max(0.0, 1 - 32.0 / s.pairs)));
        for (double d :
             {r.additive - s.additive, r.delta - s.delta, r.delta_newest - s.newest, r.least_squares - s.least_squares})
            worst = std::max(worst, std::abs(d));
    }
    fmt::print("largest difference from the source: {:.3f}\n\n24 pairs written 200 times over by delta: largest error "
               "of a read {:.1e}\n",
               worst, written_over(24, 32, 200, 7));
}
