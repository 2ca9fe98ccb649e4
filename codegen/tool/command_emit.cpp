#include "codegen/emit/library.hpp"
#include "codegen/rule/words.hpp"
#include "codegen/tool/commands.hpp"
#include "deltaloom/runtime/abi/deltaloom.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <sstream>

namespace deltaloom::codegen::tool {
namespace fs = std::filesystem;

// What an earlier run wrote here and this one does not: removed, so that a renamed rule leaves nothing behind.
static constexpr char const* manifest = "deltaloom.files";

// Does `file`, or what it includes by #include "...", hold one of `changed`?
static bool reaches(EmittedFile const& file, std::vector<EmittedFile> const& files,
                    std::set<std::string> const& changed) {
    if (changed.count(file.path)) return true;
    return std::any_of(files.begin(), files.end(), [&](EmittedFile const& other) {
        auto const line = "#include \"" + fs::path(other.path).filename().string() + "\"";
        return file.text.find(line) != file.text.npos && reaches(other, files, changed);
    });
}

// A build system knows the sources and library-calls.h, and no other file, as written by this command. One of them is
// new where something behind it is, else what was compiled from it would stay as it was until the next build.
static void write_library(fs::path const& out, std::vector<EmittedFile> const& files) {
    std::error_code error;
    if (fs::exists(out, error) && !fs::is_directory(out, error))
        throw Failure{Exit::machine, fmt::format("cannot write into {}: it is no folder", out.string())};
    std::istringstream before(read_file(out / manifest));
    std::string now;
    std::set<std::string> changed;
    bool headers = false;
    for (auto const& file : files) {
        if (read_file(out / file.path) != file.text)
            changed.insert(file.path), headers |= file.path.starts_with("include/");
        write_file(out / file.path, file.text), now += file.path + "\n";
    }
    for (std::string path; std::getline(before, path);)
        if (now.find(path + "\n") == std::string::npos && path.find("..") == std::string::npos)
            fs::remove(out / path, error), headers |= path.starts_with("include/");
    for (auto const& file : files) {
        bool const shared = file.path.ends_with("/library-calls.h");
        bool const source = file.path.starts_with("src/") && file.path.ends_with(".cpp");
        if ((shared && headers) || (source && reaches(file, files, changed)))
            fs::last_write_time(out / file.path, fs::file_time_type::clock::now(), error);
    }
    write_file(out / manifest, now);
}

// The file behind a path with ".." in it: CMake drops "x/.." as text, which leads elsewhere where x is a link (/lib).
static std::string without_dots(std::string const& path) {
    std::error_code error;
    auto const real = path.find("..") == path.npos ? fs::path(path) : fs::canonical(path, error);
    return error ? path : real.string();
}

static std::string escaped(std::string const& path) {
    std::string r;
    for (char c : path) {
        if (c == ' ' || c == '#') r += '\\';
        r += c;
    }
    return r;
}

Command add_emit(CLI::App& app, std::vector<std::string> const& user_flags) {
    struct Options {
        std::vector<std::string> headers, rules, targets{"cpu"}, scalars{"float"}, state_scalars, forms, head_sizes;
        std::string out, library = "rules", depfile;
        int chunk = 16;
        bool no_backward = false;
    };
    auto const o = std::make_shared<Options>();
    auto* c = app.add_subcommand("emit", "Writes the library's source: what CMake calls");
    c->add_option("HEADER", o->headers, "Headers of rules; without one, the shipped catalogue");
    c->add_option("--out", o->out, "Folder to write into")->required();
    c->add_option("--library", o->library, "Name of the library: a C identifier");
    c->add_option("--rule", o->rules, "Only this rule (again for more)")->delimiter(',');
    c->add_option("--target", o->targets, "cpu")->delimiter(',')->check(CLI::IsMember({"cpu"}));
    c->add_option("--scalar", o->scalars,
                  "What operands may be stored in: float, double, bfloat16, float16; those of 16 bits are computed in "
                  "float")
        ->delimiter(',')
        ->check(CLI::IsMember(scalar_names()));
    c->add_option("--state-scalar", o->state_scalars,
                  "What states may be stored in (default: float, and double where that is a --scalar)")
        ->delimiter(',')
        ->check(CLI::IsMember(scalar_names()));
    c->add_option("--form", o->forms, "step, recurrent, chunked, parallel, summary (default: all that each rule has)")
        ->delimiter(',');
    c->add_option("--chunk", o->chunk, "Tokens per chunk")->check(CLI::Range(1, 4096));
    c->add_flag("--no-backward", o->no_backward, "Forward only");
    c->add_option("--depfile", o->depfile, "Make-style dependencies of what was written");
    return [o, &user_flags] {
        if (o->library.empty() || std::isdigit(static_cast<unsigned char>(o->library[0])) ||
            !std::all_of(o->library.begin(), o->library.end(),
                         [](unsigned char x) { return std::isalnum(x) || x == '_'; }))
            throw Failure{Exit::usage,
                          fmt::format("--library '{}' is no C identifier: letters, digits and _", o->library)};
        if (keyword(o->library) || o->library == "std" || o->library == "deltaloom")
            throw Failure{Exit::usage,
                          fmt::format("--library '{}': the word is taken in C++: choose another name", o->library)};
        if (o->out.empty()) throw Failure{Exit::usage, "--out '': name the folder to write into"};
        auto const loaded = load_or_fail(o->headers, user_flags, o->rules);
        LibraryOptions options;
        options.library = o->library;
        options.chunk = o->chunk;
        options.backward = !o->no_backward;
        options.forms = forms_or_fail(o->forms, loaded);
        options.scalars = scalar_set(o->scalars), options.state_scalars = scalar_set(o->state_scalars);
        if (options.state_scalars >> DL_F64 & 1 && !computes(options, true))
            throw Failure{Exit::usage, "--state-scalar double needs kernels that compute in double: add double to "
                                       "--scalar"};
        std::vector<Derived> rules;
        for (auto const& rule : loaded.rules) rules.push_back(rule.derived);
        write_library(o->out, emit_library(rules, options));
        if (!o->depfile.empty()) {
            std::string text = escaped((fs::path(o->out) / "src/library.cpp").string()) + ":";
            for (auto const& file : loaded.files) text += " \\\n  " + escaped(without_dots(file));
            write_file(o->depfile, text + "\n");
        }
        return Exit::ok;
    };
}

} // namespace deltaloom::codegen::tool
