#pragma once
// What the levels ask about a rule, found in its structure: never by a name.
#include "codegen/program/program.hpp"

namespace deltaloom::codegen {

struct Facts {
    std::vector<OperandId> inputs; // per token, gates included
    std::vector<OperandId> log_gates, linear_gates, scalars, states, parameters, outputs, keys;
    std::vector<OperandId> key_gates, value_gates; // log gates over the columns, over the rows of a matrix state
    std::vector<std::string> inexact; // functions that floats round even on small integers, and numbers that they round
    std::vector<std::string> maps;    // all functions
    bool divides = false;             // an output or an update has a denominator
    bool erases = false;              // a state is read by its own update: there is a system to solve
    bool coupled = false;             // a state is mixed with another one
    std::string no_factor;            // why `factors` is empty
    // Scalar inputs or linear gates: every write and erase is multiplied with one of them.
    std::vector<OperandId> factors;
    std::vector<OperandId> decays; // gates that stand in decays of states
};
Facts facts(Declaration const&, Derived const&);

} // namespace deltaloom::codegen
