#pragma once
// What an emitted library says about itself to the driver: its rules, and for each rule its kernels on every level of
// the instruction set.
#include <deltaloom/runtime/cpu/kernels.hpp>

namespace deltaloom::runtime {

enum isa_level { isa_base, isa_v3, isa_v4, isa_levels };

// The extent  constant + linear d + square d d  of a dimension that a feature map makes of the one at `of`, d.
struct mapped_dim {
    std::int32_t of; // -1: a plain dimension, the caller's
    std::int64_t constant, linear, square;
};

// Behind dl_rule::implementation.
struct rule_kernels {
    kernel_table const* level[isa_levels]; // null where the build has none
    std::uint32_t chunk;                   // tokens per chunk unless the call says otherwise
    std::uint32_t state_count;             // operands of kind state, in order
    std::int32_t const* factor_dim;   // of each state: the dimension that the factor of a segment's map is over, -1: 1
    std::uint32_t const* previous_of; // per state: the operand whose token before it holds, or DL_NONE
    mapped_dim const* mapped;         // per dimension; null: all are plain
};

} // namespace deltaloom::runtime
