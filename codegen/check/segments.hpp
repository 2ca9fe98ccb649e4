#pragma once
// The form summary of the emitted text over the field: the stages that the driver deals to threads, one after the other.
#include "codegen/check/compiled.hpp"

namespace deltaloom::codegen {

// One head of one sequence in segments of `length` tokens.
void run_segments(Compiled const&, Direction, runtime::sequence const&, runtime::index length);

} // namespace deltaloom::codegen
