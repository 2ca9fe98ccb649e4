#pragma once
// The shape of a call of the C ABI: a batch of sequences and heads, some operands with fewer heads; what its tensors
// are stored in; and their numbers.
#include "codegen/program/program.hpp"
#include "deltaloom/runtime/abi/deltaloom.h"

namespace deltaloom::codegen {

struct CallShape {
    int batch = 1, heads = 1, tokens = 0;
    std::vector<int> dims;                                // by DimId
    std::vector<int> operand_heads;                       // by OperandId; divides heads
    std::uint32_t scalar = DL_F32, state_scalar = DL_F32; // of operands; of states and what is shaped as they are
    std::uint32_t stored(Role role) const { return role == Role::state ? state_scalar : scalar; }
    bool in_double() const { return scalar == DL_F64 || state_scalar == DL_F64; }
};

struct CallTensors {
    std::vector<std::vector<double>>
        values; // by OperandId; row-major [batch, tokens, heads, axes], [heads, axes] or, states, [batch, heads, axes]
};

std::size_t entries(TypedRule const&, CallShape const&, OperandId); // of one token, or of one head
std::size_t total(TypedRule const&, CallShape const&, OperandId);

} // namespace deltaloom::codegen
