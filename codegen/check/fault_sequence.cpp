#include "codegen/check/fault_level.hpp"
#include "codegen/check/property_level.hpp"
#include "codegen/check/slices.hpp"

#include <fmt/format.h>

namespace deltaloom::codegen {
namespace {

void tails(Sheet& sheet) {
    auto const& s = sheet.subject;
    sheet.not_applicable(Form::step, "one token has no tail");
    auto const recurrent = [&](Point const& p) { return invoke(s.described, s.rule, p, {.form = DL_RECURRENT}); };
    for (int tokens : {0, 1, 2, 3, 15, 17, 33, 63, 64, 65, 70, 200}) {
        Draw draw = s.draw("tails", tokens);
        auto const p = s.point(shape_with(s.rule, s.dims(3, 4, 2), 1, tokens, 1), draw);
        auto const want = recurrent(p);
        for (Form f : s.forms)
            for (int chunk : {1, 2, 3, 7, 16, 32, 64, 128}) {
                if (f == Form::step || (f != Form::chunked && chunk != 1)) continue;
                auto const got = sheet.call(f, p, {.chunk = chunk});
                if (want.good()) {
                    sheet.same(f, p, chunk, got, want.forward, want.gradients, float_budget);
                    continue;
                }
                Reference const reference(s.compiled, p); // a library without the recurrent form
                sheet.same(f, p, chunk, got, reference, sample(reference, draw, 0), float_budget);
            }
    }
    // The recurrent form itself against the line.
    Draw draw = s.draw("tails");
    against(sheet, s.point(s.shape(70), draw), draw, {{16}});
}

void empty_sequences(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (std::vector<std::int64_t> const& offsets : {std::vector<std::int64_t>{0, 0, 16}, {0, 5, 5, 9}, {0, 16, 16}}) {
        packed_as(sheet, offsets);
        for (Form f : s.forms) {
            if (f == Form::step) continue;
            Draw draw = s.draw("packed");
            auto const p = s.point(s.shape(int(offsets.back()), 1, 2), draw, offsets);
            auto const got = sheet.call(f, p, {.chunk = 8});
            if (!got.good()) continue; // packed_as has said so
            for (int i = 0; i < p.sequences(); ++i) {
                if (p.length(i)) continue;
                for (OperandId id : s.facts.states) {
                    auto const n = entries(s.rule, p.shape, id) * std::size_t(p.shape.heads);
                    auto const at = place(s.rule, p, id, i, 0, 0);
                    for (std::size_t e = at; e < at + n; ++e) {
                        auto const k = std::size_t(id);
                        auto const check = [&](Direction d, double have, double want) {
                            sheet.holds(f, d, p, 8, have == want,
                                        where(s.rule, p, id, e, d == Direction::forward ? "" : "d_"),
                                        fmt::format("{:.9g}", have), fmt::format("{:.9g}", want));
                        };
                        check(Direction::forward, got.forward.values[k][e], p.values.values[k][e]);
                        check(Direction::backward, got.gradients.values[k][e], p.arriving.values[k][e]);
                    }
                }
            }
        }
    }
}

void splits(Sheet& sheet) {
    split_in(sheet, {{4, 1}, {63, 1}, {64, 1}, {256, 256}, {256, 256, 256}}, 64);
    auto const& s = sheet.subject;
    for (int tokens : {63, 64, 65}) {
        Draw draw = s.draw("lengths", tokens);
        against(sheet, s.point(s.shape(tokens), draw), draw, {{64, 16}, 2e-5, 1, 1});
    }
}

// Every entry of the last tokens' gradients, where a chunk is not full.
void last_row(Sheet& sheet) {
    auto const& s = sheet.subject;
    sheet.not_applicable(Form::step, "one token fills its chunk");
    for (int tokens : {17, 19, 23}) {
        Draw draw = s.draw("last row", tokens);
        auto const p = s.point(shape_with(s.rule, s.dims(3, 4, 2), 1, tokens, 1), draw);
        Reference const reference(s.compiled, p);
        auto gradients = sample(reference, draw, 0);
        for (OperandId id : s.facts.inputs) {
            auto const n = total(s.rule, p, id);
            for (std::size_t at = place(s.rule, p, id, 0, tokens - 1, 0); at < n; ++at)
                gradients[std::size_t(id)].entries.emplace_back(at, reference.derivative(id, at));
        }
        for (Form f : s.forms)
            for (int chunk : {16, 8})
                if (f != Form::step && (f == Form::chunked || chunk == 16))
                    sheet.same(f, p, chunk, sheet.call(f, p, {.chunk = chunk}), reference, gradients, float_budget);
    }
}

// Three tokens before the first sequence and ten behind the last, which nobody asks about.
void padding(Sheet& sheet) {
    auto const& s = sheet.subject;
    sheet.not_applicable(Form::step, "one token has no padding");
    for (Form f : s.forms) {
        if (f == Form::step) continue;
        Draw draw = s.draw("padding");
        auto p = s.point(s.shape(3 + 21 + 10, 1, 2), draw, {0, 3, 24, 34});
        silence(s, p, [&](int) { return false; });
        for (OperandId id : s.facts.outputs) {
            auto& arriving = p.arriving.values[std::size_t(id)];
            auto const begin = place(s.rule, p, id, 1, 0, 0), end = place(s.rule, p, id, 2, 0, 0);
            for (std::size_t i = 0; i < arriving.size(); ++i)
                if (i < begin || i >= end) arriving[i] = 0;
        }
        for (OperandId id : s.facts.states) {
            auto& arriving = p.arriving.values[std::size_t(id)];
            auto const begin = place(s.rule, p, id, 1, 0, 0), end = place(s.rule, p, id, 2, 0, 0);
            for (std::size_t i = 0; i < arriving.size(); ++i)
                if (i < begin || i >= end) arriving[i] = 0;
        }
        auto const alone = slice(s, p, 1, 0, 21);
        auto got = sheet.call(f, p, {.chunk = 8});
        auto const want = sheet.call(f, alone, {.chunk = 8});
        if (!got.good() || !want.good()) {
            sheet.same(f, p, 8, got.good() ? want : got, {}, {}, 0);
            continue;
        }
        CallTensors forward = got.forward, gradients = blank(s, p); // zeros in the padding
        put(s, p, forward, 1, 0, alone, want.forward, true);
        put(s, p, gradients, 1, 0, alone, want.gradients, true);
        sheet.same(f, p, 8, got, forward, gradients, 0);
    }
}

void prefill(Sheet& sheet) {
    auto const& s = sheet.subject;
    sheet.not_applicable(Form::step, "more tokens than one");
    Draw draw = s.draw("prefill");
    auto const p = s.point(s.shape(26, 1, 2), draw);
    Reference const reference(s.compiled, p);
    auto const gradients = sample(reference, draw, 2);
    for (Form f : s.forms)
        if (f != Form::step)
            sheet.same(f, p, 8, in_pieces(sheet, f, p, {10, 16}, {.chunk = 8}), reference, gradients, float_budget);
}

// Slot 0 is the newest: the states after all tokens but slot; of a shorter sequence the initial one from there on.
void snapshots(Sheet& sheet) {
    auto const& s = sheet.subject;
    struct Case {
        int tokens, slots;
        std::vector<std::int64_t> offsets{};
    };
    for (Form f : s.forms) {
        sheet.not_applicable(f, Direction::backward, "a backward keeps no states of the last tokens");
        for (auto const& [tokens, slots, offsets] : {Case{6, 6}, {9, 4}, {12, 5, {0, 0, 3, 12}}, {1, 1}}) {
            if ((f == Form::step) != (tokens == 1)) continue;
            Draw draw = s.draw("snapshots", tokens);
            auto const p = s.point(s.shape(tokens, offsets.empty() ? 2 : 1, 2), draw, offsets);
            Manner manner{.chunk = 4, .backward = false, .snapshots = slots};
            auto const got = sheet.call(f, p, manner);
            if (!got.good()) {
                sheet.same(f, p, 4, got, {}, {}, 0);
                continue;
            }
            auto const tokens_of = [&](int sequence, int slot) { return std::max(0, p.length(sequence) - slot); };
            snapshots_of_the_line(sheet, f, p, 4, got, slots, tokens_of, "slot ", " of ");
        }
    }
}

void one_token(Sheet& sheet) {
    auto const& s = sheet.subject;
    Draw draw = s.draw("one token");
    auto const p = s.point(s.shape(1, 3, 2), draw);
    against(sheet, p, draw, {{16, 1}});
    for (Form f : s.forms) { // left to the library, the same; one without a form for one token says so
        auto const chosen = invoke(s.described, s.rule, p, {});
        auto const got = sheet.call(f, p, {});
        if (chosen.code != DL_NO_FORM) sheet.same(f, p, 0, chosen, got.forward, got.gradients, float_budget);
    }
}

} // namespace

std::vector<Row> sequence_faults() {
    return {{"12 lengths and chunks that do not fit", tails},
            {"13 empty sequences", empty_sequences},
            {"14 4 + 1, 63, 64, 65, 256 + 256, three calls of 256", splits},
            {"15 the last row of a chunk that is not full", last_row},
            {"16 tokens before the first sequence and behind the last", padding},
            {"17 a call of many tokens with a state", prefill},
            {"18 snapshots of the last states", snapshots},
            {"36 one token", one_token}};
}

} // namespace deltaloom::codegen
