#pragma once
// One rule variable -> Declaration. The variable's type is the tree, its value holds the numbers, its initialiser the
// locations.
#include "codegen/read/clang_location.hpp"
#include "codegen/read/declaration.hpp"

#include <clang/AST/Decl.h>
#include <clang/AST/Expr.h>

#include <vector>

namespace deltaloom::codegen {

// The variable that an expression names, or null.
clang::VarDecl const* named_variable(clang::Expr const*);

// Of a variable whose type is_rule and that is no other name of a rule. What is wrong is added to the diagnostics.
Declaration declaration_of(clang::VarDecl const&, Places const&, std::vector<Diagnostic>&);

} // namespace deltaloom::codegen
