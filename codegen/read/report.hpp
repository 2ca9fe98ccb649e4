#pragma once
// A Diagnostic as a user reads it.
#include "codegen/location.hpp"

#include <string>

namespace deltaloom::codegen {

// `file:line:column: error: text`, the source line with a caret under the place, then the notes the same way. Each line
// ends in a line break. Without a known place: `error: text`. Reads the source file; if that is gone, no line is shown.
std::string render(Diagnostic const&, bool colour);

} // namespace deltaloom::codegen
