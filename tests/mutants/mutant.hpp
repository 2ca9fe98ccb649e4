#pragma once
// Which mutant is at work: the number in DELTALOOM_MUTANT, none where it is not set.
#include <cstdlib>

inline int deltaloom_chosen_mutant() {
    static int const number = std::getenv("DELTALOOM_MUTANT") ? std::atoi(std::getenv("DELTALOOM_MUTANT")) : 0;
    return number;
}
constexpr bool deltaloom_mutant(int number) {
    return !__builtin_is_constant_evaluated() && deltaloom_chosen_mutant() == number;
}
