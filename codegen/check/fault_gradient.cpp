#include "codegen/check/fault_level.hpp"
#include "codegen/check/property_level.hpp"
#include "codegen/check/slices.hpp"

namespace deltaloom::codegen {
namespace {

void gate_zero(Sheet& sheet) {
    if (sheet.subject.facts.decays.empty()) return sheet.not_applicable("no gate decays its state");
    gate_at_one(sheet, sheet.subject.facts.decays);
}
void value_gate_zero(Sheet& sheet) {
    if (sheet.subject.facts.value_gates.empty()) return sheet.not_applicable("no value channel has a log gate");
    gate_at_one(sheet, sheet.subject.facts.value_gates);
}

// A loss on the outputs only, on the final states only, on both; what does not arrive may be absent.
void losses(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (bool states : {false, true})
        for (bool outputs : {false, true}) {
            Draw draw = s.draw("losses");
            auto p = s.point(s.shape(21, 1, 2), draw);
            if (!states) silence_states(s, p);
            if (!outputs) silence(s, p, [](int) { return true; });
            against(sheet, p, draw, {{8}, 2e-5, 1, 1});
            for (Form f : s.forms) {
                auto const mine = f == Form::step ? slice(s, p, 0, 0, 1) : p;
                Manner absent{.chunk = 8};
                absent.arriving_outputs = outputs, absent.arriving_states = states;
                same_bits(sheet, f, mine, {{.chunk = 8}, absent});
            }
        }
}

void no_initial_state(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (Form f : s.forms) {
        Draw draw = s.draw("no initial state");
        auto p = s.point(s.shape(f == Form::step ? 1 : 21, 1, 2), draw);
        zero_states(s, p);
        Manner without{.chunk = 8};
        without.state_in = false;
        same_bits(sheet, f, p, {{.chunk = 8}, without});
        Manner unwanted{.chunk = 8};
        unwanted.state_out = false;
        same_bits(sheet, f, p, {{.chunk = 8}, unwanted});
    }
    Draw draw = s.draw("with a state");
    against(sheet, s.point(s.shape(21), draw), draw, {{8}});
}

void denominators(Sheet& sheet) {
    auto const& s = sheet.subject;
    if (!s.facts.divides) return sheet.not_applicable("its line divides by nothing");
    for (int tokens : {1, 17, 40}) {
        Draw draw = s.draw("denominators", tokens);
        against(sheet, s.point(s.shape(tokens), draw), draw, {{16, 7}, 2e-5, 1, 6});
    }
}

// What comes back to the first token over a long way.
void long_way_back(Sheet& sheet) {
    auto const& s = sheet.subject;
    if (s.facts.decays.empty()) return sheet.not_applicable("no gate decays its state");
    sheet.not_applicable(Form::step, "one token has no way back");
    sheet.not_applicable(Form::parallel, "a chunk of 4,096 tokens");
    Draw draw = s.draw("long way back");
    auto p = s.point(shape_with(s.rule, s.dims(3, 4, 3), 1, 4096, 1), draw);
    for (OperandId gate : s.facts.decays) {
        bool const log = s.operand(gate).domain == Domain::log;
        set(s, p, gate, [&](int, int, int, int) { return log ? -draw.uniform(0, 1e-3) : 1 - draw.uniform(0, 1e-3); });
    }
    Reference const reference(s.compiled, p);
    std::vector<Sampled> gradients = sample(reference, draw, 0);
    for (OperandId id : s.facts.inputs) gradients[std::size_t(id)].entries.emplace_back(0, reference.derivative(id, 0));
    for (Form f : s.forms)
        if (f == Form::recurrent || f == Form::chunked || f == Form::summary)
            sheet.same(f, p, 16, sheet.call(f, p, {.chunk = 16}), reference, gradients, 1e-4);
}

// Zeros and ones where something might be divided by them.
void zeros(Sheet& sheet) {
    auto const& s = sheet.subject;
    double const linear[] = {0, -0.5, 1, 0.75}, scalar[] = {0, 1, 0.5};
    for (int turn : {0, 1}) {
        Draw draw = s.draw("zeros", turn);
        auto p = s.point(s.shape(37), draw);
        for (OperandId id : s.facts.inputs) {
            auto const& o = s.operand(id);
            if (o.domain == Domain::linear) set(s, p, id, [&](int, int, int, int) { return linear[draw.below(4)]; });
            if (o.domain == Domain::real && o.shape.scalar())
                set(s, p, id, [&](int, int, int, int) { return scalar[draw.below(3)]; });
        }
        against(sheet, p, draw, {{16, 7}, 2e-5, 1, 6});
    }
}

void maps_at_zero(Sheet& sheet) {
    auto const& s = sheet.subject;
    bool const numbers = std::any_of(s.rule.nodes.begin(), s.rule.nodes.end(),
                                     [](ExprNode const& n) { return n.kind == ExprKind::number; });
    if (s.facts.maps.empty() && !numbers) return sheet.not_applicable("its line has no map and no number");
    for (int tokens : {9, 17, 19}) {
        Draw draw = s.draw("maps at zero", tokens);
        against(sheet, s.point(s.shape(tokens), draw), draw, {{8, 16}, 2e-5, 1, 4});
    }
}

} // namespace

std::vector<Row> gradient_faults() {
    return {{"25 a gate of zero and no gate", gate_zero},
            {"26 a loss on the state, on the output, on both", losses},
            {"27 no initial state", no_initial_state},
            {"28 gradients through a denominator", denominators},
            {"30 gates near 1 over 4,096 tokens", long_way_back},
            {"31 a value-channel gate of zero", value_gate_zero},
            {"43 scalars of 0 and 1, linear gates of 0 and below", zeros},
            {"44 a short last chunk under maps", maps_at_zero}};
}

} // namespace deltaloom::codegen
