#pragma once
// Between the tool and what it compiles for a check: plain structs, so that the two may come from different compilers.
#include <deltaloom/runtime/cpu/kernels.hpp>

namespace deltaloom::check {

// One value of one token: an operand's matrix, row-major, of the scalar in question.
struct slot {
    char const* name; // of the operand; of a hidden state the input that it holds
    bool before;      // a hidden state: the input's value at the token before
    int step;         // micro-step of an operand with a step axis
    int steps;        // of that axis; 0: none
    int rows, cols;
    bool state, output; // written back
    void* data;
};
// One token of the declaration, evaluated by the expression templates: states advance in place, outputs are written.
using token_function = void (*)(slot const*, int count);

} // namespace deltaloom::check
