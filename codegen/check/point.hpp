#pragma once
// A point at which production kernels and declaration are compared: the shape of a call and all its numbers, row-major:
// [batch, tokens, heads, axes], parameters [heads, axes], states [sequences, heads, axes].
#include "codegen/check/calls.hpp"
#include "codegen/check/compiled.hpp"
#include "codegen/check/result.hpp"

#include <algorithm>

namespace deltaloom::codegen {

struct Point {
    CallShape shape;
    std::vector<std::int64_t> offsets; // of packed sequences, shape.batch = 1; empty: a batch
    CallTensors values, arriving;      // arriving: gradients of outputs and final states

    int sequences() const { return offsets.empty() ? shape.batch : int(offsets.size()) - 1; }
    int length(int sequence) const {
        auto const s = std::size_t(sequence);
        return offsets.empty() ? shape.tokens : int(offsets[s + 1] - offsets[s]);
    }
};

// How many numbers an operand has, and where those of one head begin: of token t of a sequence, of a state (t = 0) or
// of a parameter.
std::size_t total(TypedRule const&, Point const&, OperandId);
std::size_t place(TypedRule const&, Point const&, OperandId, int sequence, int t, int head);
// "d_k[sequence 0][token 3][head 1][2]"
std::string where(TypedRule const&, Point const&, OperandId, std::size_t at, char const* prefix);

// f(entry) for every number of an operand.
template<class F> void each_entry(std::vector<double>& values, F f) {
    for (double& x : values) f(x);
}

// All operands with as many heads as the outputs; extents in the order of the rule's dimensions.
CallShape shape_with(TypedRule const&, std::vector<int> dims, int batch, int tokens, int heads);
// Data as design section 5 says, gradients N(0, 1), both rounded to what the shape stores them in.
Point draw_point(Compiled const&, CallShape, Draw&, std::vector<std::int64_t> offsets = {});

// Result of a point's shape, for what fails there.
void describe(Result&, TypedRule const&, Point const&);

} // namespace deltaloom::codegen
