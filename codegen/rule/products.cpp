// Monomials, sums of terms, and the products of two values.
#include "codegen/rule/algebra.hpp"

#include <algorithm>

namespace deltaloom::codegen {
namespace {

using Matrix = MatrixFactor::Kind;

int stateful(Monomial const& m) {
    int n = 0;
    for (auto const& f : m)
        if (!f.atom->states.empty()) n += f.power < 0 ? -f.power : f.power;
    return n;
}

// A product that has left the affine forms keeps the operator that did it.
bool to_blame(Term const& t) {
    return t.matrix.kind == Matrix::product ||
           stateful(t.scalar) + stateful(t.rows) + stateful(t.cols) + (t.matrix.kind == Matrix::state ? 1 : 0) > 1;
}

Location product_where(At const& at, Term const& a, Term const& b) {
    return to_blame(a) ? a.where : to_blame(b) ? b.where : at.where;
}

// Factors of a unit dimension are scalars; an identity has one diagonal.
void settle(Term& t, Shape s) {
    if (t.matrix.kind == Matrix::identity) t.cols = times(std::exchange(t.rows, {}), t.cols);
    if (s.rows == one) t.scalar = times(t.scalar, std::exchange(t.rows, {}));
    if (s.cols == one) t.scalar = times(t.scalar, std::exchange(t.cols, {}));
}

MatrixFactor flipped(MatrixFactor m) {
    if (m.kind == Matrix::state || m.kind == Matrix::dense) m.transposed = !m.transposed;
    for (auto& p : m.parts) p = flipped(std::move(p));
    std::reverse(m.parts.begin(), m.parts.end());
    std::reverse(m.between.begin(), m.between.end());
    return m;
}

MatrixFactor chained(MatrixFactor const& a, Monomial const& middle, MatrixFactor const& b) {
    MatrixFactor out;
    out.kind = Matrix::product;
    for (auto const* side : {&a, &b}) {
        if (side == &b) out.between.push_back(middle);
        if (side->kind == Matrix::product) {
            out.parts.insert(out.parts.end(), side->parts.begin(), side->parts.end());
            out.between.insert(out.between.end(), side->between.begin(), side->between.end());
        } else {
            out.parts.push_back(*side);
        }
    }
    return out;
}

// The matrix applied to a vector: a read, of a chain of matrices a read of a read.
Monomial applied(At const& at, MatrixFactor const& m, Monomial y) {
    if (m.kind == Matrix::product) {
        for (std::size_t i = m.parts.size(); i-- > 0;) {
            y = applied(at, m.parts[i], std::move(y));
            if (i) y = times(m.between[i - 1], y);
        }
        return y;
    }
    Shape const s = at.rule.operands[m.operand].shape;
    Atom a;
    a.kind = Atom::Kind::read;
    a.operand = m.operand;
    a.version = m.version;
    a.transposed = m.transposed;
    a.dim = m.transposed ? s.cols : s.rows;
    a.left = std::move(y);
    return monomial(made(at, std::move(a)));
}

bool dense(Term const& t) { return t.matrix.kind != Matrix::none && t.matrix.kind != Matrix::identity; }

Term multiplied(At const& at, DimId inner, Term const& a, Term const& b) {
    Term t;
    t.coefficient = a.coefficient * b.coefficient;
    t.where = product_where(at, a, b);
    t.scalar = times(a.scalar, b.scalar);
    t.rows = a.rows;
    t.cols = b.cols;
    Monomial const middle = times(a.cols, b.rows);
    if (a.matrix.kind == Matrix::identity) {
        t.matrix = b.matrix;
        t.rows = times(a.rows, middle);
    } else if (b.matrix.kind == Matrix::identity) {
        t.matrix = a.matrix;
        t.cols = times(middle, b.cols);
    } else if (dense(a) && dense(b)) {
        t.matrix = chained(a.matrix, middle, b.matrix);
    } else if (dense(a)) {
        t.rows = times(a.rows, applied(at, a.matrix, middle));
    } else if (dense(b)) {
        t.cols = times(b.cols, applied(at, flipped(b.matrix), middle));
    } else {
        t.scalar = times(t.scalar, contract(at, {inner, middle}));
    }
    return t;
}

void cap(At const& at, Value const& a, Value const& b) {
    if (a.terms.size() * b.terms.size() <= most_products) return;
    throw Refused{{"multiplying out the products of sums here gives more than " + std::to_string(most_products) +
                       " terms: no canonical form; split the statement",
                   at.where}};
}

} // namespace

Monomial times(Monomial const& a, Monomial const& b) {
    Monomial out;
    out.reserve(a.size() + b.size());
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
        int const order = i == a.size() ? 1 : j == b.size() ? -1 : a[i].atom->key.compare(b[j].atom->key);
        if (order < 0) out.push_back(a[i++]);
        if (order > 0) out.push_back(b[j++]);
        if (order != 0) continue;
        int const sum = a[i].power + b[j].power;
        if (sum) out.push_back({a[i].atom, sum});
        ++i, ++j;
    }
    return out;
}

Monomial power(Monomial const& m, int n) {
    Monomial out = m;
    for (auto& f : out) f.power *= n;
    return n ? out : Monomial{};
}

Monomial without(Monomial const& m, AtomRef const& atom) { return times(m, {{atom, -1}}); }
Monomial monomial(AtomRef atom) { return {{std::move(atom), 1}}; }

void Sum::add(Term t) {
    if (t.coefficient == 0) return;
    std::string k = t.key();
    auto const [at, fresh] = terms_.try_emplace(std::move(k), t);
    if (fresh) return;
    at->second.coefficient += t.coefficient;
    if (at->second.coefficient == 0) terms_.erase(at);
}

std::vector<Term> Sum::terms() && {
    std::vector<Term> out;
    for (auto& [k, t] : terms_) out.push_back(std::move(t));
    return out;
}

Value value_of(Shape shape, Sum&& sum) { return {shape, false, std::move(sum).terms()}; }

Value add(Value const& a, Value const& b) {
    Sum sum;
    for (auto const* side : {&a, &b})
        for (auto const& t : side->terms) sum.add(t);
    Value out = value_of(a.shape, std::move(sum));
    out.log = a.log;
    return out;
}

Value scaled(Rational const& by, Value v) {
    if (by == 0) v.terms.clear();
    for (auto& t : v.terms) t.coefficient *= by;
    return v;
}

Value transpose(At const& at, Value const& v) {
    Sum sum;
    for (auto t : v.terms) {
        if (t.matrix.kind != Matrix::identity) std::swap(t.rows, t.cols);
        if (t.matrix.kind == Matrix::state && at.where.known()) t.where = at.where;
        t.matrix = flipped(std::move(t.matrix));
        sum.add(std::move(t));
    }
    Value out = value_of({v.shape.cols, v.shape.rows}, std::move(sum));
    out.log = v.log;
    return out;
}

Value hadamard(At const& at, Value const& a, Value const& b) {
    cap(at, a, b);
    Shape const shape = a.shape.scalar() ? b.shape : a.shape;
    Sum sum;
    for (auto const& x : a.terms)
        for (auto const& y : b.terms) {
            bool const two = x.matrix.kind != Matrix::none && y.matrix.kind != Matrix::none;
            if (two && at.head == "norm")
                throw Refused{{states_in(a).empty() ? "norm of a matrix has no low-rank factor"
                                                    : "norm of the state is not affine in the state",
                               at.where}};
            if (two) throw Refused{{"an entrywise product of two matrices has no low-rank factor", at.where}};
            Term t;
            t.coefficient = x.coefficient * y.coefficient;
            t.where = product_where(at, x, y);
            t.scalar = times(x.scalar, y.scalar);
            t.rows = times(x.rows, y.rows);
            t.cols = times(x.cols, y.cols);
            t.matrix = x.matrix.kind != Matrix::none ? x.matrix : y.matrix;
            settle(t, shape);
            sum.add(std::move(t));
        }
    return value_of(shape, std::move(sum));
}

Value matmul(At const& at, Value const& a, Value const& b) {
    cap(at, a, b);
    Shape const shape{a.shape.rows, b.shape.cols};
    Sum sum;
    for (auto const& x : a.terms)
        for (auto const& y : b.terms) {
            Term t = multiplied(at, a.shape.cols, x, y);
            settle(t, shape);
            sum.add(std::move(t));
        }
    return value_of(shape, std::move(sum));
}

Value diagonal(At const& at, Value const& v) {
    Sum sum;
    for (auto t : v.terms) {
        t.cols = std::exchange(t.rows, {});
        t.matrix.kind = Matrix::identity;
        t.where = at.where;
        sum.add(std::move(t));
    }
    return value_of({v.shape.rows, v.shape.rows}, std::move(sum));
}

Value total(At const& at, Value const& v) {
    Sum sum;
    for (auto const& x : v.terms) {
        Term t = x;
        t.rows = t.cols = {};
        t.matrix = {};
        if (x.matrix.kind == Matrix::identity) {
            t.scalar = times(x.scalar, contract(at, {v.shape.cols, x.cols}));
        } else if (dense(x)) {
            Monomial const rows = times(x.rows, applied(at, x.matrix, x.cols));
            t.scalar = times(x.scalar, contract(at, {v.shape.rows, rows}));
        } else {
            if (v.shape.rows != one) t.scalar = times(t.scalar, contract(at, {v.shape.rows, x.rows}));
            if (v.shape.cols != one) t.scalar = times(t.scalar, contract(at, {v.shape.cols, x.cols}));
        }
        sum.add(std::move(t));
    }
    return value_of({}, std::move(sum));
}

} // namespace deltaloom::codegen
