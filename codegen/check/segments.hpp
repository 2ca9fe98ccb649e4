#pragma once
// The form summary of the emitted text over the field: the stages that the driver deals to threads, one after the
// other.
#include "codegen/check/compiled.hpp"

#include <functional>

namespace deltaloom::codegen {

// Runs one stage with so many elements of scratch.
using InScratch = std::function<void(runtime::index, std::function<void(void*)> const&)>;
// One head of one sequence in segments of `length` tokens.
void run_segments(Compiled const&, Direction, runtime::sequence const&, runtime::index length, InScratch const&);

} // namespace deltaloom::codegen
