#include "codegen/check/run.hpp"

#include "codegen/check/fault_level.hpp"
#include "codegen/check/float_level.hpp"
#include "codegen/check/integer_level.hpp"
#include "codegen/check/process.hpp"
#include "codegen/check/property_level.hpp"
#include "codegen/check/result_json.hpp"
#include "codegen/check/text_level.hpp"
#include "deltaloom/runtime/cpu/features.hpp"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <mutex>
#include <thread>

namespace deltaloom::codegen {
namespace {

// The first of the compiled levels that are asked for.
char const* level_of(CheckOptions const& o) {
    return o.text ? "text" : o.integer ? "integer" : o.number ? "float" : o.property ? "property" : "fault";
}

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

std::vector<Task> tasks_of(Compiled const& compiled, CheckOptions const& options) {
    std::vector<Task> tasks;
    auto const add = [&](std::vector<Task> more) {
        for (auto& task : more) tasks.push_back(std::move(task));
    };
    if (options.text) {
        ProgramLevel level;
        level.seed = options.seed, level.trials = options.trials, level.forms = options.forms;
        add(text_tasks(compiled, level));
    }
    if (options.integer) {
        IntegerLevel level;
        level.seed = options.seed, level.trials = options.trials, level.forms = options.forms;
        level.short_operands = options.scalars;
        add(integer_tasks(compiled, level));
    }
    if (options.number) {
        FloatLevel level;
        level.seed = options.seed, level.trials = options.trials, level.forms = options.forms;
        level.scalars = options.scalars, level.short_states = options.short_states;
        add(float_tasks(compiled, level));
    }
    auto const isa = runtime::chosen_level();
    if ((options.property || options.fault) && compiled.production(isa)) {
        auto const subject = std::make_shared<Subject const>(compiled, isa, options.forms, options.seed);
        if (options.property) add(tasks_of(subject, "property", properties()));
        if (options.fault) add(tasks_of(subject, "fault", faults()));
    }
    return tasks;
}

// The compiled levels of one rule in a process of its own, which is started again behind a task that crashed or hung.
std::vector<Result> run_tasks(LoadedRule const& rule, std::filesystem::path const& object, std::string const& library,
                              CheckOptions const& options) {
    constexpr int most_broken = 4; // then the rest is not run
    std::vector<Result> results;
    int task = 0, broken_tasks = 0;
    bool careful = false;
    while (true) {
        Result at;
        bool begun = false;
        auto const heard = [&](std::string const& line) {
            auto const j = nlohmann::json::parse(line);
            if (j.contains("task")) task = j["task"], begun = true;
            if (j.contains("at")) at = from_json(j["at"]);
            if (!j.contains("results")) return;
            for (auto const& r : j["results"]) results.push_back(from_json(r));
            ++task, begun = careful = false;
        };
        auto const work = [&](Say const& say) {
            Compiled const compiled(object, rule, library);
            auto const tasks = tasks_of(compiled, options);
            for (int i = task; i < int(tasks.size()); ++i) {
                say(nlohmann::json{{"task", i}, {"at", to_json(tasks[std::size_t(i)].at)}}.dump());
                auto const watch = [&](Result const& next) { say(nlohmann::json{{"at", to_json(next)}}.dump()); };
                auto list = nlohmann::json::array();
                for (auto const& r : tasks[std::size_t(i)].run(watch, careful && i == task)) list.push_back(to_json(r));
                say(nlohmann::json{{"results", list}}.dump());
            }
        };
        auto const finished = run_isolated(work, options.silence_seconds, heard);
        if (finished.code == 0 && !finished.timed_out) break;
        if (begun && !careful && !finished.timed_out) { // once more, for the shortest sequence that does it
            careful = true;
            continue;
        }
        at.pass = false;
        at.degree.reset(), at.bound_log2.reset();
        at.got = finished.timed_out     ? fmt::format("no end within {:.0f} s", options.silence_seconds)
                 : finished.code >= 128 ? fmt::format("a crash, signal {}", finished.code - 128)
                                        : finished.output;
        if (!begun) at.name = "declaration";
        results.push_back(at);
        ++task, careful = false;
        if (!begun || ++broken_tasks == most_broken) break;
    }
    for (auto& r : results) r.rule = rule.declaration.name;
    return results;
}

// One result that says why a rule's compiled levels gave none.
Result broken(LoadedRule const& rule, std::string level, std::string why) {
    Result r;
    r.rule = rule.declaration.name, r.level = std::move(level), r.name = "declaration", r.pass = false,
    r.got = std::move(why);
    return r;
}

// What does not compile: from the compiler's first error on, for the form and direction that its file is of.
Result uncompiled(LoadedRule const& rule, std::string level, PartFailure const& failure) {
    auto said = failure.said;
    if (auto const error = said.find("error:"); error != said.npos)
        said.erase(0, said.substr(0, error).rfind('\n') + 1); // npos + 1 is 0: it stands in the first line
    auto const line = said.substr(0, said.find('\n'));
    auto result = broken(rule, std::move(level), {});
    for (Form form : {Form::step, Form::recurrent, Form::chunked, Form::summary})
        for (Direction direction : {Direction::forward, Direction::backward}) {
            auto const at = line.find(text_path(rule.declaration.name, form, direction));
            if (at == line.npos) continue;
            said.erase(0, at);
            result.form = form, result.direction = direction;
        }
    result.got = fmt::format("the {} does not compile: {}", failure.part, said.substr(0, 2000));
    return result;
}

// What a folder's text lacks: an error where it was lost, a reason where `emit` was asked to leave it out.
std::vector<Result> missing_text(LoadedRule const& rule, Sources const& sources, CheckOptions const& options) {
    std::vector<Result> results;
    auto const& name_ = rule.declaration.name;
    bool any = false;
    for (Form form : {Form::step, Form::recurrent, Form::chunked, Form::parallel, Form::summary})
        for (Direction direction : {Direction::forward, Direction::backward}) {
            bool const has = std::any_of(rule.derived.programs.begin(), rule.derived.programs.end(),
                                         [&](auto const& p) { return p.form == form && p.direction == direction; });
            bool const asked = options.forms.empty() ||
                               std::find(options.forms.begin(), options.forms.end(), form) != options.forms.end();
            if (!has || !asked) continue;
            auto const there = text_there(sources, name_, form, direction);
            any |= there == TextThere::yes;
            if (there == TextThere::yes) continue;
            Result r = text_result(rule, form, direction);
            r.level = options.text ? "text" : level_of(options);
            r.pass = there == TextThere::not_emitted;
            (r.pass ? r.reason : r.got) = fmt::format("there is no {}", text_path(name_, form, direction));
            results.push_back(std::move(r));
        }
    if (!any && !results.empty() && std::all_of(results.begin(), results.end(), [](auto const& r) { return r.pass; }))
        results = {broken(rule, level_of(options), "the folder has no text of this rule")};
    return results;
}

} // namespace

std::vector<std::vector<Result>> check_rules(Loaded const& loaded, std::vector<std::string> const& header_of,
                                             CheckOptions const& options,
                                             std::function<void(int, int, std::string const&)> const& progress) {
    auto const& rules = loaded.rules;
    std::size_t const count = rules.size();
    std::vector<std::vector<Result>> results(count);
    bool const edited = options.source.has_value();
    Sources sources = options.source.value_or(Sources{});
    int const jobs = std::max(1, options.toolchain.jobs);
    // Weights of the bar: a rule's program level 1, its share of the compilation 4, its compiled levels 1.
    int const total = int(count) * ((options.program ? 1 : 0) + (options.compiles() ? 5 : 0));
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
    if (!options.compiles()) return results;

    sources.headers = header_of;
    if (!edited) {
        LibraryOptions library;
        library.library = sources.library = "checked";
        constexpr unsigned f32 = 1, f64 = 2;
        library.scalars = options.number ? options.scalars : 0;
        bool const in_float = options.integer || options.property || options.fault || options.short_states;
        if (in_float || !library.scalars) library.scalars |= f32;
        if (options.property && options.scalars & f64) library.scalars |= f64;
        for (auto const& rule : rules)
            for (auto& file : emit_library({rule.derived}, library))
                if (file.path.rfind("src/" + rule.declaration.name, 0) == 0) sources.files.push_back(std::move(file));
    }
    Wanted wanted;
    wanted.exact = options.text;
    wanted.kernels = options.number || options.integer || options.property || options.fault;
    if (options.integer)
        for (int level = runtime::machine_level(); level >= runtime::isa_base; --level)
            wanted.levels.push_back(runtime::isa_level(level));
    int const before = done;
    auto const set = compile(rules, sources, loaded.digest, wanted, options.toolchain, [&](int part, int parts) {
        int const now = before + int(count) * 4 * part / parts;
        report(now - done, "compiling");
    });
    done = before + int(count) * 4;

    each_on(jobs, count, [&](std::size_t i) {
        auto const level = level_of(options);
        if (edited)
            for (auto& r : missing_text(rules[i], sources, options)) results[i].push_back(std::move(r));
        if (auto const& failure = set.failures[i]; !failure.part.empty())
            results[i].push_back(uncompiled(rules[i], level, failure));
        else if (set.object.empty())
            results[i].push_back(broken(rules[i], level, "nothing was linked"));
        else
            for (auto& r : run_tasks(rules[i], set.object, sources.library, options))
                results[i].push_back(std::move(r));
        report(1, rules[i].declaration.name + ": compiled levels");
    });
    return results;
}

} // namespace deltaloom::codegen
