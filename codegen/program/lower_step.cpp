// One step, straight from the tree: every rule has it, affine in the state or not. It shares nothing with the chunk's
// lowering, so that the two check each other.
#include "codegen/program/expression_text.hpp"
#include "codegen/program/operands.hpp"
#include "codegen/program/program.hpp"

namespace deltaloom::codegen {
namespace {

struct Step {
    TypedRule const& rule;
    Builder b;
    std::vector<NodeId> state; // of every operand that is a state: its value at this point of the token

    ExprNode const& at(ExprId id) const { return rule.nodes[id]; }

    // x where the expression is diag(x), transposed or not: multiplying by it is a broadcast.
    ExprId diagonal(ExprId id) const {
        auto const& e = at(id);
        if (e.kind == ExprKind::diag) return e.arguments[0];
        return e.kind == ExprKind::transpose ? diagonal(e.arguments[0]) : -1;
    }

    NodeId matmul(ExprNode const& e) {
        auto const left = e.arguments[0], right = e.arguments[1];
        if (auto const d = diagonal(right); d >= 0) return b.mul(value(left), b.transpose(value(d)));
        if (auto const d = diagonal(left); d >= 0) return b.mul(value(d), value(right));
        return b.matmul(value(left), value(right));
    }

    NodeId operand(ExprNode const& e) {
        auto const& x = rule.operands[e.operand];
        return x.role == Role::state ? state[e.operand] : token_input(b, x, e.step);
    }

    // An outer product or a product with a diagonal is entrywise, and needs no name.
    NodeId matrix_named(NodeId node, ExprId id) {
        if (b[node].op != Op::matmul) return node;
        return b.named(node, suggested_name(rule, id), text(rule, id));
    }

    NodeId multiple(NodeId gate, Rational const& count) {
        auto const n = count.convert_to<long>();
        if (n == 1) return gate;
        auto const half = multiple(gate, n / 2);
        auto const even = b.addlog(half, half);
        return n % 2 == 0 ? even : b.addlog(even, gate);
    }

    NodeId value(ExprId id) {
        auto const& e = at(id);
        auto const argument = [&](int i) { return value(e.arguments[i]); };
        switch (e.kind) {
        case ExprKind::operand: return operand(e);
        case ExprKind::number: return b.constant(e.number, extents(e.shape));
        case ExprKind::add: return b.add(argument(0), argument(1));
        case ExprKind::negate: return b.scale(-1, argument(0));
        case ExprKind::scale:
        case ExprKind::hadamard: return b.mul(argument(0), argument(1));
        case ExprKind::matmul: return matrix_named(matmul(e), id);
        case ExprKind::transpose: return b.transpose(argument(0));
        case ExprKind::diag: return b.mul(b.eye(Extent::dim(e.shape.rows)), argument(0));
        case ExprKind::map: return b.named(b.map(e.function, argument(0)), suggested_name(rule, id));
        case ExprKind::maximum: return b.maximum(argument(0), argument(1));
        case ExprKind::vector_map: {
            int const axis = e.shape.rows == one ? 1 : 0;
            auto const size = Extent::dim(axis == 1 ? e.shape.cols : e.shape.rows);
            return b.named(b.vector_map(e.function, argument(0), axis, e.number, size), suggested_name(rule, id),
                           text(rule, id));
        }
        case ExprKind::sum: return b.named(b.sum(b.sum(argument(0), 0), 1), "total", text(rule, id));
        case ExprKind::exp_log: return b.named(b.unlog(argument(0)), suggested_name(rule, id));
        case ExprKind::add_log: return b.addlog(argument(0), argument(1));
        case ExprKind::multiple_log: return multiple(argument(0), e.number);
        }
        return -1;
    }
};

} // namespace

Body lower_step(TypedRule const& rule) {
    Step step{rule, Builder(rule.dims), std::vector<NodeId>(rule.operands.size(), -1)};
    auto const count = static_cast<OperandId>(rule.operands.size());
    // Every operand is an input, used or not, in the order of the ABI.
    for (OperandId i = 0; i < count; ++i) {
        auto const& x = rule.operands[i];
        if (x.role == Role::output) continue;
        for (int j = 0; j < std::max(1, x.steps); ++j) {
            auto const node = token_input(step.b, x, j);
            if (x.role == Role::state) step.state[i] = node;
        }
    }
    std::vector<std::pair<std::string, NodeId>> outputs;
    for (auto const& s : rule.statements) {
        auto const& target = rule.operands[s.target];
        auto const node = step.value(s.value);
        // The target's name and line, rather than those of its right side.
        auto& named = step.b.body.nodes[node];
        if (named.op != Op::input) {
            named.hint = target.name;
            named.note = target.name + " <<= " + text(rule, s.value);
        }
        if (target.role == Role::output)
            outputs.emplace_back(target.name, node);
        else
            step.state[s.target] = node;
    }
    auto& results = step.b.body.results;
    results = std::move(outputs);
    for (OperandId i = 0; i < count; ++i)
        if (rule.operands[i].role == Role::state) results.emplace_back(rule.operands[i].name, step.state[i]);
    return std::move(step.b.body);
}

} // namespace deltaloom::codegen
