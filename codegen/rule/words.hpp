#pragma once
// Words that no rule and no name of the emitted text may be.
#include <string>

namespace deltaloom::codegen {

bool keyword(std::string const& word); // of C++20

} // namespace deltaloom::codegen
