#include "codegen/check/float_level.hpp"

#include "codegen/check/invoke.hpp"
#include "codegen/check/sensitivity.hpp"
#include "deltaloom/runtime/cpu/features.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace deltaloom::codegen {
namespace {

// Odd extents, tails, several heads with shared keys, a batch.
CallShape shape_of(TypedRule const& rule, int trial, std::uint32_t scalar, bool one_token) {
    CallShape shape;
    int const tokens[] = {37, 20, 70};
    shape.tokens = one_token ? 1 : tokens[trial % 3];
    int const first[] = {7, 12, 24}, step[] = {-2, 5, -4};
    for (std::size_t d = 0; d < rule.dims.size(); ++d) {
        int const extent = std::max(2, first[trial % 3] + int(d) * step[trial % 3]);
        shape.dims.push_back(has_mapped(rule.dims, rule.dims[d]) ? std::min(extent, 8) : extent); // features are many
    }
    shape.dims = with_mapped(rule.dims, std::move(shape.dims));
    shape.batch = trial % 3 == 1 ? 2 : 1;
    shape.heads = trial % 3 == 1 ? 4 : 1;
    for (std::size_t i = 0; i < rule.operands.size(); ++i) {
        int const share[] = {1, 2, 4};
        bool const own = rule.operands[i].role == Role::output || rule.operands[i].role == Role::state;
        shape.operand_heads.push_back(own || shape.heads == 1 ? shape.heads : share[i % 3]);
    }
    shape.scalar = scalar, shape.state_scalar = scalar == DL_F64 ? DL_F64 : DL_F32;
    return shape;
}

struct Kind {
    Form form;
    dl_form code;
    int kernel;
};
constexpr Kind kinds[] = {{Form::step, DL_STEP, 0},
                          {Form::recurrent, DL_RECURRENT, 1},
                          {Form::chunked, DL_CHUNKED, 2},
                          {Form::parallel, DL_PARALLEL, 2},
                          {Form::summary, DL_SUMMARY, 3}};

constexpr std::pair<Direction, Over> looks[] = {{Direction::forward, Over::tensor},
                                                {Direction::forward, Over::row},
                                                {Direction::backward, Over::tensor},
                                                {Direction::backward, Over::row}};

using Found = std::map<std::pair<Form, Direction>, Result>;

// A trial that says nothing: the reason stands where no other trial says more.
void skip(Found& found, Result r, Direction direction, std::string const& why) {
    Result& to = found.try_emplace({r.form, direction}, r).first->second;
    to.direction = direction;
    if (!to.error) to.reason = "not applicable: " + why;
}

// The same call with operands of float32 has a result that float16 cannot hold.
bool beyond_float16(Described const& described, TypedRule const& rule, Point const& point, Manner manner,
                    bool backward) {
    manner.scalars.assign(rule.operands.size(), DL_F32);
    manner.forward = !backward, manner.backward = backward;
    auto const wide = invoke(described, rule, point, manner);
    auto const& values = backward ? wide.gradients.values : wide.forward.values;
    for (std::size_t i = 0; i < values.size(); ++i)
        for (double x : values[i])
            if (rule.operands[i].role != Role::state && std::isinf(rounded_to(x, DL_F16))) return true;
    return false;
}

std::vector<Result> check(Compiled const& compiled, FloatLevel const& level, std::uint32_t scalar, Watch const& watch) {
    auto const& derived = compiled.rule().derived;
    auto const& rule = derived.rule;
    auto const isa = runtime::chosen_level();
    auto const* production = compiled.production(isa);
    Described const described(derived, production, isa, std::uint32_t(level.chunk));
    Found found;
    auto const blank = [&](Form form) {
        Result r;
        r.rule = rule.name, r.form = form, r.level = "float", r.name = "declaration";
        r.scalar = scalar_names()[scalar], r.isa = runtime::isa_name(isa);
        return r;
    };
    for (int trial = 0; trial < level.trials; ++trial)
        for (bool one_token : {false, true}) {
            Draw draw(level.seed ^ 0xf10a7u, std::uint64_t(trial * 8 + int(scalar) * 2 + one_token));
            auto const wanted = [&](Kind const& k) {
                return (k.form == Form::step) == one_token && production->of[scalar == DL_F64][k.kernel][0] &&
                       (level.forms.empty() ||
                        std::find(level.forms.begin(), level.forms.end(), k.form) != level.forms.end());
            };
            if (std::none_of(std::begin(kinds), std::end(kinds), wanted)) continue;
            Point const point = draw_point(compiled, shape_of(rule, trial, scalar, one_token), draw);
            auto const precision = Precision::of(rule, point.shape);
            Reference const reference(compiled, point);
            if (!reference.in_range()) {
                for (auto const& kind : kinds)
                    for (Direction direction : {Direction::forward, Direction::backward})
                        if (wanted(kind)) skip(found, blank(kind.form), direction, beyond_float32("the line", point));
                continue;
            }
            auto const gradients = sample(reference, draw);
            for (auto const& kind : kinds) {
                if (!wanted(kind)) continue;
                int const chunk = kind.form == Form::summary   ? 1 + trial % 2 // several segments
                                  : kind.form != Form::chunked ? 0
                                  : trial % 3 == 0             ? level.chunk
                                  : trial % 3 == 1             ? 8
                                                               : 3;
                Result r = blank(kind.form);
                describe(r, rule, point);
                r.chunk = chunk ? chunk : kind.form == Form::parallel ? point.shape.tokens : 1;
                watch(r);
                Manner const manner{.form = kind.code, .chunk = chunk, .threads = trial % 3 == 1 ? 2 : 1};
                auto const got = invoke(described, rule, point, manner);
                auto const compare = [&](Direction direction, Precision const& p) {
                    Worst w;
                    if (!got.good())
                        w = {std::numeric_limits<double>::infinity(), "the call",
                             got.code ? got.status.message : got.stray, ""};
                    else if (direction == Direction::forward)
                        compare_values(w, rule, point, got.forward, reference.forward(), 1, p);
                    else
                        compare_gradients(w, rule, point, got.gradients, gradients, 1, p);
                    return w;
                };
                std::optional<Sensitivity> moves_of[2];
                for (auto const& [direction, over] : looks) {
                    bool const backward = direction == Direction::backward;
                    auto mine = precision;
                    mine.over = over;
                    auto w = compare(direction, mine);
                    r.direction = direction, r.moves.reset();
                    if (!(w.error <= mine.budget) && got.good()) {
                        if (scalar == DL_F16 && beyond_float16(described, rule, point, manner, backward)) {
                            skip(found, r, direction, "results leave the range of float16, 65504");
                            continue;
                        }
                        auto& moved = moves_of[over == Over::row];
                        if (!moved) moved = sensitivity(reference, got.gradients, gradients, 1, over);
                        double const moves = backward ? moved->backward : moved->forward;
                        if (std::isfinite(moves) && roundings * moves > mine.inside) {
                            mine.allow(roundings * moves), r.moves = moves;
                            w = compare(direction, mine);
                        }
                    }
                    r.budget = mine.budget;
                    Result& to = found.try_emplace({kind.form, direction}, r).first->second;
                    int const trials = to.trials + (over == Over::tensor);
                    if (!to.error || !(w.error / *r.budget <= *to.error / *to.budget)) {
                        to = r;
                        to.error = w.error;
                        to.pass = w.error <= *r.budget; // false for a NaN
                        if (!to.pass) to.index = w.index, to.got = w.got, to.want = w.want;
                    }
                    to.trials = trials;
                }
            }
        }
    std::vector<Result> results;
    for (auto& [key, r] : found) results.push_back(std::move(r));
    return results;
}

} // namespace

std::vector<Task> float_tasks(Compiled const& compiled, FloatLevel const& level) {
    std::vector<Task> tasks;
    if (!compiled.production(runtime::chosen_level())) return tasks;
    for (std::uint32_t scalar = DL_F32; scalar <= DL_F16; ++scalar) {
        if (!(level.scalars >> scalar & 1)) continue;
        Result at;
        at.level = "float", at.name = "declaration", at.scalar = scalar_names()[scalar];
        tasks.push_back({at, [&compiled, level, scalar](Watch const& watch, bool) {
                             return check(compiled, level, scalar, watch);
                         }});
    }
    for (auto& task : short_state_tasks(compiled, level)) tasks.push_back(std::move(task));
    return tasks;
}

} // namespace deltaloom::codegen
