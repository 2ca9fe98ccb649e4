#include "codegen/explain/chunk_names.hpp"

#include "codegen/program/chunk_values.hpp"

#include <algorithm>

namespace deltaloom::codegen {
namespace {

// Every atom of a value, those inside others too, inner ones first.
template<class F> void each_atom(Value const&, F const&);

template<class F> void each_atom(Monomial const& m, F const& f);

template<class F> void each_atom(Atom const& a, F const& f) {
    for (auto const& v : a.arguments) each_atom(v, f);
    each_atom(a.left, f);
    each_atom(a.right, f);
    f(a);
}
template<class F> void each_atom(Monomial const& m, F const& f) {
    for (auto const& factor : m) each_atom(*factor.atom, f);
}
template<class F> void each_atom(Value const& v, F const& f) {
    for (auto const& t : v.terms)
        for (auto const* part : {&t.scalar, &t.rows, &t.cols}) each_atom(*part, f);
}

void collect(TypedRule const& rule, Atom const& a, StateReads& all) {
    auto const known = [&](Atom const* b) { return b->key == a.key; };
    if (std::any_of(all.atoms.begin(), all.atoms.end(), known)) return;
    auto const state = state_read(a);
    bool const reads = state >= 0 && rule.operands[std::size_t(state)].role == Role::state;
    // The vector state in a dot product is part of that read, not one of its own.
    auto const skip = [&](Atom const& b) {
        return reads && a.kind == Atom::Kind::dot && b.kind == Atom::Kind::vector_state && b.operand == state;
    };
    for (auto const* part : {&a.left, &a.right})
        for (auto const& factor : *part)
            if (!skip(*factor.atom)) collect(rule, *factor.atom, all);
    for (auto const& v : a.arguments)
        for (auto const& t : v.terms)
            for (auto const* part : {&t.scalar, &t.rows, &t.cols})
                for (auto const& factor : *part) collect(rule, *factor.atom, all);
    if (!reads) return;
    all.atoms.push_back(&a);
    each_atom(a, [&](Atom const& b) {
        bool const own = b.operand >= 0 && rule.operands[std::size_t(b.operand)].role == Role::state;
        if (own) all.versions[b.operand].insert(b.version);
    });
}

Atom versioned(Atom const& a) { // the atom that says which version of the state is read
    if (a.kind != Atom::Kind::dot) return a;
    auto const state = state_read(a);
    for (auto const& factor : a.left)
        if (factor.atom->kind == Atom::Kind::vector_state && factor.atom->operand == state) return *factor.atom;
    return a;
}

} // namespace

Formula FreshNames::operator()(std::vector<std::string> const& wishes) {
    for (auto const& wish : wishes)
        if (used.insert(wish).second) return symbol(wish);
    return (*this)({wishes.front() + "_"});
}

StateReads state_reads(TypedRule const& rule, Recurrence const& recurrence) {
    StateReads all;
    auto const see = [&](Value const& v) {
        for (auto const& t : v.terms)
            for (auto const* part : {&t.scalar, &t.rows, &t.cols})
                for (auto const& factor : *part) collect(rule, *factor.atom, all);
    };
    for (auto const& c : recurrence.components)
        for (auto const& m : c.micro) {
            for (auto const& v : m.mix)
                if (v) see(*v);
            if (m.key_decay) see(*m.key_decay);
            if (m.value_decay) see(*m.value_decay);
            for (auto const& w : m.writes) {
                see(w.key), see(w.direct);
                for (auto const& r : w.reads) see(r.coefficient), see(r.key);
            }
        }
    for (auto const& o : recurrence.outputs) see(o.value);
    return all;
}

int read_state(Component const& c, Atom const& a) {
    auto const at = std::find(c.states.begin(), c.states.end(), state_read(a));
    return at == c.states.end() ? -1 : int(at - c.states.begin());
}

int read_position(Component const& c, Atom const& a) {
    auto const& own = versioned(a);
    auto const at = std::find(c.states.begin(), c.states.end(), own.operand) - c.states.begin();
    return c.after[std::size_t(at)][std::size_t(own.version)];
}

bool varies(TypedRule const& rule, Value const& v) {
    bool found = false;
    each_atom(v, [&](Atom const& a) {
        if (a.operand < 0) return;
        auto const& x = rule.operands[std::size_t(a.operand)];
        found |= x.per_token() || x.role == Role::state;
    });
    return found;
}

std::set<std::string> log_gates(TypedRule const& rule, Value const& v) {
    std::set<std::string> names;
    each_atom(v, [&](Atom const& a) {
        if (a.kind == Atom::Kind::operand && rule.operands[std::size_t(a.operand)].domain == Domain::log)
            names.insert(rule.operands[std::size_t(a.operand)].name);
    });
    return names;
}

} // namespace deltaloom::codegen
