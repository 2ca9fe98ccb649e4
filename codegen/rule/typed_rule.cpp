#include "codegen/rule/typing.hpp"

namespace deltaloom::codegen {
namespace {

char const* word(Role r) {
    switch (r) {
    case Role::state: return "state";
    case Role::input: return "input";
    case Role::gate: return "gate";
    case Role::parameter: return "parameter";
    case Role::output: return "output";
    }
    return "";
}
char const* word(Domain d) {
    switch (d) {
    case Domain::real: return "";
    case Domain::linear: return " linear";
    case Domain::log: return " log";
    }
    return "";
}

std::string call(TypedRule const& rule, ExprNode const& n, std::string const& name);
std::string text(TypedRule const& rule, ExprId id) {
    ExprNode const& n = rule.nodes[id];
    switch (n.kind) {
    case ExprKind::operand: {
        Operand const& o = rule.operands[n.operand];
        return o.name + (o.steps ? "." + std::to_string(n.step) : "");
    }
    case ExprKind::number: return print(n.number) + (n.shape.scalar() ? "" : "[" + print(rule, n.shape) + "]");
    case ExprKind::add:
    case ExprKind::add_log: return call(rule, n, "+");
    case ExprKind::negate: return call(rule, n, "neg");
    case ExprKind::scale: return call(rule, n, "scale");
    case ExprKind::hadamard: return call(rule, n, "%");
    case ExprKind::matmul: return call(rule, n, "*");
    case ExprKind::transpose: return call(rule, n, "T");
    case ExprKind::diag: return call(rule, n, "diag");
    case ExprKind::map: return call(rule, n, n.function);
    case ExprKind::maximum: return call(rule, n, "max");
    case ExprKind::vector_map:
        return call(rule, n,
                    vector_map_name(n.function, n.number) + (has_eps(n.function) ? "[" + print(n.number) + "]" : ""));
    case ExprKind::sum: return call(rule, n, "sum");
    case ExprKind::exp_log: return call(rule, n, "exp");
    case ExprKind::multiple_log: return call(rule, n, print(n.number));
    }
    return "";
}
std::string call(TypedRule const& rule, ExprNode const& n, std::string const& name) {
    std::string s = "(" + name;
    for (ExprId const a : n.arguments) s += " " + text(rule, a);
    return s + ")";
}

} // namespace

std::string vector_map_name(std::string const& function, Rational const& number) {
    return function == "dpfp" ? "dpfp<" + print(number) + ">" : function;
}
bool has_eps(std::string const& function) { return function == "l2norm" || function == "sum_norm"; }

// exp(W x - ..) scaled by 1 / sqrt(r): every node of it has the call's own head.
std::optional<RandomFeatures> random_features(TypedRule const& rule, ExprId id) {
    auto const argument = [&](ExprId of, std::size_t i) { return rule.nodes[of].arguments[i]; };
    ExprNode const& n = rule.nodes[id];
    if (n.head != "random_features" || n.kind != ExprKind::scale) return std::nullopt;
    ExprId const powers = n.arguments[1];
    if (rule.nodes[powers].kind != ExprKind::map) return std::nullopt;
    ExprId const product = argument(argument(powers, 0), 0);
    return RandomFeatures{argument(product, 1), argument(product, 0)};
}

std::vector<OperandId> TypedRule::with_role(Role role) const {
    std::vector<OperandId> out;
    for (std::size_t i = 0; i < operands.size(); ++i)
        if (operands[i].role == role || (role == Role::input && operands[i].role == Role::gate))
            out.push_back(static_cast<OperandId>(i));
    return out;
}

std::string print(TypedRule const& rule) {
    std::string s = "rule " + rule.name + "\n";
    for (auto const& o : rule.operands) {
        s += "  " + std::string(word(o.role)) + word(o.domain) + " " + o.name + ": " + print(rule, o.shape);
        if (o.steps) s += ", " + std::to_string(o.steps) + " steps";
        if (o.previous_of >= 0) s += ", " + rule.operands[o.previous_of].name + " of the token before";
        s += "\n";
    }
    for (auto const& st : rule.statements)
        s += "  " + rule.operands[st.target].name + " <<= " + text(rule, st.value) + "\n";
    return s;
}

} // namespace deltaloom::codegen
