// What a state of 16 bits costs: a sequence in several calls that each round the states, and in a backward their
// gradients, once; against the declaration in double, which rounds nothing.
//
// The error is a property of the option more than of a kernel, so the budget is what the option costs whoever computes.
// Values: roundings add up as a random walk, so four unit roundoffs times the root of the number of calls, or three
// times the error of the declaration itself, in double, with its states rounded at the same places, if that is more.
// Gradients, where a rounded state may be on the other side of a kink: two unit roundoffs for each call. Both beside
// the 2e-5 of float32. A NaN, or a kernel that loses more than its line, fails.
#include "codegen/check/float_level.hpp"
#include "codegen/check/slices.hpp"
#include "deltaloom/runtime/cpu/features.hpp"

#include <cmath>
#include <fmt/format.h>

namespace deltaloom::codegen {
namespace {

constexpr int tokens = 256, piece = 8;

void round_states(Subject const& s, CallTensors& values, std::uint32_t scalar) {
    for (OperandId id : s.facts.states)
        each_entry(values.values[std::size_t(id)], [&](double& x) { x = rounded_to(x, scalar); });
}

// The declaration over pieces, its states rounded behind each: how far it is from itself.
double loss(Subject const& s, Point const& p, std::vector<int> const& lengths, std::uint32_t scalar,
            Reference const& whole) {
    CallTensors forward = blank(s, p);
    int first = 0;
    for (int n : lengths) {
        auto part = slice(s, p, 0, first, n);
        if (first) set_states(s, part, forward);
        Reference const one(s.compiled, part);
        auto rounded = one.forward();
        round_states(s, rounded, scalar);
        put(s, p, forward, 0, first, part, rounded, true);
        first += n;
    }
    Worst worst;
    compare_values(worst, s.rule, p, forward, whole.forward());
    return worst.error;
}

// A state, or a gradient of one, that the scalar cannot hold.
bool beyond(Subject const& s, CallTensors const& t, std::uint32_t scalar) {
    for (OperandId id : s.facts.states)
        if (largest(t.values[std::size_t(id)]) > largest_stored(scalar)) return true;
    return false;
}
std::string range_left(std::uint32_t scalar) {
    return fmt::format("the line's states leave the range of {}, {:g}", scalar_names()[scalar], largest_stored(scalar));
}

void short_state(Sheet& sheet, std::uint32_t scalar) {
    auto const& s = sheet.subject;
    Draw draw = s.draw(short_state_name(scalar));
    auto shape = shape_with(s.rule, s.dims(6, 5), 1, tokens, 1);
    shape.state_scalar = scalar;
    auto const p = s.point(shape, draw);
    Reference const reference(s.compiled, p);
    auto const gradients = sample(reference, draw, 3);
    double const unit = unit_roundoff(scalar);
    if (beyond(s, reference.forward(), scalar)) return sheet.not_applicable(range_left(scalar));
    for (Form f : s.forms) {
        int const each = f == Form::step ? 1 : piece;
        std::vector<int> const lengths(tokens / each, each);
        double const calls = double(lengths.size());
        double const walk = 4 * unit * std::sqrt(calls), line = 3 * loss(s, p, lengths, scalar, reference),
                     inside = Precision().inside;
        auto got = in_pieces(sheet, f, p, lengths, {.chunk = piece});
        if (scalar == DL_F16 && got.good()) { // may a gradient of float32 states be too large?
            Manner wide{.chunk = piece};
            wide.scalars.assign(s.rule.operands.size(), DL_F32);
            if (beyond(s, in_pieces(sheet, f, p, lengths, wide).gradients, scalar)) {
                sheet.not_applicable(f, Direction::backward, range_left(scalar));
                got.gradients.values.clear();
            }
        }
        auto slopes = got;
        got.gradients.values.clear(), slopes.forward.values.clear();
        sheet.same(f, p, piece, got, reference, gradients, std::max(walk, line) + inside);
        if (slopes.good())
            sheet.same(f, p, piece, slopes, reference, gradients, std::max(2 * unit * calls, line) + inside);
    }
}

} // namespace

std::string short_state_name(std::uint32_t scalar) { return "state in " + scalar_names()[scalar]; }

std::vector<Task> short_state_tasks(Compiled const& compiled, FloatLevel const& level) {
    std::vector<Row> rows;
    for (std::uint32_t scalar : {DL_BF16, DL_F16})
        if (level.short_states >> scalar & 1)
            rows.push_back({short_state_name(scalar), [scalar](Sheet& sheet) { short_state(sheet, scalar); }});
    if (rows.empty()) return {};
    return tasks_of(std::make_shared<Subject const>(compiled, runtime::chosen_level(), level.forms, level.seed),
                    "float", rows);
}

} // namespace deltaloom::codegen
