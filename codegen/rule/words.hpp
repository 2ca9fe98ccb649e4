#pragma once
// Words that no rule and no name of the emitted text may be.
#include <string>

namespace deltaloom::codegen {

bool keyword(std::string const& word);       // of C++20
bool language_word(std::string const& word); // what `using namespace deltaloom::dsl` brings
// Why a rule cannot have this name, whatever it says: "is the name of ..."; empty: it can.
std::string taken_name(std::string const& name);

} // namespace deltaloom::codegen
