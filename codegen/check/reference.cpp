#include "codegen/check/reference.hpp"

#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace deltaloom::codegen {
namespace {

using Dual = runtime::dual<double>;

// One sequence and head as the oracle sees it; `tangents`, by operand, may be empty.
OracleData<Dual> sequence_data(TypedRule const& rule, Point const& p, OperandId along,
                               std::vector<double> const* tangents, int sequence, int head) {
    OracleData<Dual> data;
    data.length = p.length(sequence);
    for (OperandId id = 0; id < OperandId(rule.operands.size()); ++id) {
        auto const& o = rule.operands[std::size_t(id)];
        auto const extent = [&](DimId d) { return d == one ? 1 : p.shape.dims[std::size_t(d)]; };
        auto const& values = p.values.values[std::size_t(id)];
        auto const matrix = [&](std::size_t at) {
            Dense<Dual> m(extent(o.shape.rows), extent(o.shape.cols), Dual());
            for (std::size_t i = 0; i < m.e.size(); ++i)
                m.e[i] = Dual(values[at + i], tangents && id == along ? (*tangents)[at + i] : 0.0);
            return m;
        };
        auto const at = [&](int t) { return place(rule, p, id, sequence, t, head); };
        switch (o.role) {
        case Role::output: break;
        case Role::state: data.states[o.name] = matrix(at(0)); break;
        case Role::parameter: data.parameters[o.name] = matrix(at(0)); break;
        case Role::input:
        case Role::gate:
            auto& tokens = data.tokens[o.name];
            for (int t = 0; t < data.length; ++t) {
                auto& steps = tokens.emplace_back();
                std::size_t const step = std::size_t(extent(o.shape.rows)) * std::size_t(extent(o.shape.cols));
                for (int j = 0; j < std::max(1, o.steps); ++j) steps.push_back(matrix(at(t) + std::size_t(j) * step));
            }
            break;
        }
    }
    return data;
}

// f(operand, place of its entries, value) for every output and final state of one run.
template<class F>
void each_result(TypedRule const& rule, Point const& p, OracleRun<Dual> const& run, int sequence, int head, F f) {
    for (OperandId id = 0; id < OperandId(rule.operands.size()); ++id) {
        auto const& o = rule.operands[std::size_t(id)];
        if (o.role == Role::state) f(id, place(rule, p, id, sequence, 0, head), run.states.at(o.name));
        if (o.role == Role::output)
            for (int t = 0; t < p.length(sequence); ++t)
                f(id, place(rule, p, id, sequence, t, head), run.outputs[std::size_t(t)].at(o.name));
    }
}

} // namespace

Reference::Reference(Compiled const& compiled, Point const& point)
    : Reference(compiled, point, [&compiled, dims = point.shape.dims](OracleData<Dual> const& data) {
          return compiled.evaluate(dims, data);
      }) {}

Reference::Reference(Compiled const& compiled, Point const& point, Evaluation evaluate)
    : compiled_(compiled),
      point_(point),
      evaluate_(std::move(evaluate)) {
    forward_.values.resize(rule().operands.size());
    for (OperandId id = 0; id < OperandId(rule().operands.size()); ++id)
        if (auto const role = rule().operands[std::size_t(id)].role; role == Role::state || role == Role::output)
            forward_.values[std::size_t(id)].resize(total(rule(), point, id));
    for (int s = 0; s < point.sequences(); ++s)
        for (int head = 0; head < point.shape.heads; ++head)
            each_result(rule(), point, evaluate_(sequence_data(rule(), point, -1, nullptr, s, head)), s, head,
                        [&](OperandId id, std::size_t at, Dense<Dual> const& m) {
                            for (auto const& x : m.e) forward_.values[std::size_t(id)][at++] = x.value;
                        });
}

bool Reference::in_range() const {
    for (auto const& values : forward_.values)
        for (double x : values)
            if (!(std::abs(x) < 1e30)) return false;
    return true;
}

double Reference::slope(OperandId id, std::vector<double> const& direction) const {
    double sum = 0;
    for (int s = 0; s < point_.sequences(); ++s)
        for (int head = 0; head < point_.shape.heads; ++head) {
            if (!touched(id, direction, s, head)) continue;
            each_result(rule(), point_, evaluate_(sequence_data(rule(), point_, id, &direction, s, head)), s, head,
                        [&](OperandId result, std::size_t at, Dense<Dual> const& m) {
                            for (auto const& x : m.e)
                                if (double const weight = point_.arriving.values[std::size_t(result)][at++];
                                    weight != 0)
                                    sum += x.tangent * weight;
                        });
        }
    return sum;
}

double Reference::derivative(OperandId id, std::size_t at) const {
    std::vector<double> unit(total(rule(), point_, id));
    unit[at] = 1;
    return slope(id, unit);
}

bool Reference::touched(OperandId id, std::vector<double> const& direction, int sequence, int head) const {
    auto const n = entries(rule(), point_.shape, id);
    int const tokens = rule().operands[std::size_t(id)].per_token() ? point_.length(sequence) : 1;
    for (int t = 0; t < tokens; ++t) {
        auto const at = place(rule(), point_, id, sequence, t, head);
        for (std::size_t i = 0; i < n; ++i)
            if (direction[at + i] != 0) return true;
    }
    return false;
}

std::vector<Sampled> sample(Reference const& reference, Draw& draw, int entries_each) {
    auto const& rule = reference.rule();
    std::vector<Sampled> all(rule.operands.size());
    for (OperandId id = 0; id < OperandId(rule.operands.size()); ++id) {
        auto const n = total(rule, reference.point(), id);
        if (rule.operands[std::size_t(id)].role == Role::output || n == 0) continue;
        auto& s = all[std::size_t(id)];
        for (std::size_t i = 0; i < n; ++i) s.direction.push_back(draw.normal());
        s.slope = reference.slope(id, s.direction);
        for (int k = 0; k < entries_each; ++k) {
            std::size_t const at = std::size_t(draw.below(int(n)));
            s.entries.emplace_back(at, reference.derivative(id, at));
        }
    }
    return all;
}

void Worst::see(double g, double w, double scale, std::function<std::string()> const& where) {
    double const e = g == w ? 0 : std::abs(g - w) / scale;
    if (e <= error) return;
    error = std::isnan(e) ? std::numeric_limits<double>::infinity() : e;
    index = where(), got = fmt::format("{:.9g}", g), want = fmt::format("{:.9g}", w);
}

std::span<double const> part_of(std::vector<double> const& tensor, TypedRule const& rule, CallShape const& shape,
                                OperandId id, Over over, std::size_t entry) {
    auto const n = over == Over::row ? entries(rule, shape, id) : tensor.size();
    return std::span(tensor).subspan(entry / n * n, n);
}

double largest(std::span<double const> v) {
    double m = 0;
    for (double x : v)
        if (std::isfinite(x)) m = std::max(m, std::abs(x));
    return m;
}

void compare_values(Worst& worst, TypedRule const& rule, Point const& p, CallTensors const& got,
                    CallTensors const& want, double floor, Precision const& precision) {
    for (OperandId id = 0; id < OperandId(rule.operands.size()); ++id) {
        auto const& g = got.values[std::size_t(id)];
        auto const& w = want.values[std::size_t(id)];
        if (g.empty()) continue;
        for (std::size_t i = 0; i < g.size();) {
            auto const part = part_of(w, rule, p.shape, id, precision.over, i);
            double const most = largest(part);
            for (auto const end = std::min(i + part.size(), g.size()); i < end; ++i) // `want` may go on behind `got`
                worst.see(g[i], w[i], precision.scale(id, w[i], most, floor),
                          [&] { return where(rule, p, id, i, ""); });
        }
    }
}

void compare_gradients(Worst& worst, TypedRule const& rule, Point const& p, CallTensors const& got,
                       std::vector<Sampled> const& want, double floor, Precision const& precision) {
    for (OperandId id = 0; id < OperandId(rule.operands.size()); ++id) {
        auto const& g = got.values[std::size_t(id)];
        auto const& s = want[std::size_t(id)];
        if (g.empty() || s.direction.empty()) continue;
        for (auto const& entry : s.entries) {
            auto const at = entry.first;
            double const most = largest(part_of(g, rule, p.shape, id, precision.over, at));
            worst.see(g[at], entry.second, precision.scale(id, entry.second, most, floor),
                      [&] { return where(rule, p, id, at, "d_"); });
        }
        double slope = 0, norm = 0;
        for (std::size_t i = 0; i < g.size(); ++i) {
            double const part = g[i] * s.direction[i];
            slope += part, norm += part * part;
        }
        worst.see(slope, s.slope, precision.scale_along(id, std::sqrt(norm), largest(g), floor, g.size()),
                  [&] { return "d_" + rule.operands[std::size_t(id)].name + " along a random direction"; });
    }
}

} // namespace deltaloom::codegen
