#pragma once
// A rule over two mapped dimensions, one of them made of the other.
#include <deltaloom/dsl.hpp>

namespace feature_test {
using namespace deltaloom::dsl;
DELTALOOM_STATE(P, dv, dpfp_dim<2, dk>);

inline constexpr auto featured = rule("featured", P <<= P + beta * (v - P * dpfp<2>(k)) * T(dpfp<2>(k)),
                                      o <<= P * dpfp<2>(q) * dot(taylor2(dpfp<2>(q)), taylor2(dpfp<2>(k))));
} // namespace feature_test
