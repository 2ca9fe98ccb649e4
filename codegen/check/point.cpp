#include "codegen/check/point.hpp"

#include "codegen/check/rounding.hpp"

#include <fmt/format.h>

namespace deltaloom::codegen {

std::size_t total(TypedRule const& rule, Point const& p, OperandId id) {
    std::size_t const n = entries(rule, p.shape, id) * std::size_t(p.shape.operand_heads[std::size_t(id)]);
    switch (rule.operands[std::size_t(id)].role) {
    case Role::parameter: return n;
    case Role::state: return n * std::size_t(p.sequences());
    case Role::input:
    case Role::gate:
    case Role::output: break;
    }
    return n * std::size_t(p.shape.batch) * std::size_t(p.shape.tokens);
}

std::size_t place(TypedRule const& rule, Point const& p, OperandId id, int sequence, int t, int head) {
    auto const n = entries(rule, p.shape, id);
    auto const operand_heads = p.shape.operand_heads[std::size_t(id)];
    std::size_t const heads = std::size_t(operand_heads), h = std::size_t(head / (p.shape.heads / operand_heads));
    auto const s = std::size_t(sequence);
    switch (rule.operands[std::size_t(id)].role) {
    case Role::parameter: return h * n;
    case Role::state: return (s * heads + h) * n;
    case Role::input:
    case Role::gate:
    case Role::output: break;
    }
    std::size_t const first = p.offsets.empty() ? s * std::size_t(p.shape.tokens) : std::size_t(p.offsets[s]);
    return ((first + std::size_t(t)) * heads + h) * n;
}

std::string where(TypedRule const& rule, Point const& p, OperandId id, std::size_t at, char const* prefix) {
    auto const& o = rule.operands[std::size_t(id)];
    auto const n = entries(rule, p.shape, id), heads = std::size_t(p.shape.operand_heads[std::size_t(id)]);
    std::size_t const entry = at % n, head = at / n % heads, row = at / n / heads;
    auto const tokens = std::size_t(std::max(1, p.shape.tokens));
    if (o.role == Role::parameter) return fmt::format("{}{}[head {}][{}]", prefix, o.name, head, entry);
    if (o.role == Role::state) return fmt::format("{}{}[sequence {}][head {}][{}]", prefix, o.name, row, head, entry);
    return fmt::format("{}{}[batch {}][token {}][head {}][{}]", prefix, o.name, row / tokens, row % tokens, head,
                       entry);
}

CallShape shape_with(TypedRule const& rule, std::vector<int> dims, int batch, int tokens, int heads) {
    CallShape shape;
    shape.batch = batch, shape.tokens = tokens, shape.heads = heads, shape.dims = std::move(dims);
    shape.operand_heads.assign(rule.operands.size(), heads);
    return shape;
}

Point draw_point(Compiled const& compiled, CallShape shape, Draw& draw, std::vector<std::int64_t> offsets) {
    auto const& [declaration, derived] = compiled.rule();
    TypedRule const& rule = derived.rule;
    Point p{std::move(shape), std::move(offsets), {}, {}};
    auto const count = rule.operands.size();
    p.values.values.resize(count), p.arriving.values.resize(count);
    Dims dims;
    for (std::size_t d = 0; d < rule.dims.size(); ++d) dims[rule.dims[d]] = p.shape.dims[d];
    for (OperandId id = 0; id < OperandId(count); ++id) {
        auto const i = std::size_t(id);
        p.values.values[i].resize(total(rule, p, id));
        if (rule.operands[i].role == Role::output || rule.operands[i].role == Role::state) {
            p.arriving.values[i].resize(total(rule, p, id));
            for (double& x : p.arriving.values[i])
                x = rounded_to(double(float(draw.normal())), p.shape.stored(rule.operands[i].role));
        }
    }
    for (int s = 0; s < p.sequences(); ++s)
        for (int head = 0; head < p.shape.heads; ++head) {
            auto const data = draw_data(declaration, dims, p.length(s), draw);
            for (OperandId id = 0; id < OperandId(count); ++id) {
                auto const& o = rule.operands[std::size_t(id)];
                auto const put = [&](std::size_t at, Dense<double> const& m) {
                    for (double x : m.e) p.values.values[std::size_t(id)][at++] = rounded_to(x, p.shape.stored(o.role));
                };
                if (o.role == Role::state) put(place(rule, p, id, s, 0, head), data.states.at(o.name));
                if (o.role == Role::parameter) put(place(rule, p, id, s, 0, head), data.parameters.at(o.name));
                if (o.per_token())
                    for (int t = 0; t < p.length(s); ++t) {
                        auto at = place(rule, p, id, s, t, head);
                        for (auto const& step : data.tokens.at(o.name)[std::size_t(t)])
                            put(at, step), at += step.e.size();
                    }
            }
        }
    return p;
}

void describe(Result& r, TypedRule const& rule, Point const& p) {
    r.tokens = p.shape.tokens;
    describe_dims(r, rule, p.shape.dims);
}

} // namespace deltaloom::codegen
