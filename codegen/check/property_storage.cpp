// Properties of what tensors lie in: 16 bits or 32 or 64, a state's scalar apart from the operands', states kept on the
// way, the other axis of a state first.
#include "codegen/check/property_level.hpp"
#include "codegen/check/rounding.hpp"
#include "codegen/check/slices.hpp"

#include <fmt/format.h>

namespace deltaloom::codegen {
namespace {

// A scalar for each operand: one for states, one for the rest.
std::vector<std::uint32_t> stored(Subject const& s, std::uint32_t operands, std::uint32_t states) {
    std::vector<std::uint32_t> all;
    for (auto const& o : s.rule.operands) all.push_back(o.role == Role::state ? states : operands);
    return all;
}
Point several(Subject const& s, Form f, char const* name, std::uint32_t operands, std::uint32_t states) {
    auto shape = s.shape(f == Form::step ? 1 : 19, 2, 4);
    shape.scalar = operands, shape.state_scalar = states;
    int const share[] = {1, 2, 4};
    for (OperandId id = 0; id < OperandId(s.rule.operands.size()); ++id)
        if (auto const role = s.operand(id).role; role != Role::state && role != Role::output)
            shape.operand_heads[std::size_t(id)] = share[std::size_t(id) % 3];
    Draw draw = s.draw(name, int(operands * 4 + states));
    return s.point(shape, draw);
}
CallTensors rounded(CallTensors t, std::vector<std::uint32_t> const& scalars) {
    for (std::size_t i = 0; i < t.values.size(); ++i)
        each_entry(t.values[i], [&](double& x) { x = rounded_to(x, scalars[i]); });
    return t;
}
// Bit for bit.
void same_snapshots(Sheet& sheet, Form f, Point const& p, int chunk, CallTensors const& got, CallTensors const& want) {
    auto const& s = sheet.subject;
    for (OperandId id : s.facts.states) {
        auto const &g = got.values[std::size_t(id)], &w = want.values[std::size_t(id)];
        std::size_t at = 0;
        while (at < w.size() && at < g.size() && g[at] == w[at]) ++at;
        sheet.holds(f, Direction::forward, p, chunk, g.size() == w.size() && at == w.size(),
                    fmt::format("snapshots of {}, entry {}", s.operand(id).name, at),
                    at < g.size() ? fmt::format("{:.9g}", g[at]) : "nothing",
                    at < w.size() ? fmt::format("{:.9g}", w[at]) : "nothing");
    }
}
// What a form that goes in chunks of 8 has on the way.
int chunks(Form f, Point const& p) {
    return f == Form::parallel ? 1 : f == Form::chunked ? (p.shape.tokens + 7) / 8 : p.shape.tokens;
}

// In any layout, on any threads: the bits of the same call in the kernels' own scalar, each result rounded once, to
// nearest. So every property of the float32 tensors is one of theirs.
void as_rounded(Sheet& sheet, Form f, Point const& p, Manner manner, std::vector<std::uint32_t> const& scalars,
                std::uint32_t inside) {
    auto const& s = sheet.subject;
    manner.scalars = stored(s, inside, inside);
    auto const want = sheet.call(f, p, manner);
    if (!want.good()) return sheet.same(f, p, manner.chunk, want, {}, {}, 0);
    manner.scalars = scalars;
    for (Layout layout :
         {Layout::contiguous, Layout::spaced, Layout::turned, Layout::guarded_front, Layout::guarded_back}) {
        manner.layout = layout, manner.threads = layout == Layout::spaced ? 3 : 1;
        manner.rubbish = layout == Layout::turned ? 0 : 0xff;
        auto const got = sheet.call(f, p, manner);
        sheet.same(f, p, manner.chunk, got, rounded(want.forward, scalars), rounded(want.gradients, scalars), 0);
        if (manner.snapshots && got.good())
            same_snapshots(sheet, f, p, manner.chunk, got.snapshots, rounded(want.snapshots, scalars));
    }
}
void short_tensors(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (Form f : s.forms)
        for (std::uint32_t scalar : {DL_BF16, DL_F16}) {
            Manner const manner{.chunk = 8, .snapshots = f == Form::summary ? 0 : f == Form::step ? 1 : 5};
            as_rounded(sheet, f, several(s, f, "short tensors", scalar, DL_F32), {.chunk = 8},
                       stored(s, scalar, DL_F32), DL_F32);
            as_rounded(sheet, f, several(s, f, "short states", scalar, scalar), manner, stored(s, scalar, scalar),
                       DL_F32);
        }
}

void state_scalars(Sheet& sheet) {
    auto const& s = sheet.subject;
    if (!s.compiled.production(s.isa)->of[1][1][0])
        return sheet.not_applicable("there are no kernels in double: they are there with --scalar double");
    for (Form f : s.forms)
        for (auto [operands, states] : {std::pair{DL_F32, DL_F64}, {DL_F64, DL_F32}, {DL_BF16, DL_F64}}) {
            auto const p = several(s, f, "state scalars", operands, states);
            as_rounded(sheet, f, p, {.chunk = 8, .snapshots = f == Form::step ? 1 : 3}, stored(s, operands, states),
                       DL_F64);
        }
}

// The states before each chunk, written by a forward and read by a backward, are those of the line. No bit of what the
// forward gives is another; a backward that computes the states again may order its sums in another way.
void chunk_states(Sheet& sheet) {
    auto const& s = sheet.subject;
    for (Form f : s.forms) {
        if (f == Form::summary) {
            sheet.not_applicable(f, "its segments run side by side: no chunk waits for the state before it");
            continue;
        }
        auto const p = several(s, f, "chunk states", DL_F32, DL_F32);
        int const slots = chunks(f, p);
        for (std::uint32_t flags : {0u, unsigned(DL_STATE_TRANSPOSED)}) {
            auto const want = sheet.call(f, p, {.chunk = 8});
            Manner manner{.chunk = 8};
            manner.flags = DL_CHUNK_STATES | flags, manner.snapshots = slots;
            auto const got = sheet.call(f, p, manner);
            if (!want.good() || !got.good()) {
                sheet.same(f, p, 8, want.good() ? got : want, {}, {}, 0);
                continue;
            }
            Answer values = got, slopes = got;
            values.gradients.values.clear(), slopes.forward.values.clear();
            sheet.same(f, p, 8, values, want.forward, {}, 0);
            sheet.same(f, p, 8, slopes, {}, want.gradients, float_budget);
            auto const tokens_of = [&](int, int slot) { return slot * (f == Form::chunked ? 8 : 1); };
            snapshots_of_the_line(sheet, f, p, 8, got, slots, tokens_of, "before chunk ", ": ");
        }
    }
}

// Described with the other axis first, states, their gradients and their snapshots hold the same entries.
void transposed(Sheet& sheet) {
    auto const& s = sheet.subject;
    if (!s.has_matrix_state()) return sheet.not_applicable("no state is a matrix");
    for (Form f : s.forms) {
        auto const p = several(s, f, "transposed", DL_F32, DL_F32);
        Manner manner{.chunk = 8, .snapshots = f == Form::step ? 1 : 4};
        auto const want = sheet.call(f, p, manner);
        manner.flags = DL_STATE_TRANSPOSED;
        for (Layout layout : {Layout::contiguous, Layout::guarded_back}) {
            manner.layout = layout;
            auto const got = sheet.call(f, p, manner);
            sheet.same(f, p, 8, want.good() ? got : want, want.forward, want.gradients, 0);
            if (want.good() && got.good()) same_snapshots(sheet, f, p, 8, got.snapshots, want.snapshots);
        }
    }
}

} // namespace

void snapshots_of_the_line(Sheet& sheet, Form f, Point const& p, int chunk, Answer const& got, int slots,
                           std::function<int(int sequence, int slot)> const& tokens_of, char const* before,
                           char const* after) {
    auto const& s = sheet.subject;
    Worst worst;
    for (int sequence = 0; sequence < p.sequences(); ++sequence)
        for (int slot = 0; slot < slots; ++slot) {
            auto const part = slice(s, p, sequence, 0, tokens_of(sequence, slot));
            Reference const reference(s.compiled, part);
            for (OperandId id : s.facts.states) {
                auto const& line = reference.forward().values[std::size_t(id)];
                auto const& all = got.snapshots.values[std::size_t(id)];
                auto const first = std::size_t(sequence * slots + slot) * line.size();
                for (std::size_t e = 0; e < line.size(); ++e)
                    worst.see(all[first + e], line[e], 1 + largest(line), [&] {
                        return fmt::format("{}{}{}{}", before, slot, after, where(s.rule, part, id, e, ""));
                    });
            }
        }
    sheet.holds(f, Direction::forward, p, chunk, worst.error <= float_budget, worst.index, worst.got, worst.want);
}

std::vector<Row> storage_properties() {
    return {{"16 bits = float32 rounded once", short_tensors},
            {"a state's scalar apart from the operands'", state_scalars},
            {"chunk states from forward to backward", chunk_states},
            {"states transposed = as declared", transposed}};
}

} // namespace deltaloom::codegen
