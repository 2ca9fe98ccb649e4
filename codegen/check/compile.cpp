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

// One file for the compiler: a kind of part for a few rules, so that headers are parsed once for all of them.
struct Part {
    std::string kind; // "declaration", "text", "kernels"
    std::vector<std::size_t> rules;
    fs::path source, object;
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

std::string text_source(LoadedRule const& rule, std::string const& library, std::vector<EmittedFile> const& files) {
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
                       includes, library, rule.declaration.name, table);
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

CompiledSet compile(std::vector<LoadedRule> const& rules, std::vector<RuleText> const& texts,
                    std::string const& library, std::string const& digest, Wanted const& wanted,
                    Toolchain const& toolchain, std::function<void(int, int)> const& progress) {
    auto const level = runtime::chosen_level();
    CompiledSet set;
    set.isa = runtime::isa_name(level);
    set.failures.resize(rules.size());
    std::string content =
        fmt::format("{}\n{}\n{}\n{} {} {}\n{}\n", digest, run_program({toolchain.compiler, "--version"}, 20).output,
                    fmt::join(toolchain.flags, " "), wanted.exact, wanted.scalars[0], wanted.scalars[1], set.isa);
    for (auto const& text : texts) {
        content += text.header + "\n";
        for (auto const& file : text.files) content += file.path + "\n" + file.text;
    }
    fs::path const object = toolchain.cache / (key_of(content) + ".so");
    if (toolchain.use_cache && fs::exists(object)) {
        set.object = object, set.from_cache = true;
        return set;
    }

    fs::path const folder = toolchain.cache / fmt::format("work.{}", getpid());
    for (auto const& text : texts)
        for (auto const& file : text.files) write(folder / file.path, file.text);

    auto const source_of = [&](std::string const& kind, std::size_t i) {
        if (kind == "kernels") return fmt::format("#include \"src/{}.cpp\"\n", rules[i].declaration.name);
        return kind == "text" ? text_source(rules[i], library, texts[i].files) : declaration_source(rules[i]);
    };
    auto const prelude_of = [&](std::string const& kind, std::vector<std::size_t> const& members) {
        std::string text;
        if (kind != "declaration") return text;
        std::set<std::string> headers;
        for (std::size_t i : members)
            if (headers.insert(texts[i].header).second) text += fmt::format("#include \"{}\"\n", texts[i].header);
        return text + "#include <deltaloom/check/oracle.hpp>\n";
    };
    auto const make = [&](std::string const& kind, std::vector<std::size_t> members, std::string const& label) {
        Part part{kind, std::move(members), folder / (label + ".cpp"), folder / (label + ".o"), {}, false, {}};
        std::string text = prelude_of(kind, part.rules);
        for (std::size_t i : part.rules) text += source_of(kind, i);
        write(part.source, text);
        part.flags = {"-I" + folder.string(), "-I" + (folder / "include").string()};
        auto const more = kind == "kernels" ? level_flags(level) : std::vector<std::string>{"-O1"};
        part.flags.insert(part.flags.end(), more.begin(), more.end());
        if (kind == "kernels")
            part.flags.insert(part.flags.end(), {"-O2", "-ftree-vectorize", "-fno-math-errno", "-fno-trapping-math"});
        return part;
    };
    std::vector<Part> parts;
    auto const deal = [&](std::string const& kind, std::size_t at_most, auto const& takes) {
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
            parts.push_back(make(kind, mine, fmt::format("{}_{}", kind, g)));
        }
    };
    // The slow ones first, so that the last job to end is a short one.
    if (wanted.scalars[0] || wanted.scalars[1]) deal("kernels", 4, [](std::size_t) { return true; });
    if (wanted.exact) deal("text", 4, [](std::size_t) { return true; });
    deal("declaration", 16, [&](std::size_t i) { return !rules[i].declaration.qualified.empty(); });

    auto const command_of = [&](Part const& part) {
        std::vector<std::string> command{toolchain.compiler,  "-c", "-fPIC", "-w", "-o", part.object.string(),
                                         part.source.string()};
        command.insert(command.end(), part.flags.begin(), part.flags.end());
        command.insert(command.end(), toolchain.flags.begin(), toolchain.flags.end());
        return command;
    };
    int const total = int(parts.size());
    std::atomic<int> next{0}, done{0};
    std::mutex reporting;
    auto const worker = [&] {
        for (int p; (p = next++) < total;) {
            Part& part = parts[std::size_t(p)];
            auto const finished = run_program(command_of(part));
            part.failed = finished.code != 0, part.said = finished.output;
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
            Part const alone = make(part.kind, {i}, fmt::format("{}_rule_{}", part.kind, i));
            auto const finished = run_program(command_of(alone));
            if (finished.code == 0)
                objects.push_back(alone.object);
            else if (set.failures[i].part.empty())
                set.failures[i] = {part.kind,
                                   finished.output.empty() ? "the compiler ended without a word" : finished.output};
        }
    }
    if (!objects.empty()) {
        fs::path const temporary = object.string() + fmt::format(".{}.tmp", getpid());
        std::vector<std::string> command{toolchain.compiler, "-shared", "-o", temporary.string()};
        for (auto const& o : objects) command.push_back(o.string());
        auto const finished = run_program(command);
        std::error_code error;
        if (finished.code == 0) {
            bool const whole =
                std::all_of(set.failures.begin(), set.failures.end(), [](auto const& f) { return f.part.empty(); });
            set.object = whole ? object : fs::path(temporary);
            if (whole) fs::rename(temporary, object, error);
        } else {
            for (auto& failure : set.failures) failure = {"link", finished.output};
        }
    }
    std::error_code ignored;
    fs::remove_all(folder, ignored);
    return set;
}

} // namespace deltaloom::codegen
