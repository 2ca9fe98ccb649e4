#include "codegen/check/fault_level.hpp"
#include "codegen/check/property_level.hpp"
#include "codegen/check/slices.hpp"

namespace deltaloom::codegen {
namespace {

void extents(Sheet& sheet) {
    auto const& s = sheet.subject;
    // rows (values), columns (keys), tokens
    int const sizes[][3] = {{192, 60, 6}, {192, 80, 6}, {192, 100, 6}, {192, 96, 6},
                            {5, 8, 20},   {8, 5, 20},   {512, 256, 2}};
    for (auto const& size : sizes) {
        Draw draw = s.draw("extents", size[1]);
        auto const p = s.point(shape_with(s.rule, s.dims(size[0], size[1], 9), 1, size[2], 1), draw);
        against(sheet, p, draw, {{16}, 2e-5, 1, 0});
    }
}

void rows_and_columns(Sheet& sheet) {
    auto const& s = sheet.subject;
    Draw draw = s.draw("rows and columns");
    auto const p = s.point(shape_with(s.rule, s.dims(128, 64, 9), 1, 18, 1), draw);
    against(sheet, p, draw, {{16}, 2e-5, 1, 1});
}

// Operands of fewer heads: the inputs on one side have `shared`, the rest all.
CallShape shared_heads(Subject const& s, int tokens, int heads, int shared) {
    auto shape = shape_with(s.rule, s.dims(4, 3, 2), 1, tokens, heads);
    for (OperandId id : s.facts.inputs)
        if (s.operand(id).domain == Domain::real && !s.operand(id).shape.scalar() && id % 2 == 0)
            shape.operand_heads[std::size_t(id)] = shared;
    return shape;
}

void heads(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (auto [all, shared] : {std::pair{32, 16}, {48, 16}}) {
        Draw draw = s.draw("heads", all);
        against(sheet, s.point(shared_heads(s, 5, all, shared), draw), draw, {{16}, 2e-5, 1, 0});
    }
    if (s.facts.log_gates.empty()) return;
    Draw draw = s.draw("heads");
    auto p = s.point(s.shape(20, 1, 2), draw);
    for (OperandId gate : s.facts.log_gates)
        set(s, p, gate, [](int, int, int head, int) { return head ? -10.0 : 0.0; });
    against(sheet, p, draw, {{16, 7}});
}

void views(Sheet& sheet, std::vector<Layout> const& layouts, bool repeated_heads) {
    auto const& s = sheet.subject;
    for (Form f : s.forms) {
        Draw draw = s.draw("views");
        auto shape = s.shape(f == Form::step ? 1 : 21, 2, 4);
        if (repeated_heads) shape = shared_heads(s, f == Form::step ? 1 : 21, 4, 2);
        auto const p = s.point(shape, draw);
        std::vector<Manner> manners{{.chunk = 8}};
        for (Layout layout : layouts) manners.push_back({.chunk = 8, .layout = layout});
        same_bits(sheet, f, p, manners);
    }
}

void few_heads(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (Form f : s.forms) {
        Draw draw = s.draw("few heads");
        auto const p = s.point(shared_heads(s, f == Form::step ? 1 : 9, 4, 4), draw);
        same_bits(sheet, f, p, {{.chunk = 8}, {.chunk = 8, .threads = 16}});
    }
}

// A state and its transpose are different states; a layout says which is which.
void orientation(Sheet& sheet) {
    auto const& s = sheet.subject;
    if (!s.has_matrix_state()) return sheet.not_applicable("no state is a matrix");
    Draw draw = s.draw("orientation");
    auto const p = s.point(shape_with(s.rule, s.dims(4, 4, 4), 1, 9, 1), draw);
    Point turned = p;
    for (OperandId id : s.facts.states) {
        if (s.operand(id).shape.cols == one) continue;
        auto& values = turned.values.values[std::size_t(id)];
        auto const& old = p.values.values[std::size_t(id)];
        for (std::size_t r = 0; r < 4; ++r)
            for (std::size_t c = 0; c < 4; ++c) values[r * 4 + c] = old[c * 4 + r];
    }
    against(sheet, p, draw, {{8}});
    against(sheet, turned, draw, {{8}});
    for (Form f : s.forms) {
        auto const token = f == Form::step ? slice(s, p, 0, 0, 1) : p;
        Manner flagged{.chunk = 8};
        flagged.flags = DL_STATE_TRANSPOSED;
        same_bits(sheet, f, token, {{.chunk = 8}, {.chunk = 8, .layout = Layout::turned}, flagged});
    }
}

// Two value heads of one key head under gates of their own.
void shared_key_head(Sheet& sheet) {
    auto const& s = sheet.subject;
    Draw draw = s.draw("shared key head");
    auto const p = s.point(shared_heads(s, 21, 4, 2), draw);
    against(sheet, p, draw, {{8}});
    for (Form f : s.forms) {
        auto const mine = f == Form::step ? slice(s, p, 0, 0, 1) : p;
        same_bits(sheet, f, mine,
                  {{.chunk = 8}, {.chunk = 8, .threads = 2}, {.chunk = 8, .threads = 3}, {.chunk = 8, .threads = 7}});
    }
}

} // namespace

std::vector<Row> shape_faults() {
    auto const strided = [](Sheet& sheet) { views(sheet, {Layout::spaced, Layout::turned}, true); };
    auto const by_token = [](Sheet& sheet) { views(sheet, {Layout::turned}, false); };
    return {{"19 extents of 60, 80, 100, 96 beside 192; 8; 256 beside 512", extents},
            {"20 64 columns and 128 rows", rows_and_columns},
            {"21 heads of their own", heads},
            {"22 views, permuted and with gaps", strided},
            {"23 four heads and sixteen threads", few_heads},
            {"24 a state that is not symmetric", orientation},
            {"45 the token axis has stride 1", by_token},
            {"47 value heads that share a key head", shared_key_head}};
}

} // namespace deltaloom::codegen
