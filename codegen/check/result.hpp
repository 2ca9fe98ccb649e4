#pragma once
// What one check of one form found: the keys of `check --json`.
#include "codegen/program/program.hpp"

namespace deltaloom::codegen {

struct Result {
    std::string rule;
    Form form = Form::recurrent;
    Direction direction = Direction::forward;
    std::string level; // "program", "text", ...
    std::string name;  // of the property, or of the variant that was compared with the declaration
    std::string target = "cpu", scalar = "exact", isa;
    int trials = 0;
    std::optional<long> degree;       // exact levels: the largest formal degree that was compared,
    std::optional<double> bound_log2; // and log2 of the chance that one trial passes a wrong form
    long tokens = 0;                  // the longest sequence; where it failed: the shortest that fails
    std::vector<std::pair<std::string, int>> dims;
    int chunk = 0;                       // the largest; where it failed: the one that fails
    std::optional<double> error, budget; // inexact levels
    std::optional<double> moves; // where the budget follows it: how far the declaration's own answer moves when its
                                 // inputs move by one unit roundoff
    bool pass = true;
    std::string index, got, want; // where it failed: "o[3][1]", "d_k[0][2]", both values
    std::string reason;           // why it is not applicable
};

} // namespace deltaloom::codegen
