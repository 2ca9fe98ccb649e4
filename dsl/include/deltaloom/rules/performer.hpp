#pragma once
#include <deltaloom/rules/operands.hpp>

namespace deltaloom::rules {

DELTALOOM_DIM(dr);              // random features
DELTALOOM_PARAMETER(W, dr, dk); // their directions: rows of N(0, I), orthogonal ones for less variance
DELTALOOM_STATE(R, dv, dr);     // what is remembered
DELTALOOM_STATE(zr, dr);        // and how much

// Softmax attention by positive random features, causal: its weights exp(q . k) are estimated without bias.
//     R_t = R_{t-1} + v_t phi(k_t)^T,   z_t = z_{t-1} + phi(k_t),   o_t = R_t phi(q_t) / (z_t . phi(q_t))
//     phi(x) = exp(W x - |x|^2 / 2) / sqrt(dr)
// Choromanski et al. 2021, Rethinking attention with performers. q and k come divided by dk^(1/4);
// all features are positive, so nothing is added to the denominator.
inline constexpr auto performer =
    rule("performer", R <<= R + v * T(random_features(k, W)), zr <<= zr + random_features(k, W),
         o <<= (R * random_features(q, W)) / dot(zr, random_features(q, W)));

} // namespace deltaloom::rules
