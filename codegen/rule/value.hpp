#pragma once
// The normal form of expressions: sums of products, every product split by where its factors act.
//
// A value of shape (r, c) is a sum of terms  coefficient * prod(scalar) * diag(prod rows) * matrix * diag(prod cols),
// where matrix is a state, a dense operand, a product of those, the identity, or absent (all ones: rows cols^T).
// Vectors and scalars have no matrix. Identified: what a commutative ring with bilinear products identifies, exp of
// sums of log gates, x/x for monomials, transposes, <Sr, w> = w^T S r. Not identified: identities between maps
// (sigmoid(-x) = 1 - sigmoid(x), l2norm(2k) = l2norm(k)), x/x for sums.
#include "codegen/rule/typed_rule.hpp"

#include <memory>
#include <set>

namespace deltaloom::codegen {

struct Atom;
using AtomRef = std::shared_ptr<Atom const>;

struct Factor {
    AtomRef atom;
    int power = 1;
};
using Monomial = std::vector<Factor>; // sorted by the atoms' keys, no power 0, each atom once

struct MatrixFactor { // the one matrix of a product
    enum class Kind { none, identity, state, dense, product } kind = Kind::none;
    OperandId operand = -1; // of state and dense
    int version = 0;        // of a state: how many times this token it has been written
    bool transposed = false;
    std::string name{};                // of the operand
    std::vector<MatrixFactor> parts{}; // of a product: what was multiplied, left to right, no products among them
    std::vector<Monomial> between{};   // of a product: the diagonals between its parts
    std::string key() const;
};

struct Term {
    Monomial scalar, rows, cols; // an identity has all of its diagonal in cols; a unit dimension none at all
    MatrixFactor matrix;
    Rational coefficient;
    Location where;          // the operator that made this product last; not part of equality
    std::string key() const; // without the coefficient
};

struct Value {
    Shape shape;
    bool log = false;
    std::vector<Term> terms; // sorted by key, no coefficient 0, each key once
    std::string key() const; // canonical text: equal values have equal keys
    bool zero() const { return terms.empty(); }
    friend bool operator==(Value const& a, Value const& b) { return a.shape == b.shape && a.key() == b.key(); }
};

struct Atom {
    enum class Kind {
        operand,      // an input, gate, parameter (scalar or vector), with `step`
        exp_log,      // exp of the log-domain value arguments[0] (a single operand, coefficient 1)
        map,          // function(arguments[0]); "max" has two arguments
        vector_map,   // function(arguments[0]) with eps or nu: l2norm, .., dpfp, taylor2 stay one atom until lowering
        dot,          // sum over `dim` of prod(left): a scalar
        vector_state, // a vector state at `version`
        read,         // S left, or S^T left if transposed: a vector; S = operand (a state at version, or dense)
        form,         // right^T S left of a state: a scalar, always written with S itself; no reads in left and right
    } kind = Kind::operand;
    OperandId operand = -1;
    int step = 0, version = 0;
    bool transposed = false;
    std::string function{};
    Rational eps{};
    DimId dim = one; // of dot: what is summed over; of vector atoms: their dimension
    std::vector<Value> arguments{};
    Monomial left{}, right{};
    std::string key{};            // canonical text, made from names, never from indices or locations
    std::set<OperandId> states{}; // that it depends on
    Location where{};             // the operator that made it first, and its spelling; not part of equality
    std::string head{};
};

std::set<OperandId> states_in(Value const&);
std::set<OperandId> states_in(Atom const&);
std::set<OperandId> states_in(Term const&);
std::set<OperandId> states_in(Monomial const&);
std::set<OperandId> states_in(MatrixFactor const&);
std::string print(TypedRule const&, Value const&); // as mathematics: "beta v - exp(g) beta (S k)"
std::string print(TypedRule const&, Monomial const&);

} // namespace deltaloom::codegen
