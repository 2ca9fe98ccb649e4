#pragma once
// Level `property`: what must hold between two calls of the production kernels, whatever the rule; what a property is
// about is found in the rule's structure, and asked of the declaration, never known by a name.
#include "codegen/check/subject.hpp"

namespace deltaloom::codegen {

std::vector<Row> properties();
// Parts of it: of calls (layouts, threads, memory), of sequences (splits, packing), of the rule's line (gates, heads).
std::vector<Row> call_properties();
std::vector<Row> sequence_properties();
std::vector<Row> rule_properties();

inline constexpr double float_budget = 2e-5; // of level float

} // namespace deltaloom::codegen
