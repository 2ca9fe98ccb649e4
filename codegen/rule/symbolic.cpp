#include "codegen/rule/algebra.hpp"

namespace deltaloom::codegen {

Value symbolic(TypedRule const& rule, ExprId id, std::vector<Value> const& states) {
    ExprNode const& n = rule.nodes[id];
    At const at{rule, n.where, n.head};
    auto const argument = [&](int i) { return symbolic(rule, n.arguments[i], states); };
    switch (n.kind) {
    case ExprKind::operand: {
        if (rule.operands[n.operand].role != Role::state) return operand(at, n.operand, n.step);
        Value v = states[n.operand];
        if (v.terms.size() == 1) v.terms[0].where = n.where;
        return v;
    }
    case ExprKind::number: return number(n.shape, n.number, n.where);
    case ExprKind::add:
    case ExprKind::add_log: return add(argument(0), argument(1));
    case ExprKind::negate: return scaled(-1, argument(0));
    case ExprKind::multiple_log: {
        Value v = scaled(n.number, argument(0));
        v.log = true;
        return v;
    }
    case ExprKind::scale:
    case ExprKind::hadamard: return hadamard(at, argument(0), argument(1));
    case ExprKind::matmul: return matmul(at, argument(0), argument(1));
    case ExprKind::transpose: return transpose(at, argument(0));
    case ExprKind::diag: return diagonal(at, argument(0));
    case ExprKind::map: return map(at, n.function, argument(0));
    case ExprKind::maximum: return maximum(at, argument(0), argument(1));
    case ExprKind::vector_map: return vector_map(at, n.function, n.number, argument(0), n.shape);
    case ExprKind::sum: return total(at, argument(0));
    case ExprKind::exp_log: return exp_log(at, argument(0));
    }
    return {};
}

} // namespace deltaloom::codegen
