#pragma once
// Other programs, and code that may crash or hang: run apart, their words kept.
#include <functional>
#include <string>
#include <vector>

namespace deltaloom::codegen {

struct Finished {
    int code = -1;      // exit status; -1: could not be started; 128 + n: ended by signal n
    std::string output; // stdout and stderr together
    bool timed_out = false;
};
Finished run_program(std::vector<std::string> const& command, double timeout_seconds = 600);

// `work` in a child process: a crash or a hang ends the child only. `heard` gets each line that the child says, before
// the next; a child that is silent for so long has hung. What it threw is the output, its code is 125.
using Say = std::function<void(std::string const& line)>;
Finished run_isolated(std::function<void(Say const&)> const& work, double silence_seconds, Say const& heard);

} // namespace deltaloom::codegen
