#include "data.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace lm {

Data::Data(std::string const& all, Settings const& s) : text(all.begin(), all.end()) {
    train_end = text.size() / 10 * 9, validation_end = train_end + text.size() / 20;
    // A segment and its last byte's successor in every part, and for every sequence of a batch that is carried.
    std::size_t const segment = std::size_t(s.length) + 1, sequences = s.carry ? std::size_t(s.batch) : 1;
    std::size_t const least = std::max(20 * segment + 20, sequences * segment * 10 / 9 + 20);
    if (text.size() < least)
        throw Refusal(fmt::format("the text has {} bytes; segments of {} need at least {}: take a longer text or a "
                                  "smaller --length",
                                  text.size(), s.length, least));
    hash = 0xcbf29ce484222325u;
    for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
}

void Batch::append(std::span<unsigned char const> from, std::size_t at, int length) {
    auto const first = from.begin() + std::ptrdiff_t(at);
    tokens.insert(tokens.end(), first, first + length);
    targets.insert(targets.end(), first + 1, first + 1 + length);
}

static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

Batch training_batch(Data const& data, Settings const& s, int step) {
    auto const text = data.training();
    Batch batch;
    if (s.carry) { // every sequence of the batch walks through a stretch of its own, and starts over at its end
        std::size_t const stretch = text.size() / std::size_t(s.batch);
        std::size_t const segments = std::max<std::size_t>(1, (stretch - 1) / std::size_t(s.length));
        std::size_t const segment = std::size_t(step) % segments;
        batch.starts = segment == 0;
        for (int b = 0; b < s.batch; ++b)
            batch.append(text, std::size_t(b) * stretch + segment * std::size_t(s.length), s.length);
        return batch;
    }
    std::uint64_t const places = text.size() - std::size_t(s.length);
    for (int b = 0; b < s.batch; ++b) {
        std::uint64_t const n = std::uint64_t(step) * std::uint64_t(s.batch) + std::uint64_t(b) + 1;
        batch.append(text, mixed(mixed(s.seed) + n * 0x9e3779b97f4a7c15u) % places, s.length);
    }
    return batch;
}

} // namespace lm
