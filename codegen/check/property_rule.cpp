#include "codegen/check/property_level.hpp"
#include "codegen/check/slices.hpp"
#include "codegen/check/without_gate.hpp"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace deltaloom::codegen {
namespace {

bool contains(std::vector<OperandId> const& list, OperandId id) {
    return std::find(list.begin(), list.end(), id) != list.end();
}
double neutral(Operand const& o) { return o.domain == Domain::log ? 0 : 1; }

bool equal_states(Subject const& s, CallTensors const& a, CallTensors const& b) {
    for (OperandId id : s.facts.states)
        if (a.values[std::size_t(id)] != b.values[std::size_t(id)]) return false;
    return true;
}

// ---- no write, no change ----

// Sets the tokens of a point so that they change nothing: factors at 0, gates at one, other scalars at `rest`.
template<class F> void still(Subject const& s, Point& p, F tokens, std::optional<double> rest) {
    for (OperandId id : s.facts.inputs) {
        auto const& o = s.operand(id);
        bool const factor = contains(s.facts.factors, id), gate = o.domain != Domain::real;
        if (!factor && !gate && !(rest && o.shape.scalar())) continue;
        auto const old = p.values.values[std::size_t(id)];
        double const value = factor ? 0 : gate ? neutral(o) : *rest;
        set(s, p, id, [&](int sequence, int t, int head, int e) {
            return tokens(t) ? value : old[place(s.rule, p, id, sequence, t, head) + std::size_t(e)];
        });
    }
}

void no_write(Sheet& sheet) {
    auto const& s = sheet.subject;
    if (s.facts.factors.empty()) return sheet.not_applicable(s.facts.no_factor);
    Draw draw = s.draw("no write");
    auto const one = s.point(s.shape(1), draw);
    // Whether the line itself is still there: in the declaration.
    std::optional<std::optional<double>> found;
    for (std::optional<double> rest : {std::optional<double>(), std::optional<double>(0), std::optional<double>(1)}) {
        Point p = one;
        still(s, p, [](int) { return true; }, rest);
        Reference const reference(s.compiled, p);
        if (!found && equal_states(s, reference.forward(), p.values)) found = rest;
    }
    if (!found) {
        std::vector<std::string> names;
        for (OperandId id : s.facts.factors) names.push_back(s.operand(id).name);
        return sheet.not_applicable(
            fmt::format("with {} at 0 and every gate at one, a token still changes a state", fmt::join(names, ", ")));
    }
    for (Form f : s.forms) {
        bool const step = f == Form::step;
        auto all = s.point(s.shape(step ? 1 : 19), draw);
        still(s, all, [](int) { return true; }, *found);
        auto const got = sheet.call(f, all, {.chunk = 8});
        auto states = got;
        states.forward = only(s, got.forward, [](Operand const& o) { return o.role == Role::state; });
        states.gradients.values.clear();
        sheet.same(f, all, 8, states, all.values, {}, 0);
        if (step) {
            sheet.not_applicable(f, Direction::backward, "one token that changes nothing leaves no other token");
            continue;
        }
        // Without those tokens the others see the same.
        auto p = s.point(s.shape(24), draw);
        auto const is_still = [](int t) { return t == 0 || t == 6 || t == 7 || t == 15 || t == 16 || t == 23; };
        still(s, p, is_still, *found);
        silence(s, p, is_still);
        Point rest = slice(s, p, 0, 0, 18);
        std::vector<int> kept;
        for (int t = 0; t < 24; ++t)
            if (!is_still(t)) kept.push_back(t);
        for (int i = 0; i < int(kept.size()); ++i) {
            auto const token = slice(s, p, 0, kept[std::size_t(i)], 1);
            for (auto [to, from] : {std::pair{&rest.values, &token.values}, {&rest.arriving, &token.arriving}})
                for (OperandId id = 0; id < OperandId(s.rule.operands.size()); ++id) {
                    auto const& o = s.operand(id);
                    if ((!o.per_token() && o.role != Role::output) || from->values[std::size_t(id)].empty()) continue;
                    std::copy(from->values[std::size_t(id)].begin(), from->values[std::size_t(id)].end(),
                              to->values[std::size_t(id)].begin() + std::ptrdiff_t(place(s.rule, rest, id, 0, i, 0)));
                }
        }
        auto whole = sheet.call(f, p, {.chunk = 8});
        auto const want = sheet.call(f, rest, {.chunk = 8});
        if (!whole.good() || !want.good()) {
            sheet.same(f, p, 8, whole.good() ? want : whole, {}, {}, 0);
            continue;
        }
        for (auto* list : {&whole.forward, &whole.gradients})
            for (OperandId id = 0; id < OperandId(s.rule.operands.size()); ++id) {
                auto const& o = s.operand(id);
                auto& values = list->values[std::size_t(id)];
                if ((!o.per_token() && o.role != Role::output) || values.empty()) continue;
                auto const n = entries(s.rule, p.shape, id);
                for (int i = 0; i < int(kept.size()); ++i)
                    std::copy_n(values.begin() + std::ptrdiff_t(std::size_t(kept[std::size_t(i)]) * n), n,
                                values.begin() + std::ptrdiff_t(std::size_t(i) * n));
                values.resize(kept.size() * n);
            }
        // A parameter may have a share in what the removed tokens read.
        whole.gradients = only(s, whole.gradients, [](Operand const& o) { return !is_parameter(o); });
        sheet.same(f, rest, 8, whole, want.forward, want.gradients, float_budget);
    }
}

// ---- gates ----

void gate_one(Sheet& sheet) {
    if (sheet.subject.facts.decays.empty()) return sheet.not_applicable("no gate decays its state");
    gate_at_one(sheet, sheet.subject.facts.decays);
}

void reset(Sheet& sheet) {
    auto const& s = sheet.subject;
    if (s.facts.decays.empty()) return sheet.not_applicable("no gate decays its state");
    constexpr int tokens = 30;
    for (int at : {0, 11, 16, 29}) {
        Draw draw = s.draw("reset", at);
        auto p = s.point(s.shape(tokens), draw);
        for (OperandId gate : s.facts.decays) {
            auto const old = p.values.values[std::size_t(gate)];
            bool const log = s.operand(gate).domain == Domain::log;
            set(s, p, gate, [&](int sequence, int t, int head, int e) {
                if (t == at) return log ? -std::numeric_limits<double>::infinity() : 0.0;
                return old[place(s.rule, p, gate, sequence, t, head) + std::size_t(e)];
            });
        }
        // Asked of the declaration: what does the token see of the state before it?
        Point token = slice(s, p, 0, at, 1), fresh = token;
        zero_states(s, fresh);
        Reference const one(s.compiled, token), two(s.compiled, fresh);
        if (!equal_states(s, one.forward(), two.forward()))
            return sheet.not_applicable("a token with the gates at zero still uses the state before it: it is read or "
                                        "mixed beside its decay");
        bool sees = false; // a read before the decay
        for (OperandId id : s.facts.outputs)
            sees |= one.forward().values[std::size_t(id)] != two.forward().values[std::size_t(id)];
        if (sees) silence(s, p, [&](int t) { return t == at; });
        auto const before = [&] {
            auto part = slice(s, p, 0, 0, at);
            silence_states(s, part);
            return part;
        }();
        auto after = slice(s, p, 0, at, tokens - at);
        zero_states(s, after);
        for (Form f : s.forms) {
            if (f == Form::step) {
                auto const mine = sheet.call(f, token, {}), other = sheet.call(f, fresh, {});
                auto values = mine;
                values.gradients.values.clear();
                if (sees)
                    values.forward = only(s, values.forward, [](Operand const& o) { return o.role == Role::state; });
                sheet.same(f, token, 0, values, other.forward, {}, 0);
                sheet.not_applicable(f, Direction::backward, "one token is one sequence");
                continue;
            }
            auto got = sheet.call(f, p, {.chunk = 8});
            auto const first = sheet.call(f, before, {.chunk = 8}), second = sheet.call(f, after, {.chunk = 8});
            if (!got.good() || !first.good() || !second.good()) {
                sheet.same(f, p, 8, !got.good() ? got : !first.good() ? first : second, {}, {}, 0);
                continue;
            }
            CallTensors forward = blank(s, p), gradients = blank(s, p);
            put(s, p, forward, 0, 0, before, first.forward, false);
            put(s, p, forward, 0, at, after, second.forward, true);
            put(s, p, gradients, 0, 0, before, first.gradients, true);
            put(s, p, gradients, 0, at, after, second.gradients, false);
            // What the reset token itself reads of the old state, and the gradient of a gate at zero, which sees it.
            for (OperandId id = 0; id < OperandId(s.rule.operands.size()); ++id) {
                auto const i = std::size_t(id);
                bool const output = s.operand(id).role == Role::output;
                if (!(output && sees) && !contains(s.facts.decays, id)) continue;
                auto& mine = output ? got.forward.values[i] : got.gradients.values[i];
                auto& want = output ? forward.values[i] : gradients.values[i];
                auto const n = entries(s.rule, p.shape, id);
                for (std::size_t e = 0; e < n; ++e) {
                    auto const where_ = place(s.rule, p, id, 0, at, 0) + e;
                    if (std::isfinite(mine[where_])) want[where_] = mine[where_];
                }
            }
            sheet.same(f, p, 8, got, forward, gradients, float_budget);
        }
    }
}

// ---- heads and dimensions ----

void grouped(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (Form f : s.forms)
        for (int share : {2, 4}) {
            auto shape = s.shape(f == Form::step ? 1 : 19, 2, 4);
            for (OperandId id = 0; id < OperandId(s.rule.operands.size()); ++id)
                if (auto const role = s.operand(id).role; role != Role::state && role != Role::output)
                    shape.operand_heads[std::size_t(id)] = id % 3 == 2 ? 4 : 4 / share;
            Draw draw = s.draw("grouped", share);
            auto const p = s.point(shape, draw);
            Point repeated = p;
            repeated.shape.operand_heads.assign(s.rule.operands.size(), 4);
            auto const each_copy = [&](OperandId id, auto copy) {
                auto const n = entries(s.rule, p.shape, id);
                int const tokens = s.operand(id).per_token() ? p.shape.tokens : 1;
                int const sequences = s.operand(id).role == Role::parameter ? 1 : p.sequences();
                for (int sequence = 0; sequence < sequences; ++sequence)
                    for (int t = 0; t < tokens; ++t)
                        for (int head = 0; head < 4; ++head)
                            for (std::size_t e = 0; e < n; ++e)
                                copy(place(s.rule, p, id, sequence, t, head) + e,
                                     place(s.rule, repeated, id, sequence, t, head) + e);
            };
            for (OperandId id = 0; id < OperandId(s.rule.operands.size()); ++id) {
                auto const i = std::size_t(id);
                if (s.operand(id).role == Role::state || s.operand(id).role == Role::output) continue;
                repeated.values.values[i].resize(total(s.rule, repeated, id));
                each_copy(id, [&](std::size_t from, std::size_t to) {
                    repeated.values.values[i][to] = p.values.values[i][from];
                });
            }
            auto const got = sheet.call(f, p, {.chunk = 8}), want = sheet.call(f, repeated, {.chunk = 8});
            if (!got.good() || !want.good()) {
                sheet.same(f, p, 8, got.good() ? want : got, {}, {}, 0);
                continue;
            }
            CallTensors sums = blank(s, p);
            for (OperandId id = 0; id < OperandId(s.rule.operands.size()); ++id) {
                auto const i = std::size_t(id);
                if (s.operand(id).role == Role::state) sums.values[i] = want.gradients.values[i];
                if (s.operand(id).role == Role::state || s.operand(id).role == Role::output) continue;
                each_copy(id, [&](std::size_t to, std::size_t from) {
                    sums.values[i][to] += want.gradients.values[i][from];
                });
            }
            Answer values = got;
            values.gradients.values.clear();
            sheet.same(f, p, 8, values, want.forward, {}, 0);
            auto gradients = got;
            gradients.forward.values.clear();
            sheet.same(f, p, 8, gradients, {}, sums, float_budget);
        }
}

// The entries of an operand in larger extents: f(place there, place here).
template<class F> void each_inner(Subject const& s, Point const& small, Point const& large, OperandId id, F f) {
    auto const& o = s.operand(id);
    auto const extent = [](Point const& p, DimId d) { return d == one ? 1 : p.shape.dims[std::size_t(d)]; };
    int const steps = std::max(1, o.steps), rows = extent(small, o.shape.rows), cols = extent(small, o.shape.cols);
    int const tokens = o.per_token() || o.role == Role::output ? small.shape.tokens : 1;
    for (int t = 0; t < tokens; ++t)
        for (int j = 0; j < steps; ++j)
            for (int r = 0; r < rows; ++r)
                for (int c = 0; c < cols; ++c) {
                    auto const at = [&](Point const& p) {
                        return place(s.rule, p, id, 0, t, 0) +
                               std::size_t((j * extent(p, o.shape.rows) + r) * extent(p, o.shape.cols) + c);
                    };
                    f(at(large), at(small));
                }
}
// The dimensions that feature maps are made of stay: an empty channel there moves the features to other places.
Point widened(Subject const& s, Point const& p, std::vector<int> dims) {
    Point large{p.shape, {}, {}, {}};
    for (std::size_t d = 0; d < dims.size(); ++d)
        if (has_mapped(s.rule.dims, s.rule.dims[d])) dims[d] = p.shape.dims[d];
    large.shape.dims = with_mapped(s.rule.dims, std::move(dims));
    for (auto [to, from] : {std::pair{&large.values, &p.values}, {&large.arriving, &p.arriving}})
        for (OperandId id = 0; id < OperandId(s.rule.operands.size()); ++id) {
            auto const& values = from->values[std::size_t(id)];
            auto& list = to->values.emplace_back(values.empty() ? 0 : total(s.rule, large, id), 0.0);
            if (!values.empty())
                each_inner(s, p, large, id, [&](std::size_t there, std::size_t here) { list[there] = values[here]; });
        }
    return large;
}
CallTensors narrowed(Subject const& s, Point const& p, Point const& large, CallTensors const& t) {
    CallTensors inner;
    for (OperandId id = 0; id < OperandId(s.rule.operands.size()); ++id) {
        auto const& values = t.values[std::size_t(id)];
        auto& list = inner.values.emplace_back(values.empty() ? 0 : total(s.rule, p, id), 0.0);
        if (!values.empty())
            each_inner(s, p, large, id, [&](std::size_t there, std::size_t here) { list[here] = values[there]; });
    }
    return inner;
}

void padded(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (bool step : {false, true})
        for (auto const& dims : {s.dims(8, 8, 8), s.dims(6, 16, 5), s.dims(17, 5, 5)}) {
            Draw draw = s.draw("padded", step);
            auto const p = s.point(s.shape(step ? 1 : 19), draw);
            auto const large = widened(s, p, dims);
            Reference const one(s.compiled, p), two(s.compiled, large);
            Worst difference;
            compare_values(difference, s.rule, p, narrowed(s, p, large, two.forward()), one.forward());
            if (!(difference.error <= 1e-12))
                return sheet.not_applicable("an empty channel changes the others in its line");
            for (Form f : s.forms) {
                if ((f == Form::step) != step) continue;
                auto const want = sheet.call(f, p, {.chunk = 8});
                auto got = sheet.call(f, large, {.chunk = 8});
                if (!got.good() || !want.good()) {
                    sheet.same(f, p, 8, got.good() ? want : got, {}, {}, 0);
                    continue;
                }
                got.forward = narrowed(s, p, large, got.forward);
                got.gradients = narrowed(s, p, large, got.gradients);
                sheet.same(f, p, 8, got, want.forward, want.gradients, float_budget);
            }
        }
}

} // namespace

void gate_at_one(Sheet& sheet, std::vector<OperandId> const& gates) {
    auto const& s = sheet.subject;
    sheet.not_applicable("its line is none without the gate");
    for (OperandId gate : gates) {
        auto const declaration = without_gate(s.compiled.rule().declaration, s.operand(gate).name);
        if (!declaration) continue;
        for (bool step : {false, true}) {
            Draw draw = s.draw("gate one", int(gate) * 2 + step);
            auto p = s.point(s.shape(step ? 1 : 21), draw);
            set(s, p, gate, [&](int, int, int, int) { return s.operand(gate).domain == Domain::log ? 0.0 : 1.0; });
            auto const reference = reference_without(s, *declaration, p);
            if (!reference) continue;
            auto gradients = sample(*reference, draw, 2);
            gradients[std::size_t(gate)] = {}; // the line without it has no gradient for it
            for (Form f : s.forms)
                if ((f == Form::step) == step)
                    sheet.same(f, p, 8, sheet.call(f, p, {.chunk = 8}), *reference, gradients, float_budget);
        }
    }
}

std::vector<Row> rule_properties() {
    return {{"no write, no change", no_write},
            {"gate at one = no gate", gate_one},
            {"gate at zero = two sequences", reset},
            {"grouped heads = heads repeated", grouped},
            {"padded dimensions = exact ones", padded}};
}

std::vector<Row> properties() {
    auto all = sequence_properties();
    for (auto&& part : {rule_properties(), call_properties(), storage_properties()})
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

} // namespace deltaloom::codegen
