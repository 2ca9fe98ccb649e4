// What a product is made of: numbers, operands, states, and functions of whole values.
#include "codegen/rule/algebra.hpp"

#include <algorithm>

namespace deltaloom::codegen {
namespace {

Value of_atom(At const& at, Shape shape, Atom a) {
    a.dim = shape.rows;
    Term t;
    t.coefficient = 1;
    t.where = at.where;
    (shape.scalar() ? t.scalar : t.rows) = monomial(made(at, std::move(a)));
    return {shape, false, {std::move(t)}};
}

Value of_matrix(At const& at, OperandId id, MatrixFactor::Kind kind, int version) {
    Term t;
    t.coefficient = 1;
    t.where = at.where;
    t.matrix.kind = kind;
    t.matrix.operand = id;
    t.matrix.version = version;
    t.matrix.name = at.rule.operands[id].name;
    return {at.rule.operands[id].shape, false, {std::move(t)}};
}

bool matrix_shaped(Shape s) { return !s.scalar() && !s.vector(); }
bool row(Value const& v) { return v.shape.rows == one && v.shape.cols != one; }

[[noreturn]] void refuse_matrix(At const& at, bool state) {
    std::string const what = at.head == "/" ? "a division" : at.head;
    throw Refused{{what + (state ? " of the state is not affine in the state" : " of a matrix has no low-rank factor"),
                   at.where}};
}

// The function keeps its arguments' shape, or makes of a column one of another dimension.
Value of_function(At const& at, Atom a, std::optional<Shape> result = {}) {
    Shape const s = a.arguments[0].shape;
    if (matrix_shaped(s)) {
        bool const state =
            std::any_of(a.arguments.begin(), a.arguments.end(), [](Value const& v) { return !states_in(v).empty(); });
        refuse_matrix(at, state);
    }
    if (!row(a.arguments[0])) return of_atom(at, result.value_or(s), std::move(a));
    for (auto& v : a.arguments) v = transpose(at, v);
    return transpose(at, of_function(at, std::move(a)));
}

} // namespace

Value number(Shape shape, Rational const& x, Location where) {
    Value v{shape, false, {}};
    if (x == 0) return v;
    Term t;
    t.coefficient = x;
    t.where = std::move(where);
    v.terms.push_back(std::move(t));
    return v;
}

Value operand(At const& at, OperandId id, int step) {
    Operand const& o = at.rule.operands[id];
    Value v;
    if (matrix_shaped(o.shape)) {
        v = of_matrix(at, id, MatrixFactor::Kind::dense, step);
    } else {
        Atom a;
        a.operand = id;
        a.step = step;
        v = of_atom(at, o.shape, std::move(a));
    }
    v.log = o.domain == Domain::log;
    return v;
}

Value state(At const& at, OperandId id, int version) {
    Shape const s = at.rule.operands[id].shape;
    if (matrix_shaped(s)) return of_matrix(at, id, MatrixFactor::Kind::state, version);
    Atom a;
    a.kind = Atom::Kind::vector_state;
    a.operand = id;
    a.version = version;
    return of_atom(at, s, std::move(a));
}

Value map(At const& at, std::string const& function, Value const& v) {
    // one over a product is a product
    if (function == "inv" && v.terms.size() == 1 && v.terms[0].matrix.kind == MatrixFactor::Kind::none) {
        Value out = v;
        Term& t = out.terms[0];
        for (auto* m : {&t.scalar, &t.rows, &t.cols}) *m = power(*m, -1);
        t.coefficient = 1 / t.coefficient;
        t.where = at.where;
        return out;
    }
    Atom a;
    a.kind = Atom::Kind::map;
    a.function = function;
    a.arguments = {v};
    return of_function(at, std::move(a));
}

Value maximum(At const& at, Value const& x, Value const& y) {
    Atom a;
    a.kind = Atom::Kind::map;
    a.function = "max";
    a.arguments = {x, y};
    if (row(x)) { // the order of the arguments is that of the columns that they become
        if (transpose(at, y).key() < transpose(at, x).key()) std::swap(a.arguments[0], a.arguments[1]);
    } else if (y.key() < x.key()) {
        std::swap(a.arguments[0], a.arguments[1]);
    }
    return of_function(at, std::move(a));
}

Value vector_map(At const& at, std::string const& function, Rational const& eps, Value const& v, Shape shape) {
    Atom a;
    a.kind = Atom::Kind::vector_map;
    a.function = function;
    a.eps = eps;
    a.arguments = {v};
    bool const keeps = shape == v.shape;
    return of_function(at, std::move(a), keeps ? std::nullopt : std::optional(shape));
}

Value exp_log(At const& at, Value const& v) {
    if (matrix_shaped(v.shape)) refuse_matrix(at, false);
    if (row(v)) return transpose(at, exp_log(at, transpose(at, v)));
    Value product = number(v.shape, 1, at.where);
    for (auto const& t : v.terms) { // a multiple of one log gate
        Atom a;
        a.kind = Atom::Kind::exp_log;
        a.arguments = {{v.shape, true, {t}}};
        a.arguments[0].terms[0].coefficient = 1;
        Value part = of_atom(at, v.shape, std::move(a));
        int const n = t.coefficient.convert_to<int>();
        for (auto* m : {&part.terms[0].scalar, &part.terms[0].rows}) *m = power(*m, n);
        product = hadamard(at, product, part);
    }
    return product;
}

} // namespace deltaloom::codegen
