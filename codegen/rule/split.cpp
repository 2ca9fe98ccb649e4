#include "codegen/rule/split.hpp"

#include <algorithm>
#include <cstdlib>

namespace deltaloom::codegen {
namespace {

using Matrix = MatrixFactor::Kind;

struct Splitter {
    TypedRule const& rule;
    Frame const& frame;
    Update const& update;
    Parts parts{};

    [[noreturn]] void refuse(std::string const& text, Location const& where) const {
        throw Refused{{"statement on " + rule.operands[update.target].name + ": " + text, where}};
    }

    bool reads_own(std::set<OperandId> const& states) const {
        return std::any_of(states.begin(), states.end(), [&](OperandId s) { return frame.own(s); });
    }

    // How often own states are read, maps and inverses aside.
    int reads(Monomial const& m) const {
        int n = 0;
        for (auto const& f : m) n += std::abs(f.power) * reads(*f.atom);
        return n;
    }
    int reads(Atom const& a) const {
        bool const itself =
            a.kind == Atom::Kind::read || a.kind == Atom::Kind::form || a.kind == Atom::Kind::vector_state;
        return (itself && frame.own(a.operand) ? 1 : 0) + reads(a.left) + reads(a.right);
    }

    // The map of an own state under the atom, if any.
    Atom const* mapped(Atom const& a) const {
        if (!reads_own(a.states)) return nullptr;
        if (!a.arguments.empty()) return &a;
        for (auto const* m : {&a.left, &a.right})
            for (auto const& f : *m)
                if (auto const* found = mapped(*f.atom)) return found;
        return nullptr;
    }

    [[noreturn]] void refuse_nonlinear(Term const& t, std::vector<Factor> const& own) const {
        for (auto const& f : own)
            if (auto const* a = mapped(*f.atom))
                refuse((a->head == "/" ? "a division by" : (a->head.empty() ? a->function : a->head) + " of") +
                           std::string(" the state is not affine in the state"),
                       a->where);
        for (auto const& f : own)
            if (f.power < 0) refuse("a division by the state is not affine in the state", t.where);
        refuse("a product of two state reads is not affine in the state", t.where);
    }

    [[noreturn]] void refuse_matrix(Term const& t) const {
        int own = 0;
        for (auto const& p : t.matrix.parts) own += p.kind == Matrix::state && frame.own(p.operand);
        if (own > 1) refuse("a product of two states is not affine in the state", t.where);
        if (own == 1) refuse("a dense matrix multiplies the state: no low-rank factor", t.where);
        if (t.matrix.kind == Matrix::dense)
            refuse("all of " + t.matrix.name + " is written, which is not of low rank: no low-rank factor", t.where);
        refuse("a whole matrix is written, which is not of low rank: no low-rank factor", t.where);
    }

    // (state, key) if the scalar or row factor is Sigma key for an own state.
    std::optional<std::pair<OperandId, Monomial>> read_of(Atom const& a) const {
        if (a.kind == Atom::Kind::read && frame.own(a.operand) && a.transposed == frame.flipped &&
            !reads_own(states_in(a.left)))
            return std::pair{a.operand, a.left};
        if (a.kind != Atom::Kind::dot && a.kind != Atom::Kind::form) return std::nullopt;
        if (!rule.operands[update.target].shape.vector()) return std::nullopt;
        for (auto const& node : rootings({rule, a.where, a.head}, a))
            for (auto const& f : node.product) {
                if (f.power != 1 || f.atom->kind != Atom::Kind::vector_state || !frame.own(f.atom->operand)) continue;
                Monomial rest = without(node.product, f.atom);
                if (!reads_own(states_in(rest))) return std::pair{f.atom->operand, std::move(rest)};
            }
        return std::nullopt;
    }

    void keep(OperandId s, Term t) {
        t.matrix = {};
        parts.kept[frame.index(s)].add(std::move(t));
    }

    WriteTerms& write(Monomial const& column) {
        auto& w = parts.writes[key(column)];
        w.key = column;
        return w;
    }

    static void drop(Term& t, AtomRef const& a) {
        for (auto* m : {&t.scalar, &t.rows, &t.cols})
            m->erase(std::remove_if(m->begin(), m->end(), [&](Factor const& f) { return f.atom->key == a->key; }),
                     m->end());
    }

    void term(Term t) {
        std::vector<Factor> own;
        for (auto const* m : {&t.scalar, &t.rows, &t.cols})
            for (auto const& f : *m)
                if (reads_own(f.atom->states)) own.push_back(f);
        if (t.matrix.kind == Matrix::state) {
            if (!own.empty()) refuse_nonlinear(t, own);
            if (t.matrix.transposed != frame.flipped)
                refuse("the transposed state is added to the state: no low-rank factor", t.where);
            OperandId const state = t.matrix.operand;
            return keep(state, std::move(t));
        }
        if (t.matrix.kind != Matrix::none) refuse_matrix(t);
        if (own.size() > 1 || (own.size() == 1 && own[0].power != 1)) refuse_nonlinear(t, own);
        if (own.empty()) {
            auto& w = write(t.cols);
            t.cols = {};
            return w.direct.add(std::move(t));
        }
        read(std::move(t), own[0]);
    }

    void read(Term t, Factor const& own) {
        Atom const& a = *own.atom;
        if (a.kind == Atom::Kind::vector_state) {
            drop(t, own.atom);
            return keep(a.operand, std::move(t));
        }
        bool const in_cols =
            std::any_of(t.cols.begin(), t.cols.end(), [&](Factor const& f) { return f.atom == own.atom; });
        if (mapped(a)) refuse_nonlinear(t, {own});
        if (reads(a) > 1) refuse("a product of two state reads is not affine in the state", t.where);
        if (auto const hit = in_cols ? std::nullopt : read_of(a)) {
            parts.right = t.where;
            drop(t, own.atom);
            auto& w = write(t.cols);
            t.cols = {};
            int const state = frame.index(hit->first);
            auto& slot = w.reads[rule.operands[hit->first].name + " " + key(hit->second)];
            slot.state = state;
            slot.key = hit->second;
            return slot.coefficient.add(std::move(t));
        }
        if (a.kind == Atom::Kind::read && in_cols && a.transposed != frame.flipped && frame.own(a.operand)) {
            parts.left = t.where;
            return;
        }
        if (a.kind == Atom::Kind::form || a.kind == Atom::Kind::dot)
            refuse("the read enters through a dot product (its coefficient is a matrix): not generated", a.where);
        if (a.kind == Atom::Kind::read && frame.own(a.operand))
            refuse("the state's rows are written with a read of its transpose: not generated", t.where);
        refuse("the read of a read of the state: not generated", t.where);
    }
};

} // namespace

bool Frame::own(OperandId s) const { return std::find(states.begin(), states.end(), s) != states.end(); }
int Frame::index(OperandId s) const {
    return static_cast<int>(std::find(states.begin(), states.end(), s) - states.begin());
}

Parts split(TypedRule const& rule, Frame const& frame, Update const& update) {
    Splitter s{rule, frame, update};
    // transposing is ours: no location of the user's changes
    Value value = frame.flipped ? transpose({rule, {}, ""}, update.value) : update.value;
    for (auto& t : value.terms) s.term(std::move(t));
    return std::move(s.parts);
}

} // namespace deltaloom::codegen
