#pragma once
// The text, split; and which segments a step reads. A step's segments depend on the seed and the step alone.
#include "settings.hpp"

#include <span>
#include <vector>

namespace lm {

using Bytes = std::vector<unsigned char>;

struct Data {
    Bytes text;
    std::size_t train_end, validation_end; // 90, 5, 5 percent
    std::uint64_t hash;

    // Throws Refusal where the text is too short for the settings' segments.
    Data(std::string const& text, Settings const&);
    std::span<unsigned char const> training() const { return {text.data(), train_end}; }
    std::span<unsigned char const> validation() const {
        return {text.data() + train_end, text.data() + validation_end};
    }
    std::span<unsigned char const> test() const { return {text.data() + validation_end, text.data() + text.size()}; }
};

// tokens and targets, batch * length each: the bytes, and each byte's successor.
struct Batch {
    Bytes tokens, targets;
    bool starts = true; // every sequence starts here: no state is carried into it
    void append(std::span<unsigned char const> text, std::size_t at, int length);
};
Batch training_batch(Data const&, Settings const&, int step);

} // namespace lm
