#include "codegen/check/oracle.hpp"

namespace deltaloom::codegen {
namespace {

struct Place {
    int steps = 0;
    bool update = false, key = false, denominator = false;
};
struct Walk {
    Declaration const& rule;
    std::vector<OperandUse> found;

    bool has_state(Tree const& t) const {
        if (t.kind == TreeKind::operand) return rule.operands[t.operand].role == Role::state;
        for (auto const& a : t.arguments)
            if (has_state(a)) return true;
        return false;
    }
    void operand(Tree const& t, Place p) {
        DeclaredOperand const& o = rule.operands[t.operand];
        OperandUse& use = found[t.operand];
        bool const per_token = o.role == Role::input || o.role == Role::gate;
        if (per_token && p.steps) use.steps = p.steps;
        if (p.key && o.role == Role::input && o.dims.size() == 1) use.key = true;
        if (p.denominator) use.denominator = true;
    }
    void visit(Tree const& t, Place p) {
        switch (t.kind) {
        case TreeKind::operand: operand(t, p); return;
        case TreeKind::number: return;
        case TreeKind::repeat: p.steps = t.count; break;
        case TreeKind::statement:
            p.update = rule.operands[t.arguments[0].operand].role == Role::state;
            visit(t.arguments[1], p);
            return;
        case TreeKind::unary: break;
        case TreeKind::call:
            if (t.head == "previous") found[t.arguments[0].operand].previous = true;
            if (t.head == "T" && !has_state(t)) p.key = p.update;
            if (t.head == "sum_norm") p.denominator = true;
            break;
        case TreeKind::binary:
            for (int i : {0, 1}) {
                Place q = p;
                if (t.head == "/" && i == 1) q.denominator = true;
                if (t.head == "*" && p.update && !has_state(t.arguments[i]) && reads(t.arguments[1 - i])) q.key = true;
                visit(t.arguments[i], q);
            }
            return;
        }
        for (auto const& a : t.arguments) visit(a, p);
    }
    // A matrix state, or its transpose: what a key is multiplied with.
    bool reads(Tree const& t) const {
        if (t.kind == TreeKind::call && t.head == "T") return reads(t.arguments[0]);
        return t.kind == TreeKind::operand && rule.operands[t.operand].role == Role::state &&
               rule.operands[t.operand].dims.size() == 2;
    }
};

} // namespace

std::vector<OperandUse> uses(Declaration const& rule) {
    Walk walk{rule, std::vector<OperandUse>(rule.operands.size())};
    for (auto const& s : rule.statements) walk.visit(s, {});
    return walk.found;
}

} // namespace deltaloom::codegen
