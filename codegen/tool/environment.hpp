#pragma once
// The machine as the tool sees it: where its own headers lie, which compiler it calls, where its cache is, whether a
// person looks on.
#include "codegen/read/read.hpp"

#include <filesystem>

namespace deltaloom::codegen::tool {

// Exit codes of the contract (cli.md).
enum class Exit { ok = 0, differs = 1, usage = 2, header = 3, machine = 4, defect = 70 };

// Ends the command with a sentence on stderr.
struct Failure {
    Exit code;
    std::string text;
};

std::filesystem::path executable();        // of this process
std::vector<std::string> header_folders(); // the language's, the runtime's, the check's; installed prefix or build tree
std::vector<std::string> compiler_flags(); // -std=c++20 and -I for each of header_folders, as `cxxflags` prints them
ReadOptions read_options(std::vector<std::string> const& user_flags);
std::string default_compiler();           // $CXX, else g++, else clang++-19, else clang++; empty: none
std::filesystem::path cache_folder();     // $XDG_CACHE_HOME/deltaloom or ~/.cache/deltaloom
bool on_path(std::string const& program); // can be run by this name
bool colour_on_stderr();
bool terminal_on_stderr();

// Writes through a temporary and a rename; leaves a file alone that has these bytes already. Throws Failure{machine}.
void write_file(std::filesystem::path const&, std::string const& text);
std::string read_file(std::filesystem::path const&); // empty if it cannot be read

} // namespace deltaloom::codegen::tool
