// Values and recurrences as mathematics. Everything is in canonical order, so equal values print equal bytes.
#include "codegen/rule/algebra.hpp"
#include "codegen/rule/recurrence.hpp"

#include <algorithm>

namespace deltaloom::codegen {
namespace {

std::string versioned(std::string const& name, int version, bool transposed) {
    return name + (version ? "." + std::to_string(version) : "") + (transposed ? "^T" : "");
}

std::string spaced(std::string const& a, std::string const& b) { return a.empty() || b.empty() ? a + b : a + " " + b; }

std::string print_atom(TypedRule const& rule, Atom const& a) {
    auto const name = [&] { return rule.operands[a.operand].name; };
    auto const call = [&](std::string const& function) {
        std::string s = function + "(";
        for (std::size_t i = 0; i < a.arguments.size(); ++i) s += (i ? ", " : "") + print(rule, a.arguments[i]);
        return s + (a.kind == Atom::Kind::vector_map && has_eps(a.function) ? "; " + print(a.eps) + ")" : ")");
    };
    switch (a.kind) {
    case Atom::Kind::operand: return name() + (rule.operands[a.operand].steps ? "." + std::to_string(a.step) : "");
    case Atom::Kind::exp_log: return call("exp");
    case Atom::Kind::map: return call(a.function);
    case Atom::Kind::vector_map: return call(vector_map_name(a.function, a.eps));
    case Atom::Kind::dot: return "<" + print(rule, a.left) + ">_" + rule.dims[a.dim];
    case Atom::Kind::vector_state: return versioned(name(), a.version, false);
    case Atom::Kind::read: return "(" + versioned(name(), a.version, a.transposed) + " [" + print(rule, a.left) + "])";
    case Atom::Kind::form:
        return "([" + print(rule, a.right) + "]^T " + versioned(name(), a.version, false) + " [" + print(rule, a.left) +
               "])";
    }
    return "";
}

std::string print_matrix(TypedRule const& rule, MatrixFactor const& m) {
    switch (m.kind) {
    case MatrixFactor::Kind::none: return "";
    case MatrixFactor::Kind::identity: return "I";
    case MatrixFactor::Kind::state: return versioned(m.name, m.version, m.transposed);
    case MatrixFactor::Kind::dense: return versioned(m.name, m.version, m.transposed);
    case MatrixFactor::Kind::product: break;
    }
    std::string s;
    for (std::size_t i = 0; i < m.parts.size(); ++i) {
        bool const plain = i == 0 || m.between[i - 1].empty();
        s = spaced(s, (plain ? "" : "diag(" + print(rule, m.between[i - 1]) + ") ") + print_matrix(rule, m.parts[i]));
    }
    return s;
}

// The factors of one product: scalars, then what acts on rows, the matrix, what acts on columns.
std::string print_factors(TypedRule const& rule, Shape shape, Term const& t) {
    auto const some = [&](Monomial const& m) { return m.empty() ? std::string() : print(rule, m); };
    std::string const scalar = some(t.scalar), rows = some(t.rows), cols = some(t.cols);
    if (shape.rows == one || shape.cols == one) return spaced(scalar, spaced(rows, cols));
    if (t.matrix.kind == MatrixFactor::Kind::none)
        return spaced(scalar, "[" + (rows.empty() ? "1" : rows) + "] [" + (cols.empty() ? "1" : cols) + "]^T");
    auto const diagonal = [](std::string const& m) { return m.empty() ? "" : "diag(" + m + ")"; };
    return spaced(spaced(scalar, diagonal(rows)), spaced(print_matrix(rule, t.matrix), diagonal(cols)));
}

std::string bracketed(TypedRule const& rule, Value const& v) {
    std::string const s = print(rule, v);
    return v.terms.size() > 1 ? "(" + s + ")" : s;
}

std::string print_write(TypedRule const& rule, Component const& c, Write const& w) {
    std::string s = "      + ( ";
    bool first = true;
    if (!w.direct.zero() || w.reads.empty()) {
        s += print(rule, w.direct);
        first = false;
    }
    for (auto const& r : w.reads) {
        s += (first ? "" : " + ") + bracketed(rule, r.coefficient) + " . " + rule.operands[c.states[r.state]].name +
             (c.flipped ? "^T" : "") + " [" + print(rule, r.key) + "]";
        first = false;
    }
    return s + " ) [" + print(rule, w.key) + "]^T\n";
}

std::string print_micro(TypedRule const& rule, Component const& c, MicroStep const& m) {
    std::string const mark = c.flipped ? "^T" : "";
    std::string s = "  " + rule.operands[c.states[m.target]].name + mark + " <- ";
    bool first = true;
    for (std::size_t b = 0; b < m.mix.size(); ++b) {
        if (!m.mix[b]) continue;
        s += (first ? "" : " + ") + bracketed(rule, *m.mix[b]);
        if (m.value_decay) s += " diag(" + print(rule, *m.value_decay) + ")";
        s += " " + rule.operands[c.states[b]].name + mark;
        if (m.key_decay) s += " diag(" + print(rule, *m.key_decay) + ")";
        first = false;
    }
    s += first ? "0\n" : "\n";
    for (auto const& w : m.writes) s += print_write(rule, c, w);
    return s;
}

} // namespace

std::string print(TypedRule const& rule, Monomial const& m) {
    std::string s;
    for (auto const& f : m)
        s = spaced(s, print_atom(rule, *f.atom) + (f.power == 1 ? "" : "^" + std::to_string(f.power)));
    return s.empty() ? "1" : s;
}

std::string print(TypedRule const& rule, Value const& v) {
    std::string s;
    for (auto const& t : v.terms) {
        std::string const factors = print_factors(rule, v.shape, t);
        bool const minus = t.coefficient < 0;
        Rational const size = minus ? Rational(-t.coefficient) : t.coefficient;
        std::string const number = size == 1 && !factors.empty() ? "" : print(size);
        if (s.empty())
            s = minus ? "-" : "";
        else
            s += minus ? " - " : " + ";
        s += spaced(number, factors);
    }
    return s.empty() ? "0" : s;
}

std::string print(TypedRule const& rule, Recurrence const& r) {
    std::string s;
    auto const extent = [&](DimId d) { return d == one ? std::string("1") : rule.dims[d]; };
    for (auto const& c : r.components) {
        s += "component";
        for (OperandId const id : c.states) s += " " + rule.operands[id].name;
        s += ": " + extent(c.row) + " x " + extent(c.col) + (c.flipped ? ", transposed" : "") +
             (c.channel_solve ? ", one system per row" : "") + "\n";
        for (auto const& m : c.micro) s += print_micro(rule, c, m);
    }
    std::vector<OutputValue const*> outputs;
    for (auto const& o : r.outputs) outputs.push_back(&o);
    std::sort(outputs.begin(), outputs.end(), [&](auto const* a, auto const* b) {
        return rule.operands[a->output].name < rule.operands[b->output].name;
    });
    for (auto const* o : outputs) s += rule.operands[o->output].name + " = " + print(rule, o->value) + "\n";
    return s;
}

} // namespace deltaloom::codegen
