#pragma once
// Compiles what a check needs of some rules into one shared object, in a cache keyed by content: the declaration with
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

struct PartFailure {
    std::string part, said; // "declaration", "text" or "kernels"; what the compiler said
};
struct CompiledSet {
    std::filesystem::path object;      // to load; empty: nothing could be linked
    std::vector<PartFailure> failures; // per rule; an empty `part`: all of it compiled
    std::string isa;                   // "v4"
    bool from_cache = false;
};
struct RuleText {
    std::string header; // absolute path of the header that declares the rule
    std::vector<EmittedFile> files;
};

// texts: one per rule, in order. `progress` is called after each compiled part.
CompiledSet compile(std::vector<LoadedRule> const& rules, std::vector<RuleText> const& texts,
                    std::string const& library, std::string const& digest, Wanted const&, Toolchain const&,
                    std::function<void(int done, int total)> const& progress);

} // namespace deltaloom::codegen
