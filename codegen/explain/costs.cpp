// Operations and bytes of one token: of the step form and of the chunked form, forward and backward.
#include "codegen/explain/derivation.hpp"
#include "codegen/program/cost.hpp"

#include <fmt/format.h>

namespace deltaloom::codegen {
namespace {

constexpr double bytes = 4; // of a float32

double entries(Operand const& x, Sizes const& sizes) {
    return double(sizes.of(Extent::dim(x.shape.rows))) * sizes.of(Extent::dim(x.shape.cols)) * std::max(1, x.steps);
}

} // namespace

ExplainedCosts explained_costs(Derived const& derived, ExplainSizes const& asked) {
    auto const& rule = derived.rule;
    ExplainedCosts costs;
    Sizes sizes;
    for (auto const& name : rule.dims) {
        sizes.dims.push_back(name == "dv" ? asked.dv : asked.dk);
        costs.sizes += fmt::format("{} = {}, ", name, sizes.dims.back());
    }
    costs.sizes += fmt::format("a chunk of {} tokens, float32", asked.chunk);
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
        if (!step && !chunked) continue;
        sizes.tokens = sizes.valid = step ? 1 : asked.chunk;
        ExplainedCost row{name(program.form), name(program.direction)};
        for (auto const& phase : program.phases) {
            auto const c = cost(phase.body, rule, sizes);
            row.operations += c.operations / sizes.tokens;
            row.token_bytes += bytes * (c.inputs + c.outputs) / sizes.tokens;
            row.state_bytes += bytes * c.states / sizes.tokens;
        }
        if (step && program.direction == Direction::forward) costs.floor_operations = row.operations;
        costs.rows.push_back(std::move(row));
    }
    return costs;
}

} // namespace deltaloom::codegen
