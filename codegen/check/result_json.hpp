#pragma once
// Results as the JSON of `check --json` (cli.md), and back: they cross a process boundary.
#include "codegen/check/result.hpp"

#include <nlohmann/json.hpp>

namespace deltaloom::codegen {

nlohmann::json to_json(Result const&);
Result from_json(nlohmann::json const&);

} // namespace deltaloom::codegen
