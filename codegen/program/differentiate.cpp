// Reverse mode on a body: one row per operation says what it owes each argument for the cotangent y of its value i.
// A cotangent of a log value is that of the logarithm: dE = E dg, so every term carries the factor itself.
#include "codegen/program/program.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>

namespace deltaloom::codegen {

namespace {

struct Owed {
    NodeId argument, cotangent;
};
using Row = std::vector<Owed>;

std::string label(Builder const& b, NodeId i, char const* otherwise) {
    auto const& n = b[i];
    return n.op == Op::input ? n.name : n.hint.empty() ? otherwise : n.hint;
}

// ---- entrywise ----------------------------------------------------------------------------------------------------

Row of_both(Node const& n, NodeId y) { return {{n.args[0], y}, {n.args[1], y}}; } // add, addlog

Row of_mul(Builder& b, Node const& n, NodeId y) {
    auto const p = n.args[0], q = n.args[1];
    auto const outer = [&](NodeId column, NodeId row) {
        return b.shape(column).cols.is_one() && b.shape(row).rows.is_one() && b.shape(column).rows == n.shape.rows &&
               b.shape(row).cols == n.shape.cols;
    };
    if (outer(p, q)) return {{p, b.matmul(y, b.transpose(q))}, {q, b.matmul(b.transpose(p), y)}};
    if (outer(q, p)) return {{q, b.matmul(y, b.transpose(p))}, {p, b.matmul(b.transpose(q), y)}};
    return {{p, b.mul(y, q)}, {q, b.mul(y, p)}};
}
Row of_map(Builder& b, Node const& n, NodeId y) {
    if (n.args.size() == 1) return {{n.args[0], b.mul(y, b.dmap(n.name, n.args[0]))}};
    auto const along = [&](int argument) { return b.mul(y, b.dmaximum(n.args[0], n.args[1], argument)); };
    return {{n.args[0], along(0)}, {n.args[1], along(1)}};
}
Row of_vector_map(Builder& b, Node const& n, NodeId y) {
    if (maps_features(n.name)) y = b.mul(y, b.constant(1, n.shape)); // whole: its extent says how long a vector is
    return {{n.args[0], b.vector_vjp(n.name, n.args[0], y, n.index, n.number)}};
}
Row of_unlog(Builder& b, Node const& n, NodeId i, NodeId y) { return {{n.args[0], b.mul(y, i)}}; }
Row of_aslog(Node const& n, NodeId y) { return {{n.args[0], y}}; }

// ---- matrices -----------------------------------------------------------------------------------------------------

Row of_sum(Builder& b, Node const& n, NodeId y) { return {{n.args[0], b.mul(y, b.constant(1, b.shape(n.args[0])))}}; }
Row of_transpose(Builder& b, Node const& n, NodeId y) { return {{n.args[0], b.transpose(y)}}; }
Row of_matmul(Builder& b, Node const& n, NodeId y) {
    return {{n.args[0], b.matmul(y, b.transpose(n.args[1]))}, {n.args[1], b.matmul(b.transpose(n.args[0]), y)}};
}

// ---- rows of tokens and of events -----------------------------------------------------------------------------------

Row of_hold(Builder& b, Node const& n, NodeId y) { return {{n.args[0], b.hold(y, n.per, 0)}}; }
Row of_interleave(Builder& b, Node const& n, NodeId y) {
    Row row;
    for (int j = 0; j < n.per; ++j) row.push_back({n.args[j], b.pick(y, j, n.per)});
    return row;
}
Row of_pick(Builder& b, Node const& n, NodeId y) {
    std::vector<NodeId> parts(n.per, b.constant(0, n.shape));
    parts[n.index] = y;
    return {{n.args[0], b.interleave(parts)}};
}

// ---- decays between events ------------------------------------------------------------------------------------------

// Of a decay itself, or of its logarithm, given that of the number.
NodeId of_gate(Builder& b, NodeId A, NodeId cotangent) {
    if (!b[A].log) return cotangent;
    return b.mul(b.unlog(A), cotangent);
}

// A decay of one state is a gram of ones.
Row of_scalar_decay(Builder& b, Node const& n, NodeId y) {
    auto const A = n.args[0];
    auto const ones = [&](Extent rows) { return b.constant(1, {rows, Extent::of(1)}); };
    auto const s = b.spread(y, ones(n.shape.rows), ones(n.shape.cols), A, n.span);
    b.named(s, "", "sum over e before s before i of " + label(b, y, "y") + "[i,e] D(e,i) without its factor s");
    return {{A, of_gate(b, A, s)}};
}
// D = later(s -> i)[state_i, row] A_s[row, col] before(e -> s)[col, state_e]. A decay row between e and i also says
// that e comes before i, so y needs no mask.
Row of_coupled_decay(Builder& b, Node const& n, NodeId y) {
    Row owed;
    for (int q = 0; q < int(n.args.size()); ++q) {
        auto const here = [&](int state) { return EventRows{EventRows::Kind::decays, {}, {state}}; };
        Span to_read = n.span, from_write = n.span;
        to_read.writes = here(q / n.states);
        from_write.reads = here(q % n.states);
        auto const later = b.decay(n.args, to_read, n.states), before = b.decay(n.args, from_write, n.states);
        owed.push_back({n.args[q], b.sum(b.mul(b.matmul(b.transpose(later), y), before), 1)});
    }
    return owed;
}
Row of_decay(Builder& b, Node const& n, NodeId y) {
    if (n.span.decaying.empty()) return {};
    return n.states == 1 ? of_scalar_decay(b, n, y) : of_coupled_decay(b, n, y);
}

// F = sum over e before i of W[i,e] R[i,j] X[e,j] D_j(e,i): gram, apply, applyt and spread are its partial derivatives,
// so the cotangents of each of the first three are the others.
NodeId of_form_gate(Builder& b, Span const& span, NodeId W, NodeId R, NodeId X, NodeId A) {
    return of_gate(b, A, b.spread(W, R, X, A, span));
}
Row of_gram(Builder& b, Node const& n, NodeId W) {
    auto const R = n.args[0], X = n.args[1], A = n.args[2];
    return {{R, b.apply(W, X, A, n.span)}, {X, b.applyt(W, R, A, n.span)}, {A, of_form_gate(b, n.span, W, R, X, A)}};
}
Row of_apply(Builder& b, Node const& n, NodeId R) {
    auto const W = n.args[0], X = n.args[1], A = n.args[2];
    return {{W, b.gram(R, X, A, n.span)}, {X, b.applyt(W, R, A, n.span)}, {A, of_form_gate(b, n.span, W, R, X, A)}};
}
Row of_applyt(Builder& b, Node const& n, NodeId X) {
    auto const W = n.args[0], R = n.args[1], A = n.args[2];
    return {{W, b.gram(R, X, A, n.span)}, {R, b.apply(W, X, A, n.span)}, {A, of_form_gate(b, n.span, W, R, X, A)}};
}

// ---- triangular systems ---------------------------------------------------------------------------------------------

// The rows and columns of a system are the events of the chunk in order, `per` a token.
EventRows in_order(int per) {
    EventRows rows;
    for (int p = 0; p < per; ++p) rows.position.push_back(p);
    return rows;
}
// Only what is below the diagonal counts.
NodeId lower_part(Builder& b, NodeId x) {
    Span span;
    span.micro_steps = b.shape(x).rows.value;
    span.reads = span.writes = in_order(span.micro_steps);
    return b.mul(b.mask(span), x);
}
// Zero on and above the diagonal whatever the inputs are. Then its cotangent there reaches nothing and needs no mask.
bool always_lower(Builder const& b, NodeId i) {
    auto const& n = b[i];
    auto const whole = [&](NodeId a) { return b.shape(a) == n.shape && always_lower(b, a); };
    if (n.op == Op::add) return whole(n.args[0]) && whole(n.args[1]);
    if (n.op == Op::mul) return whole(n.args[0]) || whole(n.args[1]);
    if (n.op != Op::decay && n.op != Op::gram) return false;
    auto const& [reads, writes] = std::tie(n.span.reads, n.span.writes);
    auto const tokens = EventRows::Kind::tokens;
    auto const& at = reads.position;
    return n.span.masked && reads.kind == tokens && writes.kind == tokens && at == writes.position &&
           std::is_sorted(at.begin(), at.end()) && at.back() < n.span.micro_steps;
}
Row of_solve(Builder& b, Node const& n, NodeId i, NodeId y) {
    auto const M = n.args[0], B = n.args[1];
    auto const Z = b.solve(M, y, !n.transposed);
    b.named(Z, "", "(I - " + label(b, M, "M") + (n.transposed ? ")^-1 " : ")^-T ") + label(b, y, "y"));
    auto const outer = n.transposed ? b.matmul(i, b.transpose(Z)) : b.matmul(Z, b.transpose(i));
    return {{B, Z}, {M, always_lower(b, M) ? outer : lower_part(b, outer)}};
}
// U = B + c . apply(G, U, A) and V = Y + applyt(G, c . V, A) are each other's adjoint systems: with U and V the one
// value and the other's cotangent, both owe G, c and A the partial derivatives of sum G (c . V) U D.
Row of_csolve(Builder& b, Node const& n, NodeId i, NodeId y) {
    auto const G = n.args[0], c = n.args[1], B = n.args[2], A = n.args[3];
    auto const other = b.csolve(G, c, y, A, n.span, !n.transposed);
    auto const U = n.transposed ? other : i, V = n.transposed ? i : other;
    auto const cV = b.mul(c, V);
    return {{B, other},
            {c, b.mul(V, b.apply(G, U, A, n.span))},
            {G, b.gram(cV, U, A, n.span)},
            {A, of_form_gate(b, n.span, G, cV, U, A)}};
}

// ---- the table
// --------------------------------------------------------------------------------------------------------

Row owed_by(Builder& b, Node const& n, NodeId i, NodeId y) {
    switch (n.op) {
    case Op::input:
    case Op::constant:
    case Op::eye:
    case Op::logone: return {};
    case Op::add:
    case Op::addlog: return of_both(n, y);
    case Op::mul: return of_mul(b, n, y);
    case Op::sum: return of_sum(b, n, y);
    case Op::transpose: return of_transpose(b, n, y);
    case Op::matmul: return of_matmul(b, n, y);
    case Op::map: return of_map(b, n, y);
    case Op::vector_map: return of_vector_map(b, n, y);
    case Op::unlog: return of_unlog(b, n, i, y);
    case Op::aslog: return of_aslog(n, y);
    case Op::hold: return of_hold(b, n, y);
    case Op::interleave: return of_interleave(b, n, y);
    case Op::pick: return of_pick(b, n, y);
    case Op::decay: return of_decay(b, n, y);
    case Op::gram: return of_gram(b, n, y);
    case Op::apply: return of_apply(b, n, y);
    case Op::applyt: return of_applyt(b, n, y);
    case Op::solve: return of_solve(b, n, i, y);
    case Op::csolve: return of_csolve(b, n, i, y);
    case Op::dmap:
    case Op::vector_vjp:
    case Op::spread:
        throw std::logic_error(std::string("second derivative: ") + name(n.op) + " occurs in backwards only");
    }
    return {};
}

// Summed over the axes along which the argument was repeated.
NodeId reduced(Builder& b, NodeId y, Extents shape) {
    if (shape.rows.is_one()) y = b.sum(y, 0);
    if (shape.cols.is_one()) y = b.sum(y, 1);
    return y;
}

// Which nodes depend on an input.
std::vector<bool> varying(Body const& body) {
    std::vector<bool> varies;
    for (auto const& n : body.nodes) {
        bool any = n.op == Op::input;
        for (NodeId a : n.args) any = any || varies[a];
        varies.push_back(any);
    }
    return varies;
}

Body without_dead_nodes(Body const& body, bool keep_inputs) {
    std::vector<bool> live(body.nodes.size());
    for (auto const& [name, i] : body.results) live[i] = true;
    for (auto i = NodeId(body.nodes.size()); i-- > 0;) {
        if (keep_inputs && body.nodes[i].op == Op::input) live[i] = true;
        if (live[i])
            for (NodeId a : body.nodes[i].args) live[a] = true;
    }
    Body kept;
    std::vector<NodeId> moved(body.nodes.size(), -1);
    for (std::size_t i = 0; i < body.nodes.size(); ++i) {
        if (!live[i]) continue;
        moved[i] = NodeId(kept.nodes.size());
        kept.nodes.push_back(body.nodes[i]);
        for (NodeId& a : kept.nodes.back().args) a = moved[a];
    }
    for (auto const& [name, i] : body.results) kept.results.push_back({name, moved[i]});
    return kept;
}

} // namespace

Body differentiate(Body const& primal, std::vector<std::string> const& dims) {
    Builder b(dims, primal);
    auto const count = NodeId(primal.nodes.size());
    auto const varies = varying(primal);
    std::vector<std::optional<NodeId>> bar(count);
    auto const pay = [&](NodeId i, NodeId y) { bar[i] = bar[i] ? b.add(*bar[i], y) : y; };
    for (auto const& [result, i] : primal.results) pay(i, b.input("d_" + result, primal.nodes[i].shape));
    for (NodeId i = count; i-- > 0;) {
        if (!bar[i] || !varies[i]) continue;
        auto const y = *bar[i];
        auto const& n = primal.nodes[i];
        auto const value = label(b, i, "");
        if (y >= count && b[y].op != Op::input && b[y].op != Op::constant && !value.empty())
            b.named(y, "d_" + value, "");
        for (auto const& [argument, cotangent] : owed_by(b, n, i, y))
            if (varies[argument]) pay(argument, reduced(b, cotangent, primal.nodes[argument].shape));
    }
    for (NodeId i = 0; i < count; ++i) {
        auto const& n = primal.nodes[i];
        if (n.op == Op::input) b.body.results.push_back({"d_" + n.name, bar[i] ? *bar[i] : b.constant(0, n.shape)});
    }
    return without_dead_nodes(b.body, true);
}

Body pruned(Body const& body, std::vector<std::string> const& results) {
    Body asked = body;
    asked.results.clear();
    for (auto const& wanted : results)
        for (auto const& result : body.results)
            if (result.first == wanted) asked.results.push_back(result);
    return without_dead_nodes(asked, false);
}

} // namespace deltaloom::codegen
