// Shapes of every operation; equal nodes merge and constants fold, so that what a body holds is what a person would
// write.
#include "codegen/program/body.hpp"

#include <algorithm>
#include <stdexcept>

namespace deltaloom::codegen {

Extent extent(Span const& s, EventRows const& rows) {
    switch (rows.kind) {
    case EventRows::Kind::start:
    case EventRows::Kind::end: return Extent::of(1);
    case EventRows::Kind::tokens: return Extent::tokens(int(rows.position.size()));
    case EventRows::Kind::decays: return Extent::tokens(int(s.decaying.size()));
    }
    return {};
}

// ---- merging ------------------------------------------------------------------------------------------------------

static void put(std::string& key, std::vector<int> const& list) {
    for (int i : list) key += std::to_string(i) + ',';
    key += ';';
}
static void put(std::string& key, Extent e) { put(key, {int(e.kind), e.value}); }
static void put(std::string& key, EventRows const& r) {
    put(key, {int(r.kind)});
    put(key, r.position);
    put(key, r.state);
}
static std::string key_of(Node const& n) {
    auto args = n.args;
    if (n.op == Op::add || n.op == Op::mul || n.op == Op::addlog) std::sort(args.begin(), args.end());
    std::string key = n.name + ';' + n.number.str() + ';';
    put(key, {int(n.op), n.log, n.index, n.per, n.transposed, n.states, n.span.micro_steps, n.span.masked});
    put(key, args);
    put(key, n.shape.rows);
    put(key, n.shape.cols);
    put(key, n.span.decaying);
    put(key, n.span.reads);
    put(key, n.span.writes);
    return key;
}

NodeId Builder::node(Node n) {
    auto const [at, added] = known_.try_emplace(key_of(n), NodeId(body.nodes.size()));
    if (added) body.nodes.push_back(std::move(n));
    return at->second;
}
Builder::Builder(std::vector<std::string> dims, Body given) : body(std::move(given)), dims_(std::move(dims)) {
    for (NodeId i = 0; i < NodeId(body.nodes.size()); ++i) known_.try_emplace(key_of(body.nodes[i]), i);
}
NodeId Builder::named(NodeId i, std::string hint, std::string note) {
    auto& n = body.nodes[i];
    if (n.hint.empty()) n.hint = std::move(hint);
    if (n.note.empty()) n.note = std::move(note);
    return i;
}

void Builder::refuse(std::string const& what, std::vector<NodeId> const& args) const {
    std::string text = what + " does not fit:";
    for (NodeId a : args)
        text +=
            " " + print(shape(a).rows, dims_) + " x " + print(shape(a).cols, dims_) + (body.nodes[a].log ? " log" : "");
    throw std::logic_error(text);
}

static Node make(Op op, std::vector<NodeId> args, Extents shape, bool log = false) {
    Node n;
    n.op = op;
    n.args = std::move(args);
    n.shape = shape;
    n.log = log;
    return n;
}

// ---- entrywise ----------------------------------------------------------------------------------------------------

static Extents const one_by_one{Extent::of(1), Extent::of(1)};

Extents Builder::broadcast(char const* what, NodeId a, NodeId b) const {
    auto const meet = [&](Extent x, Extent y) {
        if (x.is_one()) return y;
        if (!y.is_one() && !(x == y)) refuse(what, {a, b});
        return x;
    };
    return {meet(shape(a).rows, shape(b).rows), meet(shape(a).cols, shape(b).cols)};
}

NodeId Builder::input(std::string name, Extents s, bool log) {
    auto n = make(Op::input, {}, s, log);
    n.name = std::move(name);
    return node(std::move(n));
}
NodeId Builder::constant(Rational c, Extents s) {
    auto n = make(Op::constant, {}, s);
    n.number = std::move(c);
    return node(std::move(n));
}
NodeId Builder::eye(Extent e) { return e.is_one() ? constant(1, {e, e}) : node(make(Op::eye, {}, {e, e})); }
NodeId Builder::logone(Extents s) { return node(make(Op::logone, {}, s, true)); }

// A product that only repeats its other factor along an axis: constant c, spread over a shape, times y.
static bool repeats(Builder const& b, NodeId i) {
    auto const& n = b[i];
    return n.op == Op::mul && b[n.args[0]].op == Op::constant && !(b.shape(n.args[0]) == one_by_one);
}

NodeId Builder::add(NodeId a, NodeId b) {
    auto const s = broadcast("add", a, b);
    if (body.nodes[a].log || body.nodes[b].log) refuse("add", {a, b});
    if (body.nodes[a].op == Op::constant && body.nodes[b].op == Op::constant)
        return constant(body.nodes[a].number + body.nodes[b].number, s);
    if (a == b) return scale(2, a);
    for (auto [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
        if (constant_is(x, 0)) return mul(constant(1, s), y);
        if (!repeats(*this, y)) continue;
        auto const [c, z] = std::pair{body.nodes[y].args[0], body.nodes[y].args[1]};
        if (broadcast("add", x, z) == s) return add(x, scale(body.nodes[c].number, z));
    }
    return node(make(Op::add, {a, b}, s));
}

NodeId Builder::mul(NodeId a, NodeId b) {
    auto const s = broadcast("mul", a, b);
    if (body.nodes[a].log || body.nodes[b].log) refuse("mul", {a, b});
    if (body.nodes[b].op == Op::constant) std::swap(a, b);
    if (body.nodes[a].op == Op::constant) {
        auto const c = body.nodes[a].number;
        auto const& other = body.nodes[b];
        bool const whole = shape(b) == s; // the constant scales and repeats nothing
        if (other.op == Op::constant) return constant(c * other.number, s);
        if (c == 0) return constant(0, s);
        if (c == 1 && whole) return b;
        if (other.op == Op::mul && body.nodes[other.args[0]].op == Op::constant) {
            auto const d = body.nodes[other.args[0]];
            auto const z = other.args[1];
            return mul(constant(c * d.number, whole ? d.shape : s), z);
        }
        return node(make(Op::mul, {constant(c, whole ? one_by_one : s), b}, s));
    }
    for (auto [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
        if (!repeats(*this, y)) continue;
        auto const [c, z] = std::pair{body.nodes[y].args[0], body.nodes[y].args[1]};
        if (broadcast("mul", x, z) == s) return scale(body.nodes[c].number, mul(x, z));
    }
    return node(make(Op::mul, {a, b}, s));
}
NodeId Builder::scale(Rational c, NodeId a) { return mul(constant(std::move(c), one_by_one), a); }

NodeId Builder::addlog(NodeId a, NodeId b) {
    auto const s = broadcast("addlog", a, b);
    if (!body.nodes[a].log || !body.nodes[b].log) refuse("addlog", {a, b});
    for (auto [x, y] : {std::pair{a, b}, std::pair{b, a}})
        if (body.nodes[x].op == Op::logone && shape(y) == s) return y;
    return node(make(Op::addlog, {a, b}, s, true));
}
NodeId Builder::unlog(NodeId a) {
    if (!body.nodes[a].log) refuse("unlog", {a});
    if (body.nodes[a].op == Op::logone) return constant(1, shape(a));
    if (body.nodes[a].op == Op::aslog) return map("exp", body.nodes[a].args[0]);
    return node(make(Op::unlog, {a}, shape(a)));
}
NodeId Builder::aslog(NodeId a) {
    if (body.nodes[a].log) refuse("aslog", {a});
    return node(make(Op::aslog, {a}, shape(a), true));
}

// ---- maps ---------------------------------------------------------------------------------------------------------

bool maps_features(std::string const& function) { return function == "dpfp" || function == "taylor2"; }

static Node function(Op op, std::string name, std::vector<NodeId> args, Extents shape) {
    auto n = make(op, std::move(args), shape);
    n.name = std::move(name);
    return n;
}
NodeId Builder::map(std::string f, NodeId a) {
    if (body.nodes[a].log) refuse(f, {a});
    if (f == "neg") return scale(-1, a);
    if (f == "inv" && body.nodes[a].op == Op::constant && body.nodes[a].number != 0)
        return constant(1 / body.nodes[a].number, shape(a));
    return node(function(Op::map, std::move(f), {a}, shape(a)));
}
NodeId Builder::dmap(std::string f, NodeId a) {
    if (body.nodes[a].log) refuse(f, {a});
    if (f == "neg") return constant(-1, shape(a));
    if (f == "exp") return map("exp", a);
    if (f == "inv") { // -1 / x^2, from the 1 / x that is there already
        auto const x = map("inv", a);
        return scale(-1, mul(x, x));
    }
    return node(function(Op::dmap, std::move(f), {a}, shape(a)));
}
NodeId Builder::maximum(NodeId a, NodeId b) { return node(function(Op::map, "max", {a, b}, broadcast("max", a, b))); }
NodeId Builder::dmaximum(NodeId a, NodeId b, int argument) {
    auto n = function(Op::dmap, "max", {a, b}, broadcast("max", a, b));
    n.index = argument;
    return node(std::move(n));
}
NodeId Builder::vector_map(std::string f, NodeId x, int axis, Rational eps, Extent size) {
    auto s = shape(x);
    (axis == 0 ? s.rows : s.cols) = size;
    auto n = function(Op::vector_map, std::move(f), {x}, s);
    n.index = axis;
    n.number = std::move(eps);
    return node(std::move(n));
}
NodeId Builder::vector_vjp(std::string f, NodeId x, NodeId y, int axis, Rational eps) {
    bool const keeps = !maps_features(f),
               beside = axis == 0 ? shape(x).cols == shape(y).cols : shape(x).rows == shape(y).rows;
    if (keeps ? !(broadcast("vector_vjp", x, y) == shape(x)) : !beside) refuse("vector_vjp", {x, y});
    auto n = function(Op::vector_vjp, std::move(f), {x, y}, shape(x));
    n.index = axis;
    n.number = std::move(eps);
    return constant_is(y, 0) ? constant(0, shape(x)) : node(std::move(n));
}

// ---- matrices -----------------------------------------------------------------------------------------------------

NodeId Builder::sum(NodeId a, int axis) {
    auto s = shape(a);
    auto& along = axis == 0 ? s.rows : s.cols;
    if (body.nodes[a].log) refuse("sum", {a});
    if (along.is_one()) return a;
    auto const count = along;
    along = Extent::of(1);
    if (constant_is(a, 0)) return constant(0, s);
    if (body.nodes[a].op == Op::constant && count.kind == Extent::Kind::constant)
        return constant(body.nodes[a].number * count.value, s);
    auto n = make(Op::sum, {a}, s);
    n.index = axis;
    return node(std::move(n));
}
NodeId Builder::transpose(NodeId a) {
    auto const& n = body.nodes[a];
    Extents const turned{n.shape.cols, n.shape.rows};
    if (n.op == Op::transpose) return n.args[0];
    if (n.op == Op::eye || n.shape == one_by_one) return a;
    if (n.op == Op::constant) return constant(n.number, turned);
    if (n.op == Op::logone) return logone(turned);
    if (n.op == Op::matmul) { // (a b)^T = b^T a^T, where that takes a transpose away
        auto const p = n.args[0], q = n.args[1];
        if (body.nodes[p].op == Op::transpose || body.nodes[q].op == Op::transpose)
            return matmul(transpose(q), transpose(p));
    }
    return node(make(Op::transpose, {a}, turned, n.log));
}
NodeId Builder::matmul(NodeId a, NodeId b) {
    if (!(shape(a).cols == shape(b).rows) || body.nodes[a].log || body.nodes[b].log) refuse("matmul", {a, b});
    Extents const s{shape(a).rows, shape(b).cols};
    if (shape(a).cols.is_one()) return mul(a, b);
    if (constant_is(a, 0) || constant_is(b, 0)) return constant(0, s);
    if (body.nodes[a].op == Op::eye) return b;
    if (body.nodes[b].op == Op::eye) return a;
    return node(make(Op::matmul, {a, b}, s));
}

// ---- rows of tokens and of events -----------------------------------------------------------------------------------

NodeId Builder::hold(NodeId a, int per, Rational fill) {
    auto const& x = body.nodes[a];
    if (!(x.shape.rows == Extent::tokens(per))) refuse("hold", {a});
    if (x.op == Op::logone || constant_is(a, 0)) {
        if (x.log || fill == 0) return a;
    }
    if (x.op == Op::constant && x.number == fill) return a;
    auto n = make(Op::hold, {a}, x.shape, x.log);
    n.per = per;
    n.number = x.log ? Rational(1) : std::move(fill); // of a log value: the log of one
    if (x.op == Op::hold && x.number == n.number) return a;
    return node(std::move(n));
}
NodeId Builder::interleave(std::vector<NodeId> parts) {
    auto const m = int(parts.size());
    if (parts.empty()) refuse("interleave", parts);
    auto const first = body.nodes[parts[0]];
    for (NodeId p : parts)
        if (!(shape(p) == first.shape) || body.nodes[p].log != first.log) refuse("interleave", parts);
    if (m == 1) return parts[0];
    if (first.shape.rows.kind != Extent::Kind::tokens) refuse("interleave", parts);
    Extents const s{Extent::tokens(first.shape.rows.value * m), first.shape.cols};
    bool const same = std::all_of(parts.begin(), parts.end(), [&](NodeId p) { return p == parts[0]; });
    if (same && first.op == Op::constant) return constant(first.number, s);
    if (same && first.op == Op::logone) return logone(s);
    bool whole = first.op == Op::pick && shape(first.args[0]) == s; // every part of one matrix, in order
    for (int j = 0; whole && j < m; ++j) {
        auto const& p = body.nodes[parts[j]];
        whole = p.op == Op::pick && p.args == first.args && p.index == j && p.per == m;
    }
    if (whole) return first.args[0];
    auto n = make(Op::interleave, std::move(parts), s, first.log);
    n.per = m;
    return node(std::move(n));
}
NodeId Builder::pick(NodeId a, int j, int m) {
    auto const& x = body.nodes[a];
    if (m == 1) return a;
    if (x.shape.rows.kind != Extent::Kind::tokens || x.shape.rows.value % m || j < 0 || j >= m) refuse("pick", {a});
    Extents const s{Extent::tokens(x.shape.rows.value / m), x.shape.cols};
    if (x.op == Op::interleave && x.per == m) return x.args[j];
    if (x.op == Op::constant) return constant(x.number, s);
    if (x.op == Op::logone) return logone(s);
    auto n = make(Op::pick, {a}, s, x.log);
    n.index = j;
    n.per = m;
    return node(std::move(n));
}

// ---- decays between events ------------------------------------------------------------------------------------------

static void plain_states(EventRows& rows) {
    if (std::all_of(rows.state.begin(), rows.state.end(), [](int s) { return s == 0; })) rows.state.clear();
}
static Node spanning(Op op, std::vector<NodeId> args, Extents shape, Span span, bool with_states = false) {
    auto n = make(op, std::move(args), shape);
    n.span = std::move(span);
    if (!with_states) n.span.reads.state.clear(), n.span.writes.state.clear();
    plain_states(n.span.reads);
    plain_states(n.span.writes);
    return n;
}
static Extents events(Span const& s) { return {extent(s, s.reads), extent(s, s.writes)}; }

// Whether nothing of a state in `from` ever reaches one in `to`: no path of transitions leads there.
static bool unconnected(Builder const& b, std::vector<NodeId> const& A, int states, EventRows const& to,
                        EventRows const& from) {
    std::vector<char> path(A.size());
    for (int i = 0; i < states; ++i)
        for (int j = 0; j < states; ++j) {
            auto const& x = b[A[i * states + j]];
            path[i * states + j] = i == j || x.op != Op::constant || x.number != 0;
        }
    for (int k = 0; k < states; ++k)
        for (int i = 0; i < states; ++i)
            for (int j = 0; j < states; ++j) path[i * states + j] |= path[i * states + k] && path[k * states + j];
    auto const of = [](EventRows const& rows) { return rows.state.empty() ? std::vector<int>{0} : rows.state; };
    for (int i : of(to))
        for (int j : of(from))
            if (path[i * states + j]) return false;
    return true;
}

NodeId Builder::decay(std::vector<NodeId> A, Span span, int states) {
    Extents const rows{Extent::tokens(int(span.decaying.size())), Extent::of(1)};
    if (int(A.size()) != states * states) refuse("decay", A);
    for (NodeId a : A)
        if (!(shape(a) == rows) || body.nodes[a].log != body.nodes[A[0]].log || (states > 1 && body.nodes[a].log))
            refuse("decay", A);
    auto const s = events(span);
    bool const ordered =
        span.masked && span.reads.kind != EventRows::Kind::end && span.writes.kind != EventRows::Kind::start;
    if (span.decaying.empty() && !ordered && states == 1 && span.reads.kind != EventRows::Kind::decays &&
        span.writes.kind != EventRows::Kind::decays)
        return constant(1, s);
    if (states > 1 && unconnected(*this, A, states, span.reads, span.writes)) return constant(0, s);
    auto n = spanning(Op::decay, std::move(A), s, std::move(span), true);
    n.states = states;
    return node(std::move(n));
}
NodeId Builder::mask(Span span) {
    span.decaying.clear();
    span.reads.state.clear();
    span.writes.state.clear();
    auto const none = constant(1, {Extent::tokens(0), Extent::of(1)});
    return decay({none}, std::move(span), 1);
}

// The decay rows A fit the span, and their columns the channels; nothing else is a log value.
Extents Builder::columns_of(char const* what, Extents result, NodeId A, Extent channels, Span const& span) const {
    bool const rows = shape(A).rows == Extent::tokens(int(span.decaying.size()));
    if (!rows || !(shape(A).cols.is_one() || shape(A).cols == channels)) refuse(what, {A});
    return result;
}
NodeId Builder::gram(NodeId R, NodeId X, NodeId A, Span span) {
    auto const s = events(span);
    if (!(shape(R).rows == s.rows && shape(X).rows == s.cols && shape(R).cols == shape(X).cols))
        refuse("gram", {R, X, A});
    columns_of("gram", s, A, shape(R).cols, span);
    if (constant_is(R, 0) || constant_is(X, 0)) return constant(0, s);
    return node(spanning(Op::gram, {R, X, A}, s, std::move(span)));
}
NodeId Builder::apply(NodeId W, NodeId X, NodeId A, Span span) {
    auto const e = events(span);
    if (!(shape(W) == e && shape(X).rows == e.cols)) refuse("apply", {W, X, A});
    auto const s = columns_of("apply", {e.rows, shape(X).cols}, A, shape(X).cols, span);
    if (constant_is(W, 0) || constant_is(X, 0)) return constant(0, s);
    return node(spanning(Op::apply, {W, X, A}, s, std::move(span)));
}
NodeId Builder::applyt(NodeId W, NodeId R, NodeId A, Span span) {
    auto const e = events(span);
    if (!(shape(W) == e && shape(R).rows == e.rows)) refuse("applyt", {W, R, A});
    auto const s = columns_of("applyt", {e.cols, shape(R).cols}, A, shape(R).cols, span);
    if (constant_is(W, 0) || constant_is(R, 0)) return constant(0, s);
    return node(spanning(Op::applyt, {W, R, A}, s, std::move(span)));
}
NodeId Builder::spread(NodeId W, NodeId R, NodeId X, NodeId A, Span span) {
    auto const e = events(span);
    bool const fit =
        shape(W) == e && shape(R).rows == e.rows && shape(X).rows == e.cols && shape(R).cols == shape(X).cols;
    if (!fit) refuse("spread", {W, R, X, A});
    auto const s = columns_of("spread", shape(A), A, shape(R).cols, span);
    if (constant_is(W, 0) || constant_is(R, 0) || constant_is(X, 0)) return constant(0, s);
    return node(spanning(Op::spread, {W, R, X, A}, s, std::move(span)));
}

// ---- triangular systems ---------------------------------------------------------------------------------------------

NodeId Builder::solve(NodeId M, NodeId B, bool transposed) {
    if (!(shape(M).rows == shape(M).cols && shape(M).rows == shape(B).rows)) refuse("solve", {M, B});
    if (shape(M).rows.kind != Extent::Kind::tokens) refuse("solve", {M, B}); // rows are events
    if (constant_is(M, 0) || constant_is(B, 0)) return B;
    auto n = make(Op::solve, {M, B}, shape(B));
    n.transposed = transposed;
    return node(std::move(n));
}
NodeId Builder::csolve(NodeId G, NodeId c, NodeId B, NodeId A, Span span, bool transposed) {
    auto const e = events(span);
    bool const fit = shape(G) == e && e.rows == e.cols && shape(B).rows == e.rows && span.masked &&
                     broadcast("csolve", c, B) == shape(B);
    if (!fit) refuse("csolve", {G, c, B, A});
    auto const s = columns_of("csolve", shape(B), A, shape(B).cols, span);
    if (constant_is(G, 0) || constant_is(c, 0) || constant_is(B, 0)) return B;
    auto n = spanning(Op::csolve, {G, c, B, A}, s, std::move(span));
    n.transposed = transposed;
    return node(std::move(n));
}

} // namespace deltaloom::codegen
