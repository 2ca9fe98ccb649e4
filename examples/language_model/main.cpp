#include "trainer.hpp"
#include "../text/text.hpp"
#include <fmt/format.h>
#include <cblas.h>
using namespace lm;
int main(int argc, char** argv) {
    openblas_set_num_threads(1);
    Settings s;
    s.rule = argc > 1 ? argv[1] : "delta";
    s.steps = argc > 2 ? atoi(argv[2]) : 20;
    s.shares = argc > 3 ? atoi(argv[3]) : 4;
    int threads = argc > 4 ? atoi(argv[4]) : 2;
    try {
    Data data(read_text(""), s.length);
    Model model(s, shipped_rule(s.rule));
    auto p = first_progress(model);
    Trainer t(model, threads);
    fmt::print("{} parameters, {} MB\n", model.offsets.count, t.bytes() / 1e6);
    for (int i = 0; i < s.steps; ++i) {
        auto r = t.step(p, data);
        if (i % 10 == 0 || i == s.steps - 1) fmt::print("{} {:.4f} norm {:.3f} {:.0f} tok/s\n", r.step, r.loss, r.norm, double(s.batch * s.length) * (i + 1) / t.seconds), fflush(stdout);
    }
    auto pr = t.profile();
    double all = 0; for (double x : pr.seconds) all += x;
    for (int i = 0; i < int(Part::count); ++i) fmt::print("{:<26} {:5.1f} %\n", part_names[i], 100 * pr.seconds[size_t(i)] / all);
    fmt::print("optimiser {:.3f} of {:.3f}; {} threads seconds {}\n", t.optimiser_seconds, t.seconds, threads, all);
    } catch (std::exception const& e) { fmt::print("{}\n", e.what()); return 1; }
}
