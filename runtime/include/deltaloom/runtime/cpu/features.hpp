#pragma once
// Which level of the instruction set this process runs: by feature bits, never by model name; DELTALOOM_ISA (base, v3,
// v4) forces a lower one.
#include <cstdlib>
#include <cstring>
#include <deltaloom/runtime/cpu/library.hpp>

namespace deltaloom::runtime {
inline namespace DELTALOOM_HOST {

inline char const* isa_name(isa_level level) {
    switch (level) {
    case isa_base: return "base";
    case isa_v3: return "v3";
    case isa_v4: return "v4";
    case isa_levels: break;
    }
    return "";
}

inline isa_level machine_level() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool const v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    bool const v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512cd");
    return v4 ? isa_v4 : v3 ? isa_v3 : isa_base;
#else
    return isa_base;
#endif
}

inline isa_level chosen_level() {
    isa_level const machine = machine_level();
    if (char const* forced = std::getenv("DELTALOOM_ISA"))
        for (int level = isa_base; level <= machine; ++level)
            if (!std::strcmp(forced, isa_name(isa_level(level)))) return isa_level(level);
    return machine;
}

} // namespace DELTALOOM_HOST
} // namespace deltaloom::runtime
