#include "codegen/check/property_level.hpp"
#include "codegen/check/slices.hpp"

#include <limits>

namespace deltaloom::codegen {

void same_bits(Sheet& sheet, Form f, Point const& p, std::vector<Manner> const& manners) {
    auto const want = sheet.call(f, p, manners[0]);
    if (!want.good()) return sheet.same(f, p, manners[0].chunk, want, {}, {}, 0);
    for (std::size_t i = 1; i < manners.size(); ++i)
        sheet.same(f, p, manners[i].chunk, sheet.call(f, p, manners[i]), want.forward, want.gradients, 0);
}

namespace {

// Several sequences and heads, keys shared: one token for the form step.
Point several(Sheet& sheet, Form f, char const* name) {
    auto const& s = sheet.subject;
    auto shape = s.shape(f == Form::step ? 1 : 19, 3, 4);
    int const share[] = {1, 2, 4};
    for (OperandId id : s.facts.inputs) shape.operand_heads[std::size_t(id)] = share[std::size_t(id) % 3];
    Draw draw = s.draw(name);
    return s.point(shape, draw);
}

void strided(Sheet& sheet) {
    for (Form f : sheet.subject.forms)
        same_bits(sheet, f, several(sheet, f, "strided"),
                  {{.chunk = 8}, {.chunk = 8, .layout = Layout::spaced}, {.chunk = 8, .layout = Layout::turned}});
}

void threads(Sheet& sheet) {
    for (Form f : sheet.subject.forms)
        same_bits(sheet, f, several(sheet, f, "threads"),
                  {{.chunk = 8},
                   {.chunk = 8, .threads = 2},
                   {.chunk = 8, .threads = 3},
                   {.chunk = 8, .threads = 7},
                   {.chunk = 8, .threads = 3, .host = Host::in_order},
                   {.chunk = 8, .threads = 7, .host = Host::reversed}});
}

void written(Sheet& sheet) {
    for (Form f : sheet.subject.forms) // NaN, zeros, a large number in every byte of outputs and workspace
        same_bits(sheet, f, several(sheet, f, "written"),
                  {{.chunk = 8}, {.chunk = 8, .rubbish = 0}, {.chunk = 8, .rubbish = 0x7e}});
}

void guarded(Sheet& sheet) {
    auto const& s = sheet.subject;
    int const sizes[][2] = {{6, 5}, {1, 1}, {7, 9}, {16, 16}, {17, 8}, {33, 3}};
    for (Form f : s.forms)
        for (int tokens : {0, 1, 2, 3, 15, 17, 33, 63, 64, 65, 70, 200})
            for (auto const& size : sizes) {
                bool const first = size[0] == 6;
                if (f == Form::step ? tokens != 1 : !first && tokens != 1 && tokens != 17 && tokens != 33) continue;
                Draw draw = s.draw("guarded", tokens);
                auto const p = s.point(shape_with(s.rule, s.dims(size[0], size[1], 4), 1, tokens, 1), draw);
                for (Layout layout : {Layout::guarded_front, Layout::guarded_back})
                    for (int chunk : {16, 5}) {
                        if (chunk == 5 && (f != Form::chunked || !first)) continue;
                        auto const got = sheet.call(f, p, {.chunk = chunk, .layout = layout});
                        sheet.same(f, p, chunk, got, got.forward, got.gradients, 0);
                    }
            }
}

void apart(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (Form f : s.forms) {
        Draw draw = s.draw("apart");
        Point const p = s.point(s.shape(f == Form::step ? 1 : 19, 2, 2), draw);
        // Everything of sequence 1, and of head 1 of sequence 0, is NaN: head 0 of sequence 0 does not care.
        Point sick = p;
        auto const mine = [&](OperandId id, std::size_t i) {
            auto const n = total(s.rule, p, id) / (s.operand(id).role == Role::parameter ? 1u : 2u);
            return i < n && i / entries(s.rule, p.shape, id) % 2 == 0;
        };
        for (auto* list : {&sick.values, &sick.arriving})
            for (OperandId id = 0; id < OperandId(s.rule.operands.size()); ++id) {
                auto& values = list->values[std::size_t(id)];
                for (std::size_t i = 0; i < values.size(); ++i)
                    if (s.operand(id).role != Role::parameter && !mine(id, i))
                        values[i] = std::numeric_limits<double>::quiet_NaN();
            }
        auto want = sheet.call(f, p, {.chunk = 8, .threads = 2}), got = sheet.call(f, sick, {.chunk = 8, .threads = 2});
        if (!want.good() || !got.good()) {
            sheet.same(f, p, 8, want.good() ? got : want, {}, {}, 0);
            continue;
        }
        for (auto* answer : {&want, &got})
            for (auto* list : {&answer->forward, &answer->gradients})
                for (OperandId id = 0; id < OperandId(s.rule.operands.size()); ++id) {
                    auto& values = list->values[std::size_t(id)];
                    if (s.operand(id).role == Role::parameter) values.clear();
                    for (std::size_t i = 0; i < values.size(); ++i)
                        if (!mine(id, i)) values[i] = 0;
                }
        sheet.same(f, p, 8, got, want.forward, want.gradients, 0);
    }
}

void in_place(Sheet& sheet) {
    for (Form f : sheet.subject.forms) {
        auto const p = several(sheet, f, "in place");
        same_bits(sheet, f, p, {{.chunk = 8, .backward = false}, {.chunk = 8, .backward = false, .in_place = true}});
        sheet.not_applicable(f, Direction::backward, "a backward writes no state");
    }
}

} // namespace

std::vector<Row> call_properties() {
    return {{"strided = contiguous", strided},
            {"threads change no bit", threads},
            {"all of outputs is written, whatever was there", written},
            {"nothing beside the buffers is touched", guarded},
            {"sequences and heads keep apart", apart},
            {"state in place = apart", in_place}};
}

} // namespace deltaloom::codegen
