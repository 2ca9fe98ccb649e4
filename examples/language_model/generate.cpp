#include "generate.hpp"

#include "layers.hpp"

#include <cmath>
#include <random>

namespace lm {

static int sampled(float const* logits, double temperature, std::mt19937_64& random) {
    float const* const largest = std::max_element(logits, logits + bytes);
    if (temperature <= 0) return int(largest - logits);
    double weights[bytes], total = 0;
    for (int i = 0; i < bytes; ++i)
        total += weights[i] = std::exp((double(logits[i]) - double(*largest)) / temperature);
    double left = double(random() >> 11) * 0x1p-53 * total;
    for (int i = 0; i < bytes; ++i) {
        left -= weights[i];
        if (left < 0) return i;
    }
    return int(largest - logits);
}

void generate(Model const& m, std::vector<float> const& parameters, std::string const& prompt, int count,
              double temperature, std::uint64_t seed, std::function<void(char)> const& say) {
    std::string const read = prompt.empty() ? "\n" : prompt;
    std::vector<float> state(m.state.count);
    Pass<float> whole(m, 1, int(read.size()), false), step(m, 1, 1, false);
    std::vector<unsigned char> const tokens(read.begin(), read.end());
    forward<float>(m, parameters.data(), tokens.data(), nullptr, state.data(), whole);
    float const* logits = whole.logits + (read.size() - 1) * std::size_t(lm::bytes);
    std::mt19937_64 random(seed);
    for (int i = 0; i < count; ++i) {
        auto const next = static_cast<unsigned char>(sampled(logits, temperature, random));
        say(char(next));
        forward(m, parameters.data(), &next, state.data(), state.data(), step);
        logits = step.logits;
    }
}

} // namespace lm
