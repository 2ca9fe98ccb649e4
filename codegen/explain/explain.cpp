#include "codegen/explain/explain.hpp"

#include "codegen/explain/derivation.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace deltaloom::codegen {
namespace {

ExplainedOperand explained(TypedRule const& rule, OperandId id) {
    auto const& x = rule.operands[std::size_t(id)];
    ExplainedOperand out{operand_formula(rule, id), "", "", ""};
    auto const extent = [&](DimId d) { return rule.dims[std::size_t(d)]; };
    out.shape = x.shape.scalar()      ? "a number"
                : x.shape.cols == one ? extent(x.shape.rows)
                : x.shape.rows == one ? extent(x.shape.cols)
                                      : extent(x.shape.rows) + " x " + extent(x.shape.cols);
    switch (x.role) {
    case Role::state: out.role = "state"; break;
    case Role::input: out.role = "input"; break;
    case Role::gate: out.role = "gate"; break;
    case Role::parameter: out.role = "parameter"; break;
    case Role::output: out.role = "output"; break;
    }
    if (x.steps > 0) out.shape += fmt::format(", {} of them a token", x.steps);
    if (x.domain == Domain::log) out.domain = "in log form: from -inf to 0, it acts as its exp";
    if (x.domain == Domain::linear) out.domain = "linear: any finite number, 0 and below included";
    if (x.previous_of >= 0) out.domain = "the value of the token before, kept as a state";
    return out;
}

// What the user wrote at that place.
std::string operation_at(TypedRule const& rule, Location const& where) {
    if (!where.known()) return "";
    for (auto const& e : rule.nodes)
        if (e.where == where && !e.head.empty()) return e.head;
    for (auto const& s : rule.statements)
        if (s.where == where) return "<<=";
    return "";
}

} // namespace

std::string text(ExplainedOperand const& o) {
    return o.role + ", " + o.shape + (o.domain.empty() ? "" : ", " + o.domain);
}

Explanation explain(Derived const& derived, ExplainSizes const& sizes) {
    auto const& rule = derived.rule;
    Explanation out;
    out.name = rule.name;
    out.line = rule.equation;
    out.where = rule.where;
    for (OperandId id = 0; id < OperandId(rule.operands.size()); ++id) out.operands.push_back(explained(rule, id));
    out.statements = statement_lines(rule);
    if (derived.recurrence) {
        out.components = component_lines(rule, *derived.recurrence);
        out.recurrence = recurrence_lines(rule, *derived.recurrence);
        auto lines = chunk_lines(rule, *derived.recurrence);
        out.chunks = std::move(lines.chunks);
        out.outputs = std::move(lines.outputs);
    }
    for (auto const& program : derived.programs)
        if (std::string const form = name(program.form);
            std::find(out.forms.begin(), out.forms.end(), form) == out.forms.end())
            out.forms.push_back(form);
    auto const missing = [&](std::string forms, Reason const& reason) {
        out.missing.push_back({std::move(forms), reason.text, operation_at(rule, reason.where), reason.where});
    };
    if (derived.missing)
        missing("chunked, parallel, summary", *derived.missing);
    else if (derived.no_summary)
        missing("summary", *derived.no_summary);
    out.costs = explained_costs(derived, sizes);
    return out;
}

} // namespace deltaloom::codegen
