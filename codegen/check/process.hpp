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

// `work` in a child process; returns what it returned. A crash or a hang ends the child only.
Finished run_isolated(std::function<std::string()> const& work, double timeout_seconds);

} // namespace deltaloom::codegen
