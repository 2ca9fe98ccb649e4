#pragma once
// A declaration with a gate taken out, as a user would have written it: exp(g) * S becomes S.
#include "codegen/check/reference.hpp"
#include "codegen/check/subject.hpp"

namespace deltaloom::codegen {

// nullopt: the gate stands where nothing can stand in its place.
std::optional<Declaration> without_gate(Declaration, std::string const& gate);
// What the declaration without the gate says of a point; nullopt where it cannot be evaluated.
std::unique_ptr<Reference> reference_without(Subject const&, Declaration const&, Point const&);

} // namespace deltaloom::codegen
