#pragma once
// A batch of sequences and heads as one call of the C ABI: contiguous tensors of one scalar, some operands with fewer
// heads, filled from the data of each sequence and head.
#include "codegen/check/compiled.hpp"
#include "codegen/check/described.hpp"

namespace deltaloom::codegen {

struct CallShape {
    int batch = 1, heads = 1, tokens = 0;
    std::vector<int> dims;          // by DimId
    std::vector<int> operand_heads; // by OperandId; divides heads
    bool is_double = false;
};

struct CallTensors {
    std::vector<std::vector<double>>
        values; // by OperandId; row-major [batch, tokens, heads, axes], [heads, axes] or, states, [batch, heads, axes]
};

struct CallResult {
    CallTensors forward;   // outputs and final states
    CallTensors gradients; // inputs, parameters, initial states
};

std::size_t entries(TypedRule const&, CallShape const&, OperandId); // of one token, or of one head
std::size_t total(TypedRule const&, CallShape const&, OperandId);
// `arriving`: gradients of outputs and final states. Throws std::runtime_error with the library's own sentence where a
// call is refused.
CallResult call(Described const&, TypedRule const&, CallShape const&, dl_form, int chunk, int threads,
                CallTensors const& values, CallTensors const& arriving);

} // namespace deltaloom::codegen
