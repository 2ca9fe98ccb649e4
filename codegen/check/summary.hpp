#pragma once
// The summary of a segment, S' = S right + plus (or left S + plus), against the declaration: of the whole sequence, and
// of two segments combined. Its backward: d_S = d_S' right^T + d_S.plus.
#include "codegen/check/compare.hpp"

namespace deltaloom::codegen {

std::optional<Difference> compare_summary(Derived const&, Program const&, Trial&, int length);
long summary_degree(Derived const&, Program const&, std::vector<int> const& dims, int length);

} // namespace deltaloom::codegen
