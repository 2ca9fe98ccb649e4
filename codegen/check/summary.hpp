#pragma once
// The summary of a segment, S' = S right + plus (or left S + plus), against the declaration: of the whole sequence, and
// of two segments combined, chunk by chunk. Its backward: d_S = d_S' right^T + what the outputs owe.
#include "codegen/check/compare.hpp"

namespace deltaloom::codegen {

std::optional<Difference> compare_summary(Derived const&, Program const&, int chunk, Trial&, int length);
long summary_degree(Derived const&, Program const&, int chunk, std::vector<int> const& dims, int length);

} // namespace deltaloom::codegen
