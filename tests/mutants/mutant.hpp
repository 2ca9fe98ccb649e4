#pragma once
// Which mutant is at work: the number in DELTALOOM_MUTANT, none where it is not set.
#include <cstdlib>

inline bool deltaloom_mutant(int number) {
    static int const chosen = std::getenv("DELTALOOM_MUTANT") ? std::atoi(std::getenv("DELTALOOM_MUTANT")) : 0;
    return chosen == number;
}
// For the headers of operations, parts of which are evaluated by the compiler: none is at work there.
constexpr bool deltaloom_constexpr_mutant(int number) {
    return !__builtin_is_constant_evaluated() && deltaloom_mutant(number);
}
