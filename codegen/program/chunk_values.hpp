#pragma once
// Values of normal-form expressions over a chunk: a row a token. What varies neither by token nor by channel keeps an
// extent of 1 and is spread only where an operation needs whole rows.
#include "codegen/program/body.hpp"
#include "codegen/rule/recurrence.hpp"

#include <functional>

namespace deltaloom::codegen {

struct ChunkValues {
    TypedRule const& rule;
    bool padded = false;
    Builder b;
    std::function<NodeId(Atom const&)> read_out; // the value of an atom of a state, for every token
    std::map<std::string, NodeId> reads = {};    // read-outs so far, by the atom's key

    NodeId operand(OperandId, int step = 0);
    NodeId value(Value const&);             // spreads to tokens x dim
    NodeId rows(Value const&);              // tokens x dim
    NodeId whole(NodeId, Extent cols);      // spread to tokens x cols
    NodeId product(Monomial const&, DimId); // of atoms; at least 1 x dim
    NodeId decay(Value const&); // tokens x dim; log-typed where it is syntactically a product of exponentials
    NodeId neutral(NodeId x, Rational fill); // rows of padding replaced; x is tokens x any

private:
    NodeId atom(Atom const&);
    NodeId log_value(Value const&);
};

inline DimId vector_dim(Shape s) { return s.cols == one ? s.rows : s.cols; }
bool is_one(Value const&);

// The state whose read this atom is; -1 if none. A dot product with one vector state in it reads that state.
OperandId state_read(Atom const&);
Monomial without(Monomial const&, Atom const*);

} // namespace deltaloom::codegen
