#pragma once
// Direct evaluation of a declaration, token by token, on plain matrices. It walks the tree as written and shares no
// code with check, normalise or the lowerings: what they derive is measured against it.
//
// Over the field a log value is the element exp(g); the tangent of a dual log value is that of g in every scalar
// (runtime/scalar/gate.hpp).
#include "codegen/program/interpret.hpp"
#include "codegen/read/declaration.hpp"

namespace deltaloom::codegen {

// One sequence's data, by operand name. A column of d is d x 1, a scalar 1 x 1.
template<class K> struct OracleData {
    int length = 0;
    std::map<std::string, std::vector<std::vector<Dense<K>>>>
        tokens; // [token][step]; one step for what stands outside repeat
    Environment<K> parameters;
    Environment<K> states; // before the first token; those of previous(x) are called x_previous
};
template<class K> struct OracleRun {
    std::vector<Environment<K>> outputs; // per token
    Environment<K> states;               // after the last token
};
template<class K> OracleRun<K> run(Declaration const&, OracleData<K> const&);
extern template OracleRun<double> run(Declaration const&, OracleData<double> const&);
extern template OracleRun<runtime::field> run(Declaration const&, OracleData<runtime::field> const&);
extern template OracleRun<runtime::dual<double>> run(Declaration const&, OracleData<runtime::dual<double>> const&);
extern template OracleRun<runtime::dual<runtime::field>> run(Declaration const&,
                                                             OracleData<runtime::dual<runtime::field>> const&);

// What the tree says about its operands, by their index.
struct OperandUse {
    int steps = 0;            // n of the repeat that an input or gate stands in; 0: none
    bool previous = false;    // previous(x) occurs: there is a hidden state x_previous
    bool key = false;         // a vector input inside T(...) or multiplied with a state, in an update of a state
    bool denominator = false; // occurs in what something is divided by
};
std::vector<OperandUse> uses(Declaration const&);

} // namespace deltaloom::codegen
