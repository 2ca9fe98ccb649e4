#include "codegen/check/same.hpp"

#include <cmath>
#include <fmt/format.h>
#include <set>
#include <stdexcept>

namespace deltaloom::codegen {
namespace {

using runtime::field;

constexpr int most_points = 6;

std::string described(TypedRule const& rule, Operand const& o) {
    std::string text;
    switch (o.domain) {
    case Domain::real: break;
    case Domain::linear: text = "linear "; break;
    case Domain::log: text = "log "; break;
    }
    switch (o.role) {
    case Role::state: text += "state"; break;
    case Role::input: text += "input"; break;
    case Role::gate: text += "gate"; break;
    case Role::parameter: text += "parameter"; break;
    case Role::output: text += "output"; break;
    }
    std::string axes;
    for (DimId const d : {o.shape.rows, o.shape.cols})
        if (d != one) axes += (axes.empty() ? "" : " x ") + rule.dims[std::size_t(d)];
    text += axes.empty() ? ", a number" : " of " + axes;
    if (o.shape.rows == one && o.shape.cols != one) text += ", a row";
    if (o.steps) text += fmt::format(", {} of them a token", o.steps);
    return text;
}

std::vector<OperandMismatch> mismatches(TypedRule const& a, TypedRule const& b) {
    std::vector<OperandMismatch> all;
    auto const find = [](TypedRule const& rule, std::string const& name) {
        for (auto const& o : rule.operands)
            if (o.name == name) return described(rule, o);
        return std::string();
    };
    std::set<std::string> seen;
    for (auto const* rule : {&a, &b})
        for (auto const& o : rule->operands) {
            if (!seen.insert(o.name).second) continue;
            auto const in_a = find(a, o.name), in_b = find(b, o.name);
            if (in_a != in_b) all.push_back({o.name, in_a, in_b});
        }
    return all;
}

// Plain extents pairwise different, at the last point all equal.
Dims extents(Declaration const& rule, int point, Draw& draw) {
    int next = draw.between(2, 3);
    return filled_dims(dimensions(rule), [&](auto const&) {
        int const extent = next;
        if (point + 1 < most_points) next += draw.between(1, 2);
        return extent;
    });
}

bool equal(OracleRun<field> const& a, OracleRun<field> const& b) {
    return a.outputs == b.outputs && a.states == b.states;
}

long degree_of(ComparedRule const& rule, Dims const& dims, int length) {
    for (auto const& program : rule.derived.programs)
        if (program.form == Form::recurrent && program.direction == Direction::forward)
            return degree(rule.derived.rule, program, Plan{1}, all_extents(rule.derived.rule, dims), length);
    return 1;
}

// False at the first point where the two differ.
bool agree(ComparedRule const& a, ComparedRule const& b, std::uint64_t seed, RuleComparison& c) {
    for (int point = 0; point < most_points; ++point) {
        Draw draw(seed, std::uint64_t(point));
        auto const dims = extents(a.declaration, point, draw);
        int const length = 1 + point % 3;
        auto const data = draw_field(a.declaration, dims, length, 0, draw);
        c.degree = std::max({c.degree, degree_of(a, dims, length), degree_of(b, dims, length)});
        c.bound_log2 = std::log2(double(c.degree)) - 61;
        ++c.points;
        if (!equal(evaluate(a, dims, data), evaluate(b, dims, data))) return false;
    }
    return true;
}

} // namespace

char const* name(Sameness v) {
    switch (v) {
    case Sameness::recurrence: return "recurrence";
    case Sameness::token_map: return "token map";
    case Sameness::points: return "points";
    case Sameness::operands: return "operands";
    case Sameness::differs: return "differs";
    case Sameness::undecided: return "undecided";
    }
    return "";
}

RuleComparison compare_rules(ComparedRule const& a, ComparedRule const& b, std::uint64_t seed) {
    RuleComparison c;
    c.operands = mismatches(a.derived.rule, b.derived.rule);
    if (!c.operands.empty()) {
        c.verdict = Sameness::operands;
        return c;
    }
    c.functions = has_functions(a.derived.rule) || has_functions(b.derived.rule);
    bool const agreed = agree(a, b, seed, c);
    std::optional<Sameness> equality;
    if (a.derived.recurrence && b.derived.recurrence) {
        c.canonical = print(a.derived.rule, *a.derived.recurrence);
        if (c.canonical == print(b.derived.rule, *b.derived.recurrence)) equality = Sameness::recurrence;
    }
    if (!equality) {
        auto const map = token_map(a.derived.rule);
        c.canonical = map.value_or("");
        if (map && map == token_map(b.derived.rule)) equality = Sameness::token_map;
    }
    if (equality && !agreed)
        throw std::logic_error(fmt::format("{} and {} have one {} and differ over the field", a.declaration.name,
                                           b.declaration.name, name(*equality)));
    if (equality) {
        c.verdict = *equality;
        return c;
    }
    c.canonical.clear();
    if (agreed) {
        c.verdict = Sameness::points;
        return c;
    }
    c.counterexample = counterexample(a, b, seed);
    c.verdict = c.counterexample || !c.functions ? Sameness::differs : Sameness::undecided;
    return c;
}

} // namespace deltaloom::codegen
