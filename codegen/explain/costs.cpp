// Operations and bytes of one token: of the step form and of the chunked form, forward and backward.
#include "codegen/explain/chunk_names.hpp"
#include "codegen/explain/value_formula.hpp"
#include "codegen/program/chunk_values.hpp"
#include "codegen/program/cost.hpp"
#include "codegen/rule/dimension.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace deltaloom::codegen {
namespace {

constexpr double bytes = 4; // of a float32

double entries(Operand const& x, Sizes const& sizes) {
    return double(sizes.of(Extent::dim(x.shape.rows))) * sizes.of(Extent::dim(x.shape.cols)) * std::max(1, x.steps);
}

// What no evaluation token by token can leave out: decays, reads and rank-one writes of the states, a multiplication
// and an addition an entry.
double bare_operations(TypedRule const& rule, Recurrence const& recurrence, Sizes const& sizes) {
    double total = 0;
    auto const reads = state_reads(rule, recurrence);
    for (auto const& c : recurrence.components) {
        double const state = double(sizes.of(Extent::dim(c.row))) * sizes.of(Extent::dim(c.col));
        for (auto const& m : c.micro) {
            int kept = 0;
            for (auto const& mix : m.mix) {
                if (!mix || mix->zero()) continue;
                total += (is_one(*mix) ? 0 : state) + (kept++ ? state : 0);
            }
            total += (m.key_decay ? state : 0) + (m.value_decay ? state : 0);
            for (auto const& w : m.writes) total += 2 * state * double(1 + w.reads.size());
        }
        for (auto const* a : reads.atoms)
            if (read_state(c, *a) >= 0 && a->kind != Atom::Kind::vector_state) total += 2 * state;
    }
    return total;
}

// A chunk computes its features where it uses them, once for all uses, and a backward again: what a tensor of them
// would move, written once and read once by each direction, is never moved.
std::vector<ExplainedMap> feature_maps(TypedRule const& rule, Sizes const& sizes) {
    std::vector<ExplainedMap> all;
    for (ExprId id = 0; id < ExprId(rule.nodes.size()); ++id) {
        auto const& e = rule.nodes[std::size_t(id)];
        auto const random = random_features(rule, id);
        if (!random && (e.kind != ExprKind::vector_map || !maps_features(e.function))) continue;
        auto const argument = random ? random->of : e.arguments[0];
        double const d = sizes.of(Extent::dim(rule.nodes[std::size_t(argument)].shape.rows));
        double const size = sizes.of(Extent::dim(e.shape.rows));
        // W x, |x|^2, and a difference, an exponential and a scale of each; else as cost.cpp counts.
        ExplainedMap map{formula(rule, id), size, random ? 2 * size * d + 2 * d + 3 * size : size + d, bytes * size};
        if (std::none_of(all.begin(), all.end(), [&](auto const& m) { return m.what.text == map.what.text; }))
            all.push_back(std::move(map));
    }
    return all;
}

} // namespace

ExplainedCosts explained_costs(Derived const& derived, ExplainSizes const& asked) {
    auto const& rule = derived.rule;
    ExplainedCosts costs;
    Sizes sizes;
    for (auto const& name : rule.dims) sizes.dims.push_back(name == "dv" ? asked.dv : asked.dk);
    sizes.dims = with_mapped(rule.dims, std::move(sizes.dims));
    for (std::size_t d = 0; d < rule.dims.size(); ++d)
        costs.sizes += fmt::format("{} = {}, ", rule.dims[d], sizes.dims[d]);
    costs.sizes += fmt::format("a chunk of {} tokens, float32", asked.chunk);
    costs.maps = feature_maps(rule, sizes);
    for (auto const& x : rule.operands) {
        if (x.role == Role::state) costs.states.emplace_back(x.name, bytes * entries(x, sizes));
        if (!x.per_token() && x.role != Role::output) continue;
        double const once = bytes * entries(x, sizes);
        costs.floor_forward += once;
        // Backward reads the inputs and the outputs' gradients and writes the inputs' gradients.
        costs.floor_backward += x.per_token() ? 2 * once : once;
    }
    for (auto const& program : derived.programs) {
        bool const step = program.form == Form::step, chunked = program.form == Form::chunked && !program.split;
        if (!step && !chunked && program.form != Form::summary) continue;
        sizes.tokens = sizes.valid = step ? 1 : asked.chunk;
        ExplainedCost row{name(program.form), name(program.direction)};
        for (auto const& phase : program.phases) {
            auto const c = cost(phase.body, rule, sizes);
            row.operations += c.operations / sizes.tokens;
            row.token_bytes += bytes * (c.inputs + c.outputs) / sizes.tokens;
            row.state_bytes += bytes * c.states / sizes.tokens;
        }
        if (step && program.direction == Direction::forward) {
            costs.floor_operations = row.operations;
            if (derived.recurrence)
                costs.floor_operations = std::min(row.operations, bare_operations(rule, *derived.recurrence, sizes));
        }
        costs.rows.push_back(std::move(row));
    }
    return costs;
}

} // namespace deltaloom::codegen
