#pragma once
// One tree as typed nodes: shapes and domains computed again, sugar removed (the table is ExprKind in typed_rule.hpp).
#include "codegen/rule/typed_rule.hpp"

#include <map>

namespace deltaloom::codegen {

std::string print(TypedRule const&, Shape); // "dv x dk", "dk x 1", "a scalar"

struct Typing {
    Declaration const& declaration;
    TypedRule& rule;                         // gains nodes, and a hidden state for each previous(x)
    std::vector<Diagnostic>& out;            // what is wrong with the tree
    int step = 0;                            // which copy of a repeat
    int repeat = 0;                          // n of the repeat around, 0 outside
    std::map<OperandId, OperandId> hidden{}; // input -> the state that holds it for the next token
};

// The node of the tree, or -1 after a diagnostic.
ExprId type(Typing&, Tree const&);

ExprId add_node(TypedRule&, ExprNode);
ExprId operand_node(TypedRule&, OperandId, int step, Location, std::string head);

} // namespace deltaloom::codegen
