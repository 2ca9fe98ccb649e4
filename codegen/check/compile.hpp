#pragma once
// Compiles what a check needs of one rule into a shared object, in a cache keyed by content: the declaration with
// `evaluate`, the emitted text over the field, and the production kernels for the running instruction set.
#include "codegen/emit/library.hpp"
#include "codegen/pipeline.hpp"

#include <filesystem>
#include <functional>

namespace deltaloom::codegen {

struct Toolchain {
    std::string compiler;           // g++ or clang++
    std::vector<std::string> flags; // -std and -I of the installed headers, then the user's own
    std::filesystem::path cache;
    bool use_cache = true;
    int jobs = 2; // compilers at a time
};

struct Wanted {
    bool exact = true;               // level text
    bool scalars[2] = {true, false}; // level float: float, double
};

struct CompiledRule {
    std::filesystem::path object; // to load
    std::string failed;           // what the compiler said of a part that does not compile; empty: all is well
    std::string failed_part;      // "declaration", "text", "kernels"
    std::string isa;              // "v4"
    double seconds = 0;           // of compilation; 0: from the cache
};

// In the order of `rules`. `header_of[i]`: the absolute path of the header that declares rule i. `texts`: the emitted
// files of rule i. `done` is called after each compiled part.
std::vector<CompiledRule> compile(std::vector<LoadedRule> const& rules, std::vector<std::string> const& header_of,
                                  std::vector<std::vector<EmittedFile>> const& texts, std::string const& library,
                                  std::string const& digest, Wanted const&, Toolchain const&,
                                  std::function<void(int done, int total)> const& progress);

} // namespace deltaloom::codegen
