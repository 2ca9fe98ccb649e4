#pragma once
// Where something stands in the user's text. No Clang types: a location outlives the parse.
#include <stdexcept>
#include <string>
#include <vector>

namespace deltaloom::codegen {

struct Location {
    std::string file;    // as the user named it (relative stays relative)
    unsigned line = 0;   // 1-based; 0: unknown
    unsigned column = 0; // 1-based, in bytes
    unsigned length = 1; // bytes to underline on that line, at least 1

    bool known() const { return line != 0; }
    friend bool operator==(Location const&, Location const&) = default;
};

enum class Severity { error, warning, note };

// What a user reads: `file:line:column: severity: text`, the source line, a caret. See codegen/read/report.hpp.
struct Diagnostic {
    Severity severity = Severity::error;
    std::string text;
    Location where;
    std::vector<Diagnostic> notes;
    friend bool operator==(Diagnostic const&, Diagnostic const&) = default;
};

// Why a rule lacks something, at the operator that is to blame.
struct Reason {
    std::string text;
    Location where;
    friend bool operator==(Reason const&, Reason const&) = default;
};

} // namespace deltaloom::codegen
