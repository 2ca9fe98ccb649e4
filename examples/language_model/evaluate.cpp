#include "evaluate.hpp"

#include "layers.hpp"
#include "threads.hpp"

#include <algorithm>
#include <cmath>

namespace lm {

double segment_loss(Model const& m, std::vector<float> const& parameters, std::span<unsigned char const> text, int most,
                    int threads) {
    int const length = m.settings.length;
    int const segments = std::min(most, int((text.size() - 1) / std::size_t(length)));
    constexpr int together = 4;
    std::vector<double> losses(std::size_t((segments + together - 1) / together));
    in_parallel(int(losses.size()), threads, [&](int i) {
        int const count = std::min(together, segments - i * together);
        Pass<float> pass(m, count, length, false);
        Batch batch;
        for (int j = 0; j < count; ++j) batch.append(text, std::size_t(i * together + j) * std::size_t(length), length);
        forward<float>(m, parameters.data(), batch.tokens.data(), nullptr, nullptr, pass);
        losses[std::size_t(i)] = double(cross_entropy(pass.logits, batch.targets.data(), count * length, lm::bytes));
    });
    double total = 0;
    for (double x : losses) total += x;
    return total / (double(segments) * length);
}

std::vector<double> untruncated_loss(Model const& m, std::vector<float> const& parameters,
                                     std::span<unsigned char const> text, int parts) {
    constexpr std::size_t block = 512;
    std::vector<float> state(m.state.count);
    Pass<float> pass(m, 1, int(block), false);
    std::vector<double> losses;
    std::size_t const tokens = text.size() - 1;
    for (int part = 0; part < parts; ++part) {
        std::size_t const begin = tokens * std::size_t(part) / std::size_t(parts),
                          end = tokens * std::size_t(part + 1) / std::size_t(parts);
        double total = 0;
        for (std::size_t at = begin; at < end; at += block) {
            pass.tokens = int(std::min(block, end - at)); // the rooms are large enough
            forward(m, parameters.data(), text.data() + at, state.data(), state.data(), pass);
            total += double(cross_entropy(pass.logits, text.data() + at + 1, pass.tokens, lm::bytes));
        }
        losses.push_back(total / double(end - begin));
    }
    return losses;
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
