#include "train.hpp"

#include "curves.hpp"
#include "evaluate.hpp"
#include "files.hpp"

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace lm {

std::string checkpoint_path(std::string const& folder) { return folder + "/checkpoint"; }

namespace {

std::sig_atomic_t volatile interrupted = 0;
// The first Ctrl-C ends training after the step that runs, the second one at once.
struct Interrupts {
    Interrupts() {
        interrupted = 0;
        for (int s : {SIGINT, SIGTERM})
            std::signal(s, [](int number) {
                interrupted = 1;
                std::signal(number, SIG_DFL);
            });
        std::signal(SIGXFSZ, SIG_IGN); // a file that may not grow is then an error of write
    }
    ~Interrupts() {
        for (int s : {SIGINT, SIGTERM}) std::signal(s, SIG_DFL);
    }
};

void show(Model const& m, Record const& r, double speed, bool terminal, double validation) {
    auto const& s = m.settings;
    double const done = double(r.step + 1) / s.steps;
    int const left = int(double(s.steps - r.step - 1) * s.batch * s.length / speed);
    auto const text = fmt::format("step {}/{}  loss {:.4f}  {:.3f} bits/byte  {:.0f} bytes/s  {}:{:02} left",
                                  r.step + 1, s.steps, r.loss, bits(r.loss), speed, left / 60, left % 60);
    if (terminal) {
        auto const bar = std::string(std::size_t(24 * done), '=');
        fmt::print(stderr, "\r\033[K{} [{:<24}] {:3.0f} %  {}", s.rule, bar, 100 * done, text);
    }
    if (std::isfinite(validation))
        fmt::print("{}{}: {}, validation {:.4f} ({:.3f} bits/byte)\n", terminal ? "\r\033[K" : "", s.rule, text,
                   validation, bits(validation));
    std::fflush(stdout);
}

} // namespace

int train(Model const& model, Data const& data, Progress p, TrainOptions const& o) {
    auto const& s = model.settings;
    auto const path = checkpoint_path(o.out);
    auto const keep = [&] {
        save(path, {s, model.plan.rule->equation, data.text.size(), data.hash, p});
        write_file(o.out + "/loss.csv", curve_csv(p.history));
        if (!p.history.empty()) write_file(o.out + "/loss.svg", curves_svg({{s.rule, p.history}}, "loss of " + s.rule));
    };
    Interrupts const guard;
    Trainer trainer(model, o.threads);
    bool const terminal = isatty(2) != 0;
    int const first = p.step;
    while (p.step < s.steps) {
        auto record = trainer.step(p, data);
        if (!std::isfinite(record.loss) || !std::isfinite(record.norm)) {
            throw Refusal(fmt::format("step {} is not finite (loss {}, norm of the gradient {}): try a --rate smaller "
                                      "than {}, or a rule that keeps its state bounded; {}",
                                      record.step + 1, record.loss, record.norm, s.rate,
                                      std::filesystem::is_regular_file(path) ? path + " is the last good checkpoint"
                                                                             : "there is no checkpoint yet"));
        }
        bool const last = p.step == s.steps;
        if (p.step % o.validate == 0 || last)
            record.validation = mean(segment_losses(model, p.parameters, data.validation(), 32, o.threads));
        p.history.push_back(record);
        show(model, record, double(p.step - first) * s.batch * s.length / trainer.seconds, terminal, record.validation);
        bool const stop = interrupted || p.step == o.stop_after;
        if (p.step % o.every == 0 || last || stop) keep();
        if (stop && !last) {
            fmt::print(stderr, "{}interrupted after step {} of {}; {} goes on with --resume\n",
                       terminal ? "\r\033[K" : "", p.step, s.steps, path);
            return 130;
        }
    }
    if (first == s.steps) {
        keep();
        fmt::print("{} has all its {} steps\n", path, s.steps);
    }
    return 0;
}

} // namespace lm
