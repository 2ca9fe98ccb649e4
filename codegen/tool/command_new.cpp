// new: a folder with a header of one rule and a CMake project, checked before it is there.
#include "codegen/check/program_level.hpp"
#include "codegen/emit/project.hpp"
#include "codegen/read/report.hpp"
#include "codegen/tool/commands.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace deltaloom::codegen::tool {
namespace {

namespace fs = std::filesystem;

// Letters to change, insert or leave out.
std::size_t distance(std::string const& a, std::string const& b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        auto before = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            auto const here = std::min({row[j] + 1, row[j - 1] + 1, before + (a[i - 1] != b[j - 1])});
            before = row[j], row[j] = here;
        }
    }
    return row.back();
}

LoadedRule shipped(std::string const& name, std::vector<std::string> const& user_flags) {
    auto found = shipped_rule(name, user_flags);
    if (found.rule) return *std::move(found.rule);
    auto const nearest =
        std::min_element(found.others.begin(), found.others.end(), [&](std::string const& a, std::string const& b) {
            return distance(name, a) < distance(name, b);
        });
    throw Failure{Exit::usage, fmt::format("--like {}: no shipped rule is called so{}; there are {}", name,
                                           distance(name, *nearest) <= 3 ? fmt::format("; is it {}", *nearest) : "",
                                           fmt::join(found.others, ", "))};
}

LoadedRule first_rule(std::vector<std::string> const& user_flags) {
    auto const header = fs::path(catalogue_header()).parent_path() / "rules/start.hpp";
    auto loaded = load_or_fail({header.string()}, user_flags, {}, true);
    return std::move(loaded.rules.at(0));
}

// Removes a folder that did not come to be.
struct Aside {
    fs::path path;
    ~Aside() {
        std::error_code none;
        if (!path.empty()) fs::remove_all(path, none);
    }
};

// What is derived of the new header equals its line: how many forms and directions.
std::size_t checked(Loaded const& loaded) {
    std::size_t held = 0;
    for (auto const& rule : loaded.rules)
        for (auto const& r : check_program(rule.declaration, rule.derived)) {
            if (!r.pass)
                throw Failure{Exit::differs,
                              fmt::format("the {} form of {} differs from its line at {}: {} is {}, "
                                          "not {}; nothing was made",
                                          codegen::name(r.form), r.rule, r.level, r.index, r.got, r.want)};
            ++held;
        }
    return held;
}

// How CMake finds the package of this very tool; empty where it looks by itself.
std::string prefix_option() {
    auto const prefix = executable().parent_path().parent_path();
    for (char const* lib : {"lib", "lib64", "lib/x86_64-linux-gnu"})
        if (fs::exists(prefix / lib / "cmake/Deltaloom"))
            return prefix == "/usr" || prefix == "/usr/local" ? "" : " -DCMAKE_PREFIX_PATH=" + prefix.string();
    return " -DCMAKE_PREFIX_PATH=PREFIX";
}

void print_next(std::string const& name, Loaded const& loaded, std::size_t held) {
    auto const& d = loaded.rules.at(0).derived;
    fmt::print("{0}/rules.hpp        the rule: change it\n"
               "{0}/CMakeLists.txt   a library of it, and a program\n"
               "{0}/main.cpp         calls it\n",
               name);
    fmt::print("checked: {}; {} derived programs, forward and backward, equal the line\n",
               fmt::join(form_names(d), ", "), held);
    if (d.missing) fmt::print("    no chunked form: {}\n", d.missing->text);
    auto const option = prefix_option();
    fmt::print("\nNext:\n");
    if (option.ends_with("=PREFIX"))
        fmt::print("    cmake --install {} --prefix PREFIX    # once: this tool was not installed yet\n",
                   executable().parent_path().parent_path().string());
    fmt::print("    cmake -S {0} -B {0}/build{1}\n    cmake --build {0}/build\n    {0}/build/app\n"
               "    ctest --test-dir {0}/build    # every kernel, compiled, against the line\n"
               "    deltaloom explain {0}/rules.hpp\n",
               name, option);
}

} // namespace

Command add_new(CLI::App& app, std::vector<std::string> const& user_flags) {
    struct Options {
        std::string name, like;
    };
    auto const o = std::make_shared<Options>();
    auto* c = app.add_subcommand("new", "A header with one rule and a CMake project in a new folder, checked");
    c->add_option("NAME", o->name, "Of the rule and of its folder: a C identifier")->required();
    c->add_option("--like", o->like, "The shipped rule that it begins as; default: the gated delta rule");
    return [o, &user_flags] {
        auto const& name = o->name;
        auto const like = o->like.empty() ? first_rule(user_flags) : shipped(o->like, user_flags);
        if (auto const why = name_refused(name, like.derived.rule); !why.empty())
            throw Failure{Exit::usage, fmt::format("new '{}': the name {}", name, why)};
        std::error_code error;
        if (fs::symlink_status(name, error).type() != fs::file_type::not_found)
            throw Failure{
                Exit::usage,
                fmt::format("{} is there already and stays as it is: choose another name, or remove it", name)};

        Aside aside{fs::path(fmt::format(".{}.{}.new", name, getpid()))};
        for (auto const& file : project(name, like.declaration, like.derived.rule))
            write_file(aside.path / file.path, file.text);
        auto const loaded = load({(aside.path / "rules.hpp").string()}, read_options(user_flags));
        if (loaded.refused()) {
            for (auto const& d : loaded.diagnostics) fmt::print(stderr, "{}", render(d, colour_on_stderr()));
            throw Failure{Exit::header, fmt::format("the header of '{}' is refused; nothing was made", name)};
        }
        auto const held = checked(loaded);
        if (renameat2(AT_FDCWD, aside.path.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE) != 0)
            throw Failure{Exit::machine, fmt::format("cannot make the folder {}: {}", name, std::strerror(errno))};
        aside.path.clear();
        print_next(name, loaded, held);
        return Exit::ok;
    };
}

} // namespace deltaloom::codegen::tool
