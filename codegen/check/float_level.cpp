#include "codegen/check/float_level.hpp"

#include "codegen/check/calls.hpp"
#include "deltaloom/runtime/cpu/features.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace deltaloom::codegen {
namespace {

using runtime::dual;
using Dual = dual<double>;

int head_of(CallShape const& shape, OperandId id, int head) {
    return head / (shape.heads / shape.operand_heads[std::size_t(id)]);
}

// Where the entries of token t (states and parameters: t = 0) of value head h of sequence b begin.
std::size_t place(TypedRule const& rule, CallShape const& shape, OperandId id, int b, int t, int head) {
    auto const n = entries(rule, shape, id);
    std::size_t const heads = std::size_t(shape.operand_heads[std::size_t(id)]),
                      h = std::size_t(head_of(shape, id, head));
    switch (rule.operands[std::size_t(id)].role) {
    case Role::parameter: return h * n;
    case Role::state: return (std::size_t(b) * heads + h) * n;
    case Role::input:
    case Role::gate:
    case Role::output: break;
    }
    return ((std::size_t(b) * std::size_t(shape.tokens) + std::size_t(t)) * heads + h) * n;
}

struct Point {
    CallShape shape;
    CallTensors values, arriving;
};

// One sequence and head as the oracle sees it; `tangents` may be null.
OracleData<Dual> sequence_data(TypedRule const& rule, Point const& p, CallTensors const* tangents, int b, int head) {
    OracleData<Dual> data;
    data.length = p.shape.tokens;
    for (OperandId id = 0; id < OperandId(rule.operands.size()); ++id) {
        auto const& o = rule.operands[std::size_t(id)];
        auto const extent = [&](DimId d) { return d == one ? 1 : p.shape.dims[std::size_t(d)]; };
        auto const& values = p.values.values[std::size_t(id)];
        auto const matrix = [&](std::size_t at) {
            Dense<Dual> m(extent(o.shape.rows), extent(o.shape.cols), Dual());
            for (std::size_t i = 0; i < m.e.size(); ++i)
                m.e[i] = Dual(values[at + i], tangents && !tangents->values[std::size_t(id)].empty()
                                                  ? tangents->values[std::size_t(id)][at + i]
                                                  : 0.0);
            return m;
        };
        auto const at = [&](int t) { return place(rule, p.shape, id, b, t, head); };
        switch (o.role) {
        case Role::output: break;
        case Role::state: data.states[o.name] = matrix(at(0)); break;
        case Role::parameter: data.parameters[o.name] = matrix(at(0)); break;
        case Role::input:
        case Role::gate:
            auto& tokens = data.tokens[o.name];
            for (int t = 0; t < data.length; ++t) {
                auto& steps = tokens.emplace_back();
                std::size_t const step = std::size_t(extent(o.shape.rows) * extent(o.shape.cols));
                for (int j = 0; j < std::max(1, o.steps); ++j) steps.push_back(matrix(at(t) + std::size_t(j) * step));
            }
            break;
        }
    }
    return data;
}

// f(operand, place of its entries, value) for every output and final state of one run.
template<class F>
void each_result(TypedRule const& rule, CallShape const& shape, OracleRun<Dual> const& run, int b, int head, F f) {
    for (OperandId id = 0; id < OperandId(rule.operands.size()); ++id) {
        auto const& o = rule.operands[std::size_t(id)];
        if (o.role == Role::state) f(id, place(rule, shape, id, b, 0, head), run.states.at(o.name));
        if (o.role == Role::output)
            for (int t = 0; t < shape.tokens; ++t)
                f(id, place(rule, shape, id, b, t, head), run.outputs[std::size_t(t)].at(o.name));
    }
}

Point draw_point(Compiled const& compiled, CallShape shape, Draw& draw) {
    auto const& [declaration, derived] = compiled.rule();
    TypedRule const& rule = derived.rule;
    Point p{std::move(shape), {}, {}};
    auto const count = rule.operands.size();
    p.values.values.resize(count), p.arriving.values.resize(count);
    Dims dims;
    for (std::size_t d = 0; d < rule.dims.size(); ++d) dims[rule.dims[d]] = p.shape.dims[d];
    for (OperandId id = 0; id < OperandId(count); ++id) {
        auto const i = std::size_t(id);
        p.values.values[i].resize(total(rule, p.shape, id));
        if (rule.operands[i].role == Role::output || rule.operands[i].role == Role::state) {
            p.arriving.values[i].resize(total(rule, p.shape, id));
            for (double& x : p.arriving.values[i]) x = double(float(draw.normal()));
        }
    }
    for (int b = 0; b < p.shape.batch; ++b)
        for (int head = 0; head < p.shape.heads; ++head) {
            auto const data = draw_data(declaration, dims, p.shape.tokens, draw);
            for (OperandId id = 0; id < OperandId(count); ++id) {
                auto const& o = rule.operands[std::size_t(id)];
                auto const put = [&](std::size_t at, Dense<double> const& m) {
                    for (double x : m.e)
                        p.values.values[std::size_t(id)][at++] = p.shape.is_double ? x : double(float(x));
                };
                if (o.role == Role::state) put(place(rule, p.shape, id, b, 0, head), data.states.at(o.name));
                if (o.role == Role::parameter) put(place(rule, p.shape, id, b, 0, head), data.parameters.at(o.name));
                if (o.per_token())
                    for (int t = 0; t < p.shape.tokens; ++t) {
                        auto at = place(rule, p.shape, id, b, t, head);
                        for (auto const& step : data.tokens.at(o.name)[std::size_t(t)])
                            put(at, step), at += step.e.size();
                    }
            }
        }
    return p;
}

// The largest error so far and where it is; a NaN is an infinite error.
struct Worst {
    double error = 0;
    std::string index, got, want;
    void see(double g, double w, double scale, std::string const& where) {
        double const e = std::abs(g - w) / scale;
        if (e <= error) return;
        error = std::isnan(e) ? std::numeric_limits<double>::infinity() : e;
        index = where, got = fmt::format("{:.9g}", g), want = fmt::format("{:.9g}", w);
    }
};

std::string where(TypedRule const& rule, CallShape const& shape, OperandId id, std::size_t i, char const* prefix) {
    auto const& o = rule.operands[std::size_t(id)];
    auto const n = entries(rule, shape, id), heads = std::size_t(shape.operand_heads[std::size_t(id)]);
    std::size_t const entry = i % n, head = i / n % heads, row = i / n / heads;
    if (o.role == Role::parameter) return fmt::format("{}{}[head {}][{}]", prefix, o.name, head, entry);
    if (o.role == Role::state) return fmt::format("{}{}[sequence {}][head {}][{}]", prefix, o.name, row, head, entry);
    return fmt::format("{}{}[batch {}][token {}][head {}][{}]", prefix, o.name,
                       row / std::size_t(std::max(1, shape.tokens)), row % std::size_t(std::max(1, shape.tokens)), head,
                       entry);
}

// What the declaration says at a point: values, and derivatives of sum <arriving, result> along directions.
struct Reference {
    Compiled const& compiled;
    Point const& point;
    CallTensors forward;

    TypedRule const& rule() const { return compiled.rule().derived.rule; }
    Reference(Compiled const& c, Point const& p) : compiled(c), point(p) {
        forward.values.resize(rule().operands.size());
        for (OperandId id = 0; id < OperandId(rule().operands.size()); ++id)
            forward.values[std::size_t(id)].resize(total(rule(), p.shape, id));
        for (int b = 0; b < p.shape.batch; ++b)
            for (int head = 0; head < p.shape.heads; ++head)
                each_result(rule(), p.shape,
                            compiled.evaluate(p.shape.dims, sequence_data(rule(), p, nullptr, b, head)), b, head,
                            [&](OperandId id, std::size_t at, Dense<Dual> const& m) {
                                for (auto const& x : m.e) forward.values[std::size_t(id)][at++] = x.value;
                            });
    }
    // Only sequences and heads whose tangents are not all zero are evaluated.
    double slope(OperandId id, std::vector<double> direction) const {
        CallTensors tangents;
        tangents.values.resize(rule().operands.size());
        tangents.values[std::size_t(id)] = std::move(direction);
        double sum = 0;
        for (int b = 0; b < point.shape.batch; ++b)
            for (int head = 0; head < point.shape.heads; ++head) {
                if (!touched(id, tangents.values[std::size_t(id)], b, head)) continue;
                each_result(rule(), point.shape,
                            compiled.evaluate(point.shape.dims, sequence_data(rule(), point, &tangents, b, head)), b,
                            head, [&](OperandId result, std::size_t at, Dense<Dual> const& m) {
                                for (auto const& x : m.e)
                                    sum += x.tangent * point.arriving.values[std::size_t(result)][at++];
                            });
            }
        return sum;
    }

private:
    bool touched(OperandId id, std::vector<double> const& direction, int b, int head) const {
        auto const n = entries(rule(), point.shape, id);
        int const tokens = rule().operands[std::size_t(id)].per_token() ? point.shape.tokens : 1;
        for (int t = 0; t < tokens; ++t) {
            auto const at = place(rule(), point.shape, id, b, t, head);
            for (std::size_t i = 0; i < n; ++i)
                if (direction[at + i] != 0) return true;
        }
        return false;
    }
};

struct Sampled { // of one operand's gradient
    std::vector<double> direction;
    double slope = 0;
    std::vector<std::pair<std::size_t, double>> entries; // place, derivative
};

std::vector<Sampled> sample(Reference const& reference, Draw& draw) {
    auto const& rule = reference.rule();
    auto const& shape = reference.point.shape;
    std::vector<Sampled> all(rule.operands.size());
    for (OperandId id = 0; id < OperandId(rule.operands.size()); ++id) {
        auto const n = total(rule, shape, id);
        if (rule.operands[std::size_t(id)].role == Role::output || n == 0) continue;
        auto& s = all[std::size_t(id)];
        for (std::size_t i = 0; i < n; ++i) s.direction.push_back(draw.normal());
        s.slope = reference.slope(id, s.direction);
        for (int k = 0; k < 6; ++k) {
            std::size_t const at = std::size_t(draw.below(int(n)));
            std::vector<double> unit(n);
            unit[at] = 1;
            s.entries.emplace_back(at, reference.slope(id, unit));
        }
    }
    return all;
}

double largest(std::vector<double> const& v) {
    double m = 0;
    for (double x : v)
        if (std::isfinite(x)) m = std::max(m, std::abs(x));
    return m;
}

void compare_values(Worst& worst, TypedRule const& rule, CallShape const& shape, CallTensors const& got,
                    CallTensors const& want) {
    for (OperandId id = 0; id < OperandId(rule.operands.size()); ++id) {
        auto const& g = got.values[std::size_t(id)];
        auto const& w = want.values[std::size_t(id)];
        double const scale = 1 + largest(w);
        for (std::size_t i = 0; i < g.size(); ++i) worst.see(g[i], w[i], scale, where(rule, shape, id, i, ""));
    }
}
void compare_gradients(Worst& worst, TypedRule const& rule, CallShape const& shape, CallTensors const& got,
                       std::vector<Sampled> const& want) {
    for (OperandId id = 0; id < OperandId(rule.operands.size()); ++id) {
        auto const& g = got.values[std::size_t(id)];
        auto const& s = want[std::size_t(id)];
        if (g.empty()) continue;
        double const scale = 1 + largest(g);
        for (auto const& [at, derivative] : s.entries)
            worst.see(g[at], derivative, scale, where(rule, shape, id, at, "d_"));
        double slope = 0;
        for (std::size_t i = 0; i < g.size(); ++i) slope += g[i] * s.direction[i];
        worst.see(slope, s.slope, scale * std::sqrt(double(g.size())),
                  "d_" + rule.operands[std::size_t(id)].name + " along a random direction");
    }
}

// Odd extents, tails, several heads with shared keys, a batch.
CallShape shape_of(TypedRule const& rule, int trial, bool is_double, bool one_token) {
    CallShape shape;
    int const tokens[] = {37, 20, 70};
    shape.tokens = one_token ? 1 : tokens[trial % 3];
    int const first[] = {7, 12, 24}, step[] = {-2, 5, -4};
    for (std::size_t d = 0; d < rule.dims.size(); ++d)
        shape.dims.push_back(std::max(2, first[trial % 3] + int(d) * step[trial % 3]));
    shape.batch = trial % 3 == 1 ? 2 : 1;
    shape.heads = trial % 3 == 1 ? 4 : 1;
    for (std::size_t i = 0; i < rule.operands.size(); ++i) {
        int const share[] = {1, 2, 4};
        bool const own = rule.operands[i].role == Role::output || rule.operands[i].role == Role::state;
        shape.operand_heads.push_back(own || shape.heads == 1 ? shape.heads : share[i % 3]);
    }
    shape.is_double = is_double;
    return shape;
}

} // namespace

std::vector<Result> check_float(Compiled const& compiled, FloatLevel const& level) {
    auto const& derived = compiled.rule().derived;
    auto const& rule = derived.rule;
    std::vector<Result> results;
    if (!compiled.production()) return results;
    auto const isa = runtime::chosen_level();
    Described const described(derived, compiled.production(), isa, std::uint32_t(level.chunk));
    struct Kind {
        Form form;
        dl_form code;
        int kernel;
    };
    constexpr Kind kinds[] = {{Form::step, DL_STEP, 0},
                              {Form::recurrent, DL_RECURRENT, 1},
                              {Form::chunked, DL_CHUNKED, 2},
                              {Form::parallel, DL_PARALLEL, 2},
                              {Form::summary, DL_SUMMARY, 3}};
    for (int scalar = 0; scalar < 2; ++scalar) {
        if (!level.scalars[scalar]) continue;
        std::map<std::pair<Form, Direction>, Result> found;
        for (int trial = 0; trial < level.trials; ++trial)
            for (bool one_token : {false, true}) {
                Draw draw(level.seed ^ 0xf10a7u, std::uint64_t(trial * 4 + scalar * 2 + one_token));
                auto const wanted = [&](Kind const& k) {
                    return (k.form == Form::step) == one_token && compiled.production()->of[scalar][k.kernel][0] &&
                           (level.forms.empty() ||
                            std::find(level.forms.begin(), level.forms.end(), k.form) != level.forms.end());
                };
                if (std::none_of(std::begin(kinds), std::end(kinds), wanted)) continue;
                Point const point = draw_point(compiled, shape_of(rule, trial, scalar == 1, one_token), draw);
                Reference const reference(compiled, point);
                auto const gradients = sample(reference, draw);
                for (auto const& kind : kinds) {
                    if (!wanted(kind)) continue;
                    Worst forward, backward;
                    int const chunk = kind.form == Form::summary   ? 1 + trial % 2 // several segments
                                      : kind.form != Form::chunked ? 0
                                      : trial % 3 == 0             ? level.chunk
                                      : trial % 3 == 1             ? 8
                                                                   : 3;
                    try {
                        auto const got = call(described, rule, point.shape, kind.code, chunk, trial % 3 == 1 ? 2 : 1,
                                              point.values, point.arriving);
                        compare_values(forward, rule, point.shape, got.forward, reference.forward);
                        compare_gradients(backward, rule, point.shape, got.gradients, gradients);
                    } catch (std::exception const& e) {
                        forward.error = backward.error = std::numeric_limits<double>::infinity();
                        forward.got = backward.got = e.what();
                    }
                    for (Direction direction : {Direction::forward, Direction::backward}) {
                        auto const& worst = direction == Direction::forward ? forward : backward;
                        Result& r = found[{kind.form, direction}];
                        r.rule = rule.name, r.form = kind.form, r.direction = direction, r.level = "float",
                        r.name = "declaration";
                        r.scalar = scalar ? "double" : "float", r.isa = runtime::isa_name(isa),
                        r.budget = level.budget[scalar];
                        ++r.trials;
                        if (r.error && worst.error <= *r.error) continue;
                        r.error = worst.error, r.tokens = point.shape.tokens,
                        r.chunk = chunk                         ? chunk
                                  : kind.form == Form::parallel ? point.shape.tokens
                                                                : 1;
                        r.dims.clear();
                        for (std::size_t d = 0; d < rule.dims.size(); ++d)
                            r.dims.emplace_back(rule.dims[d], point.shape.dims[d]);
                        r.pass = worst.error <= *r.budget; // false for a NaN
                        if (!r.pass) r.index = worst.index, r.got = worst.got, r.want = worst.want;
                    }
                }
            }
        for (auto& [key, r] : found) results.push_back(std::move(r));
    }
    return results;
}

} // namespace deltaloom::codegen
