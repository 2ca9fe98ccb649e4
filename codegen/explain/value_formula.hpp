#pragma once
// Values of the normal form, and expressions as the rule has them, as formulas at one token.
#include "codegen/explain/formula.hpp"
#include "codegen/rule/recurrence.hpp"

#include <functional>
#include <map>

namespace deltaloom::codegen {

struct Naming {
    TypedRule const& rule;
    std::function<Formula(OperandId, int version)> state; // what a state is called that was written `version` times
};

Formula operand_formula(TypedRule const&, OperandId, int step = 0);
Formula formula(Naming const&, Atom const&);
Formula formula(Naming const&, Monomial const&, bool vectors); // a product, entry by entry of vectors
std::vector<Signed> terms(Naming const&, Value const&);
Formula formula(Naming const&, Value const&);
// One factor with its sign: "-alpha beta" is minus and "alpha beta"; "a + b" stays a sum.
Signed factor(Naming const&, Value const&);

// Nodes that have a name are written as that.
using NodeNames = std::map<ExprId, Formula>;
Formula formula(TypedRule const&, ExprId, NodeNames const& = {});

} // namespace deltaloom::codegen
