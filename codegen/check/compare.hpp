#pragma once
// What a driven Program gave against what the declaration says.
#include "codegen/check/result.hpp"
#include "codegen/check/trial.hpp"

#include <functional>

namespace deltaloom::codegen {

struct Difference {
    std::string index, got, want;
};
using Drive = std::function<Driven(Prefix const&)>;

std::optional<Difference> compare_forward(Drive const&, Trial&, int length);
std::optional<Difference> compare_backward(Drive const&, Trial&, int length);
// At the shortest prefix that differs; `result` gets its length, where and both values, and has not passed.
void report(Result& result, std::function<std::optional<Difference>(int length)> const& compare, int shortest,
            int longest);

// "o[3][1]": token and entry of a column; "S[2][0]" of a matrix.
std::string index_of(std::string name, int token, int step, Dense<runtime::field> const&, int entry);

} // namespace deltaloom::codegen
