#pragma once
// Growth as the commands show it: a table in explain; in check a warning at a hopeless rule's name, and JSON.
#include "codegen/check/growth.hpp"
#include "codegen/explain/explain.hpp"
#include "codegen/pipeline.hpp"

#include <nlohmann/json.hpp>

namespace deltaloom::codegen::tool {

ExplainedGrowths explained_growth(LoadedRule const&);
// On stderr: a rule that grows without bound on keys of unit norm.
void warn_of_growth(LoadedRule const&, std::vector<Growth> const&);
nlohmann::json to_json(std::vector<Growth> const&);

} // namespace deltaloom::codegen::tool
