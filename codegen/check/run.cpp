#include "codegen/check/run.hpp"

#include "codegen/check/float_level.hpp"
#include "codegen/check/process.hpp"
#include "codegen/check/result_json.hpp"
#include "codegen/check/text_level.hpp"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <mutex>
#include <thread>

namespace deltaloom::codegen {
namespace {

constexpr char const* library = "checked";

// f(i) for i in 0 .. n-1 on `jobs` threads.
template<class F> void each_on(int jobs, std::size_t n, F f) {
    std::atomic<std::size_t> next{0};
    auto const worker = [&] {
        for (std::size_t i; (i = next++) < n;) f(i);
    };
    std::vector<std::thread> threads;
    for (int j = 1; j < jobs; ++j) threads.emplace_back(worker);
    worker();
    for (auto& thread : threads) thread.join();
}

std::vector<Result> compiled_levels(LoadedRule const& rule, CompiledSet const& set, CheckOptions const& options) {
    Compiled const compiled(set.object, rule, library, set.isa);
    std::vector<Result> results;
    if (options.text) {
        ProgramLevel level;
        level.seed = options.seed, level.trials = options.trials, level.forms = options.forms;
        results = check_text(compiled, level);
    }
    if (options.number) {
        FloatLevel level;
        level.seed = options.seed, level.trials = options.trials, level.forms = options.forms;
        std::copy(std::begin(options.scalars), std::end(options.scalars), std::begin(level.scalars));
        auto more = check_float(compiled, level);
        results.insert(results.end(), more.begin(), more.end());
    }
    return results;
}

// A rule without a summary says so at the levels that would have compiled one.
void add_not_applicable(std::vector<Result>& results, LoadedRule const& rule, CheckOptions const& options) {
    auto const& reason = rule.derived.no_summary;
    bool const asked = options.forms.empty() ||
                       std::find(options.forms.begin(), options.forms.end(), Form::summary) != options.forms.end();
    if (!reason || !asked) return;
    auto const add = [&](std::string level, std::string scalar) {
        for (Direction direction : {Direction::forward, Direction::backward}) {
            Result r;
            r.rule = rule.declaration.name, r.form = Form::summary, r.direction = direction;
            r.level = level, r.name = "declaration", r.scalar = scalar;
            r.reason = reason->text;
            results.push_back(std::move(r));
        }
    };
    if (options.text) add("text", "exact");
    for (int s = 0; s < 2; ++s)
        if (options.number && options.scalars[s]) add("float", s ? "double" : "float");
}

// One result that says why a rule's compiled levels gave none.
Result broken(LoadedRule const& rule, std::string level, std::string why) {
    Result r;
    r.rule = rule.declaration.name, r.level = std::move(level), r.name = "declaration", r.pass = false,
    r.got = std::move(why);
    return r;
}

} // namespace

std::vector<std::vector<Result>> check_rules(Loaded const& loaded, std::vector<std::string> const& header_of,
                                             CheckOptions const& options,
                                             std::function<void(int, int, std::string const&)> const& progress) {
    auto const& rules = loaded.rules;
    std::size_t const count = rules.size();
    std::vector<std::vector<Result>> results(count);
    bool const compiles = options.text || options.number;
    int const jobs = std::max(1, options.toolchain.jobs);
    // Weights of the bar: a rule's program level 1, its share of the compilation 4, its compiled levels 1.
    int const total = int(count) * ((options.program ? 1 : 0) + (compiles ? 5 : 0));
    std::atomic<int> done{0};
    std::mutex reporting;
    auto const report = [&](int weight, std::string const& what) {
        std::lock_guard<std::mutex> const lock(reporting);
        progress(done += weight, total, what);
    };

    if (options.program)
        each_on(jobs, count, [&](std::size_t i) {
            ProgramLevel level;
            level.seed = options.seed, level.trials = options.trials, level.forms = options.forms;
            results[i] = check_program(rules[i].declaration, rules[i].derived, level);
            report(1, rules[i].declaration.name + ": program");
        });
    if (!compiles) return results;

    std::vector<RuleText> texts(count);
    LibraryOptions library_options;
    library_options.library = library;
    std::copy(std::begin(options.scalars), std::end(options.scalars), std::begin(library_options.scalars));
    for (std::size_t i = 0; i < count; ++i) {
        texts[i].header = header_of[i];
        texts[i].files = emit_library({rules[i].derived}, library_options);
    }
    Wanted wanted;
    wanted.exact = options.text;
    for (int s = 0; s < 2; ++s) wanted.scalars[s] = options.number && options.scalars[s];
    int before = done;
    auto const set = compile(rules, texts, library, loaded.digest, wanted, options.toolchain, [&](int part, int parts) {
        int const now = before + int(count) * 4 * part / parts;
        report(now - done, "compiling");
    });
    done = before + int(count) * 4;

    each_on(jobs, count, [&](std::size_t i) {
        auto const level = options.text ? "text" : "float";
        auto const fail = [&](std::string why) { results[i].push_back(broken(rules[i], level, std::move(why))); };
        if (auto const& failure = set.failures[i]; !failure.part.empty())
            fail(fmt::format("the {} does not compile: {}", failure.part, failure.said.substr(0, 2000)));
        else if (set.object.empty())
            fail("nothing was linked");
        else {
            auto const finished = run_isolated(
                [&] {
                    nlohmann::json all = nlohmann::json::array();
                    for (auto const& r : compiled_levels(rules[i], set, options)) all.push_back(to_json(r));
                    return all.dump();
                },
                options.timeout_seconds);
            if (finished.timed_out)
                fail(fmt::format("no end within {:.0f} s", options.timeout_seconds));
            else if (finished.code != 0)
                fail(finished.code >= 128 ? fmt::format("crashed: signal {}", finished.code - 128) : finished.output);
            else
                for (auto const& j : nlohmann::json::parse(finished.output)) {
                    results[i].push_back(from_json(j));
                    results[i].back().rule = rules[i].declaration.name;
                }
        }
        add_not_applicable(results[i], rules[i], options);
        report(1, rules[i].declaration.name + ": text and float");
    });
    return results;
}

} // namespace deltaloom::codegen
