#include "codegen/check/integer_level.hpp"

#include "codegen/check/rounding.hpp"
#include "codegen/check/slices.hpp"
#include "deltaloom/runtime/cpu/features.hpp"

#include <cfenv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

namespace deltaloom::codegen {
namespace {

// How much a point asks of 24 bits.
struct Size {
    int tokens, batch, heads, rows, columns; // at least two sequences or heads: several units are watched
    double busy;                             // share of numbers that are not 0
    double halves;                           // share of linear gates that are 1/2
};
constexpr Size sizes[] = {{70, 2, 1, 9, 7, 0.3, 0.01}, {37, 2, 2, 5, 6, 0.4, 0.03}, {21, 1, 2, 17, 5, 0.3, 0.1},
                          {12, 1, 2, 4, 5, 0.35, 0.2}, {7, 1, 2, 5, 4, 0.3, 0.3},   {4, 2, 1, 3, 4, 0.25, 0.3},
                          {3, 2, 1, 2, 3, 0.25, 0.2},  {2, 2, 1, 2, 2, 0.25, 0.2},  {1, 2, 1, 3, 2, 0.3, 0.2}};
constexpr int smallest = int(sizeof sizes / sizeof sizes[0]) - 1;

Point draw_integers(Subject const& s, Size const& size, bool step, Draw& draw) {
    auto shape = shape_with(s.rule, s.dims(size.rows, size.columns, 4), size.batch, step ? 1 : size.tokens, size.heads);
    if (size.heads > 1 && size.batch > 1)
        for (OperandId id : s.facts.inputs)
            if (id % 3 == 0) shape.operand_heads[std::size_t(id)] = 1;
    auto p = s.point(shape, draw);
    auto const sparse = [&](int most) { return draw.chance(size.busy) ? double(draw.between(-most, most)) : 0.0; };
    for (OperandId id = 0; id < OperandId(s.rule.operands.size()); ++id) {
        auto const& o = s.operand(id);
        auto const i = std::size_t(id);
        each_entry(p.arriving.values[i], [&](double& x) { x = sparse(2); });
        auto& values = p.values.values[i];
        if (o.domain == Domain::log)
            each_entry(values,
                       [&](double& x) { x = draw.chance(0.12) ? -std::numeric_limits<double>::infinity() : 0.0; });
        else if (o.domain == Domain::linear)
            each_entry(values, [&](double& x) {
                double const u = draw.uniform();
                x = u < size.halves ? 0.5 : u < size.halves + 0.1 ? 0.0 : u < size.halves + 0.3 ? -1.0 : 1.0;
            });
        else if (o.shape.scalar() && o.role != Role::state)
            each_entry(values, [&](double& x) { x = draw.chance(0.1) ? -1 : draw.chance(0.7) ? 1 : 0; });
        else
            each_entry(values, [&](double& x) { x = sparse(2); });
        bool const key = std::find(s.facts.keys.begin(), s.facts.keys.end(), id) != s.facts.keys.end();
        if (!key) continue;
        // Of length 1, so that what is erased once is gone: 0 but for one entry, seldom two.
        auto const n = entries(s.rule, p.shape, id) / std::size_t(std::max(1, o.steps));
        for (std::size_t at = 0; at < values.size(); at += n) {
            std::fill_n(values.begin() + std::ptrdiff_t(at), n, 0.0);
            for (int k = draw.chance(0.05) ? 2 : 1; k > 0; --k)
                values[at + std::size_t(draw.below(int(n)))] = draw.chance(0.5) ? 1 : -1;
        }
    }
    return p;
}

bool exactly(std::function<void()> const& f) {
    std::feclearexcept(FE_ALL_EXCEPT);
    f();
    return !std::fetestexcept(FE_INEXACT);
}

// What the declaration says, as far as double is exact; nullptr where it is not.
struct Exact {
    Point point;
    std::unique_ptr<Reference> reference;
    std::vector<std::vector<double>> directions; // by operand; whole numbers
    std::vector<double> slopes;
};
std::unique_ptr<Exact> exact_point(Subject const& s, Size const& size, bool step, Draw draw) {
    auto e = std::make_unique<Exact>();
    e->point = draw_integers(s, size, step, draw);
    auto const count = s.rule.operands.size();
    e->directions.resize(count), e->slopes.resize(count);
    bool const exact = exactly([&] {
        e->reference = std::make_unique<Reference>(s.compiled, e->point);
        for (OperandId id = 0; id < OperandId(count); ++id) {
            if (s.operand(id).role == Role::output) continue;
            auto& direction = e->directions[std::size_t(id)];
            for (std::size_t i = total(s.rule, e->point, id); i > 0; --i)
                direction.push_back(double(draw.between(-1000, 1000)));
            e->slopes[std::size_t(id)] = e->reference->slope(id, direction);
        }
    });
    return exact ? std::move(e) : nullptr;
}

// The first difference; forward: of values, backward: of slopes along the direction, then of an entry.
std::optional<Worst> differ(Subject const& s, Exact const& e, Answer const& got, Direction d) {
    Worst worst;
    auto const& have = d == Direction::forward ? got.forward : got.gradients;
    for (OperandId id = 0; id < OperandId(s.rule.operands.size()); ++id) {
        auto const i = std::size_t(id);
        auto const& g = have.values[i];
        if (g.empty()) continue;
        if (d == Direction::forward) {
            for (std::size_t k = 0; k < g.size(); ++k)
                worst.see(g[k], e.reference->forward().values[i][k], 1,
                          [&] { return where(s.rule, e.point, id, k, ""); });
        } else {
            double slope = 0;
            for (std::size_t k = 0; k < g.size(); ++k) slope += g[k] * e.directions[i][k];
            if (slope == e.slopes[i]) continue;
            for (std::size_t k = 0; k < g.size() && worst.error == 0; ++k)
                worst.see(g[k], e.reference->derivative(id, k), 1, [&] { return where(s.rule, e.point, id, k, "d_"); });
            if (worst.error == 0) worst.error = 1, worst.index = "d_" + s.operand(id).name;
        }
        if (worst.error != 0) return worst;
    }
    return std::nullopt;
}

struct Outcome {
    bool exact = true;
    std::optional<Worst> forward, backward;
    Answer got[2]; // of each direction
};

// The first entry of 16 bits that is not `whole` rounded.
std::optional<Worst> differ(Subject const& s, Exact const& e, CallTensors const& got, CallTensors const& whole,
                            std::uint32_t scalar, char const* prefix) {
    Worst worst;
    for (OperandId id = 0; id < OperandId(s.rule.operands.size()) && worst.error == 0; ++id) {
        auto const i = std::size_t(id);
        bool const state = s.operand(id).role == Role::state; // in float32
        for (std::size_t k = 0; k < got.values[i].size() && worst.error == 0; ++k)
            worst.see(got.values[i][k], state ? whole.values[i][k] : rounded_to(whole.values[i][k], scalar), 1,
                      [&] { return where(s.rule, e.point, id, k, prefix); });
    }
    return worst.error == 0 ? std::nullopt : std::optional(worst);
}

struct Checked {
    Subject const& s;
    IntegerLevel const& level;
    Watch const& watch;
    std::map<std::tuple<Form, Direction, std::uint32_t>, Result> found;

    Result& at(Form f, Direction d, std::uint32_t scalar = DL_F32) {
        auto const [place, fresh] = found.try_emplace({f, d, scalar});
        if (fresh) {
            auto& r = place->second;
            r.rule = s.rule.name, r.form = f, r.direction = d, r.level = "integer", r.name = "declaration";
            r.scalar = scalar_names()[scalar], r.isa = runtime::isa_name(s.isa);
            r.error = 0, r.budget = 0;
        }
        return place->second;
    }
    static Manner usual(Form f, int chunk, bool backward) {
        Manner manner{.form = code(f), .chunk = f == Form::chunked || f == Form::summary ? chunk : 0};
        manner.forward = !backward, manner.backward = backward;
        return manner;
    }
    // The same call with operands of 16 bits, which hold what is given exactly.
    void run_short(Form f, Exact const& e, int chunk, Outcome const& o) {
        for (std::uint32_t scalar : {DL_BF16, DL_F16})
            for (bool backward : {false, true}) {
                if (!(level.short_operands >> scalar & 1)) continue;
                auto manner = usual(f, chunk, backward);
                for (auto const& operand : s.rule.operands)
                    manner.scalars.push_back(operand.role == Role::state ? std::uint32_t(DL_F32) : scalar);
                auto const got = invoke(s.described, s.rule, e.point, manner);
                auto const& whole = o.got[backward];
                Outcome mine;
                auto& to = backward ? mine.backward : mine.forward;
                if (!got.good())
                    to = Worst{1, "the call", got.code ? got.status.message : got.stray, ""};
                else if (whole.good())
                    to = backward ? differ(s, e, got.gradients, whole.gradients, scalar, "d_")
                                  : differ(s, e, got.forward, whole.forward, scalar, "");
                take(f, backward ? Direction::backward : Direction::forward, scalar, e, chunk, to);
            }
    }
    Outcome run(Form f, Exact const& e, int chunk) {
        Result next = at(f, Direction::forward);
        describe(next, s.rule, e.point);
        next.chunk = chunk;
        watch(next);
        Outcome o;
        auto& got = o.got;
        for (bool backward : {false, true}) {
            auto manner = usual(f, chunk, backward);
            manner.host = Host::watched, manner.threads = 2;
            got[backward] = invoke(s.described, s.rule, e.point, manner);
            o.exact &= got[backward].exact;
            auto& to = backward ? o.backward : o.forward;
            if (!got[backward].good())
                to = Worst{1, "the call", got[backward].code ? got[backward].status.message : got[backward].stray, ""};
            else
                to = differ(s, e, got[backward], backward ? Direction::backward : Direction::forward);
        }
        return o;
    }
    void take(Form f, Exact const& e, int chunk, Outcome const& o) {
        take(f, Direction::forward, DL_F32, e, chunk, o.forward);
        take(f, Direction::backward, DL_F32, e, chunk, o.backward);
        run_short(f, e, chunk, o);
    }
    void take(Form f, Direction d, std::uint32_t scalar, Exact const& e, int chunk, std::optional<Worst> const& worst) {
        auto& r = at(f, d, scalar);
        if (!r.pass) return;
        ++r.trials;
        if (r.tokens < e.point.shape.tokens || worst) describe(r, s.rule, e.point);
        r.chunk = worst ? chunk : std::max(r.chunk, chunk);
        if (!worst) return;
        r.pass = false;
        r.error = worst->error, r.index = worst->index, r.got = worst->got, r.want = worst->want;
    }
    // A form at one trial, from a size on.
    void form(Form f, int trial, std::map<int, std::unique_ptr<Exact>>& points) {
        for (int size = trial * 2 % smallest; size <= smallest; ++size) {
            auto const [place, fresh] = points.try_emplace(size);
            if (fresh)
                place->second = exact_point(s, sizes[size], f == Form::step,
                                            s.draw("integer", trial * 100 + size * 2 + (f == Form::step)));
            if (!place->second) continue;
            auto const& e = *place->second;
            bool all = true; // every chunk at this size
            for (int chunk : f == Form::chunked ? std::vector<int>{16, 8, 3} : std::vector<int>{1}) {
                int const told = f == Form::parallel ? e.point.shape.tokens : chunk;
                auto const o = run(f, e, told);
                bool const equal = !o.forward && !o.backward;
                if (!equal && !o.exact && size < smallest) {
                    all = false;
                    continue;
                }
                take(f, e, told, o);
            }
            if (all) return;
        }
    }
    std::vector<Result> check() {
        for (int trial = 0; trial < level.trials && s.facts.inexact.empty(); ++trial) {
            std::map<int, std::unique_ptr<Exact>> points, steps;
            for (Form f : s.forms) form(f, trial, f == Form::step ? steps : points);
        }
        std::vector<Result> results;
        for (Form f : s.forms)
            for (int i = 0; i < 6; ++i) {
                std::uint32_t const scalars[] = {DL_F32, DL_BF16, DL_F16}, scalar = scalars[i / 2];
                if (scalar != DL_F32 && !(level.short_operands >> scalar & 1)) continue;
                auto r = at(f, i % 2 ? Direction::backward : Direction::forward, scalar);
                if (!s.facts.inexact.empty())
                    r.reason = fmt::format("not applicable: {}", fmt::join(s.facts.inexact, ", "));
                else if (!r.trials)
                    r.pass = false, r.got = "no point with which every operation is exact";
                results.push_back(std::move(r));
            }
        return results;
    }
};

} // namespace

std::vector<Task> integer_tasks(Compiled const& compiled, IntegerLevel const& level) {
    std::vector<Task> tasks;
    for (int i = runtime::machine_level(); i >= runtime::isa_base; --i) {
        auto const isa = runtime::isa_level(i);
        if (!compiled.production(isa)) continue;
        auto const subject = std::make_shared<Subject const>(compiled, isa, level.forms, level.seed);
        Result at;
        at.level = "integer", at.name = "declaration", at.scalar = "float", at.isa = runtime::isa_name(isa);
        tasks.push_back({at, [subject, level](Watch const& watch, bool) {
                             Checked checked{*subject, level, watch, {}};
                             return checked.check();
                         }});
    }
    return tasks;
}

} // namespace deltaloom::codegen
