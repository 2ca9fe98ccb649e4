#include "codegen/check/compile.hpp"

#include "codegen/check/process.hpp"
#include "deltaloom/runtime/cpu/features.hpp"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>
#include <unistd.h>

namespace deltaloom::codegen {
namespace fs = std::filesystem;
namespace {

std::uint64_t fnv(std::string const& text, std::uint64_t h) {
    for (unsigned char c : text) h = (h ^ c) * 0x100000001b3u;
    return h;
}
std::string key_of(std::string const& text) {
    return fmt::format("{:016x}{:016x}", fnv(text, 0xcbf29ce484222325u), fnv(text, 0x9ae16a3b2f90404fu));
}

void write(fs::path const& path, std::string const& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}

constexpr double compile_seconds = 600; // a compiler that takes longer hangs

// One file for the compiler: a kind of part for a few rules, so that headers are parsed once for all of them.
struct Part {
    std::string kind; // "declaration", "text", "kernels"
    runtime::isa_level level;
    std::vector<std::size_t> rules;
    std::string text;
    fs::path source, object; // object: in the cache, named by its key
    std::vector<std::string> flags;
    bool failed = false;
    std::string said;
};

std::string declaration_source(LoadedRule const& rule) {
    auto const& name = rule.declaration.name;
    return fmt::format(R"(namespace oracle_{0} {{
using namespace deltaloom;
void exact(check::slot const* slots, int count) {{ check::token<runtime::dual<runtime::field>>({1}, slots, count); }}
void number(check::slot const* slots, int count) {{ check::token<runtime::dual<double>>({1}, slots, count); }}
extern "C" check::token_function const deltaloom_oracle_{0}[2];
check::token_function const deltaloom_oracle_{0}[2] = {{exact, number}};
}}
)",
                       name, rule.declaration.qualified);
}

std::string text_source(LoadedRule const& rule, Sources const& sources) {
    auto const& files = sources.files;
    std::string includes, table;
    for (char const* form : {"step", "recurrent", "chunked", "summary"})
        for (char const* direction : {"forward", "backward"}) {
            auto const path = fmt::format("src/{}_{}_{}.hpp", rule.declaration.name, form, direction);
            bool const there = std::any_of(files.begin(), files.end(), [&](auto const& f) { return f.path == path; });
            if (there) includes += fmt::format("#include \"{}\"\n", path);
            table += there ? fmt::format("{{&{0}_{1}_scratch<field>, &run_text<&{0}_{1}<field>>}},\n", form, direction)
                           : "{},\n";
        }
    bool const summary = includes.find("_summary_forward.hpp") != includes.npos;
    for (char const* apply : {"states", "gradients"})
        table += summary ? fmt::format("{{&summary_{0}_scratch<field>, &run_text<&summary_{0}<field>>}},\n", apply)
                         : "{},\n";
    return fmt::format(R"({0}
#include <deltaloom/runtime/cpu/kernels.hpp>
namespace {1}::{2}_kernels {{
inline namespace DELTALOOM_ISA {{
template<void (*form)(sequence const&, scratch<field>)> void run_text(sequence const& s, void* room) {{ form(s, scratch<field>(static_cast<field*>(room))); }}
}}
extern "C" kernel const deltaloom_exact_{2}[10];
kernel const deltaloom_exact_{2}[10] = {{{3}}};
}}
)",
                       includes, sources.library, rule.declaration.name, table);
}

std::vector<std::string> level_flags(runtime::isa_level level) {
    switch (level) {
    case runtime::isa_v3: return {"-march=x86-64-v3"};
    case runtime::isa_v4: return {"-march=x86-64-v4", "-mprefer-vector-width=512"};
    case runtime::isa_base:
    case runtime::isa_levels: break;
    }
#if defined(__x86_64__)
    return {"-march=x86-64"};
#else
    return {};
#endif
}

} // namespace

CompiledSet compile(std::vector<LoadedRule> const& rules, Sources const& sources, std::string const& digest,
                    Wanted const& wanted, Toolchain const& toolchain, std::function<void(int, int)> const& progress) {
    CompiledSet set;
    set.failures.resize(rules.size());
    fs::path const folder = toolchain.cache / fmt::format("work.{}", getpid());
    for (auto const& file : sources.files) write(folder / file.path, file.text);
    std::string const compiler = fmt::format("{}\n{}\n", run_program({toolchain.compiler, "--version"}, 20).output,
                                             fmt::join(toolchain.flags, " "));

    auto const source_of = [&](std::string const& kind, std::size_t i) {
        if (kind == "kernels") return fmt::format("#include \"src/{}.cpp\"\n", rules[i].declaration.name);
        return kind == "text" ? text_source(rules[i], sources) : declaration_source(rules[i]);
    };
    auto const prelude_of = [&](std::string const& kind, std::vector<std::size_t> const& members) {
        std::string text;
        if (kind != "declaration") return text;
        std::set<std::string> headers;
        for (std::size_t i : members)
            if (headers.insert(sources.headers[i]).second) text += fmt::format("#include \"{}\"\n", sources.headers[i]);
        return text + "#include <deltaloom/check/oracle.hpp>\n";
    };
    auto const make = [&](std::string const& kind, runtime::isa_level level, std::vector<std::size_t> members,
                          std::string const& label) {
        Part part{kind, level, std::move(members), {}, folder / (label + ".cpp"), {}, {}, false, {}};
        part.text = prelude_of(kind, part.rules);
        for (std::size_t i : part.rules) part.text += source_of(kind, i);
        write(part.source, part.text);
        part.flags = kind == "kernels" ? level_flags(level) : std::vector<std::string>{"-O1"};
        if (kind == "kernels")
            part.flags.insert(part.flags.end(), {"-O2", "-ftree-vectorize", "-fno-math-errno", "-fno-trapping-math"});
        return part;
    };
    std::vector<Part> parts;
    auto const deal = [&](std::string const& kind, runtime::isa_level level, std::size_t at_most, auto const& takes) {
        std::vector<std::size_t> members;
        for (std::size_t i = 0; i < rules.size(); ++i)
            if (takes(i)) members.push_back(i);
        std::size_t const count = members.empty()
                                      ? 0
                                      : std::max((members.size() + at_most - 1) / at_most,
                                                 std::min<std::size_t>(members.size(), std::size_t(toolchain.jobs)));
        for (std::size_t g = 0; g < count; ++g) {
            std::vector<std::size_t> mine;
            for (std::size_t i = g; i < members.size(); i += count) mine.push_back(members[i]);
            parts.push_back(make(kind, level, mine, fmt::format("{}_{}_{}", kind, int(level), g)));
        }
    };
    // The slow ones first, so that the last job to end is a short one. Of an edited folder one rule at a time, so that
    // the next edit compiles its own rule only.
    auto const all = [](std::size_t) { return true; };
    std::size_t const together = sources.edited ? 1 : 4;
    auto levels = wanted.levels;
    if (levels.empty()) levels = {runtime::chosen_level()};
    if (wanted.kernels)
        for (auto level : levels) deal("kernels", level, together, all);
    if (wanted.exact) deal("text", runtime::isa_base, together, all);
    deal("declaration", runtime::isa_base, 16, [&](std::size_t i) { return !rules[i].declaration.qualified.empty(); });

    auto const command_of = [&](Part const& part, std::vector<std::string> const& what) {
        std::vector<std::string> command{toolchain.compiler, "-w", "-fPIC", "-I" + folder.string(),
                                         "-I" + (folder / "include").string()};
        for (auto const* more : {&what, &part.flags, &toolchain.flags})
            command.insert(command.end(), more->begin(), more->end());
        command.push_back(part.source.string());
        return command;
    };
    // What the object depends on. Emitted files include each other by rule and the runtime that came with the tool;
    // edited ones whatever they like, so there it is the preprocessed text.
    auto const key_for = [&](Part const& part) {
        std::string content = compiler + fmt::format("{}\n", fmt::join(part.flags, " "));
        if (sources.edited) {
            auto const seen = run_program(command_of(part, {"-E", "-P"}), compile_seconds);
            return key_of(content + seen.output);
        }
        content += digest + part.text;
        for (auto const& file : sources.files)
            for (std::size_t i : part.rules)
                if (part.kind != "declaration" &&
                    file.path.rfind(fmt::format("src/{}", rules[i].declaration.name), 0) == 0)
                    content += file.path + "\n" + file.text;
        return key_of(content);
    };
    auto const build = [&](Part& part) {
        part.object = toolchain.cache / (key_for(part) + ".o");
        if (toolchain.use_cache && fs::exists(part.object)) return;
        fs::path const temporary = part.source.string() + ".o";
        auto const finished = run_program(command_of(part, {"-c", "-o", temporary.string()}), compile_seconds);
        part.failed = finished.code != 0;
        part.said = finished.timed_out ? fmt::format("the compiler did not end within {:.0f} s", compile_seconds)
                                       : finished.output;
        std::error_code error;
        if (!part.failed) fs::rename(temporary, part.object, error);
    };
    int const total = int(parts.size());
    std::atomic<int> next{0}, done{0};
    std::mutex reporting;
    auto const worker = [&] {
        for (int p; (p = next++) < total;) {
            build(parts[std::size_t(p)]);
            std::lock_guard<std::mutex> const lock(reporting);
            progress(++done, total);
        }
    };
    std::vector<std::thread> threads;
    for (int j = 1; j < toolchain.jobs; ++j) threads.emplace_back(worker);
    worker();
    for (auto& thread : threads) thread.join();

    // A part that fails is compiled again rule by rule, so that only the guilty one is blamed and the others are still
    // checked.
    std::vector<fs::path> objects;
    for (auto const& part : parts) {
        if (!part.failed) {
            objects.push_back(part.object);
            continue;
        }
        for (std::size_t i : part.rules) {
            Part alone = part;
            if (part.rules.size() > 1) {
                alone = make(part.kind, part.level, {i}, fmt::format("{}_{}_rule_{}", part.kind, int(part.level), i));
                build(alone);
            }
            if (!alone.failed)
                objects.push_back(alone.object);
            else if (set.failures[i].part.empty())
                set.failures[i] = {part.kind, alone.said.empty() ? "the compiler ended without a word" : alone.said};
        }
    }
    if (!objects.empty()) {
        std::string content = compiler;
        for (auto const& o : objects) content += o.filename().string() + "\n";
        set.object = toolchain.cache / (key_of(content) + ".so");
        set.from_cache = toolchain.use_cache && fs::exists(set.object);
        if (!set.from_cache) {
            fs::path const temporary = folder / "linked.so";
            std::vector<std::string> command{toolchain.compiler, "-shared", "-o", temporary.string()};
            for (auto const& o : objects) command.push_back(o.string());
            auto const finished = run_program(command, compile_seconds);
            std::error_code error;
            if (finished.code == 0)
                fs::rename(temporary, set.object, error);
            else {
                set.object.clear();
                for (auto& failure : set.failures) failure = {"library", finished.output};
            }
        }
    }
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    return set;
}

} // namespace deltaloom::codegen
