#pragma once
// Level `fault`: what public implementations of such rules got wrong, each as a small input for every rule and form
// that it applies to. The names begin with the numbers of the table of faults; docs/faults.md says what each one is.
#include "codegen/check/subject.hpp"

namespace deltaloom::codegen {

std::vector<Row> faults(); // in the order of their numbers
// Parts of it.
std::vector<Row> range_faults();    // gates at their limits, growth, long streams
std::vector<Row> sequence_faults(); // tails, empty sequences, splits
std::vector<Row> shape_faults();    // extents, strides, heads
std::vector<Row> gradient_faults();
std::vector<Row> interface_faults(); // wrong and unusual calls

struct Comparison {
    std::vector<int> chunks{8};
    double budget = 2e-5, floor = 1; // error over floor + the largest entry
    int samples = 3;                 // entries of each gradient beside a random direction
    bool backward = true;
    std::vector<std::uint32_t> scalars{}; // of the tensors in memory
};
// The kernels of all forms against the declaration at a point. The form step gets its first token; parallel, whose
// chunk is the sequence, at most 300.
void against(Sheet&, Point const&, Draw&, Comparison const& = {});

} // namespace deltaloom::codegen
