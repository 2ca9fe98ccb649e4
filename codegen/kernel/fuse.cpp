#include "codegen/kernel/fuse.hpp"

#include <algorithm>

namespace deltaloom::codegen {

View strip(Body const& body, NodeId id) {
    View v{id, false};
    while (body.nodes[v.node].op == Op::transpose) v = {body.nodes[v.node].args[0], !v.turned};
    return v;
}
bool vector(Extents const& s) { return s.rows.is_one() || s.cols.is_one(); }

Mask mask_of(Node const& n) {
    auto const single = [](EventRows const& r) { return r.kind == EventRows::Kind::tokens && r.position.size() == 1; };
    auto const& s = n.span;
    if (n.op != Op::decay || n.states != 1 || !s.decaying.empty() || !s.masked || !single(s.reads) || !single(s.writes))
        return Mask::none;
    // write e * m + q before read i * m + p, with 0 <= q < m and 0 <= p <= m
    return s.writes.position[0] < s.reads.position[0] ? Mask::up_to_diagonal : Mask::below;
}

bool entrywise(Op op) {
    switch (op) {
    case Op::add:
    case Op::mul:
    case Op::map:
    case Op::dmap:
    case Op::unlog:
    case Op::aslog:
    case Op::addlog: return true;
    case Op::input:
    case Op::constant:
    case Op::eye:
    case Op::logone:
    case Op::sum:
    case Op::transpose:
    case Op::matmul:
    case Op::vector_map:
    case Op::vector_vjp:
    case Op::hold:
    case Op::interleave:
    case Op::pick:
    case Op::decay:
    case Op::gram:
    case Op::apply:
    case Op::applyt:
    case Op::spread:
    case Op::solve:
    case Op::csolve: return false;
    }
    return false;
}
bool free_of_charge(Node const& n) {
    return n.op == Op::constant || n.op == Op::eye || n.op == Op::logone || mask_of(n) != Mask::none;
}

// Cheap to write twice: scaled, repeated along an axis, or rows picked.
static bool light(Body const& body, Node const& n) {
    if (n.op == Op::pick) return true;
    return n.op == Op::mul && body.nodes[n.args[0]].op == Op::constant;
}
bool sums_rows(Node const& n) { return n.op == Op::sum && n.index == 0; }
static bool calls_function(Op op) { return op == Op::map || op == Op::dmap || op == Op::unlog || op == Op::aslog; }

std::vector<View> terms(Body const& body, Fusion const& fusion, View v) {
    std::vector<View> all;
    for (NodeId a : body.nodes[v.node].args) {
        auto t = strip(body, a);
        t.turned = t.turned != v.turned;
        auto const& n = body.nodes[t.node];
        if (n.op == Op::add && !fusion.stored[t.node] && body.nodes[a].shape == body.nodes[v.node].shape) {
            auto const inner = terms(body, fusion, t);
            all.insert(all.end(), inner.begin(), inner.end());
        } else
            all.push_back(t);
    }
    return all;
}

std::vector<char> stored_turned(Body const& body, std::vector<NodeId> const& carried) {
    std::vector<char> turned(body.nodes.size(), 0);
    std::vector<char> decided = turned;
    for (NodeId r : carried) {
        auto const v = strip(body, r);
        if (body.nodes[v.node].op == Op::input || decided[v.node]) continue;
        turned[v.node] = v.turned;
        decided[v.node] = 1;
    }
    for (NodeId id = 0; id < NodeId(body.nodes.size()); ++id) {
        auto const& n = body.nodes[id];
        if (n.op != Op::matmul || decided[id]) continue;
        auto const both = [&](NodeId a) {
            auto const v = strip(body, a);
            return !vector(body.nodes[v.node].shape) && v.turned != (turned[v.node] != 0);
        };
        turned[id] = both(n.args[0]) && both(n.args[1]);
    }
    return turned;
}

Fusion fuse(Body const& body, std::vector<NodeId> const& results, std::vector<NodeId> const& accumulated,
            std::vector<char> const& turned) {
    auto const count = body.nodes.size();
    Fusion f{std::vector<char>(count, 0), std::vector<char>(count, 0), std::vector<char>(count, 0)};
    std::vector<int> uses(count, 0);      // as often as its text would stand there
    std::vector<char> argument(count, 0); // of an operation, or a result
    for (NodeId r : results) {
        auto const v = strip(body, r);
        f.reached[v.node] = argument[v.node] = 1;
        ++uses[v.node];
    }
    for (NodeId r : accumulated) {
        auto const v = strip(body, r);
        f.reached[v.node] = 1;
        ++uses[v.node];
    }
    for (auto id = NodeId(count) - 1; id >= 0; --id) {
        auto const& n = body.nodes[id];
        if (!f.reached[id] || n.op == Op::transpose) continue;
        bool const inlined = entrywise(n.op) || n.op == Op::pick;
        f.stored[id] = argument[id] || n.op == Op::input || (!inlined && !free_of_charge(n)) ||
                       (uses[id] > 1 && inlined && !light(body, n));
        bool const by_entry = inlined || n.op == Op::interleave || sums_rows(n); // reads entries, not matrices
        if (free_of_charge(n) && mask_of(n) != Mask::none && !f.stored[id]) continue;
        for (NodeId a : n.args) {
            auto const v = strip(body, a);
            f.reached[v.node] = 1;
            uses[v.node] += f.stored[id] ? 1 : uses[id];
            if (!by_entry) argument[v.node] = 1;
        }
    }
    // A function of few entries inside a loop over more of them: called once per entry of its own.
    std::vector<char> costly(count, 0);
    for (NodeId id = 0; id < NodeId(count); ++id) {
        auto const& n = body.nodes[id];
        if (!f.reached[id] || !(entrywise(n.op) || n.op == Op::pick)) continue;
        for (NodeId a : n.args) {
            auto const v = strip(body, a);
            if (!costly[v.node] || f.stored[v.node]) continue;
            auto const& x = body.nodes[a].shape;
            bool const widened =
                (x.rows.is_one() && !n.shape.rows.is_one()) || (x.cols.is_one() && !n.shape.cols.is_one());
            if (widened)
                f.stored[v.node] = 1;
            else
                costly[id] = 1;
        }
        if (calls_function(n.op)) costly[id] = 1;
    }
    auto const absorb = [&](View t, Extents const& whole) { // a product seen as the buffer holds it
        auto const& m = body.nodes[t.node];
        auto const extents = t.turned ? Extents{m.shape.cols, m.shape.rows} : m.shape;
        if (m.op != Op::matmul || uses[t.node] != 1 || argument[t.node] || !(extents == whole)) return;
        auto const crossed = [&](NodeId a) {
            auto const v = strip(body, a);
            return (v.turned != (turned[v.node] != 0)) != t.turned && !vector(body.nodes[v.node].shape);
        };
        if (crossed(m.args[0]) && crossed(m.args[1])) return;
        f.absorbed[t.node] = 1;
        f.stored[t.node] = 0;
    };
    auto const absorb_terms = [&](View root) {
        auto const& s = body.nodes[root.node].shape;
        for (auto const& t : terms(body, f, root)) absorb(t, root.turned ? Extents{s.cols, s.rows} : s);
    };
    for (NodeId id = 0; id < NodeId(count); ++id)
        if (f.reached[id] && f.stored[id] && body.nodes[id].op == Op::add) absorb_terms({id, turned[id] != 0});
    for (NodeId r : accumulated) {
        auto const v = strip(body, r);
        if (body.nodes[v.node].op == Op::add && !f.stored[v.node]) absorb_terms(v);
        absorb(v, body.nodes[r].shape);
    }
    return f;
}

} // namespace deltaloom::codegen
