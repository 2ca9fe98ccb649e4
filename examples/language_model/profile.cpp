#include "profile.hpp"

#include "layers.hpp"

#include <fmt/format.h>

namespace lm {

void print_profile(Model const& model, Data const& data, int threads, int steps) {
    auto progress = first_progress(model);
    Trainer trainer(model, threads);
    for (int i = 0; i < steps; ++i) trainer.step(progress, data);
    auto const& s = model.settings;
    auto const profile = trainer.profile();
    double total = trainer.optimiser_seconds;
    for (double x : profile.seconds) total += x;
    fmt::print("a training step with rule {}: {} layers, width {}, {} heads of {} x {}, {} segments of {}: {:.0f} ms, "
               "{:.0f} bytes/s on {} threads\n",
               s.rule, s.layers, s.width, s.heads, s.dv, s.dk, s.batch, s.length, 1e3 * trainer.seconds / steps,
               double(s.batch) * s.length * steps / trainer.seconds, threads);
    auto const line = [&](char const* name, double seconds) {
        fmt::print("  {:<26}{:6.1f} %\n", name, 100 * seconds / total);
    };
    for (std::size_t i = 0; i < profile.seconds.size(); ++i) line(part_names[i], profile.seconds[i]);
    line("optimiser", trainer.optimiser_seconds);
}

void print_memory(Settings const& given, RuleCalls const& calls) {
    auto settings = given;
    settings.batch = settings.shares = 1;
    fmt::print("memory of a training step of one segment, rule {}: activations, gradients of activations, workspace of "
               "the kernels\n{:>8}{:>12}{:>16}\n",
               settings.rule, "length", "MB", "bytes a token");
    for (int length = 64; length <= 4096; length *= 4) {
        settings.length = length;
        Model const model(settings, calls);
        Pass<float> pass(model, 1, length, true);
        auto const parameters = model.initial_parameters();
        std::vector<float> gradient(parameters.size());
        std::vector<unsigned char> const text(std::size_t(length) + 1, ' ');
        forward<float>(model, parameters.data(), text.data(), nullptr, nullptr, pass);
        backward<float>(model, parameters.data(), text.data(), text.data() + 1, nullptr, 1.0f, pass, gradient.data());
        fmt::print("{:>8}{:>12.2f}{:>16.0f}\n", length, double(pass.bytes()) / (1 << 20),
                   double(pass.bytes()) / length);
    }
}

} // namespace lm
