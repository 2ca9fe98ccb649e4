#pragma once
// A trained model on a text that it has not seen.
#include "data.hpp"
#include "model.hpp"

namespace lm {

// Mean loss, nats a byte, over the text's whole segments (at most `most` of them), each with a state that starts at
// zero.
double segment_loss(Model const&, std::vector<float> const& parameters, std::span<unsigned char const> text, int most,
                    int threads);
// Mean losses of `parts` equal parts of the text read in one go: the state goes on from its first byte to its last.
std::vector<double> untruncated_loss(Model const&, std::vector<float> const& parameters,
                                     std::span<unsigned char const> text, int parts);
// The largest difference of a logit between one full pass, and a prompt of half the bytes followed by decode steps.
double decode_difference(Model const&, std::vector<float> const& parameters, std::span<unsigned char const> text);

inline double bits(double nats) { return nats / 0.69314718055994531; }

} // namespace lm
