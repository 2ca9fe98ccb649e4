#include "codegen/check/text_level.hpp"

#include "codegen/check/compare.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

namespace deltaloom::codegen {
namespace {

struct Run {
    int chunk, segment; // chunk 0: the whole sequence; segment: see run_text
};
struct Text {
    Form form;
    int kernel; // 0 step, 1 recurrent, 2 chunked, 3 summary
    std::vector<Run> runs;
};

// Short chunks and segments, so that every boundary is crossed.
std::vector<Text> texts() {
    return {{Form::step, 0, {{1, 1}}},
            {Form::recurrent, 1, {{1, 1}, {1, 3}, {1, 8}}},
            {Form::chunked, 2, {{1, 2}, {2, 1}, {2, 2}, {3, 2}, {5, 1}}},
            {Form::parallel, 2, {{0, 1}}},
            {Form::summary, 3, {{1, 1}, {1, 2}, {2, 1}, {3, 1}, {2, 5}}}};
}

std::vector<int> extents(TypedRule const& rule, Dims const& dims) {
    std::vector<int> all;
    for (auto const& name : rule.dims) all.push_back(dims.at(name));
    return all;
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

} // namespace

std::vector<Result> check_text(Compiled const& compiled, ProgramLevel const& level) {
    auto const& [declaration, derived] = compiled.rule();
    auto const evaluate = [&](Dims const& dims) -> Evaluate {
        return [&compiled, all = extents(compiled.rule().derived.rule, dims)](
                   OracleData<runtime::dual<runtime::field>> const& data) { return compiled.evaluate(all, data); };
    };
    std::deque<Trial> trials;
    for (int i = 0; i < level.trials; ++i) {
        int const lengths[] = {7, 6, 1, 7};
        trials.emplace_back(declaration, lengths[i % 4], i % 4 == 2, i % 2 == 1 ? 0.3 : 0.0,
                            Draw(level.seed ^ 0x7e47u, std::uint64_t(i)), evaluate);
    }
    std::vector<Result> results;
    for (auto const& text : texts()) {
        if (!compiled.has_text(text.kernel) ||
            (!level.forms.empty() && std::find(level.forms.begin(), level.forms.end(), text.form) == level.forms.end()))
            continue;
        for (Direction direction : {Direction::forward, Direction::backward}) {
            Result r;
            r.rule = declaration.name, r.form = text.form, r.direction = direction;
            r.level = "text", r.name = compiled.by_expression_templates() ? "declaration" : "declaration, walked";
            r.trials = int(trials.size());
            long most = 1;
            for (auto& trial : trials)
                for (auto const run : text.runs) {
                    if (!r.pass) break;
                    int const shortest = text.form == Form::step ? std::min(1, trial.length()) : 0,
                              longest = text.form == Form::step ? shortest : trial.length();
                    auto const dims = extents(derived.rule, trial.dims());
                    int const chunk = run.chunk ? run.chunk : std::max(1, longest);
                    most = std::max(most, degree_of(derived, text.form, direction, chunk, dims, longest) +
                                              (direction == Direction::backward));
                    auto const drive_it = [&](Prefix const& prefix) {
                        return run_text(compiled, text.kernel, chunk, run.segment, dims, prefix.data, prefix.arriving);
                    };
                    auto const at = [&](int length) {
                        return direction == Direction::forward ? compare_forward(drive_it, trial, length)
                                                               : compare_backward(drive_it, trial, length);
                    };
                    r.tokens = std::max<long>(r.tokens, longest), r.chunk = std::max(r.chunk, chunk);
                    bool const first = &trial == &trials.front();
                    if (first || !r.dims.empty()) {
                        r.dims.clear();
                        for (std::size_t d = 0; d < dims.size(); ++d)
                            r.dims.emplace_back(derived.rule.dims[d], trials.front().dims().at(derived.rule.dims[d]));
                    }
                    if (!at(longest) && !(first && shortest == 0 && at(0))) continue;
                    report(r, at, shortest, longest);
                    r.chunk = chunk;
                    for (auto& [name, extent] : r.dims) extent = trial.dims().at(name);
                }
            r.degree = most, r.bound_log2 = std::log2(double(most)) - 61;
            results.push_back(std::move(r));
        }
    }
    return results;
}

} // namespace deltaloom::codegen
