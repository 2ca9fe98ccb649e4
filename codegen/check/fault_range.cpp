#include "codegen/check/fault_level.hpp"
#include "codegen/check/property_level.hpp"
#include "codegen/check/rounding.hpp"
#include "codegen/check/slices.hpp"

#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace deltaloom::codegen {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// A point whose log gates are what f(token, head, entry) says.
template<class F> Point with_gates(Subject const& s, CallShape shape, Draw& draw, F f) {
    auto p = s.point(std::move(shape), draw);
    for (OperandId gate : s.facts.log_gates)
        set(s, p, gate, [&](int, int t, int head, int e) { return f(t, head, e); });
    return p;
}

// A fault of log gates: against the declaration at each of some points.
template<class F> std::function<void(Sheet&)> of_gates(int rows, int columns, int tokens, Comparison const& how, F f) {
    return [=](Sheet& sheet) {
        auto const& s = sheet.subject;
        if (s.facts.log_gates.empty()) return sheet.not_applicable("no log gate");
        Draw draw = s.draw("gates", tokens);
        auto p = with_gates(s, shape_with(s.rule, s.dims(rows, columns, 7), 1, tokens, 1), draw,
                            [&](int t, int, int e) { return f(draw, t, e); });
        against(sheet, p, draw, how);
    };
}

void channels(Sheet& sheet) {
    auto const& s = sheet.subject;
    if (s.facts.key_gates.empty() && s.facts.value_gates.empty())
        return sheet.not_applicable("no channel has a log gate");
    for (double g : {-5.0, -3.0}) {
        Draw draw = s.draw("channels");
        auto const p = with_gates(s, s.shape(64), draw, [&](int, int, int) { return g; });
        against(sheet, p, draw, {{64, 16}});
    }
}

void one_head(Sheet& sheet) {
    auto const& s = sheet.subject;
    if (s.facts.log_gates.empty()) return sheet.not_applicable("no log gate");
    Draw draw = s.draw("one head");
    auto const heads = with_gates(s, s.shape(64, 1, 2), draw, [](int, int head, int) { return head ? 0.0 : -20.0; });
    against(sheet, heads, draw, {{64, 16}});
    auto const all = with_gates(s, s.shape(129), draw, [](int, int, int) { return -6.0; });
    against(sheet, all, draw, {{64, 16}, 2e-5, 1, 1});
}

void zero_gates(Sheet& sheet) {
    auto const& s = sheet.subject;
    if (s.facts.log_gates.empty()) return sheet.not_applicable("no log gate");
    Draw draw = s.draw("zero gates");
    against(sheet, with_gates(s, s.shape(40), draw, [](int, int, int) { return 0.0; }), draw, {{16, 7}});
    for (double resets : {0.1, 0.5})
        against(
            sheet,
            with_gates(s, s.shape(40), draw, [&](int, int, int) { return draw.chance(resets) ? minus_infinity : 0.0; }),
            draw, {{16, 7}});
}

void positive(Sheet& sheet) {
    auto const& s = sheet.subject;
    if (s.facts.log_gates.empty()) return sheet.not_applicable("no log gate");
    Draw draw = s.draw("positive");
    auto const p = with_gates(s, s.shape(20), draw, [](int t, int, int) { return t == 3 ? 2.5 : 0.0; });
    against(sheet, p, draw, {{16, 7}, 1e-4}); // right while it is finite
    for (Form f : s.forms) {                  // and refused by its name where values are looked at
        auto const large = with_gates(s, s.shape(f == Form::step ? 1 : 20), draw,
                                      [](int t, int, int) { return t == 0 ? 176.0 : 0.0; });
        Manner manner;
        manner.flags = DL_CHECK_VALUES;
        auto const got = sheet.call(f, large, manner);
        std::string const name = s.operand(s.facts.log_gates[0]).name,
                          said = got.code ? got.status.message : "an answer";
        for (Direction d : {Direction::forward, Direction::backward})
            sheet.holds(f, d, large, 0, got.code == DL_BAD_VALUE && said.find(name) != said.npos, "the call", said,
                        "a refusal that names " + name);
    }
}

// Unnormalised keys: a chunk may lose what the step form loses, and no more.
void growth(Sheet& sheet) {
    auto const& s = sheet.subject;
    if (!s.facts.erases) return sheet.not_applicable("nothing is erased: there is no system to solve");
    Draw draw = s.draw("growth");
    auto p = s.point(shape_with(s.rule, s.dims(6, 16, 5), 1, 64, 1), draw);
    for (OperandId key : s.facts.keys)
        set(s, p, key, [&](int, int, int, int) {
            return draw.normal() / std::sqrt(std::sqrt(double(entries(s.rule, p.shape, key))));
        });
    Reference const reference(s.compiled, p);
    auto const gradients = sample(reference, draw, 2);
    auto const recurrent = invoke(s.described, s.rule, p, {.form = DL_RECURRENT});
    Worst forward, backward;
    if (recurrent.good()) {
        compare_values(forward, s.rule, p, recurrent.forward, reference.forward());
        compare_gradients(backward, s.rule, p, recurrent.gradients, gradients);
    }
    bool const finite = std::isfinite(forward.error) && std::isfinite(backward.error);
    for (Form f : s.forms)
        for (int chunk : {64, 16}) {
            if (f != Form::chunked && chunk != 64) continue;
            if (f == Form::step) {
                sheet.not_applicable(f, "one token has no system");
                continue;
            }
            if (!finite) {
                sheet.not_applicable(f, "the rule itself overflows with such keys");
                continue;
            }
            auto const got = sheet.call(f, p, {.chunk = chunk});
            Answer values = got, slopes = got;
            values.gradients.values.clear(), slopes.forward.values.clear();
            sheet.same(f, p, chunk, values, reference, gradients, std::max(2e-5, 64 * forward.error));
            sheet.same(f, p, chunk, slopes, reference, gradients, std::max(2e-5, 64 * backward.error));
        }
}

// Gates of decays near 1.
void hardly_decay(Subject const& s, Point& p, Draw& draw, double most) {
    for (OperandId gate : s.facts.decays) {
        bool const log = s.operand(gate).domain == Domain::log;
        set(s, p, gate, [&](int, int, int, int) { return log ? -draw.uniform(0, most) : 1 - draw.uniform(0, most); });
    }
}

void stream(Sheet& sheet) {
    auto const& s = sheet.subject;
    constexpr int pieces = 7, tokens = 20000;
    for (Form f : s.forms) sheet.not_applicable(f, Direction::backward, "it is about the state of a stream");
    sheet.not_applicable(Form::step, "the recurrent form is the same stream in one call");
    sheet.not_applicable(Form::parallel, "a stream comes in pieces");
    constexpr Form forms[] = {Form::recurrent, Form::chunked, Form::summary};
    CallTensors exact, states[3];
    for (int piece = 0; piece < pieces; ++piece) {
        Draw draw = s.draw("stream", piece);
        auto p = s.point(shape_with(s.rule, s.dims(3, 4, 3), 1, tokens, 1), draw);
        hardly_decay(s, p, draw, 1e-3);
        if (piece) set_states(s, p, exact);
        Reference const reference(s.compiled, p);
        exact = reference.forward();
        for (int i = 0; i < 3; ++i) {
            Form const f = forms[i];
            if (!s.has(f)) continue;
            if (piece) set_states(s, p, states[i]);
            auto const got = sheet.call(f, p, {.chunk = 16, .backward = false});
            states[i] = got.forward;
            sheet.same(f, p, 16, got, reference, {}, 2e-4);
            if (!got.good()) return;
        }
        if (!reference.in_range()) return;
    }
}

// A host that keeps the state in 16 bits between steps: its error is told, and is that of a state of the other sign at
// most (a sum that only grows stands still where an addend is below half a unit in the last place); with float32 it is
// small.
void short_state(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (Form f : s.forms)
        if (f != Form::step) sheet.not_applicable(f, "the state stays in float32 within a call");
    if (!s.has(Form::step)) return;
    sheet.not_applicable(Form::step, Direction::backward, "it is about decoding");
    Draw draw = s.draw("short state");
    auto const p = s.point(shape_with(s.rule, s.dims(3, 4, 3), 1, 2000, 1), draw);
    Reference const reference(s.compiled, p);
    for (bool shortened : {false, true}) {
        Manner manner{.form = DL_STEP, .backward = false};
        Answer whole;
        whole.forward = blank(s, p);
        CallTensors state = p.values;
        for (int t = 0; t < p.shape.tokens; ++t) {
            auto token = slice(s, p, 0, t, 1);
            set_states(s, token, state);
            auto const got = t ? invoke(s.described, s.rule, token, manner) : sheet.call(Form::step, token, manner);
            if (!got.good()) return sheet.same(Form::step, token, 0, got, {}, {}, 0);
            state = got.forward;
            for (OperandId id : s.facts.states)
                if (shortened) each_entry(state.values[std::size_t(id)], [](double& x) { x = rounded_to(x, DL_BF16); });
            put(s, p, whole.forward, 0, t, token, state, true);
        }
        sheet.same(Form::step, p, 0, whole, reference, {}, shortened ? 2 : 2e-4);
    }
}

// Inputs in 16 bits; gates and scalars keep theirs.
Point short_inputs(Subject const& s, Point p, std::vector<std::uint32_t>& scalars) {
    scalars.assign(s.rule.operands.size(), DL_F32);
    for (OperandId id : s.facts.inputs) {
        if (s.operand(id).domain != Domain::real || s.operand(id).shape.scalar()) continue;
        scalars[std::size_t(id)] = DL_BF16;
        each_entry(p.values.values[std::size_t(id)], [](double& x) { x = rounded_to(x, DL_BF16); });
    }
    return p;
}

void short_scalars(Sheet& sheet) {
    auto const& s = sheet.subject;
    Draw draw = s.draw("short scalars");
    Comparison how{{16}, 1e-4};
    how.backward = false;
    auto p = s.point(shape_with(s.rule, s.dims(3, 4, 3), 1, 10000, 1), draw);
    hardly_decay(s, p, draw, 1e-3);
    p = short_inputs(s, p, how.scalars);
    against(sheet, p, draw, how);
}

void gates_beside_short_inputs(Sheet& sheet) {
    auto const& s = sheet.subject;
    if (s.facts.log_gates.empty()) return sheet.not_applicable("no log gate");
    for (double low : {-1.0, -5.0}) {
        Draw draw = s.draw("short inputs");
        Comparison how{{16}, 4e-4, 1e-3};
        auto p = with_gates(s, s.shape(64), draw, [&](int, int, int) { return draw.uniform(low, 0); });
        p = short_inputs(s, p, how.scalars);
        Reference const reference(s.compiled, p);
        auto const all = sample(reference, draw, 3);
        auto gates = all, others = all; // those of short inputs are rounded once more, where they are stored
        for (OperandId id = 0; id < OperandId(all.size()); ++id)
            (how.scalars[std::size_t(id)] == DL_F32 ? others : gates)[std::size_t(id)] = {};
        for (Form f : s.forms) {
            if (f == Form::step) {
                sheet.not_applicable(f, "sixty-four tokens");
                continue;
            }
            Manner manner{.chunk = 16};
            manner.scalars = how.scalars;
            auto const got = sheet.call(f, p, manner);
            sheet.same(f, p, 16, got, reference, gates, how.budget, how.floor);
            sheet.same(f, p, 16, got, reference, others, 8e-3, how.floor);
        }
    }
}

// Gradients of the gates alone, with nothing to add to their own largest entry.
void strong_gates(Sheet& sheet) {
    auto const& s = sheet.subject;
    if (s.facts.log_gates.empty()) return sheet.not_applicable("no log gate");
    sheet.not_applicable(Form::step, "forty tokens");
    for (auto const& [low, high] : {std::pair{-20.0, -20.0}, {-5.0, 0.0}, {-20.0, -5.0}}) {
        Draw draw = s.draw("strong gates", int(low - high));
        auto const p = with_gates(s, s.shape(40), draw, [&](int, int, int) { return draw.uniform(low, high); });
        Reference const reference(s.compiled, p);
        auto gradients = sample(reference, draw, 6);
        for (OperandId id = 0; id < OperandId(gradients.size()); ++id)
            if (s.operand(id).domain != Domain::log) gradients[std::size_t(id)] = {};
        for (Form f : s.forms) {
            if (f == Form::step) continue;
            auto got = sheet.call(f, p, {.chunk = 16});
            Answer values = got;
            values.gradients.values.clear(), got.forward.values.clear();
            sheet.same(f, p, 16, values, reference, {}, float_budget);
            sheet.same(f, p, 16, got, reference, gradients, 1e-5, 0);
        }
    }
}

void equal_keys(Sheet& sheet) {
    auto const& s = sheet.subject;
    if (s.facts.key_gates.empty()) return sheet.not_applicable("no key channel has a log gate");
    Draw draw = s.draw("equal keys");
    auto p = s.point(s.shape(64), draw);
    for (OperandId key : s.facts.keys) {
        auto const first = p.values.values[std::size_t(key)];
        set(s, p, key, [&](int, int, int, int e) { return rounded_to(first[std::size_t(e)], DL_BF16); });
    }
    against(sheet, p, draw, {{64, 16}, 1e-4});
}

} // namespace

std::vector<Row> range_faults() {
    auto const beside = [](double low) {
        return [low](Draw&, int t, int) { return low == -90 ? (t / 8 % 2 ? -90 : -1e-3) : t % 11 == 5 ? low : -1e-3; };
    };
    return {
        {"1 gates of -70, rows past the end",
         of_gates(64, 64, 75, {{64}, 2e-5, 1, 1}, [](Draw&, int, int) { return -70.0; })},
        {"2 gates of -5 to -2", of_gates(6, 5, 64, {{64, 16}}, [](Draw& d, int, int) { return d.uniform(-5, -2); })},
        {"3 gates of -100", of_gates(6, 5, 32, {{32, 16}}, [](Draw&, int, int) { return -100.0; })},
        {"4 gates of -5 and -3 on all channels", channels},
        {"5 a gate of -20 on one head, -6 on all channels", one_head},
        {"6 gates of 0, and 0 beside -inf", zero_gates},
        {"7 a positive log gate", positive},
        {"8 unnormalised keys", growth},
        {"9 a stream of 140,000 tokens", stream},
        {"10 a state of 16 bits over 2,000 steps", short_state},
        {"11 gates and scalars keep float32 beside 16-bit inputs", short_scalars},
        {"29 gradients of gates beside 16-bit inputs", gates_beside_short_inputs},
        {"41 a gate of -1e4 beside -1e-3", of_gates(6, 5, 140, {{16, 64, 128}, 1e-6, 1, 1}, beside(-1e4))},
        {"41 a gate of -90 for half a chunk", of_gates(6, 5, 140, {{16, 64, 128}, 1e-6, 1, 1}, beside(-90))},
        {"42 gradients of gates of -20, -5 to 0 and -20 to -5, against their own largest", strong_gates},
        {"46 equal keys under a channel gate", equal_keys}};
}

} // namespace deltaloom::codegen
