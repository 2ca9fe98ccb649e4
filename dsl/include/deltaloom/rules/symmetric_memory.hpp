#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

DELTALOOM_STATE(Q, dk, dk);   // a square memory
DELTALOOM_OUTPUT(answer, dk); // its output

// A square memory that is mixed with its own transpose. Recurrent forms only.
//     Q_t = alpha_t (Q_{t-1} + Q_{t-1}^T) / 2 + k_t k_t^T,   y_t = Q_t q_t
inline constexpr auto symmetric_memory =
    rule("symmetric_memory", Q <<= alpha * (Q + T(Q)) / 2 + k * T(k), answer <<= Q * q);

} // namespace deltaloom::rules
