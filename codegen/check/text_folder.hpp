#pragma once
// Emitted source in a folder, edited or not, as what a check compiles.
#include "codegen/check/compile.hpp"

#include <optional>

namespace deltaloom::codegen {

// Every file below the folder is part of the text: an edited file may include any of them. Throws std::runtime_error
// with a sentence where this is no folder that `emit` wrote.
Sources read_text(std::filesystem::path const& folder);

// Of one form and direction of a rule: the folder has its text; was emitted without it (--form, --no-backward); or has
// lost it, although src/RULE.cpp includes it.
enum class TextThere { yes, not_emitted, lost };
TextThere text_there(Sources const&, std::string const& rule, Form, Direction);
// src/RULE_FORM_DIRECTION.hpp
std::string text_path(std::string const& rule, Form, Direction);

} // namespace deltaloom::codegen
