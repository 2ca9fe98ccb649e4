#include "rule_library.hpp"

#include "settings.hpp"

#include <cerrno>
#include <cstring>
#include <deltaloom/runtime/cpu/features.hpp>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <host_rules/delta.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace lm {
namespace fs = std::filesystem;
namespace {

using Command = std::vector<std::string>;

struct Finished {
    int code;
    std::string output;
};
// Runs a program and returns what it wrote to stdout; its stderr is the user's.
Finished run(Command const& command) {
    int ends[2];
    if (pipe(ends)) throw Refusal(fmt::format("cannot start {}: {}", command[0], std::strerror(errno)));
    pid_t const child = fork();
    if (child < 0) throw Refusal(fmt::format("cannot start {}: {}", command[0], std::strerror(errno)));
    if (child == 0) {
        std::vector<char*> arguments;
        for (auto const& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        dup2(ends[1], 1);
        close(ends[0]), close(ends[1]);
        execvp(arguments[0], arguments.data());
        _exit(127);
    }
    close(ends[1]);
    Finished finished{-1, {}};
    char buffer[1 << 16];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR);)
        if (n > 0) finished.output.append(buffer, std::size_t(n));
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return finished;
}
std::string output_of(Command const& command, std::string const& refusal) {
    auto const finished = run(command);
    if (finished.code == 127)
        throw Refusal(fmt::format("cannot start {}: is it installed and on the PATH? ({})", command[0], refusal));
    if (finished.code) throw Refusal(fmt::format("{} ({} ended with {})", refusal, command[0], finished.code));
    return finished.output;
}

std::string words_of(char const* variable, std::string const& otherwise) {
    char const* const value = std::getenv(variable);
    return value && *value ? value : otherwise;
}
fs::path cache_folder() {
    if (char const* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) return fs::path(cache) / "deltaloom";
    if (char const* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache/deltaloom";
    return fs::temp_directory_path() / "deltaloom-cache";
}
std::string hash_of(std::string const& text) {
    std::uint64_t h[2] = {0xcbf29ce484222325u, 0x9ae16a3b2f90404fu};
    for (unsigned char c : text)
        for (auto& x : h) x = (x ^ c) * 0x100000001b3u;
    return fmt::format("{:016x}{:016x}", h[0], h[1]);
}

// The folder that a build works in, removed with everything in it.
struct Folder {
    fs::path path;
    explicit Folder(fs::path p) : path(std::move(p)) { fs::create_directories(path); }
    ~Folder() {
        std::error_code none;
        fs::remove_all(path, none);
    }
};

struct Level {
    char const *name, *define;
    Command flags;
};
Level level() {
    using namespace deltaloom::runtime;
#if defined(__x86_64__)
    switch (chosen_level()) {
    case isa_v4: return {"v4", "-DDELTALOOM_WITH_V4", {"-march=x86-64-v4", "-mprefer-vector-width=512"}};
    case isa_v3: return {"v3", "-DDELTALOOM_WITH_V3", {"-march=x86-64-v3"}};
    case isa_base:
    case isa_levels: break;
    }
    return {"base", nullptr, {"-march=x86-64"}};
#else
    return {"base", nullptr, {}};
#endif
}

std::string shared_library(std::string const& header, std::string const& scalars, void (*say)(std::string const&)) {
    std::string const tool = words_of("DELTALOOM", LM_TOOL), compiler = words_of("CXX", LM_COMPILER);
    fs::path const cache = cache_folder();
    Folder const folder(cache / fmt::format("rules.{}", getpid()));
    output_of({tool, "emit", header, "--out", folder.path.string(), "--library", "own_rules", "--scalar", scalars},
              fmt::format("--rules {}: no kernels came of it; see above", header));
    Command base{compiler};
    std::string const flags = output_of({tool, "cxxflags"}, "the tool does not say which flags a header needs");
    for (std::size_t at = 0; at < flags.size();) {
        auto const end = std::min(flags.find_first_of(" \n", at), flags.size());
        if (end > at) base.push_back(flags.substr(at, end - at));
        at = end + 1;
    }
    Level const isa = level();
    base.insert(base.end(), {"-I" + (folder.path / "include").string(), "-O2", "-ftree-vectorize", "-fno-math-errno",
                             "-fno-trapping-math", "-fPIC"});
    auto const with_level = [&](Command command) {
        command.insert(command.end(), isa.flags.begin(), isa.flags.end());
        return command;
    };
    // One source for the kernels, one for the tables, which runs anywhere.
    std::string const kernels = (folder.path / "kernels.cpp").string();
    std::string text;
    for (int part = 0; part < 4; ++part) text += fmt::format("#include \"src/kernels_{}.cpp\"\n", part);
    if (FILE* const file = std::fopen(kernels.c_str(), "w")) std::fputs(text.c_str(), file), std::fclose(file);
    Command preprocess = with_level(base), compile = with_level(base), link = base;
    preprocess.insert(preprocess.end(), {"-E", "-P", kernels, (folder.path / "src/library.cpp").string()});
    auto const why = fmt::format("--rules {}: the compiler refused what was emitted", header);
    std::string const content = output_of(preprocess, why) + output_of({compiler, "--version"}, why) + isa.name;
    fs::path const object = cache / ("rules-" + hash_of(content) + ".so");
    if (fs::exists(object)) return object.string();

    if (say) say(fmt::format("compiling the kernels of {} (once; kept in {})", header, cache.string()));
    std::string const compiled = (folder.path / "kernels.o").string(), linked = (folder.path / "rules.so").string();
    compile.insert(compile.end(), {"-c", kernels, "-o", compiled});
    output_of(compile, why);
    if (isa.define) link.insert(link.end(), {"-DDELTALOOM_WITHOUT_BASE", isa.define});
    link.insert(link.end(),
                {"-shared", "-Wl,-Bsymbolic", (folder.path / "src/library.cpp").string(), compiled, "-o", linked});
    output_of(link, why);
    fs::rename(linked, object);
    return object.string();
}

} // namespace

RuleCalls shipped_rule(std::string const& name) {
    RuleCalls const calls{dl_rule_named(name.c_str()), dl_workspace, dl_forward, dl_backward};
    if (calls.rule) return calls;
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < dl_rule_count(); ++i) names.push_back(dl_rule_at(i)->name);
    throw Refusal(fmt::format("no rule {}: there are {}; one of your own comes with --rules my.hpp --rule NAME", name,
                              fmt::join(names, ", ")));
}

RuleCalls rule_of_header(std::string const& header, std::string const& name, std::string const& scalars,
                         void (*say)(std::string const&)) {
    if (!fs::is_regular_file(header)) throw Refusal(fmt::format("--rules {}: there is no such file", header));
    std::string object;
    try {
        object = shared_library(fs::absolute(header).string(), scalars, say);
    } catch (fs::filesystem_error const& e) {
        throw Refusal(fmt::format("--rules {}: the cache {} cannot be written ({}): set XDG_CACHE_HOME", header,
                                  cache_folder().string(), e.code().message()));
    }
    void* const library = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) throw Refusal(fmt::format("--rules {}: {}", header, dlerror()));
    auto const symbol = [&](char const* s) { return dlsym(library, s); };
    auto const named = reinterpret_cast<dl_rule const* (*)(char const*)>(symbol("own_rules_rule_named"));
    auto const count = reinterpret_cast<std::uint32_t (*)()>(symbol("own_rules_rule_count"));
    auto const at = reinterpret_cast<dl_rule const* (*)(std::uint32_t)>(symbol("own_rules_rule_at"));
    RuleCalls const calls{named(name.c_str()),
                          reinterpret_cast<decltype(RuleCalls::workspace)>(symbol("own_rules_workspace")),
                          reinterpret_cast<decltype(RuleCalls::forward)>(symbol("own_rules_forward")),
                          reinterpret_cast<decltype(RuleCalls::backward)>(symbol("own_rules_backward"))};
    if (calls.rule) return calls;
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < count(); ++i) names.push_back(at(i)->name);
    throw Refusal(fmt::format("--rules {}: no rule {} in it; there are {}", header, name, fmt::join(names, ", ")));
}

} // namespace lm
