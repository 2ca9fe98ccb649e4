#pragma once
// Lays out C++ and CUDA text. No Clang types.
#include <string>

namespace deltaloom::codegen {

// The style of all emitted text, as a .clang-format would say it; this repository's own is the same.
std::string const& format_style();

// What the text becomes in that style, with each block of includes sorted. Formatting the result again changes nothing.
// Text that clang cannot lay out comes back as it was.
std::string format(std::string const& code);

} // namespace deltaloom::codegen
