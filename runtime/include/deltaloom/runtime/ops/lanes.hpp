#pragma once
// Vectors of the level's width as the compilers' own vector types: + - * are lane by lane, a scalar operand is
// broadcast.
#include "deltaloom/runtime/ops/matrix.hpp"

#include <utility>

#if defined(__clang__)
#define DELTALOOM_UNROLL _Pragma("clang loop unroll(full)")
#else
#define DELTALOOM_UNROLL _Pragma("GCC unroll 64")
#endif
#define DELTALOOM_CALL __attribute__((noinline))

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

// count lanes of K, a power of two; one lane is K itself.
template<class K, int count> struct lanes_of {
    typedef K type __attribute__((vector_size(count * sizeof(K))));
};
template<class K> struct lanes_of<K, 1> {
    typedef K type;
};
template<class K, int count> using lanes = typename lanes_of<K, count>::type;
template<class K> inline constexpr int vector_lanes = is_float<K> ? DELTALOOM_VECTOR_BYTES / int(sizeof(K)) : 1;

template<int count, class K> DELTALOOM_INLINE lanes<K, count> read_lanes(K const* from) {
    lanes<K, count> v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}
template<int count, class K> DELTALOOM_INLINE void write_lanes(K* to, lanes<K, count> v) {
    __builtin_memcpy(to, &v, sizeof v);
}
// Lane l from a where at + l < end, else from b.
template<class K> struct lane_integer {
    using type = std::int64_t;
};
template<> struct lane_integer<float> {
    using type = std::int32_t;
};
template<int count, class K>
DELTALOOM_INLINE lanes<K, count> before(index end, index at, lanes<K, count> a, lanes<K, count> b) {
    if constexpr (count == 1)
        return at < end ? a : b;
    else {
        using integer = typename lane_integer<K>::type;
        lanes<integer, count> number{};
        DELTALOOM_UNROLL
        for (int l = 0; l < count; ++l) number[l] = l;
        return number < lanes<integer, count>{} + integer(end - at) ? a : b;
    }
}
// sum + x * y, of lanes: in one rounding wherever the level has the instruction, so that no compiler's choice between
// tiles shows in a bit. Vectors are left to contraction, which always finds this form; scalars may meet other
// optimisations first.
template<int count, class K>
DELTALOOM_INLINE lanes<K, count> multiply_add_lanes(lanes<K, count> sum, auto x, lanes<K, count> y) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    if constexpr (count == 1 && std::is_same_v<K, float>)
        return __builtin_fmaf(x, y, sum);
    else if constexpr (count == 1 && std::is_same_v<K, double>)
        return __builtin_fma(x, y, sum);
    else
        return sum + x * y;
#else
    return sum + x * y;
#endif
}
// Calls body(offset, lane_count) over at .. size: in full vectors, then in vectors of 16 bytes, then one by one.
template<int count> struct lane_count {
    static constexpr int value = count;
};
template<class K, class Body> DELTALOOM_INLINE void in_lanes(index at, index size, Body body) {
    constexpr int full = vector_lanes<K>, small = is_float<K> ? 16 / int(sizeof(K)) : 1;
    for (; at + full <= size; at += full) body(at, lane_count<full>{});
    if constexpr (full > small)
        for (; at + small <= size; at += small) body(at, lane_count<small>{});
    if constexpr (small > 1)
        for (; at < size; ++at) body(at, lane_count<1>{});
}
template<class K, class Body> DELTALOOM_INLINE void in_lanes(index size, Body body) { in_lanes<K>(0, size, body); }

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
