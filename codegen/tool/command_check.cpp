#include "codegen/check/float_level.hpp"
#include "codegen/check/result_json.hpp"
#include "codegen/check/run.hpp"
#include "codegen/tool/commands.hpp"
#include "codegen/tool/growth_report.hpp"
#include "codegen/tool/progress.hpp"

#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <thread>
#include <unistd.h>

namespace deltaloom::codegen::tool {
namespace {

struct Options {
    std::vector<std::string> headers, rules, levels{"program", "text", "float"}, forms, scalars{"float"}, state_scalars,
        targets{"cpu"};
    int trials = 3;
    std::uint64_t seed = 0;
    bool seeded = false, no_cache = false;
    std::string compiler, json, text_folder;
};

// A column of the table: the results of a level, of level float those of one scalar or of one short state.
struct Column {
    std::string level, scalar, state;
    std::string title() const { return !state.empty() ? state : scalar.empty() ? level : level + " (" + scalar + ")"; }
    bool holds(Result const& r) const {
        return r.level == level && (scalar.empty() || r.scalar == scalar) &&
               (level != "float" || (state.empty() ? !r.name.starts_with("state in ") : r.name == state));
    }
};

// "exact", "1.2e-07", "12 hold", "differs", or nothing where there is no such result.
std::string cell(std::vector<Result> const& results, Form form, Direction direction, Column const& column) {
    auto const& level = column.level;
    std::optional<Result> worst;
    int held = 0;
    for (auto const& r : results) {
        if (r.form != form || r.direction != direction || !column.holds(r)) continue;
        held += r.pass && r.reason.empty();
        if (!worst || !r.pass || r.error.value_or(0) > worst->error.value_or(0)) worst = r;
        if (!r.pass) break;
    }
    if (!worst) return "";
    if (!worst->pass) return "differs";
    if (level == "property" || level == "fault") return fmt::format("{} hold", held);
    if (!worst->reason.empty()) return "n/a";
    if (level == "integer") return "exact";
    return worst->error ? fmt::format("{:.1e}", *worst->error) : "exact";
}

void print_table(FILE* out, Loaded const& loaded, std::vector<std::vector<Result>> const& results, Options const& o,
                 bool colour) {
    std::vector<Column> columns;
    for (auto const& level : o.levels) {
        if (level != "float") {
            columns.push_back({level, "", ""});
            continue;
        }
        for (auto const& scalar : o.scalars) columns.push_back({level, scalar, ""});
        for (std::uint32_t s : {DL_BF16, DL_F16})
            if (scalar_set(o.state_scalars) >> s & 1) columns.push_back({level, "float", short_state_name(s)});
    }
    std::size_t width = 6;
    for (auto const& rule : loaded.rules) width = std::max(width, rule.declaration.name.size() + 2);
    fmt::print(out, "{:<{}}{:<11}", "", width, "");
    for (auto const& column : columns) fmt::print(out, "{:<20}", column.title());
    fmt::print(out, "\n{:<{}}{:<11}", "rule", width, "form");
    for (std::size_t c = 0; c < columns.size(); ++c) fmt::print(out, "{:<10}{:<10}", "forward", "backward");
    fmt::print(out, "\n");
    for (std::size_t i = 0; i < loaded.rules.size(); ++i) {
        bool first = true;
        for (Form form : {Form::step, Form::recurrent, Form::chunked, Form::parallel, Form::summary}) {
            std::string line;
            for (auto const& column : columns)
                for (Direction direction : {Direction::forward, Direction::backward}) {
                    auto const text = cell(results[i], form, direction, column);
                    bool const bad = text == "differs";
                    line += fmt::format("{}{:<10}{}", colour && bad ? "\033[31m" : "", text,
                                        colour && bad ? "\033[0m" : "");
                }
            if (line.find_first_not_of(' ') == std::string::npos) continue;
            while (!line.empty() && line.back() == ' ') line.pop_back();
            fmt::print(out, "{:<{}}{:<11}{}\n", first ? loaded.rules[i].declaration.name : "", width, name(form), line);
            first = false;
        }
        if (auto const& missing = loaded.rules[i].derived.missing)
            fmt::print(out, "{:<{}}no chunked form: {}\n", "", width, missing->text);
        else if (auto const& no_summary = loaded.rules[i].derived.no_summary)
            fmt::print(out, "{:<{}}no form summary: {}\n", "", width, no_summary->text);
    }
}

void print_failures(FILE* out, std::vector<std::vector<Result>> const& results) {
    for (auto const& of_rule : results)
        for (auto const& r : of_rule) {
            if (r.pass) continue;
            std::vector<std::string> dims;
            for (auto const& [dim, extent] : r.dims) dims.push_back(fmt::format("{} = {}", dim, extent));
            bool const plain = r.scalar == "float" || r.scalar == "exact";
            fmt::print(out, "differs: {} {} {}, level {}{}{}: ", r.rule, name(r.form), name(r.direction), r.level,
                       plain ? "" : " in " + r.scalar,
                       r.name.empty() || r.name == "declaration" ? "" : " (" + r.name + ")");
            if (!dims.empty())
                fmt::print(out, "at T = {}, {}{}: ", r.tokens, fmt::join(dims, ", "),
                           r.chunk ? fmt::format(", chunk {}", r.chunk) : "");
            if (r.index.empty() && r.want.empty())
                fmt::print(out, "{}\n", r.got.substr(0, r.got.find('\n')));
            else
                fmt::print(out, "{} is {}, the declaration says {}\n", r.index.empty() ? "the result" : r.index, r.got,
                           r.want.empty() ? "otherwise" : r.want);
        }
}

// The exact levels' degree and bound: a wrong form passes a trial with at most this chance.
void print_bound(FILE* out, std::vector<std::vector<Result>> const& results) {
    long degree = 0;
    double bound = -61;
    int trials = 0;
    for (auto const& of_rule : results)
        for (auto const& r : of_rule)
            if (r.bound_log2)
                degree = std::max(degree, r.degree.value_or(0)), bound = std::max(bound, *r.bound_log2),
                trials = r.trials;
    if (degree)
        fmt::print(out,
                   "exact: over the field of 2^61-1 elements, degree at most {}; a wrong form passes one of {} trials "
                   "with a chance of at most 2^{:.1f}\n",
                   degree, trials, bound);
}

// Rules that are stable on keys of unit norm only.
void print_growing(FILE* out, Loaded const& loaded, std::vector<std::vector<Growth>> const& grown) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < grown.size(); ++i)
        for (auto const& g : grown[i])
            if (g.hopeless() && g.keys == Keys::normal && !grown[i][0].hopeless())
                names.push_back(loaded.rules[i].declaration.name);
    if (!names.empty())
        fmt::print(out,
                   "growth: on keys of N(0, 1) entries {} {} without bound: normalise the erase key (explain --rule "
                   "{} shows how fast)\n",
                   fmt::join(names, ", "), names.size() > 1 ? "grow" : "grows", names[0]);
}

// Rules whose own answer moved by more than a budget when its inputs moved by one unit roundoff.
void print_sensitive(FILE* out, std::vector<std::vector<Result>> const& results) {
    std::vector<std::string> names;
    for (auto const& of_rule : results)
        if (std::any_of(of_rule.begin(), of_rule.end(), [](auto const& r) { return r.moves.has_value(); }))
            names.push_back(of_rule[0].rule);
    if (!names.empty())
        fmt::print(out,
                   "sensitive: moving its inputs by one unit roundoff moves what the line of {} says by more than a "
                   "budget somewhere; there the budget follows (moves in --json)\n",
                   fmt::join(names, ", "));
}

} // namespace

Command add_check(CLI::App& app, std::vector<std::string> const& user_flags) {
    auto const o = std::make_shared<Options>();
    auto* c = app.add_subcommand("check", "Proves every form of every rule equal to its line, forward and backward");
    c->add_option("HEADER", o->headers, "Headers of rules; without one, the shipped catalogue");
    c->add_option("--rule", o->rules, "Only this rule (again for more)")->delimiter(',');
    c->add_option("--level", o->levels,
                  "program (exact, the derivation), text (exact, the emitted source), integer (exact, the compiled "
                  "kernels), float (the compiled kernels), property, fault")
        ->delimiter(',')
        ->check(CLI::IsMember({"program", "text", "integer", "float", "property", "fault"}));
    c->add_option("--form", o->forms, "step, recurrent, chunked, parallel, summary")->delimiter(',');
    c->add_option("--target", o->targets, "cpu")->delimiter(',')->check(CLI::IsMember({"cpu"}));
    c->add_option(
         "--scalar", o->scalars,
         "What inputs, outputs and gradients are stored in: float, double, bfloat16, float16; of level float, those "
         "of 16 bits of level integer too")
        ->delimiter(',')
        ->check(CLI::IsMember(scalar_names()));
    c->add_option("--state-scalar", o->state_scalars,
                  "States of 16 bits whose error level float tells: bfloat16, float16 (float and double are always "
                  "checked)")
        ->delimiter(',')
        ->check(CLI::IsMember(scalar_names()));
    c->add_option("--trials", o->trials, "Random points per form")->check(CLI::Range(1, 1000));
    auto* seed = c->add_option("--seed", o->seed, "Replays a run; without it, a new one")->check(whole_number);
    c->add_option("--text", o->text_folder, "This emitted source, edited or not, in place of what emit would write");
    c->add_option("--cxx", o->compiler, "The compiler; default $CXX, g++ or clang++");
    c->add_flag("--no-cache", o->no_cache, "Compile again what was compiled before");
    c->add_option("--json", o->json, "One JSON object into this file; - for stdout, instead of the table");
    return [o, seed, &user_flags] {
        auto const begin = std::chrono::steady_clock::now();
        if (!seed->count())
            o->seed = std::uint64_t(std::chrono::system_clock::now().time_since_epoch().count()) % 1000000007u;
        auto const loaded = load_or_fail(o->headers, user_flags, o->rules);
        auto const has_level = [&](char const* level) {
            return std::find(o->levels.begin(), o->levels.end(), level) != o->levels.end();
        };
        CheckOptions options;
        options.program = has_level("program"), options.text = has_level("text"), options.number = has_level("float");
        options.integer = has_level("integer"), options.property = has_level("property"),
        options.fault = has_level("fault");
        options.forms = forms_or_fail(o->forms, loaded);
        options.trials = o->trials, options.seed = o->seed;
        constexpr unsigned short_scalars = 12; // bfloat16, float16
        options.scalars = scalar_set(o->scalars);
        options.short_states = options.number ? scalar_set(o->state_scalars) & short_scalars : 0;
        options.toolchain.compiler = o->compiler.empty() ? default_compiler() : o->compiler;
        if (options.toolchain.compiler.empty() && options.compiles())
            throw Failure{Exit::machine,
                          "no C++ compiler found for the compiled levels: install g++, or name one with --cxx"};
        if (options.compiles() && !on_path(options.toolchain.compiler))
            throw Failure{Exit::machine, fmt::format("there is no compiler {}: install it, or name another with --cxx",
                                                     options.toolchain.compiler)};
        options.toolchain.flags = compiler_flags();
        options.toolchain.flags.insert(options.toolchain.flags.end(), user_flags.begin(), user_flags.end());
        options.toolchain.cache = cache_folder();
        if (!o->text_folder.empty()) try {
                options.source = read_text(o->text_folder);
            } catch (std::runtime_error const& e) {
                throw Failure{Exit::usage, e.what()};
            }
        options.toolchain.use_cache = !o->no_cache;
        options.toolchain.jobs = std::max(1, int(std::thread::hardware_concurrency()));
        std::error_code error;
        std::filesystem::create_directories(options.toolchain.cache, error);
        if (error)
            throw Failure{Exit::machine, fmt::format("cannot make the cache folder {}: {}; set XDG_CACHE_HOME",
                                                     options.toolchain.cache.string(), error.message())};

        std::vector<std::string> header_of;
        for (auto const& rule : loaded.rules)
            header_of.push_back(std::filesystem::absolute(rule.declaration.where.file).string());
        int total_seen = 0;
        std::unique_ptr<Progress> progress;
        auto const results = check_rules(loaded, header_of, options, [&](int done, int total, std::string const& what) {
            if (!progress || total != total_seen)
                progress = std::make_unique<Progress>("checking", total_seen = total, terminal_on_stderr());
            progress->at(done, what);
        });
        progress.reset();

        std::vector<std::vector<Growth>> grown;
        for (auto const& rule : loaded.rules) {
            grown.push_back(growth(rule.declaration, rule.derived, o->seed));
            warn_of_growth(rule, grown.back());
        }
        int passed = 0, failed = 0;
        for (auto const& of_rule : results)
            for (auto const& r : of_rule) ++(r.pass ? passed : failed);
        double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        FILE* const out = o->json == "-" ? stderr : stdout;
        if (!o->json.empty()) {
            nlohmann::json rules = nlohmann::json::array();
            for (std::size_t i = 0; i < loaded.rules.size(); ++i) {
                auto const& d = loaded.rules[i].derived;
                nlohmann::json list = nlohmann::json::array();
                for (auto const& r : results[i]) list.push_back(to_json(r));
                rules.push_back({{"name", loaded.rules[i].declaration.name},
                                 {"forms", form_names(d)},
                                 {"missing", missing_forms(d)},
                                 {"growth", to_json(grown[i])},
                                 {"results", list}});
            }
            auto const text = nlohmann::json{{"version", DELTALOOM_VERSION},
                                             {"seed", o->seed},
                                             {"rules", rules},
                                             {"passed", passed},
                                             {"failed", failed},
                                             {"seconds", seconds}}
                                  .dump(2) +
                              "\n";
            if (o->json == "-")
                fmt::print("{}", text);
            else
                write_file(o->json, text);
        }
        if (o->json != "-") print_table(out, loaded, results, *o, isatty(fileno(out)) && colour_on_stderr());
        print_bound(out, results);
        print_growing(out, loaded, grown);
        print_sensitive(out, results);
        print_failures(out, results);
        fmt::print(out, "passed {}, failed {}, seed {}, {:.1f} s\n", passed, failed, o->seed, seconds);
        return failed ? Exit::differs : Exit::ok;
    };
}

} // namespace deltaloom::codegen::tool
