#pragma once
// Compiles what a check needs of some rules into one shared object, in a cache keyed by content: the declaration with
// `evaluate`, the emitted text over the field, and the production kernels for some instruction sets.
#include "codegen/emit/library.hpp"
#include "codegen/pipeline.hpp"
#include "deltaloom/runtime/cpu/library.hpp"

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
    bool exact = true;                        // level text
    bool kernels = true;                      // the production kernels
    std::vector<runtime::isa_level> levels{}; // of those; empty: the one that this process runs
};

// What is compiled: the same library for all rules, emitted now or read from a folder.
struct Sources {
    std::vector<std::string> headers; // per rule: absolute path of the header that declares it
    std::string library;
    std::vector<EmittedFile> files;
    bool edited = false; // by someone: may include anything, so the key is what the compiler sees
};

struct PartFailure {
    std::string part, said; // "declaration", "text" or "kernels"; what the compiler said
};
struct CompiledSet {
    std::filesystem::path object;      // to load; empty: nothing could be linked
    std::vector<PartFailure> failures; // per rule; an empty `part`: all of it compiled
    bool from_cache = false;
};

// `digest`: of the headers as read. `progress` is called after each compiled part.
CompiledSet compile(std::vector<LoadedRule> const& rules, Sources const&, std::string const& digest, Wanted const&,
                    Toolchain const&, std::function<void(int done, int total)> const& progress);

} // namespace deltaloom::codegen
