#pragma once
// One body, of one token or one chunk, as a function of the kernel.
#include "codegen/kernel/kernel.hpp"

namespace deltaloom::codegen {

struct Unit {
    std::string function, comment;
    bool token = false;               // operands are loaded by token ("token"), not by chunk ("first", "n")
    bool backward = false;            // names of the body may be cotangents
    std::vector<std::string> results; // what it stores, carries or adds up, by the names of the body
};
struct UnitFunction {
    Function function;
    std::vector<std::string> given; // what the function's parameters are, as port_name says; states (in a backward:
                                    // their gradients) are updated in place
};
UnitFunction schedule_body(TypedRule const&, Body const&, Unit const&, Kernel&);

} // namespace deltaloom::codegen
