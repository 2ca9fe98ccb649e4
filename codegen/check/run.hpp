#pragma once
// A whole check: some levels over some rules, on all cores. What is compiled runs in processes of its own.
#include "codegen/check/compile.hpp"
#include "codegen/check/result.hpp"
#include "codegen/check/text_folder.hpp"

namespace deltaloom::codegen {

struct CheckOptions {
    bool program = true, text = true, number = true; // the levels; number: float
    bool integer = false, property = false, fault = false;
    std::vector<Form> forms;   // empty: all that each rule has
    unsigned scalars = 1;      // of level float, and of level integer beside float: bits 1 << dl_scalar
    unsigned short_states = 0; // states of 16 bits whose error level float tells: bits 1 << dl_scalar
    int trials = 3;
    std::uint64_t seed = 1;
    Toolchain toolchain;
    std::optional<Sources> source; // check this text (read_text); absent: what emit writes
    double silence_seconds = 120;  // of a process that runs compiled levels

    bool compiles() const { return text || number || integer || property || fault; }
};

// Results per rule, in order. `header_of`: the absolute path of each rule's header. `progress(done, total, what)` may
// be called from any thread, one at a time.
std::vector<std::vector<Result>> check_rules(Loaded const&, std::vector<std::string> const& header_of,
                                             CheckOptions const&,
                                             std::function<void(int, int, std::string const&)> const& progress);

} // namespace deltaloom::codegen
