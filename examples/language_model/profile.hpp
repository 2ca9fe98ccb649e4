#pragma once
#include "trainer.hpp"

namespace lm {

// Prints where the time of a training step goes, part by part.
void print_profile(Model const&, Data const&, int threads, int steps);
// Prints what a training step of one segment keeps in memory, at several lengths.
void print_memory(Settings const&, RuleCalls const&);

} // namespace lm
