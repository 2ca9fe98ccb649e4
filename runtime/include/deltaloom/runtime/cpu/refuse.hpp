#pragma once
// How a call is refused: a code, the operand, its axis, a sentence.
#include <cstdarg>
#include <cstdio>
#include <deltaloom/runtime/abi/deltaloom.h>
#include <deltaloom/runtime/isa.hpp>

namespace deltaloom::runtime {
inline namespace DELTALOOM_HOST {

inline constexpr std::uint32_t no_operand = DL_NONE, no_axis = DL_NONE;

#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
inline int
refuse(dl_status* status, std::uint32_t code, std::uint32_t operand, std::uint32_t axis, char const* format, ...) {
    if (status) {
        status->code = code, status->operand = operand, status->axis = axis;
        va_list arguments;
        va_start(arguments, format);
        std::vsnprintf(status->message, sizeof status->message, format, arguments);
        va_end(arguments);
    }
    return int(code);
}

} // namespace DELTALOOM_HOST
} // namespace deltaloom::runtime
