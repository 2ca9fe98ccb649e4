#pragma once
// Arithmetic of normal forms. Every function keeps Value's invariants; what leaves the normal form throws Refused.
#include "codegen/rule/value.hpp"

#include <map>

namespace deltaloom::codegen {

struct Refused {
    Reason reason;
};

// Multiplying out stops here: more products in one value are refused, with the reason.
inline constexpr std::size_t most_products = 20000;

// The rule (for names) and the operator at work (for reasons and locations).
struct At {
    TypedRule const& rule;
    Location where;
    std::string head;
};

// Monomials
std::string key(Monomial const&);
Monomial times(Monomial const&, Monomial const&);
Monomial power(Monomial const&, int);
Monomial without(Monomial const&, AtomRef const&); // one power less of it
Monomial monomial(AtomRef);

// Collects terms by key; merged terms keep the first location.
class Sum {
public:
    void add(Term);
    std::vector<Term> terms() &&;

private:
    std::map<std::string, Term> terms_;
};
Value value_of(Shape, Sum&&);

Value number(Shape, Rational const&, Location);
Value operand(At const&, OperandId, int step);
Value state(At const&, OperandId, int version);
Value add(Value const&, Value const&);
Value scaled(Rational const&, Value);
Value transpose(At const&, Value const&);
Value hadamard(At const&, Value const&, Value const&); // entrywise; a scalar on the left scales anything
Value matmul(At const&, Value const&, Value const&);
Value diagonal(At const&, Value const&); // of a column
Value total(At const&, Value const&);    // of all entries
Value map(At const&, std::string const& function, Value const&);
Value maximum(At const&, Value const&, Value const&);
// To that shape: of dpfp and taylor2 another dimension.
Value vector_map(At const&, std::string const& function, Rational const& number, Value const&, Shape);
Value exp_log(At const&, Value const&);

// An atom with its key and states.
AtomRef made(At const&, Atom);

// Scalars from vectors. A sum over `dim` of a product of vectors, some of them reads, is a tree of matrices and
// dimensions that can be summed from any of its nodes: dot{S q, M k} = form(M; S q, k) = ... One of them is canonical.
struct Summed {
    DimId dim = one;
    Monomial product;
};
Monomial contract(At const&, Summed const&);                 // the canonical scalar: a dot, or a form of one matrix
std::vector<Summed> rootings(At const&, Atom const& scalar); // every way to sum a dot or a form

// The normal form of a node; `states` holds the value of each state at this point of the token, by OperandId.
Value symbolic(TypedRule const&, ExprId, std::vector<Value> const& states);

} // namespace deltaloom::codegen
