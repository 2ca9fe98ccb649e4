#pragma once
// A whole library from derived rules: public headers, one source per rule (compiled once per instruction set), the
// library's own tables.
#include "codegen/emit/emit.hpp"

#include <cstdint>

namespace deltaloom::codegen {

struct LibraryOptions {
    std::string library = "rules";
    bool scalars[2] = {true, false}; // float, double
    int chunk = 16;
    bool backward = true;
    std::vector<Form> forms; // empty: all that each rule has
};

inline constexpr std::size_t library_parts = 4;

// Chunks that a call may ask for, the chosen one first, ended by 0.
std::vector<std::uint32_t> offered_chunks(int chosen);
// Bits 1 << dl_scalar: what operands and states may be stored in, where kernels compute in float, in double.
unsigned offered_scalars(bool in_float, bool in_double);
unsigned offered_state_scalars(bool in_double);

// include/LIB/NAME.{hpp,h}, include/LIB/library-calls.h (a - is in no rule's name), src/NAME_FORM_DIRECTION.hpp,
// src/NAME.cpp, src/kernels_N.cpp, src/library.cpp: formatted, the same bytes for the same input.
std::vector<EmittedFile> emit_library(std::vector<Derived> const& rules, LibraryOptions const&);

} // namespace deltaloom::codegen
