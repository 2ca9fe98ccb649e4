#include "codegen/check/fault_level.hpp"
#include "codegen/check/property_level.hpp"
#include "codegen/check/slices.hpp"

#include "deltaloom/runtime/cpu/features.hpp"

#include <fmt/format.h>

namespace deltaloom::codegen {
namespace {

// A call that must be refused, with a word in the sentence that says which field is wrong.
void refused(Sheet& sheet, Form f, Point const& p, Answer const& got, std::string const& word) {
    std::string const said = got.code ? got.status.message : "an answer";
    bool const named = got.code && said.find(word) != std::string::npos;
    for (Direction d : {Direction::forward, Direction::backward})
        sheet.holds(f, d, p, 0, named, "the call", said, "a refusal that names " + word);
}
Answer attempt(Sheet& sheet, Form f, Point const& p, Manner const& manner) {
    sheet.call(f, p, {}); // the same call without the fault, announced
    return invoke(sheet.subject.described, sheet.subject.rule, p, manner);
}

void unknown_option(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (Form f : s.forms) {
        Draw draw = s.draw("unknown option");
        auto const p = s.point(s.shape(1), draw);
        refused(sheet, f, p, attempt(sheet, f, p, {.form = 77}), "form");
        Manner flag{.form = code(f)};
        flag.flags = 1u << 20;
        refused(sheet, f, p, attempt(sheet, f, p, flag), "flags");
    }
}

void normalised_keys(Sheet& sheet) {
    auto const& s = sheet.subject;
    if (std::find(s.facts.maps.begin(), s.facts.maps.end(), "l2norm") == s.facts.maps.end())
        return sheet.not_applicable("its line normalises nothing");
    // Small vectors, where eps counts; zeros, where only eps is there.
    for (double scale : {1.0, 1e-3, 0.0}) {
        Draw draw = s.draw("normalised keys");
        auto p = s.point(s.shape(21), draw);
        for (OperandId id : s.facts.inputs) {
            auto const& o = s.operand(id);
            if (o.domain != Domain::real || o.shape.scalar()) continue;
            auto const old = p.values.values[std::size_t(id)];
            set(s, p, id, [&](int sequence, int t, int head, int e) {
                double const x = old[place(s.rule, p, id, sequence, t, head) + std::size_t(e)];
                return t % 3 == 1 ? x * scale : x;
            });
        }
        against(sheet, p, draw, {{8}, 1e-4, 1, 2});
    }
}

void every_chunk(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (Form f : s.forms)
        if (f != Form::chunked) sheet.not_applicable(f, "it has no chunk to choose");
    if (!s.has(Form::chunked)) return;
    Draw draw = s.draw("chunks");
    auto const p = s.point(s.shape(70), draw);
    Comparison how{{}, 2e-5, 1, 1};
    for (auto const* chunk = s.described.rule.chunks; *chunk; ++chunk) how.chunks.push_back(int(*chunk));
    Reference const reference(s.compiled, p);
    auto const gradients = sample(reference, draw, 1);
    for (int chunk : how.chunks)
        sheet.same(Form::chunked, p, chunk, sheet.call(Form::chunked, p, {.chunk = chunk}), reference, gradients, 2e-5);
    // One that no chunk can be: refused by its name, or right.
    auto const huge = sheet.call(Form::chunked, p, {.chunk = 1 << 30});
    if (huge.code)
        refused(sheet, Form::chunked, p, huge, "chunk");
    else
        sheet.same(Form::chunked, p, 1 << 30, huge, reference, gradients, 2e-5);
}

void offsets_and_batch(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (Form f : s.forms) {
        if (f == Form::step) {
            sheet.not_applicable(f, "a step is one token of one sequence");
            continue;
        }
        Draw draw = s.draw("offsets and batch");
        auto p = s.point(s.shape(8, 2), draw);
        Point wrong = p;
        wrong.offsets = {0, 3, 8};
        refused(sheet, f, p, attempt(sheet, f, wrong, {.form = code(f)}), "batch");
    }
}

void in_place(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (Form f : s.forms) {
        Draw draw = s.draw("in place");
        auto const p = s.point(s.shape(f == Form::step ? 1 : 21, 2, 2), draw);
        same_bits(sheet, f, p, {{.chunk = 8, .backward = false}, {.chunk = 8, .backward = false, .in_place = true}});
        Manner overlap{.form = code(f), .backward = false, .overlap = true};
        auto const got = attempt(sheet, f, p, overlap);
        sheet.holds(f, Direction::forward, p, 0, got.code == DL_BAD_OPERAND, "the call",
                    got.code ? got.status.message : "an answer", "a refusal: an output overlaps an input");
        sheet.not_applicable(f, Direction::backward, "a backward writes no state");
    }
}

void nothing_remembered(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (Form f : s.forms) {
        Draw draw = s.draw("nothing remembered");
        auto const shape = s.shape(f == Form::step ? 1 : 21, 1, 2);
        auto const p = s.point(shape, draw), other = s.point(shape, draw);
        auto const first = sheet.call(f, p, {.chunk = 8});
        (void)sheet.call(f, other, {.chunk = 8}); // memory of the same sizes, other numbers
        sheet.same(f, p, 8, sheet.call(f, p, {.chunk = 8}), first.forward, first.gradients, 0);
    }
}

void path(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (Form f : s.forms) {
        Draw draw = s.draw("path");
        auto const p = s.point(s.shape(f == Form::step ? 1 : 21), draw);
        for (Direction d : {Direction::forward, Direction::backward}) {
            bool const backward = d == Direction::backward;
            auto const got = sheet.call(f, p, {.chunk = 8, .forward = !backward, .backward = backward});
            for (std::string const& word :
                 {std::string(name(f)), std::string(name(d)), std::string(runtime::isa_name(s.isa))})
                sheet.holds(f, d, p, 8, got.good() && got.path.find(word) != std::string::npos, "the path", got.path,
                            word);
        }
    }
}

void self_test(Sheet& sheet) { sheet.not_applicable("a CPU's kernels are chosen by feature bits; for devices"); }

} // namespace

std::vector<Row> interface_faults() {
    return {{"32 an option that nobody knows", unknown_option},
            {"33 normalisation in every form", normalised_keys},
            {"34 every chunk that is offered", every_chunk},
            {"35 packed sequences and a batch", offsets_and_batch},
            {"37 the state in place", in_place},
            {"38 nothing is remembered between calls", nothing_remembered},
            {"39 which path ran", path},
            {"40 a new device", self_test}};
}

} // namespace deltaloom::codegen
