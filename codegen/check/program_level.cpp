#include "codegen/check/program_level.hpp"
#include "codegen/check/compare.hpp"
#include "codegen/check/summary.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

namespace deltaloom::codegen {
namespace {

constexpr long largest_degree = 1L << 20; // bound 2^-41

struct Variant {
    Program program;
    std::string name;
    std::vector<Plan> plans; // chunk 0: the whole sequence
};

Body with_results(Body const& body, Body const& like) {
    std::vector<std::string> names;
    for (auto const& [name, node] : like.results) names.push_back(name);
    return pruned(body, names);
}
// The chunked program whose short last chunk is as long as the others.
Program padded(Derived const& derived, Program program) {
    Body const chunk = lower_chunk(derived.rule, *derived.recurrence, true);
    for (auto& phase : program.phases) {
        bool const gradients = phase.kind == Phase::Kind::scan_reverse;
        phase.body = with_results(gradients ? differentiate(chunk, derived.rule.dims) : chunk, phase.body);
    }
    return program;
}

std::vector<Variant> variants(Derived const& derived, std::vector<Form> const& forms) {
    std::vector<Variant> all;
    for (auto const& program : derived.programs) {
        if (!forms.empty() && std::find(forms.begin(), forms.end(), program.form) == forms.end()) continue;
        switch (program.form) {
        case Form::step:
        case Form::recurrent: all.push_back({program, "declaration", {{1}}}); break;
        case Form::chunked:
            if (program.split) {
                all.push_back({program, "split", {{2}, {3}}});
                break;
            }
            all.push_back({program, "declaration", {{1}, {2}, {3}, {5}}});
            all.push_back({padded(derived, program), "padded", {{3, true}, {5, true}}});
            break;
        case Form::parallel: all.push_back({program, "declaration", {{0}}}); break;
        case Form::summary: all.push_back({program, "summary", {{0}, {2}}}); break;
        }
    }
    return all;
}

Plan of_length(Plan plan, int length) {
    if (plan.chunk == 0) plan.chunk = std::max(length, 1);
    return plan;
}

struct Checked {
    Declaration const& rule;
    Derived const& derived;
    std::deque<Trial> trials;

    // The longest prefix whose degree is small enough for the bound.
    int usable(Variant const& v, Plan plan, Trial const& trial, long& most) const {
        int const shortest = std::min(1, trial.length());
        for (int length = v.program.form == Form::step ? shortest : trial.length();; --length) {
            auto const dims = all_extents(derived.rule, trial.dims());
            long const d = v.program.form == Form::summary
                               ? summary_degree(derived, v.program, of_length(plan, length).chunk, dims, length)
                               : degree(derived.rule, v.program, of_length(plan, length), dims, length);
            bool const gradients = v.program.direction == Direction::backward; // compared along a random direction
            if (d + gradients <= largest_degree || length <= shortest) {
                most = std::max(most, d + gradients);
                return length;
            }
        }
    }

    std::optional<Difference> compare(Variant const& v, Plan plan, Trial& trial, int length) const {
        if (v.program.form == Form::summary)
            return compare_summary(derived, v.program, of_length(plan, length).chunk, trial, length);
        auto const drive_it = [&](Prefix const& p) {
            return drive(derived.rule, v.program, of_length(plan, length), all_extents(derived.rule, trial.dims()),
                         p.data, p.arriving);
        };
        return v.program.direction == Direction::forward ? compare_forward(drive_it, trial, length)
                                                         : compare_backward(drive_it, trial, length);
    }

    // Compares one plan at one trial; true: nothing differs.
    bool holds(Variant const& v, Plan plan, Trial& trial, Result& r, long& most) const {
        int const shortest = v.program.form == Form::step ? 1 : 0;
        int length = shortest;
        auto const at = [&](int l) { return compare(v, plan, trial, l); };
        try {
            length = usable(v, plan, trial, most);
            bool const empty_too = shortest == 0 && &trial == &trials.front();
            if (at(length) || (empty_too && at(0))) report(r, at, shortest, length);
        } catch (std::exception const& e) {
            r.pass = false, r.got = e.what();
        }
        if (r.pass) r.tokens = std::max<long>(r.tokens, length);
        return r.pass;
    }

    Result check(Variant const& v) {
        Result r;
        r.rule = rule.name;
        r.form = v.program.form, r.direction = v.program.direction;
        r.level = "program", r.name = v.name;
        r.trials = int(trials.size());
        long most = 1;
        auto const& first = trials.front();
        for (auto& trial : trials)
            for (Plan const plan : v.plans) {
                if (!r.pass) continue;
                bool const held = holds(v, plan, trial, r, most);
                r.chunk = held ? std::max(r.chunk, plan.chunk) : of_length(plan, int(r.tokens)).chunk;
                if (held && &trial != &first) continue;
                describe_dims(r, derived.rule, all_extents(derived.rule, trial.dims()));
            }
        return finished(std::move(r), most);
    }
    static Result finished(Result r, long most) {
        r.degree = most;
        r.bound_log2 = std::log2(double(most)) - 61;
        return r;
    }
};

std::uint64_t hash(std::string const& name) {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (unsigned char c : name) h = (h ^ c) * 0x100000001b3u;
    return h;
}

} // namespace

std::vector<Result> check_program(Declaration const& rule, Derived const& derived, ProgramLevel const& level) {
    Checked checked{rule, derived, {}};
    for (int i = 0; i < std::max(level.trials, 1); ++i) {
        Draw draw(level.seed ^ hash(rule.name), std::uint64_t(i));
        int const lengths[] = {7, 6, 1, 7};
        checked.trials.emplace_back(rule, lengths[i % 4], i % 4 == 2, i % 2 == 1 ? 0.3 : 0.0, draw);
    }
    std::vector<Result> results;
    for (auto const& v : variants(derived, level.forms)) results.push_back(checked.check(v));
    return results;
}

} // namespace deltaloom::codegen
