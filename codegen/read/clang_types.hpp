#pragma once
// What the types of the language say: a rule's tree, its operands, shapes and names. Nothing here looks at how the user
// wrote it.
#include "codegen/read/declaration.hpp"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/Type.h>

#include <string>

namespace deltaloom::codegen {

bool is_rule(clang::QualType);
bool of_the_language(clang::FunctionDecl const&);

// "::mine::e_name"; template arguments included. Empty where no other file can name it: in a function, private, in a
// class without a name.
std::string qualified_name(clang::NamedDecl const&);

// "_3" for product<3>; the integral arguments of its classes come first.
std::string instance_suffix(clang::VarDecl const&);

// The shapes among the template arguments of a refused operator or function: "a matrix of dv x dk and a vector of dv";
// empty if there are none.
std::string shapes_of(clang::FunctionDecl const&);

// Fills operands (without locations) and statements (without locations and numbers) from rule_t<N, Statements...>.
// Returns what it does not understand, in words; empty: all is well.
std::string build_trees(clang::QualType rule_type, Declaration&);

} // namespace deltaloom::codegen
