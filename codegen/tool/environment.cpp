#include "codegen/tool/environment.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace deltaloom::codegen::tool {
namespace fs = std::filesystem;

fs::path executable() {
    std::error_code none;
    return fs::read_symlink("/proc/self/exe", none);
}

std::vector<std::string> header_folders() {
    std::vector<std::string> folders;
    fs::path const installed = executable().parent_path().parent_path() / "include";
    if (fs::exists(installed / "deltaloom/dsl.hpp")) return {installed.string()};
    for (char const* folder : {"dsl/include", "runtime/include", "codegen/check/include"})
        folders.push_back((fs::path(DELTALOOM_SOURCE_FOLDER) / folder).string());
    return folders;
}

std::vector<std::string> compiler_flags() {
    std::vector<std::string> flags{"-std=c++20"};
    for (auto const& folder : header_folders()) flags.push_back("-I" + folder);
    return flags;
}

ReadOptions read_options(std::vector<std::string> const& user_flags) {
    ReadOptions options;
    options.include_folders = header_folders();
    options.compiler_flags = user_flags;
    return options;
}

bool on_path(std::string const& program) {
    std::error_code none;
    if (program.find('/') != std::string::npos) return fs::exists(program, none);
    std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
    for (std::string folder; std::getline(path, folder, ':');)
        if (access((fs::path(folder) / program).c_str(), X_OK) == 0) return true;
    return false;
}

std::string default_compiler() {
    if (char const* cxx = std::getenv("CXX"); cxx && *cxx && on_path(cxx)) return cxx;
    for (char const* candidate : {"g++", "clang++-19", "clang++", "c++"})
        if (on_path(candidate)) return candidate;
    return "";
}

fs::path cache_folder() {
    if (char const* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) return fs::path(cache) / "deltaloom";
    if (char const* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache/deltaloom";
    return fs::temp_directory_path() / "deltaloom-cache";
}

bool terminal_on_stderr() { return isatty(2) != 0; }
bool colour_on_stderr() { return terminal_on_stderr() && !(std::getenv("NO_COLOR") && *std::getenv("NO_COLOR")); }

std::string read_file(fs::path const& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return in ? text.str() : std::string();
}

void write_file(fs::path const& path, std::string const& text) {
    std::error_code error;
    if (fs::is_regular_file(path, error) && fs::file_size(path, error) == text.size() && read_file(path) == text)
        return;
    fs::create_directories(path.has_parent_path() ? path.parent_path() : fs::path("."), error);
    if (error)
        throw Failure{Exit::machine,
                      fmt::format("cannot make the folder {}: {}", path.parent_path().string(), error.message())};
    fs::path const temporary = fmt::format("{}.{}.tmp", path.string(), getpid());
    {
        std::ofstream out(temporary, std::ios::binary);
        out << text;
        out.flush();
        if (!out) {
            fs::remove(temporary, error);
            throw Failure{Exit::machine,
                          fmt::format("cannot write {}: is the folder writable, is there room?", path.string())};
        }
    }
    fs::rename(temporary, path, error);
    if (error) {
        auto const reason = error.message();
        fs::remove(temporary, error);
        throw Failure{Exit::machine, fmt::format("cannot write {}: {}", path.string(), reason)};
    }
}

} // namespace deltaloom::codegen::tool
