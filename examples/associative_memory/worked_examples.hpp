#pragma once
// Small examples with exact numbers, after the source material on fast-weight programmers and the delta rule.
#include "memory.hpp"

struct WorkedExample {
    std::string what, rule;
    Pairs pairs;
    std::vector<double> before; // the state they start from; empty: zeros
    std::vector<double> state;  // expected after the last token; empty: not said
    std::vector<double> reads;  // expected outputs of the last tokens, row-major
};
std::vector<WorkedExample> worked_examples();
// The largest difference from what is expected.
double difference(WorkedExample const&, Answer const&);
