#pragma once
// A Program over a whole sequence: its phases in order, chunk by chunk, carries and what earlier phases left included.
#include "codegen/check/data.hpp"
#include "codegen/program/program.hpp"

namespace deltaloom::codegen {

// Gradients arriving at, and leaving, a sequence, shaped as the data.
template<class K> struct Arriving {
    std::vector<Environment<K>> outputs; // per token
    Environment<K> states;               // of the states after the last token
};

// One way to run a Program: over chunks of `chunk` tokens, the last one short or, if padded, as long as the others.
struct Plan {
    int chunk = 1;
    bool padded = false;
};

// The forward gives outputs and states, the backward gradients; `left`: whatever else the phases gave, per chunk.
struct Driven {
    OracleRun<runtime::field> forward;
    OracleData<runtime::field> gradients;
    std::vector<Environment<runtime::field>> left;
};
Driven drive(TypedRule const&, Program const&, Plan, std::vector<int> const& dims,
             OracleData<runtime::field> const& data, Arriving<runtime::field> const& arriving);

// The largest formal degree of anything that `drive` gives, in the entries of data and arriving gradients.
struct Start { // degrees of the states before the sequence, of the gradients arriving at those after it
    long states = 1, arriving = 1;
};
long degree(TypedRule const&, Program const&, Plan, std::vector<int> const& dims, int length, Start = {});

} // namespace deltaloom::codegen
