#pragma once
// Which variables of a parsed header are its rules (language.md, "Locations" and "What is refused").
#include "codegen/read/clang_location.hpp"
#include "codegen/read/declaration.hpp"

#include <clang/AST/ASTContext.h>

#include <string>
#include <vector>

namespace deltaloom::codegen {

// In source order. Rules count if they are written in the main file or in files of its folder or below; what lies in an
// include folder that does not hold the main file too is from elsewhere.
std::vector<Declaration> rules_of(clang::ASTContext&, Places const&, std::vector<std::string> const& include_folders,
                                  std::vector<Diagnostic>&);

} // namespace deltaloom::codegen
