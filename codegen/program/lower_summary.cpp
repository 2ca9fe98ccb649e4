// A chunk, or any segment, as an affine map of each state: Sigma' = Sigma A + B. With U = u + w Sigma^T and X at the
// chunk's end,
//     A = diag(D(0,end)) + w^T X,   B = u^T X.
#include "codegen/program/chunk.hpp"

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
        auto const map = affine_map(c);
        // Sigma' = Sigma A + B; of the transpose A^T Sigma^T + B^T; a value-channel decay stands on the other side.
        bool const on_the_right = component.flipped == map.left;
        auto const side = on_the_right ? ".right" : ".left";
        auto const text = c.name() + "' = " + (on_the_right ? c.name() + " A + B" : "A " + c.name() + " + B");
        auto const turned = [&](NodeId x) { return component.flipped ? b.transpose(x) : x; };
        results.emplace_back(c.name() + side, b.named(turned(map.factor), "A", text));
        results.emplace_back(c.name() + ".plus", b.named(turned(map.plus), "B", text));
    }
    b.body.results = std::move(results);
    std::vector<std::string> names;
    for (auto const& [name, node] : b.body.results) names.push_back(name);
    return pruned(b.body, names);
}

} // namespace deltaloom::codegen
