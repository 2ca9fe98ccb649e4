#pragma once
// Header -> Declarations. libTooling on the user's header: the type is the truth, the initialiser gives locations, the
// constant evaluator numbers.
#include "codegen/read/declaration.hpp"

namespace deltaloom::codegen {

struct ReadOptions {
    std::vector<std::string>
        include_folders; // of the dsl and what it needs (Boost); the tool finds them, see codegen/tool
    std::vector<std::string> compiler_flags; // the user's, after `--`
    std::string resource_folder;             // of clang's builtin headers; empty: the compiled-in one
};

struct ReadResult {
    std::vector<Declaration> rules;
    std::vector<Diagnostic> diagnostics; // clang's own errors and warnings included; any error means: exit 3
    std::vector<std::string> files;      // every file that was read, for depfiles and cache keys
    std::string preprocessed;            // digest (hex) of what was read: contents of `files` and the flags
    bool machine = false;                // what is missing is a package's header, not the user's: exit 4, not 3
};

// Never throws for bad input: an unreadable file, a syntax error, a header without a rule are diagnostics.
ReadResult read(std::string const& header, ReadOptions const&);

} // namespace deltaloom::codegen
