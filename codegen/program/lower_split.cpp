// The chunk with its solve split from the state: U = u + w Sigma^T, so that every chunk can prepare u and w at once,
// before any state is known.
#include "codegen/program/chunk.hpp"

#include <algorithm>

namespace deltaloom::codegen {
namespace {

bool reads(Component const& component) {
    auto const has_reads = [](MicroStep const& m) {
        return std::any_of(m.writes.begin(), m.writes.end(), [](Write const& w) { return !w.reads.empty(); });
    };
    return std::any_of(component.micro.begin(), component.micro.end(), has_reads);
}

} // namespace

std::optional<SplitBody> lower_split(TypedRule const& rule, Recurrence const& recurrence) {
    auto const& all = recurrence.components;
    if (std::none_of(all.begin(), all.end(), reads)) return std::nullopt; // nothing to solve
    Chunk prepare(rule, recurrence), scan(rule, recurrence);
    auto& prepared = prepare.values.b.body.results;
    for (auto const& component : all) {
        auto& c = scan.add(component);
        if (!reads(component)) {
            c.U = pseudo_values(c);
            continue;
        }
        if (component.states.size() > 1 || c.per_channel || !feeding(component).empty()) return std::nullopt;
        auto const split = split_values(prepare.add(component));
        auto const u = c.name() + ".u", w = c.name() + ".w";
        prepared.emplace_back(u, split.u);
        prepared.emplace_back(w, split.w);
        auto const& shapes = prepare.values.b;
        c.U = joined(c, {scan.values.b.input(u, shapes.shape(split.u)), scan.values.b.input(w, shapes.shape(split.w))});
    }
    auto const names = [](Body const& body) {
        std::vector<std::string> result;
        for (auto const& [name, node] : body.results) result.push_back(name);
        return result;
    };
    auto const pruned_whole = [&](Body const& body) { return pruned(body, names(body)); };
    return SplitBody{pruned_whole(prepare.values.b.body), pruned_whole(scan.finished())};
}

} // namespace deltaloom::codegen
