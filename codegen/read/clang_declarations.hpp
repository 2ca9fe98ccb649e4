#pragma once
// What the two files that see Clang share. No Clang header here: a position is taken by those that include them.
#include "codegen/read/declaration.hpp"

#include <string>
#include <vector>

namespace clang {
class ASTContext;
class FunctionDecl;
class LangOptions;
class SourceLocation;
class SourceManager;
class SourceRange;
} // namespace clang

namespace deltaloom::codegen {

// Clang's positions -> Location. A macro's argument is where it is spelt, what its body wrote is where the macro is
// used.
struct Places {
    clang::SourceManager const& sources;
    clang::LangOptions const& language;

    clang::SourceLocation in_file(clang::SourceLocation) const;
    Location token(clang::SourceLocation) const; // of the token that starts there
    // Up to the end of the last token where that is on the same line, else of the first token.
    Location range(clang::SourceRange) const;
};

// In source order. Rules count if they are written in the main file or in files of its folder or below; what lies in an
// include folder that does not hold the main file too is from elsewhere (language.md, "Locations" and "What is
// refused").
std::vector<Declaration> rules_of(clang::ASTContext&, Places const&, std::vector<std::string> const& include_folders,
                                  std::vector<Diagnostic>&);

// The shapes among the template arguments of a refused operator or function: "a matrix of dv x dk and a vector of dv";
// empty if there are none.
std::string shapes_of(clang::FunctionDecl const&);

} // namespace deltaloom::codegen
