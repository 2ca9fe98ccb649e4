#pragma once
// Identifiers of emitted text: valid, unique in their scope, and never one that the text needs for itself.
#include <set>
#include <string>

namespace deltaloom::codegen {

struct Names {
    std::set<std::string> taken;
    // `wish` made an identifier; "u", then "u_2", "u_3".
    std::string fresh(std::string const& wish);
};
// Whether emitted text uses this word itself: a keyword, an operation, a variable of a loop.
bool reserved(std::string const& word);
bool of_runtime(std::string const& word); // a type or an operation of the runtime

} // namespace deltaloom::codegen
