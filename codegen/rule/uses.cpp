#include "codegen/rule/uses.hpp"

namespace deltaloom::codegen {
namespace {

constexpr int most_steps = 256;

struct Walk {
    Declaration const& declaration;
    std::vector<Diagnostic>& out;
    Uses found;
    bool sane = true;

    void fault(Location const& where, std::string text) {
        sane = false;
        out.push_back({Severity::error, std::move(text), where, {}});
    }

    void expression(Tree const& tree, int repeat, bool previous) {
        if (tree.kind == TreeKind::operand) {
            if (tree.operand < 0 || tree.operand >= static_cast<int>(declaration.operands.size()))
                return fault(tree.where, "an operand that the rule does not declare: " + tree.head);
            found.uses.push_back(
                {tree.operand, static_cast<int>(found.statements.size()) - 1, repeat, previous, tree.where});
            return;
        }
        bool const before = tree.kind == TreeKind::call && tree.head == "previous";
        for (auto const& a : tree.arguments) expression(a, repeat, before);
    }

    void statement(Tree const& tree, int repeat) {
        if (tree.kind != TreeKind::statement || tree.arguments.size() != 2)
            return fault(tree.where, "a statement has a state or an output, then <<=, then an expression");
        Tree const& target = tree.arguments[0];
        bool const known = target.kind == TreeKind::operand && target.operand >= 0 &&
                           target.operand < static_cast<int>(declaration.operands.size());
        Role const role = known ? declaration.operands[target.operand].role : Role::input;
        if (role != Role::state && role != Role::output)
            return fault(tree.where, "<<= onto " + (known ? target.head : "an expression") +
                                         ": only a state or an output can be written");
        found.statements.push_back({target.operand, repeat, tree.where, &tree.arguments[1]});
        expression(tree.arguments[1], repeat, false);
    }

    void top(Tree const& tree) {
        if (tree.kind != TreeKind::repeat) return statement(tree, 0);
        if (tree.count < 1 || tree.count > most_steps)
            return fault(tree.where, "repeat<" + std::to_string(tree.count) + ">: a repeat has 1 to " +
                                         std::to_string(most_steps) + " steps");
        for (auto const& inner : tree.arguments) {
            if (inner.kind == TreeKind::repeat)
                fault(inner.where, "a repeat inside a repeat: a repeat holds statements only");
            else
                statement(inner, tree.count);
        }
    }
};

Diagnostic error(Location where, std::string text, std::vector<Diagnostic> notes = {}) {
    return {Severity::error, std::move(text), std::move(where), std::move(notes)};
}
Diagnostic note(Location where, std::string text) { return {Severity::note, std::move(text), std::move(where), {}}; }

// Per operand: does the value that an output sees depend on it, through any number of states?
std::vector<bool> reach_outputs(Declaration const& d, Uses const& u) {
    std::vector<bool> reached(d.operands.size());
    for (bool grown = true; grown;) {
        grown = false;
        for (auto const& use : u.uses) {
            OperandId const target = u.statements[use.statement].target;
            if (reached[use.operand] || !(d.operands[target].role == Role::output || reached[target])) continue;
            reached[use.operand] = grown = true;
        }
    }
    return reached;
}

bool reads_state(Declaration const& d, Uses const& u, int statement) {
    for (auto const& use : u.uses)
        if (use.statement == statement && (use.previous || d.operands[use.operand].role == Role::state)) return true;
    return false;
}

void check_states(Declaration const& d, Uses const& u, std::vector<Diagnostic>& out) {
    auto const reached = reach_outputs(d, u);
    // An output without a state, or none at all, is told of itself; that a state goes unread then follows.
    bool output = false, sound = true;
    for (std::size_t s = 0; s < u.statements.size(); ++s) {
        if (d.operands[u.statements[s].target].role != Role::output) continue;
        output = true;
        sound = sound && reads_state(d, u, static_cast<int>(s));
    }
    for (std::size_t i = 0; i < d.operands.size(); ++i) {
        auto const& o = d.operands[i];
        if (o.role != Role::state) continue;
        bool written = false;
        for (auto const& s : u.statements) written = written || s.target == static_cast<int>(i);
        if (!written)
            out.push_back(error(o.where, "the state " + o.name + " is never written: update it with a statement " +
                                             o.name + " <<= ..., or declare it as a parameter"));
        else if (output && sound && !reached[i])
            out.push_back(error(o.where, "the state " + o.name +
                                             " is read by nothing: no output reads it, not even through another "
                                             "state; read it or leave it out"));
    }
}

void check_outputs(Declaration const& d, Uses const& u, std::vector<Diagnostic>& out) {
    bool any = false;
    for (std::size_t i = 0; i < d.operands.size(); ++i) {
        auto const& o = d.operands[i];
        if (o.role != Role::output) continue;
        any = true;
        Written const* first = nullptr;
        for (auto const& s : u.statements) {
            if (s.target != static_cast<int>(i)) continue;
            if (first)
                out.push_back(error(s.where, "the output " + o.name + " is written twice: an output has one statement",
                                    {note(first->where, "written here first")}));
            else if (s.repeat)
                out.push_back(error(s.where, "the output " + o.name +
                                                 " is written in a repeat: an output is written once a token; put its "
                                                 "statement after the repeat"));
            if (!first) first = &s;
        }
        if (!first)
            out.push_back(
                error(o.where, "the output " + o.name + " is never written: add a statement " + o.name + " <<= ..."));
    }
    for (auto const& use : u.uses)
        if (d.operands[use.operand].role == Role::output)
            out.push_back(error(use.where, "the output " + d.operands[use.operand].name +
                                               " is read: an output can only be written; repeat its expression or "
                                               "name it (auto x = ...)"));
    for (std::size_t s = 0; s < u.statements.size(); ++s) {
        auto const& target = d.operands[u.statements[s].target];
        if (target.role == Role::output && !reads_state(d, u, static_cast<int>(s)))
            out.push_back(error(u.statements[s].where, "the output " + target.name +
                                                           " reads no state: it would be the same without the rule; "
                                                           "read a state, as in S * q"));
    }
    if (!any)
        out.push_back(error(d.where, "the rule " + d.name + " has no output: add a statement such as o <<= S * q"));
}

void check_repeats(Declaration const& d, Uses const& u, std::vector<Diagnostic>& out) {
    std::vector<Use const*> first(d.operands.size());
    std::vector<bool> told(d.operands.size());
    for (auto const& use : u.uses) {
        auto const& o = d.operands[use.operand];
        if (o.role != Role::input && o.role != Role::gate) continue;
        auto const*& before = first[use.operand];
        if (!before) before = &use;
        if (before->repeat == use.repeat || told[use.operand]) continue;
        told[use.operand] = true;
        auto const place = [](Use const& x) {
            return x.repeat ? "inside repeat<" + std::to_string(x.repeat) + ">" : std::string("outside any repeat");
        };
        out.push_back(error(use.where,
                            o.name + " is used " + place(use) + " and " + place(*before) +
                                ": inside a repeat an input has a step axis, so it is used only in repeats of one n; "
                                "declare a second input for the other use",
                            {note(before->where, "used " + place(*before) + " here")}));
    }
}

} // namespace

Uses uses_of(Declaration const& d, std::vector<Diagnostic>& out) {
    Walk w{d, out, {}, true};
    for (auto const& s : d.statements) w.top(s);
    return w.sane ? std::move(w.found) : Uses{};
}

void check_roles(Declaration const& d, Uses const& u, std::vector<Diagnostic>& out) {
    check_states(d, u, out);
    check_outputs(d, u, out);
    check_repeats(d, u, out);
}

} // namespace deltaloom::codegen
