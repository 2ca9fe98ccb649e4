#include "codegen/check/compile.hpp"

#include "codegen/check/process.hpp"
#include "deltaloom/runtime/cpu/features.hpp"

#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <mutex>
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

struct Part {
    int rule;
    std::string name; // "declaration", "text", "kernels"
    fs::path source, object;
    std::vector<std::string> flags;
};

std::string declaration_source(LoadedRule const& rule, std::string const& header) {
    return fmt::format(R"(#include "{0}"
#include <deltaloom/check/oracle.hpp>
namespace oracle {{
using namespace deltaloom;
void exact(check::slot const* slots, int count) {{ check::token<runtime::dual<runtime::field>>({1}, slots, count); }}
void number(check::slot const* slots, int count) {{ check::token<runtime::dual<double>>({1}, slots, count); }}
}}
extern "C" deltaloom::check::token_function const deltaloom_oracle[2];
deltaloom::check::token_function const deltaloom_oracle[2] = {{oracle::exact, oracle::number}};
)",
                       header, rule.declaration.qualified);
}

std::string text_source(LoadedRule const& rule, std::string const& library, std::vector<EmittedFile> const& files) {
    std::string includes, table;
    for (char const* form : {"step", "recurrent", "chunked"})
        for (char const* direction : {"forward", "backward"}) {
            auto const path = fmt::format("src/{}_{}_{}.hpp", rule.declaration.name, form, direction);
            bool const there = std::any_of(files.begin(), files.end(), [&](auto const& f) { return f.path == path; });
            if (there) includes += fmt::format("#include \"{}\"\n", path);
            table +=
                there ? fmt::format("{{{0}_{1}_scratch<field>, run<{0}_{1}<field>>}},\n", form, direction) : "{},\n";
        }
    return fmt::format(R"({0}
#include <deltaloom/runtime/cpu/kernels.hpp>
namespace {1}::{2} {{
inline namespace DELTALOOM_ISA {{
template<void (*form)(sequence const&, scratch<field>)> void run(sequence const& s, void* room) {{ form(s, scratch<field>(room)); }}
}}
extern "C" deltaloom::runtime::kernel const deltaloom_exact[6];
deltaloom::runtime::kernel const deltaloom_exact[6] = {{{3}}};
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

std::vector<CompiledRule> compile(std::vector<LoadedRule> const& rules, std::vector<std::string> const& header_of,
                                  std::vector<std::vector<EmittedFile>> const& texts, std::string const& library,
                                  std::string const& digest, Wanted const& wanted, Toolchain const& toolchain,
                                  std::function<void(int, int)> const& progress) {
    auto const level = runtime::chosen_level();
    auto const version = run_program({toolchain.compiler, "--version"}, 20);
    std::vector<CompiledRule> results(rules.size());
    std::vector<Part> parts;
    std::vector<std::vector<fs::path>> objects(rules.size());
    fs::path const work = toolchain.cache / fmt::format("work.{}", getpid());
    for (std::size_t i = 0; i < rules.size(); ++i) {
        auto& result = results[i];
        result.isa = runtime::isa_name(level);
        auto const& name = rules[i].declaration.name;
        std::string content = fmt::format("{}\n{}\n{}\n{}\n{}\n{} {} {}\n{}\n", digest, version.output,
                                          fmt::join(toolchain.flags, " "), header_of[i], rules[i].declaration.qualified,
                                          wanted.exact, wanted.scalars[0], wanted.scalars[1], result.isa);
        for (auto const& file : texts[i]) content += file.path + "\n" + file.text;
        result.object = toolchain.cache / (name + "-" + key_of(content) + ".so");
        if (toolchain.use_cache && fs::exists(result.object)) continue;
        fs::path const folder = work / std::to_string(i);
        for (auto const& file : texts[i]) write(folder / file.path, file.text);
        auto const part = [&](std::string const& what, std::string const& text, std::vector<std::string> flags) {
            fs::path const source = folder / (what + ".cpp");
            write(source, text);
            flags.push_back("-I" + folder.string());
            flags.push_back("-I" + (folder / "include").string());
            parts.push_back({int(i), what, source, folder / (what + ".o"), std::move(flags)});
            objects[i].push_back(parts.back().object);
        };
        // The slow ones first, so that the last job to end is a short one.
        if (wanted.scalars[0] || wanted.scalars[1]) {
            auto flags = level_flags(level);
            flags.insert(flags.end(), {"-O3", "-fno-math-errno", "-fno-trapping-math"});
            part("kernels", fmt::format("#include \"src/{}.cpp\"\n", name), flags);
        }
        if (wanted.exact) part("text", text_source(rules[i], library, texts[i]), {"-O1"});
        if (!rules[i].declaration.qualified.empty())
            part("declaration", declaration_source(rules[i], header_of[i]), {"-O1"});
    }

    int const total = int(parts.size());
    std::atomic<int> next{0}, done{0};
    std::mutex reporting;
    auto const worker = [&] {
        for (int p; (p = next++) < total;) {
            Part const& part = parts[std::size_t(p)];
            std::vector<std::string> command{toolchain.compiler,  "-c", "-fPIC", "-w", "-o", part.object.string(),
                                             part.source.string()};
            command.insert(command.end(), part.flags.begin(), part.flags.end());
            command.insert(command.end(), toolchain.flags.begin(), toolchain.flags.end());
            auto const begin = std::chrono::steady_clock::now();
            auto const finished = run_program(command);
            std::lock_guard<std::mutex> const lock(reporting);
            auto& result = results[std::size_t(part.rule)];
            result.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            if (finished.code != 0 && result.failed.empty())
                result.failed = finished.output.empty() ? "the compiler ended without a word" : finished.output,
                result.failed_part = part.name;
            progress(++done, total);
        }
    };
    std::vector<std::thread> threads;
    for (int j = 1; j < toolchain.jobs; ++j) threads.emplace_back(worker);
    worker();
    for (auto& thread : threads) thread.join();

    for (std::size_t i = 0; i < rules.size(); ++i) {
        auto& result = results[i];
        if (objects[i].empty() || !result.failed.empty()) continue;
        fs::path const temporary = result.object.string() + fmt::format(".{}.tmp", getpid());
        std::vector<std::string> command{toolchain.compiler, "-shared", "-o", temporary.string()};
        for (auto const& object : objects[i]) command.push_back(object.string());
        auto const finished = run_program(command);
        std::error_code error;
        if (finished.code == 0)
            fs::rename(temporary, result.object, error);
        else
            result.failed = finished.output, result.failed_part = "link";
    }
    std::error_code ignored;
    fs::remove_all(work, ignored);
    return results;
}

} // namespace deltaloom::codegen
