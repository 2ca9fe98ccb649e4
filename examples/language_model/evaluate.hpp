#pragma once
// A trained model on a text that it has not seen.
#include "data.hpp"
#include "model.hpp"

namespace lm {

// The loss of every byte, in nats, over the text's whole segments (at most `most` of them), each with a state that
// starts at zero.
std::vector<double> segment_losses(Model const&, std::vector<float> const& parameters,
                                   std::span<unsigned char const> text, int most, int threads);
// The same over the text read in one go: the state goes on from its first byte to its last.
std::vector<double> untruncated_losses(Model const&, std::vector<float> const& parameters,
                                       std::span<unsigned char const> text);
double mean(std::span<double const>);
// Over the bytes in the second half of their segment: there both ways have read much before, and the same.
double warm_mean(std::vector<double> const& losses, int length);

// The largest difference of a logit between one full pass, and a prompt of half the bytes followed by decode steps.
double decode_difference(Model const&, std::vector<float> const& parameters, std::span<unsigned char const> text);

inline double bits(double nats) { return nats / 0.69314718055994531; }

} // namespace lm
