#pragma once
// Kernels as C++: one header per form and direction, templates over the scalar.
#include "codegen/kernel/kernel.hpp"

namespace deltaloom::codegen {

struct EmittedFile {
    std::string path, text;
};

// src/NAME_FORM_DIRECTION.hpp for step and recurrent, and chunked and summary where the rule has them; formatted, the
// same bytes for the same input. A recurrent file includes the step file of its direction, a summary file the chunked
// one where it needs its states.
std::vector<EmittedFile> emit_forms(Derived const&, std::string const& library);

// The functions of a kernel, formatted.
std::string text(Kernel const&);

// The statements of a rule's equation: "S <<= S + v * T(k), o <<= S * q" is two.
std::vector<std::string> statements(std::string const& equation);

} // namespace deltaloom::codegen
