#include "codegen/rule/value.hpp"

#include "codegen/rule/algebra.hpp"

namespace deltaloom::codegen {
namespace {

std::string versioned(std::string const& name, int version, bool transposed) {
    return name + "@" + std::to_string(version) + (transposed ? "'" : "");
}

std::string key_of(At const& at, Atom const& a) {
    auto const name = [&] { return at.rule.operands[a.operand].name; };
    switch (a.kind) {
    case Atom::Kind::operand: return name() + (at.rule.operands[a.operand].steps ? "." + std::to_string(a.step) : "");
    case Atom::Kind::exp_log: return "exp(" + a.arguments[0].key() + ")";
    case Atom::Kind::map:
    case Atom::Kind::vector_map: {
        std::string s = a.function + "(";
        for (auto const& v : a.arguments) s += (&v == &a.arguments[0] ? "" : ", ") + v.key();
        return s + (a.kind == Atom::Kind::vector_map ? "; " + a.eps.str() + ")" : ")");
    }
    case Atom::Kind::dot: return "<" + at.rule.dims[a.dim] + ": " + key(a.left) + ">";
    case Atom::Kind::vector_state: return versioned(name(), a.version, false);
    case Atom::Kind::read: return "(" + versioned(name(), a.version, a.transposed) + " " + key(a.left) + ")";
    case Atom::Kind::form:
        return "(" + key(a.right) + " | " + versioned(name(), a.version, false) + " | " + key(a.left) + ")";
    }
    return "";
}

std::set<OperandId> merged(std::set<OperandId> a, std::set<OperandId> const& b) {
    a.insert(b.begin(), b.end());
    return a;
}

} // namespace

AtomRef made(At const& at, Atom a) {
    a.key = key_of(at, a);
    if (!a.where.known()) {
        a.where = at.where;
        a.head = at.head;
    }
    a.states = merged(states_in(a.left), states_in(a.right));
    for (auto const& v : a.arguments) a.states = merged(std::move(a.states), states_in(v));
    if (a.operand >= 0 && at.rule.operands[a.operand].role == Role::state) a.states.insert(a.operand);
    return std::make_shared<Atom const>(std::move(a));
}

std::string key(Monomial const& m) {
    std::string s;
    for (auto const& f : m) {
        if (!s.empty()) s += ' ';
        s += f.atom->key;
        if (f.power != 1) s += "^" + std::to_string(f.power);
    }
    return s;
}

std::string MatrixFactor::key() const {
    switch (kind) {
    case Kind::none: return "";
    case Kind::identity: return "I";
    case Kind::state:
    case Kind::dense: return versioned(name, version, transposed);
    case Kind::product: break;
    }
    std::string s;
    for (std::size_t i = 0; i < parts.size(); ++i)
        s += (i ? "{" + codegen::key(between[i - 1]) + "}" : "") + parts[i].key();
    return s;
}

std::string Term::key() const {
    return codegen::key(scalar) + " | " + codegen::key(rows) + " | " + matrix.key() + " | " + codegen::key(cols);
}

std::string Value::key() const {
    std::string s = log ? "log" : "";
    for (auto const& t : terms) s += "[" + t.coefficient.str() + ": " + t.key() + "]";
    return s;
}

std::set<OperandId> states_in(Monomial const& m) {
    std::set<OperandId> all;
    for (auto const& f : m) all.insert(f.atom->states.begin(), f.atom->states.end());
    return all;
}

std::set<OperandId> states_in(MatrixFactor const& m) {
    std::set<OperandId> all;
    if (m.kind == MatrixFactor::Kind::state) all.insert(m.operand);
    for (auto const& p : m.parts) all = merged(std::move(all), states_in(p));
    for (auto const& b : m.between) all = merged(std::move(all), states_in(b));
    return all;
}

std::set<OperandId> states_in(Term const& t) {
    return merged(merged(states_in(t.scalar), states_in(t.rows)), merged(states_in(t.cols), states_in(t.matrix)));
}

std::set<OperandId> states_in(Value const& v) {
    std::set<OperandId> all;
    for (auto const& t : v.terms) all = merged(std::move(all), states_in(t));
    return all;
}

std::set<OperandId> states_in(Atom const& a) { return a.states; }

} // namespace deltaloom::codegen
