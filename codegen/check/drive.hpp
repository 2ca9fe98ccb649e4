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
template<class K> struct DrivenOver {
    OracleRun<K> forward;
    OracleData<K> gradients;
    std::vector<Environment<K>> left;
};
using Driven = DrivenOver<runtime::field>;
template<class K>
DrivenOver<K> drive(TypedRule const&, Program const&, Plan, std::vector<int> const& dims, OracleData<K> const& data,
                    Arriving<K> const& arriving);
extern template DrivenOver<runtime::field> drive(TypedRule const&, Program const&, Plan, std::vector<int> const&,
                                                 OracleData<runtime::field> const&, Arriving<runtime::field> const&);
extern template DrivenOver<double> drive(TypedRule const&, Program const&, Plan, std::vector<int> const&,
                                         OracleData<double> const&, Arriving<double> const&);
extern template DrivenOver<float> drive(TypedRule const&, Program const&, Plan, std::vector<int> const&,
                                        OracleData<float> const&, Arriving<float> const&);

// The largest formal degree of anything that `drive` gives, in the entries of data and arriving gradients.
struct Start { // degrees of the states before the sequence, of the gradients arriving at those after it
    long states = 1, arriving = 1;
};
long degree(TypedRule const&, Program const&, Plan, std::vector<int> const& dims, int length, Start = {});

} // namespace deltaloom::codegen
