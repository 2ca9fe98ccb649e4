#pragma once
// A kernel's functions as C++ text, not formatted yet.
#include "codegen/kernel/kernel.hpp"

namespace deltaloom::codegen {

std::string functions_text(Kernel const&);

// The function `NAME_scratch` that counts what a function takes and the most of what its callees take.
std::string scratch_text(Kernel const&, Function const&);

// Definitions of the integers that `text` mentions: extents of dimensions, counts of `all`.
std::string definitions(Kernel const&, std::vector<Statement> const& all, std::string const& text);
bool mentions(std::string const& text, std::string const& word);

} // namespace deltaloom::codegen
