// Ends the program before anything else of it runs where the processor lacks the instructions that its tests are
// compiled for.
#include <cstdio>
#include <cstdlib>

namespace {
__attribute__((constructor(101))) void check() {
    __builtin_cpu_init();
    bool const v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool const v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (LEVEL == 3 ? v3 : LEVEL == 4 ? v4 : true) return;
    std::puts("skipped: the processor lacks the instructions");
    std::exit(0);
}
} // namespace
