#include "codegen/check/text_level.hpp"

#include "codegen/check/compare.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>

namespace deltaloom::codegen {
namespace {

struct Run {
    int chunk, segment, length = 0; // chunk 0: the whole sequence; segment, length: see run_text
};
struct Text {
    Form form;
    int kernel; // 0 step, 1 recurrent, 2 chunked, 3 summary
    std::vector<Run> runs;
};

// Short chunks and segments, so that every boundary is crossed: lengths of the form summary that are one chunk,
// several, several of several checkpoints, and no whole number of them.
std::vector<Text> texts() {
    return {{Form::step, 0, {{1, 1}}},
            {Form::recurrent, 1, {{1, 1}, {1, 3}, {1, 8}}},
            {Form::chunked, 2, {{1, 2}, {2, 1}, {2, 2}, {3, 2}, {5, 1}}},
            {Form::parallel, 2, {{0, 1}}},
            {Form::summary, 3, {{1, 1, 1}, {1, 2, 2}, {2, 1, 2}, {3, 1, 3}, {1, 1, 3}, {2, 1, 3}, {2, 5, 10}}}};
}

Program const* program(Derived const& d, Form form, Direction direction) {
    for (auto const& p : d.programs)
        if (p.form == form && p.direction == direction && !p.split) return &p;
    return nullptr;
}

// Of the form summary: the chunked one from states, and with gradients, that segments' maps have made.
long degree_of(Derived const& d, Form form, Direction direction, int chunk, std::vector<int> const& dims, int length) {
    auto const of = [&](Form f, Direction way, Start start) {
        auto const* p = program(d, f, way);
        return p ? degree(d.rule, *p, Plan{chunk}, dims, length, start) : 1;
    };
    if (form != Form::summary) return of(form, direction, {});
    long const factor = of(Form::summary, Direction::forward, {}), states = factor + 1;
    if (direction == Direction::forward) return of(Form::chunked, direction, {states, 1});
    return of(Form::chunked, direction, {states, of(Form::summary, direction, {states, 1}) + factor});
}

using Trials = std::deque<Trial>;

Trials trials_of(Compiled const& compiled, ProgramLevel const& level) {
    auto const evaluate = [&compiled](Dims const& dims) -> Evaluate {
        return [&compiled, all = all_extents(compiled.rule().derived.rule, dims)](
                   OracleData<runtime::dual<runtime::field>> const& data) { return compiled.evaluate(all, data); };
    };
    Trials trials;
    for (int i = 0; i < level.trials; ++i) {
        int const lengths[] = {7, 6, 1, 7};
        trials.emplace_back(compiled.rule().declaration, lengths[i % 4], i % 4 == 2, i % 2 == 1 ? 0.3 : 0.0,
                            Draw(level.seed ^ 0x7e47u, std::uint64_t(i)), evaluate);
    }
    return trials;
}

// One form and direction at all trials.
struct Checked {
    Compiled const& compiled;
    Trials& trials;
    Text const& text;
    Watch const& watch;
    Result r;

    TypedRule const& rule() const { return compiled.rule().derived.rule; }
    int shortest() const { return text.form == Form::step ? 1 : 0; }
    int longest(Trial const& trial) const { return text.form == Form::step ? 1 : trial.length(); }
    int chunk_of(Run run, Trial const& trial) const { return run.chunk ? run.chunk : std::max(1, longest(trial)); }

    void place(Result& at, Run run, Trial const& trial, int length) const {
        at.tokens = length, at.chunk = chunk_of(run, trial);
        describe_dims(at, rule(), all_extents(rule(), trial.dims()));
    }
    std::optional<Difference> at(Run run, Trial& trial, int length) const {
        Result next = r;
        place(next, run, trial, length);
        watch(next);
        std::optional<Stray> stray;
        auto const drive_it = [&](Prefix const& prefix) {
            return run_text(compiled, text.kernel, r.direction, chunk_of(run, trial), run.segment, run.length,
                            all_extents(rule(), trial.dims()), prefix.data, prefix.arriving, stray);
        };
        try {
            auto const d = r.direction == Direction::forward ? compare_forward(drive_it, trial, length)
                                                             : compare_backward(drive_it, trial, length);
            if (d || !stray) return d;
            return Difference{stray->where, stray->what, "nothing there"};
        } catch (std::runtime_error const& e) {
            return Difference{"the call", e.what(), ""};
        }
    }
    bool holds() const {
        for (auto& trial : trials)
            for (auto const run : text.runs)
                if (at(run, trial, longest(trial)) ||
                    (&trial == &trials.front() && shortest() == 0 && at(run, trial, 0)))
                    return false;
        return true;
    }
    // The shortest sequence, over all trials and runs, that differs.
    void find() {
        r.pass = false;
        int most = 0;
        for (auto const& trial : trials) most = std::max(most, longest(trial));
        for (int length = shortest(); length <= most; ++length)
            for (auto& trial : trials)
                for (auto const run : text.runs) {
                    if (length > longest(trial)) continue;
                    auto const d = at(run, trial, length);
                    if (!d) continue;
                    place(r, run, trial, length);
                    r.index = d->index, r.got = d->got, r.want = d->want;
                    return;
                }
        r.got = "another value at one run than at the next";
    }
    Result check(bool careful) {
        long most = 1;
        for (auto const& trial : trials)
            for (auto const run : text.runs) {
                int const chunk = chunk_of(run, trial), length = longest(trial);
                most = std::max(most, degree_of(compiled.rule().derived, text.form, r.direction, chunk,
                                                all_extents(rule(), trial.dims()), length) +
                                          (r.direction == Direction::backward));
                r.tokens = std::max<long>(r.tokens, length), r.chunk = std::max(r.chunk, chunk);
            }
        describe_dims(r, rule(), all_extents(rule(), trials.front().dims()));
        r.degree = most, r.bound_log2 = std::log2(double(most)) - 61;
        r.trials = int(trials.size());
        if (careful || !holds()) find();
        return r;
    }
};

} // namespace

Result text_result(LoadedRule const& rule, Form form, Direction direction) {
    Result r;
    r.rule = rule.declaration.name, r.form = form, r.direction = direction;
    r.level = "text", r.name = "declaration";
    return r;
}

std::vector<Task> text_tasks(Compiled const& compiled, ProgramLevel const& level) {
    auto const trials = std::make_shared<std::optional<Trials>>();
    std::vector<Task> tasks;
    for (auto const& text : texts())
        for (Direction direction : {Direction::forward, Direction::backward}) {
            if (!compiled.has_text(text.kernel, direction) ||
                (!level.forms.empty() &&
                 std::find(level.forms.begin(), level.forms.end(), text.form) == level.forms.end()))
                continue;
            Result r = text_result(compiled.rule(), text.form, direction);
            if (!compiled.by_expression_templates()) r.name = "declaration, walked";
            tasks.push_back({r, [&compiled, level, trials, text, r](Watch const& watch, bool careful) {
                                 if (!*trials) trials->emplace(trials_of(compiled, level));
                                 return std::vector<Result>{Checked{compiled, **trials, text, watch, r}.check(careful)};
                             }});
        }
    return tasks;
}

} // namespace deltaloom::codegen
