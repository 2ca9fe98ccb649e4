#pragma once
// Who uses what in a declaration: the facts that the checks of check.cpp ask about.
#include "codegen/read/declaration.hpp"
#include "codegen/rule/typed_rule.hpp"

namespace deltaloom::codegen {

struct Use { // of an operand on a right side
    OperandId operand = -1;
    int statement = 0;     // as written
    int repeat = 0;        // n of the repeat around, 0 outside
    bool previous = false; // as previous(x)
    Location where;
};
struct Written { // a statement, as written
    OperandId target = -1;
    int repeat = 0;
    Location where;
    Tree const* value = nullptr; // into the declaration
};
struct Uses {
    std::vector<Written> statements;
    std::vector<Use> uses;
};

// Empty, with a diagnostic, for a tree that no reader produces (an index out of range, a statement without two sides).
Uses uses_of(Declaration const&, std::vector<Diagnostic>&);

// What language.md refuses about a rule as a whole: states, outputs, inputs in repeats.
void check_roles(Declaration const&, Uses const&, std::vector<Diagnostic>&);

} // namespace deltaloom::codegen
