#pragma once
// What an emitted form gets: one head of one sequence. Plain structs, the same for every instruction set.
#include <cstddef>
#include <cstdint>
#include <deltaloom/runtime/isa.hpp>

namespace deltaloom::runtime {

using index = std::int64_t;

// Bytes of an element of a dl_scalar: f32, f64, bf16, f16, and the proofs' field.
DELTALOOM_INLINE constexpr index element_bytes(std::uint32_t scalar) {
    constexpr index bytes[16] = {4, 8, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8};
    return bytes[scalar & 15];
}

// One operand of one head of one sequence: element (t, i, j) lies at data + t * token + i * axis[0] + j * axis[1] (in
// elements of `scalar`). data == nullptr: absent; loading it gives zeros, storing into it does nothing.
struct strided {
    void* data = nullptr;
    index token = 0, axis[3] = {};
    std::uint32_t scalar = 0; // dl_scalar
    bool accumulate = false;  // storing adds: the gradient of a head that several value heads read
    // Micro-step j of an operand with a step axis (its first trailing axis).
    strided step(index j) const;
};

// Operands are indexed as in dl_rule::operands; the four state arrays by the order of the states.
struct sequence {
    index tokens = 0;
    index chunk = 1;            // tokens per chunk (chunked), at most
    index segment = 1;          // backward: chunks (recurrent: tokens) per kept state, at least 1
    index const* dim = nullptr; // extents in the order of dl_rule::dims
    strided const *operand = nullptr, *gradient = nullptr;
    strided const *state_in = nullptr, *state_out = nullptr, *state_in_gradient = nullptr,
                  *state_out_gradient = nullptr;
    strided const* map = nullptr; // of a segment (summary): factor and plus of each state's affine map in turn
};

DELTALOOM_INLINE strided strided::step(index j) const {
    strided s = *this;
    if (data) s.data = static_cast<char*>(data) + j * axis[0] * element_bytes(scalar);
    s.axis[0] = axis[1], s.axis[1] = axis[2], s.axis[2] = 0;
    return s;
}

} // namespace deltaloom::runtime
