#pragma once
// A level's work on one rule as tasks that run one after the other in a process of their own, so that one that crashes
// or hangs is named and the others still run.
#include "codegen/check/result.hpp"

#include <functional>

namespace deltaloom::codegen {

// Called with what runs next, before it runs: form, direction, tokens, chunk.
using Watch = std::function<void(Result const& at)>;

struct Task {
    Result at; // form, direction, level, name: what is blamed if nothing was watched
    // `careful`: a run before this one crashed or hung; the shortest sequences first.
    std::function<std::vector<Result>(Watch const&, bool careful)> run;
};

} // namespace deltaloom::codegen
