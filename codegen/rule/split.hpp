#pragma once
// One statement's value taken apart in the orientation of its component: what is kept of each state, what is written.
#include "codegen/rule/algebra.hpp"
#include "codegen/rule/recurrence.hpp"

namespace deltaloom::codegen {

struct Update { // a statement on a state
    OperandId target = -1;
    int statement = 0;
    Value value;
    Location where;
};

struct Frame { // states that read or add each other, and how they lie
    std::vector<OperandId> states;
    bool flipped = false;
    DimId row = one, col = one;
    bool own(OperandId) const;
    int index(OperandId) const;
};

struct ReadTerms {
    int state = 0;
    Monomial key;
    Sum coefficient;
};
struct WriteTerms { // of one key monomial
    Monomial key;
    Sum direct;
    std::map<std::string, ReadTerms> reads; // by state and key
};
struct Parts {
    std::map<int, Sum> kept;                  // by state: the decay that multiplies it
    std::map<std::string, WriteTerms> writes; // by key
    std::optional<Location> right, left;      // of the last low-rank term that reads on the right, on the left
};

// Throws Refused where the statement is not affine in the frame's states, or not of low rank.
Parts split(TypedRule const&, Frame const&, Update const&);

// What multiplies a state: scalar * diag(rows) * state * diag(cols); absent: one.
struct Decay {
    Value scalar;
    std::optional<Value> rows, cols;
};
std::optional<Decay> factored(std::vector<Term> const& kept, DimId row, DimId col);

// Writes whose contents are proportional share one key; reads whose coefficients are, likewise.
std::vector<Write> gathered(Frame const&, Parts&&);

} // namespace deltaloom::codegen
