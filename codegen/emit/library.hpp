#pragma once
// A whole library from derived rules: public headers, one source per rule (compiled once per instruction set), the
// library's own tables.
#include "codegen/emit/emit.hpp"

#include <cstdint>

namespace deltaloom::codegen {

// Sets of scalars have bits 1 << dl_scalar.
struct LibraryOptions {
    std::string library = "rules";
    unsigned scalars = 1;       // what operands may be stored in
    unsigned state_scalars = 0; // what states may be; 0: float, and double where that is a scalar
    int chunk = 16;
    bool backward = true;
    std::vector<Form> forms; // empty: all that each rule has
};

inline constexpr std::size_t library_parts = 4;

// Chunks that a call may ask for, the chosen one first, ended by 0.
std::vector<std::uint32_t> offered_chunks(int chosen);
// "float", "double", "bfloat16", "float16", in the order of dl_scalar.
std::vector<std::string> const& scalar_names();
unsigned scalar_set(std::vector<std::string> const& names);
// Kernels compute in double where something may be double, in float where something may be less: 16 bits are a way to
// store, not another kernel.
bool computes(LibraryOptions const&, bool in_double);
unsigned offered_state_scalars(LibraryOptions const&);

// include/LIB/NAME.{hpp,h}, include/LIB/library-calls.h (a - is in no rule's name), src/NAME_FORM_DIRECTION.hpp,
// src/NAME.cpp, src/kernels_N.cpp, src/library.cpp: formatted, the same bytes for the same input.
std::vector<EmittedFile> emit_library(std::vector<Derived> const& rules, LibraryOptions const&);

} // namespace deltaloom::codegen
