// A segment as an affine map of each state, chunk by chunk: the map before the chunk goes in, the map after it comes
// out. With Sigma' = Sigma D + U^T X of a chunk, U = u + w Sigma^T, the map Sigma -> Sigma A + B becomes
//
//     A' = A D + (w A^T)^T X,   B' = B D + (u + w B^T)^T X:
//
// A goes through the chunk as a state does that nothing is written to, B as the state itself: no factors are multiplied
// with each other.
#include "codegen/program/chunk.hpp"
#include "codegen/program/chunk_factors.hpp"

namespace deltaloom::codegen {
namespace {

Location where(TypedRule const& rule, Component const& c) { return rule.statements[c.micro[0].statement].where; }

// Why the component's map is not one matrix beside its state.
std::optional<Reason> obstacle(TypedRule const& rule, Component const& component) {
    auto const& name = rule.operands[component.states[0]].name;
    if (component.states.size() > 1)
        return Reason{"the states of " + name + " are coupled: a segment is no single matrix beside each of them",
                      where(rule, component)};
    if (auto const others = feeding(component); !others.empty())
        return Reason{"the update of " + name + " depends on the state " + rule.operands[*others.begin()].name +
                          ": a segment is not affine in the states",
                      where(rule, component)};
    bool reads = false, keys = false;
    MicroStep const* gated = nullptr;
    for (auto const& m : component.micro) {
        if (m.value_decay) gated = &m;
        keys |= m.key_decay.has_value();
        for (auto const& w : m.writes) {
            reads |= !w.reads.empty();
            for (auto const& r : w.reads)
                if (!r.coefficient.shape.scalar())
                    return Reason{
                        "a read of " + name +
                            " has a value-channel coefficient: a segment is one matrix for every value channel",
                        where(rule, component)};
        }
    }
    if (gated && (reads || keys))
        return Reason{"the value-channel decay of " + name +
                          " and its other factors act on two sides of it: a segment is no single matrix beside it",
                      rule.statements[gated->statement].where};
    return std::nullopt;
}

} // namespace

std::variant<Body, Reason> lower_summary(TypedRule const& rule, Recurrence const& recurrence) {
    for (auto const& component : recurrence.components)
        if (auto const reason = obstacle(rule, component)) return *reason;
    Chunk chunk(rule, recurrence);
    auto& b = chunk.values.b;
    std::vector<std::pair<std::string, NodeId>> results;
    for (auto const& component : recurrence.components) {
        auto& c = chunk.add(component);
        auto const split = split_values(c);
        bool const left = bool(c.value); // a value-channel decay stands on the other side
        bool const on_the_right = component.flipped == left;
        auto const side = left ? row_extent(c) : col_extent(c);
        auto const turned = [&](NodeId x) { return component.flipped ? b.transpose(x) : x; };
        auto const through = [&](std::string const& part, Extents shape, bool written, std::string const& text) {
            auto const name = c.name() + "." + part;
            auto moved = c;
            moved.start = {turned(b.input(name, shape))};
            moved.U = written ? pseudo_values(moved) : joined(moved, {-1, split.w});
            if (moved.U < 0) moved.X = -1;
            auto const after = state_after(moved, 0);
            auto& node = b.body.nodes[after];
            if (node.op != Op::input) node.hint = c.name() + "_" + part, node.note = text;
            results.emplace_back(name, after);
        };
        auto const factor = std::string(on_the_right ? "right" : "left");
        auto const product = on_the_right ? c.name() + " " + c.name() + "_right" : c.name() + "_left " + c.name();
        through(factor, {side, side}, false,
                c.name() + "_" + factor + " of " + c.name() + "' = " + product + " + " + c.name() +
                    "_plus, this chunk behind those before");
        through("plus", b.shape(turned(c.start[0])), true, c.name() + "_plus, with this chunk's own writes");
    }
    b.body.results = std::move(results);
    std::vector<std::string> names;
    for (auto const& [name, node] : b.body.results) names.push_back(name);
    return pruned(b.body, names);
}

std::vector<DimId> factor_dims(Derived const& derived) {
    std::vector<DimId> all;
    for (auto const& p : derived.programs) {
        if (p.form != Form::summary || p.direction != Direction::forward) continue;
        auto const& body = p.phases.front().body;
        for (auto const id : derived.rule.with_role(Role::state))
            for (auto const& [name, node] : body.results) {
                auto const& state = derived.rule.operands[id].name;
                if (name != state + ".right" && name != state + ".left") continue;
                auto const& width = body.nodes[node].shape.rows;
                all.push_back(width.kind == Extent::Kind::dim ? width.value : one);
            }
    }
    return all;
}

} // namespace deltaloom::codegen
