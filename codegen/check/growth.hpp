#pragma once
// How fast a rule's states and its chunk solve grow, and how many digits float32 keeps meanwhile. Growth belongs to the
// rule and its inputs, not to a form: the step and the chunk lose their digits alike.
#include "codegen/check/data.hpp"
#include "codegen/program/program.hpp"

namespace deltaloom::codegen {

struct Growth {
    Keys keys = Keys::unit;
    int tokens = 0, extent = 0, chunk = 0; // of the run; every dimension is `extent`
    double state = 0;                      // the largest entry of a state after the last token
    double doubling = 1;                   // that, over the largest entry after half of the tokens
    double solve = 1;                      // the largest entry of a chunk's U over that of its right side
    double digits_step = 0;                // decimal digits right in float32, of outputs and final states:
    double digits_chunked = 0;             // -log10 of the largest error over the largest entry; chunked: 0 without one
    bool chunked = false;                  // there is a chunked form
    // Sums and products of bounded decays grow at most like a power of the number of tokens. What grows by more than
    // 2^3 from half of the tokens to all of them grows without bound, and leaves float32 soon.
    bool hopeless() const { return !(doubling <= 8); }
};

// On the data of design section 5, and with keys that nobody has normalised.
std::vector<Growth> growth(Declaration const&, Derived const&, std::uint64_t seed);

// What to do about it, by the rule's own structure: "normalise the erase key k: l2norm(k), ...".
std::string advice(Derived const&);
// One sentence a measurement.
std::string sentence(Growth const&);

} // namespace deltaloom::codegen
