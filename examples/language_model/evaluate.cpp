#include "evaluate.hpp"

#include "layers.hpp"
#include "threads.hpp"

#include <algorithm>
#include <cmath>

namespace lm {

static void keep_losses(Pass<float> const& pass, unsigned char const* targets, double* losses) {
    for (int t = 0; t < pass.sequences * pass.tokens; ++t)
        losses[t] = double(cross_entropy(pass.logits + t * lm::bytes, targets + t, 1, lm::bytes));
}

std::vector<double> segment_losses(Model const& m, std::vector<float> const& parameters,
                                   std::span<unsigned char const> text, int most, int threads) {
    int const length = m.settings.length;
    int const segments = std::min(most, int((text.size() - 1) / std::size_t(length)));
    constexpr int together = 4;
    std::vector<double> losses(std::size_t(segments) * std::size_t(length));
    in_parallel((segments + together - 1) / together, threads, [&](int i) {
        int const count = std::min(together, segments - i * together);
        Pass<float> pass(m, count, length, false);
        Batch batch;
        std::size_t const first = std::size_t(i * together) * std::size_t(length);
        for (int j = 0; j < count; ++j) batch.append(text, first + std::size_t(j) * std::size_t(length), length);
        forward<float>(m, parameters.data(), batch.tokens.data(), nullptr, nullptr, pass);
        keep_losses(pass, batch.targets.data(), &losses[first]);
    });
    return losses;
}

std::vector<double> untruncated_losses(Model const& m, std::vector<float> const& parameters,
                                       std::span<unsigned char const> text) {
    constexpr std::size_t block = 512;
    std::vector<float> state(m.state.count);
    Pass<float> pass(m, 1, int(block), false);
    std::vector<double> losses(text.size() - 1);
    for (std::size_t at = 0; at < losses.size(); at += block) {
        pass.tokens = int(std::min(block, losses.size() - at)); // the rooms are large enough
        forward(m, parameters.data(), text.data() + at, state.data(), state.data(), pass);
        keep_losses(pass, text.data() + at + 1, &losses[at]);
    }
    return losses;
}

double mean(std::span<double const> losses) {
    double total = 0;
    for (double x : losses) total += x;
    return losses.empty() ? 0 : total / double(losses.size());
}

double warm_mean(std::vector<double> const& losses, int length) {
    double total = 0;
    std::size_t count = 0;
    auto const n = std::size_t(length);
    for (std::size_t first = 0; first + n <= losses.size(); first += n)
        for (std::size_t t = first + n / 2; t < first + n; ++t) total += losses[t], ++count;
    return count ? total / double(count) : 0;
}

double decode_difference(Model const& m, std::vector<float> const& parameters, std::span<unsigned char const> text) {
    int const tokens = int(text.size()), prompt = tokens / 2;
    Pass<float> whole(m, 1, tokens, false), first(m, 1, prompt, false), step(m, 1, 1, false);
    std::vector<float> state(m.state.count);
    forward<float>(m, parameters.data(), text.data(), nullptr, nullptr, whole);
    forward<float>(m, parameters.data(), text.data(), nullptr, state.data(), first);
    double worst = 0;
    auto const compare = [&](float const* some, int at, int count) {
        for (int i = 0; i < count * lm::bytes; ++i) {
            double const difference = std::abs(double(some[i]) - double(whole.logits[at * lm::bytes + i]));
            worst = !(difference <= worst) ? difference : worst; // a NaN stays
        }
    };
    compare(first.logits, 0, prompt);
    for (int t = prompt; t < tokens; ++t) {
        forward(m, parameters.data(), text.data() + t, state.data(), state.data(), step);
        compare(step.logits, t, 1);
    }
    return worst;
}

} // namespace lm
