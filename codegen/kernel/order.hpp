#pragma once
// Blocks in an order, with their memory: carried values computed in place where every reader of the old value can come
// before, buffers of dead values used again.
#include "codegen/kernel/block.hpp"

namespace deltaloom::codegen {

struct Carried {
    BufferId own;      // where the value has to be at the end
    Argument value;    // where it is
    BufferId computed; // the buffer of the block that computes it and may do so in `own`; -1: it has to be copied
};
// Appends to the function's body. The first `loads` blocks load operands and stay first.
void arrange(Function&, std::vector<Block>, std::size_t loads, std::vector<Carried> const&);

} // namespace deltaloom::codegen
