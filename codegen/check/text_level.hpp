#pragma once
// Level `text`: the emitted source, compiled over the field, against the declaration as the expression templates
// evaluate it. One task for each form and direction.
#include "codegen/check/compiled.hpp"
#include "codegen/check/program_level.hpp"
#include "codegen/check/task.hpp"

namespace deltaloom::codegen {

// Level, form, direction and so on of a form's result.
Result text_result(LoadedRule const&, Form, Direction);
// For every form that has a text here. The rule and its compiled side outlive the tasks.
std::vector<Task> text_tasks(Compiled const&, ProgramLevel const& = {});

} // namespace deltaloom::codegen
