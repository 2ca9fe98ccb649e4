#include "codegen/check/float_level.hpp"

#include "codegen/check/sensitivity.hpp"
#include "deltaloom/runtime/cpu/features.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace deltaloom::codegen {
namespace {

// Odd extents, tails, several heads with shared keys, a batch.
CallShape shape_of(TypedRule const& rule, int trial, bool is_double, bool one_token) {
    CallShape shape;
    int const tokens[] = {37, 20, 70};
    shape.tokens = one_token ? 1 : tokens[trial % 3];
    int const first[] = {7, 12, 24}, step[] = {-2, 5, -4};
    for (std::size_t d = 0; d < rule.dims.size(); ++d)
        shape.dims.push_back(std::max(2, first[trial % 3] + int(d) * step[trial % 3]));
    shape.batch = trial % 3 == 1 ? 2 : 1;
    shape.heads = trial % 3 == 1 ? 4 : 1;
    for (std::size_t i = 0; i < rule.operands.size(); ++i) {
        int const share[] = {1, 2, 4};
        bool const own = rule.operands[i].role == Role::output || rule.operands[i].role == Role::state;
        shape.operand_heads.push_back(own || shape.heads == 1 ? shape.heads : share[i % 3]);
    }
    shape.is_double = is_double;
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

std::vector<Result> check(Compiled const& compiled, FloatLevel const& level, int scalar, Watch const& watch) {
    auto const& derived = compiled.rule().derived;
    auto const& rule = derived.rule;
    auto const isa = runtime::chosen_level();
    auto const* production = compiled.production(isa);
    Described const described(derived, production, isa, std::uint32_t(level.chunk));
    std::map<std::pair<Form, Direction>, Result> found;
    for (int trial = 0; trial < level.trials; ++trial)
        for (bool one_token : {false, true}) {
            Draw draw(level.seed ^ 0xf10a7u, std::uint64_t(trial * 4 + scalar * 2 + one_token));
            auto const wanted = [&](Kind const& k) {
                return (k.form == Form::step) == one_token && production->of[scalar][k.kernel][0] &&
                       (level.forms.empty() ||
                        std::find(level.forms.begin(), level.forms.end(), k.form) != level.forms.end());
            };
            if (std::none_of(std::begin(kinds), std::end(kinds), wanted)) continue;
            Point const point = draw_point(compiled, shape_of(rule, trial, scalar == 1, one_token), draw);
            Reference const reference(compiled, point);
            if (!reference.in_range()) {
                for (auto const& kind : kinds)
                    for (Direction direction : {Direction::forward, Direction::backward}) {
                        if (!wanted(kind)) continue;
                        Result& r = found[{kind.form, direction}];
                        if (r.error) continue;
                        r.rule = rule.name, r.form = kind.form, r.direction = direction, r.level = "float";
                        r.name = "declaration", r.scalar = scalar ? "double" : "float";
                        r.isa = runtime::isa_name(isa);
                        r.reason = fmt::format("not applicable: the line itself grows beyond float32 over {} tokens",
                                               point.shape.tokens);
                    }
                continue;
            }
            auto const gradients = sample(reference, draw);
            for (auto const& kind : kinds) {
                if (!wanted(kind)) continue;
                Worst worst[2];
                int const chunk = kind.form == Form::summary   ? 1 + trial % 2 // several segments
                                  : kind.form != Form::chunked ? 0
                                  : trial % 3 == 0             ? level.chunk
                                  : trial % 3 == 1             ? 8
                                                               : 3;
                Result r;
                r.rule = rule.name, r.form = kind.form, r.level = "float", r.name = "declaration";
                r.scalar = scalar ? "double" : "float", r.isa = runtime::isa_name(isa);
                r.budget = level.budget[scalar];
                describe(r, rule, point);
                r.chunk = chunk ? chunk : kind.form == Form::parallel ? point.shape.tokens : 1;
                watch(r);
                std::optional<CallResult> got;
                try {
                    got = call(described, rule, point.shape, kind.code, chunk, trial % 3 == 1 ? 2 : 1, point.values,
                               point.arriving);
                    compare_values(worst[0], rule, point, got->forward, reference.forward());
                    compare_gradients(worst[1], rule, point, got->gradients, gradients);
                } catch (std::exception const& e) {
                    for (auto& w : worst) w.error = std::numeric_limits<double>::infinity(), w.got = e.what();
                }
                std::optional<Sensitivity> moved;
                if (!(std::max(worst[0].error, worst[1].error) <= *r.budget) && got)
                    moved = sensitivity(reference, got->gradients, gradients, 1);
                for (Direction direction : {Direction::forward, Direction::backward}) {
                    auto const& w = worst[direction == Direction::backward];
                    double const moves = !moved                             ? 0
                                         : direction == Direction::backward ? moved->backward
                                                                            : moved->forward;
                    bool const follows = std::isfinite(moves) && roundings * moves > level.budget[scalar];
                    r.budget = follows ? roundings * moves : level.budget[scalar];
                    r.moves = follows ? std::optional(moves) : std::nullopt;
                    Result& to = found.try_emplace({kind.form, direction}, r).first->second;
                    int const trials = to.trials + 1;
                    if (!to.error || !(w.error / *r.budget <= *to.error / *to.budget)) {
                        to = r;
                        to.direction = direction, to.error = w.error;
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
    for (int scalar = 0; scalar < 2; ++scalar) {
        if (!level.scalars[scalar]) continue;
        Result at;
        at.level = "float", at.name = "declaration", at.scalar = scalar ? "double" : "float";
        tasks.push_back({at, [&compiled, level, scalar](Watch const& watch, bool) {
                             return check(compiled, level, scalar, watch);
                         }});
    }
    return tasks;
}

} // namespace deltaloom::codegen
