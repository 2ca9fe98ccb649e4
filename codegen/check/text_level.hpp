#pragma once
// Level `text`: the emitted source, compiled over the field of 2^61 - 1 elements, equals the declaration as the
// expression templates evaluate it.
#include "codegen/check/compiled.hpp"
#include "codegen/check/program_level.hpp"

namespace deltaloom::codegen {

// One result for each form and direction; the trials are those of level `program`.
std::vector<Result> check_text(Compiled const&, ProgramLevel const& = {});

} // namespace deltaloom::codegen
