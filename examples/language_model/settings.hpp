#pragma once
// Everything that decides what a run computes, by name: the command line, checkpoints and messages share this one list.
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

namespace lm {

// A sentence for the user.
struct Refusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Settings {
    // The rule, and the model around it.
    std::string rule = "delta", rules, dims; // name; header it is from (empty: a shipped one); extents "r=8,s=2"
    int width = 128, layers = 3, heads = 8, dk = 16, dv = 16, taps = 4, hidden = 352;
    bool plain_read = false; // what the memory reads is gated without a norm
    // Training.
    int length = 256, batch = 16, shares = 8, steps = 400, warm_up = 40;
    double rate = 3e-3, final_rate = 3e-4, decay = 0.1, clip = 1.0;
    bool carry = false; // the state goes on from a segment to the next instead of starting at zero
    std::uint64_t seed = 1;
};

// f(name, field, what it is), for every field.
template<class S, class F> void for_each_setting(S& s, F f) {
    f("rule", s.rule, "Name of the rule: sum, gated, delta, gated_delta, or one of --rules");
    f("rules", s.rules, "Header of rules of your own; kernels are derived and compiled on first use");
    f("dim", s.dims, "Extents of a rule's own dimensions: r=8,s=2");
    f("width", s.width, "Entries of a token's vector");
    f("layers", s.layers, "Layers: a memory and an MLP each");
    f("heads", s.heads, "Memories per layer");
    f("dk", s.dk, "Entries of a key");
    f("dv", s.dv, "Entries of a value");
    f("taps", s.taps, "Tokens that the short convolution sees");
    f("hidden", s.hidden, "Entries of the MLP's hidden vector");
    f("plain-read", s.plain_read, "Leave out the norm of what the memory reads");
    f("length", s.length, "Tokens of a segment");
    f("batch", s.batch, "Segments of a step");
    f("shares", s.shares, "Parts of a batch that may run side by side; they, not the threads, decide the bits");
    f("steps", s.steps, "Steps in all");
    f("warm-up", s.warm_up, "Steps over which the rate rises");
    f("rate", s.rate, "Largest learning rate");
    f("final-rate", s.final_rate, "Learning rate at the end of the cosine");
    f("decay", s.decay, "Weight decay");
    f("clip", s.clip, "Largest norm of the gradient");
    f("carry", s.carry, "Carry the state from a segment to the next one instead of starting at zero");
    f("seed", s.seed, "Seed of the first values and of the order of the text");
}

// Throws Refusal: sizes that no model has.
void validate(Settings const&);
std::map<std::string, int> extents(std::string const& dims);

} // namespace lm
