#include "codegen/program/expression_text.hpp"

namespace deltaloom::codegen {
namespace {

enum Precedence { sum_level, product_level, atom_level };

struct Text {
    std::string value;
    Precedence level = atom_level;
};

std::string within(Text const& t, Precedence least) { return t.level < least ? "(" + t.value + ")" : t.value; }

Text render(TypedRule const& rule, ExprId id);

Text call(TypedRule const& rule, std::string const& name, ExprNode const& e) {
    std::string inside;
    for (auto a : e.arguments) inside += (inside.empty() ? "" : ", ") + render(rule, a).value;
    return {name + "(" + inside + ")"};
}

// A term of a sum: its text without the sign, and whether it is subtracted.
std::pair<Text, bool> signed_term(TypedRule const& rule, ExprId id) {
    auto const& e = rule.nodes[id];
    if (e.kind == ExprKind::negate) {
        auto const [inner, minus] = signed_term(rule, e.arguments[0]);
        return {inner, !minus};
    }
    if (e.kind == ExprKind::number && e.number < 0) return {{print(Rational(-e.number))}, true};
    return {render(rule, id), false};
}

Text product(TypedRule const& rule, ExprNode const& e, char const* by) {
    auto const left = within(render(rule, e.arguments[0]), product_level);
    return {left + by + within(render(rule, e.arguments[1]), atom_level), product_level};
}

Text render(TypedRule const& rule, ExprId id) {
    auto const& e = rule.nodes[id];
    auto const argument = [&](int i) { return rule.nodes[e.arguments[i]]; };
    switch (e.kind) {
    case ExprKind::operand: {
        auto const& x = rule.operands[e.operand];
        if (x.previous_of >= 0) return {"previous(" + rule.operands[x.previous_of].name + ")"};
        return {x.steps > 0 ? x.name + "[" + std::to_string(e.step) + "]" : x.name};
    }
    case ExprKind::number: return {print(e.number), e.number < 0 ? sum_level : atom_level};
    case ExprKind::add:
    case ExprKind::add_log: {
        auto const [left, left_minus] = signed_term(rule, e.arguments[0]);
        auto const [right, right_minus] = signed_term(rule, e.arguments[1]);
        if (left_minus && !right_minus) return {right.value + " - " + within(left, product_level), sum_level};
        auto const first = left_minus ? "-" + within(left, product_level) : left.value;
        auto const second = within(right, right_minus ? product_level : sum_level);
        return {first + (right_minus ? " - " : " + ") + second, sum_level};
    }
    case ExprKind::negate: {
        auto const [inner, minus] = signed_term(rule, id);
        return minus ? Text{"-" + within(inner, product_level), sum_level} : inner;
    }
    case ExprKind::scale: {
        if (auto const f = random_features(rule, id))
            return {"random_features(" + render(rule, f->of).value + ", " + render(rule, f->weights).value + ")"};
        auto const scalar = argument(0);
        if (scalar.kind == ExprKind::map && scalar.function == "inv") {
            auto const divisor = within(render(rule, scalar.arguments[0]), atom_level);
            return {within(render(rule, e.arguments[1]), product_level) + " / " + divisor, product_level};
        }
        return product(rule, e, " * ");
    }
    case ExprKind::hadamard: return product(rule, e, " % ");
    case ExprKind::matmul: return product(rule, e, " * ");
    case ExprKind::transpose: return call(rule, "T", e);
    case ExprKind::diag: return call(rule, "diag", e);
    case ExprKind::map:
        if (e.function == "inv") return {"1 / " + within(render(rule, e.arguments[0]), atom_level), product_level};
        return call(rule, e.function, e);
    case ExprKind::maximum: return call(rule, "max", e);
    case ExprKind::vector_map: return call(rule, vector_map_name(e.function, e.number), e);
    case ExprKind::sum: return call(rule, "sum", e);
    case ExprKind::exp_log: return call(rule, "exp", e);
    case ExprKind::multiple_log:
        return {print(e.number) + " * " + within(render(rule, e.arguments[0]), atom_level), product_level};
    }
    return {};
}

} // namespace

std::string text(TypedRule const& rule, ExprId id) { return render(rule, id).value; }

std::string suggested_name(TypedRule const& rule, ExprId id) {
    auto const& e = rule.nodes[id];
    auto const of = [&](int i) { return suggested_name(rule, e.arguments[i]); };
    switch (e.kind) {
    case ExprKind::operand: {
        auto const& x = rule.operands[e.operand];
        return x.steps > 0 ? x.name + "_" + std::to_string(e.step) : x.name;
    }
    case ExprKind::transpose: return of(0);
    case ExprKind::map:
    case ExprKind::vector_map: return of(0).empty() ? e.function : e.function + "_" + of(0);
    case ExprKind::exp_log: return of(0).empty() ? "decay" : "exp_" + of(0);
    case ExprKind::matmul: {
        auto const left = of(0), right = of(1);
        return left.empty() || right.empty() || (left + right).size() > 12 ? "" : left + "_" + right;
    }
    case ExprKind::number:
    case ExprKind::add:
    case ExprKind::negate:
    case ExprKind::scale:
    case ExprKind::hadamard:
    case ExprKind::diag:
    case ExprKind::maximum:
    case ExprKind::sum:
    case ExprKind::add_log:
    case ExprKind::multiple_log: return "";
    }
    return "";
}

} // namespace deltaloom::codegen
