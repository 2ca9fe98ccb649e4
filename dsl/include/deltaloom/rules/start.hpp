#pragma once
// The rule that `deltaloom new` begins with unless it is told another.
#include <deltaloom/rules/gated_delta.hpp>
