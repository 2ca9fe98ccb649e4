#pragma once
// A project to begin with: a header of one rule, the CMake lines that make a library of it, a program that calls it.
#include "codegen/emit/emit.hpp"
#include "codegen/read/declaration.hpp"

namespace deltaloom::codegen {

// Why no rule of a new header can have this name; empty: it can. `like`: the rule that it begins as.
std::string name_refused(std::string const& name, TypedRule const& like);

// rules.hpp, CMakeLists.txt, main.cpp.
std::vector<EmittedFile> project(std::string const& name, Declaration const& like, TypedRule const&);

} // namespace deltaloom::codegen
