#include "codegen/check/property_level.hpp"
#include "codegen/check/slices.hpp"

#include <fmt/format.h>

namespace deltaloom::codegen {

void split_in(Sheet& sheet, std::vector<std::vector<int>> const& splits, int chunk) {
    auto const& s = sheet.subject;
    for (Form f : s.forms) {
        bool const step = f == Form::step;
        Form const whole_form = step && s.has(Form::recurrent) ? Form::recurrent : f;
        if (step && whole_form == f) {
            sheet.not_applicable(f, "one token cannot be split, and the recurrent form was not asked for");
            continue;
        }
        for (auto lengths : splits) {
            if (step) lengths = {1, 1, 1, 1, 1};
            int tokens = 0;
            for (int n : lengths) tokens += n;
            Draw draw = s.draw("split", tokens);
            auto const p = s.point(s.shape(tokens, 1, 2), draw);
            Manner const manner{.chunk = chunk};
            auto const want = sheet.call(whole_form, p, manner);
            if (want.good())
                sheet.same(f, p, chunk, in_pieces(sheet, f, p, lengths, manner), want.forward, want.gradients,
                           float_budget);
            else
                sheet.same(f, p, chunk, want, {}, {}, 0);
        }
    }
}

// Parameters' gradients are sums over sequences, the rest has the same bits.
void packed_as(Sheet& sheet, std::vector<std::int64_t> const& offsets) {
    auto const& s = sheet.subject;
    for (Form f : s.forms) {
        if (f == Form::step) {
            sheet.not_applicable(f, "a step is one token of one sequence");
            continue;
        }
        Draw draw = s.draw("packed");
        auto const p = s.point(s.shape(int(offsets.back()), 1, 2), draw, offsets);
        auto const got = sheet.call(f, p, {.chunk = 8, .threads = 2});
        CallTensors forward = blank(s, p), gradients = blank(s, p);
        for (int i = 0; i < p.sequences() && got.good(); ++i) {
            auto const piece = slice(s, p, i, 0, p.length(i));
            auto const alone = sheet.call(f, piece, {.chunk = 8});
            if (!alone.good()) return sheet.same(f, piece, 8, alone, {}, {}, 0);
            put(s, p, forward, i, 0, piece, alone.forward, true);
            put(s, p, gradients, i, 0, piece, alone.gradients, true);
        }
        Answer mine = got, shared = got;
        mine.gradients = only(s, got.gradients, [](Operand const& o) { return !is_parameter(o); });
        shared.gradients = only(s, got.gradients, is_parameter);
        sheet.same(f, p, 8, mine, forward, gradients, 0);
        shared.forward.values.clear();
        if (got.good() && !s.facts.parameters.empty()) sheet.same(f, p, 8, shared, {}, gradients, float_budget);
    }
}

namespace {

void split(Sheet& sheet) { split_in(sheet, {{0, 37}, {1, 36}, {8, 29}, {13, 24}, {36, 1}, {37, 0}, {3, 3, 0, 31}}, 8); }
void packed(Sheet& sheet) {
    packed_as(sheet, {0, 0, 5, 5, 9, 26, 26});
    packed_as(sheet, {0, 1, 4, 21});
}

void prefix(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (Form f : s.forms) {
        if (f == Form::step) {
            sheet.not_applicable(f, "one token has no prefix");
            continue;
        }
        Draw draw = s.draw("prefix");
        auto const base = s.point(s.shape(40), draw), other = s.point(s.shape(40), draw);
        for (int end : {0, 1, 7, 8, 16, 17, 33, 39}) {
            auto p = base;
            silence_states(s, p);
            silence(s, p, [&](int t) { return t >= end; });
            Point changed = p; // from token `end` on
            for (OperandId id : s.facts.inputs) {
                auto const at = std::ptrdiff_t(place(s.rule, p, id, 0, end, 0));
                std::copy(other.values.values[std::size_t(id)].begin() + at, other.values.values[std::size_t(id)].end(),
                          changed.values.values[std::size_t(id)].begin() + at);
            }
            auto const one = sheet.call(f, p, {.chunk = 8}), two = sheet.call(f, changed, {.chunk = 8});
            if (!one.good() || !two.good()) {
                sheet.same(f, p, 8, one.good() ? two : one, {}, {}, 0);
                continue;
            }
            // Outputs before `end`, and the gradients there; nothing arrives at the rest, nothing leaves it.
            auto cut = two;
            CallTensors forward = one.forward, gradients = one.gradients;
            for (OperandId id = 0; id < OperandId(s.rule.operands.size()); ++id) {
                auto const i = std::size_t(id);
                auto const role = s.operand(id).role;
                if (role == Role::state) cut.forward.values[i].clear();
                if (role == Role::state || role == Role::parameter) continue;
                auto const at = place(s.rule, p, id, 0, end, 0);
                if (role == Role::output)
                    cut.forward.values[i].resize(at);
                else
                    std::fill(gradients.values[i].begin() + std::ptrdiff_t(at), gradients.values[i].end(), 0.0);
            }
            Answer values = cut;
            values.gradients.values.clear();
            sheet.same(f, p, 8, values, forward, gradients, 0);
            cut.forward.values.clear();
            sheet.same(f, p, 8, cut, forward, gradients, 2e-5);
            // That nothing leaves the rest is exact.
            for (OperandId id : s.facts.inputs) {
                auto const& g = two.gradients.values[std::size_t(id)];
                for (std::size_t i = place(s.rule, p, id, 0, end, 0); i < g.size(); ++i)
                    sheet.holds(f, Direction::backward, p, 8, g[i] == 0, where(s.rule, p, id, i, "d_"),
                                fmt::format("{:.9g}", g[i]), "0");
            }
        }
    }
}

} // namespace

std::vector<Row> sequence_properties() {
    return {{"split anywhere and carry the state", split},
            {"packed = separate", packed},
            {"what comes after a prefix changes no bit of it", prefix}};
}

} // namespace deltaloom::codegen
