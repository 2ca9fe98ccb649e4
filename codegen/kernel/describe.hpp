#pragma once
// Names and formulas for readers of the text, where the lowering left none.
#include "codegen/kernel/block.hpp"

namespace deltaloom::codegen {

std::string wish(BlockWriter const&, NodeId); // a name: the lowering's, or made of the arguments' if that stays short
std::string formula(BlockWriter const&, NodeId); // one line; empty where it would be too long to help

} // namespace deltaloom::codegen
