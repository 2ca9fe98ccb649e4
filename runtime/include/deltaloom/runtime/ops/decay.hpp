#pragma once
// Decays between events: the product over the decay rows between a write and a read, as a product of intervals that
// meet at a row between them (for log gates over floats: a sum, then exp). No quotient, no difference of sums, so that
// 0 and -inf are resets like any other value.
#include "deltaloom/runtime/ops/exponential.hpp"
#include "deltaloom/runtime/ops/span.hpp"

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

// The arithmetic of intervals. Sums: log gates over floats; else products, which over the field is both domains.
template<class K, bool sums> struct chain {
    static constexpr bool additive = sums;
    static K unit() { return K(sums ? 0.0 : 1.0); }
    template<class V> static DELTALOOM_INLINE V join(V a, V b) {
        if constexpr (sums)
            return a + b;
        else
            return a * b;
    }
    template<int count> static DELTALOOM_INLINE lanes<K, count> value(lanes<K, count> x) {
        if constexpr (sums)
            return lanes_exp<K, count>(x);
        else
            return x;
    }
};
template<class K, class Body> void with_chain(domain d, Body body) {
    if constexpr (is_float<K>)
        if (d == domain::log) return body(chain<K, true>{});
    body(chain<K, false>{});
}

// D of two tiles, 0 where the read does not see the write; `column` has one decay a row. between: the interval from the
// writes' high to the reads' low, where the tiles are apart.
template<class K> struct decay_tile {
    static constexpr index most = event_tile::most;
    static constexpr int count = is_float<K> ? smaller(vector_lanes<K>, most) : 1, vectors = most / count;
    alignas(64) K at[most][most];

    template<class Chain>
    decay_tile(Chain, K const* column, event_tile const& reads, event_tile const& writes, visibility visible,
               K between) {
        if (writes.reach <= reads.low()) {
            K left[most], right = Chain::unit(); // from a write to the reads' low; from there to a read
            index s = writes.high();
            for (index e = 0; e < most; ++e) left[e] = Chain::unit();
            for (index e = writes.count - 1; e >= 0; --e) {
                for (; s > writes.bound[e]; --s) between = Chain::join(column[s - 1], between);
                left[e] = between;
            }
            s = reads.low();
            for (index i = 0; i < reads.count; ++i) {
                for (; s < reads.bound[i]; ++s) right = Chain::join(right, column[s]);
                for (index e = 0; e < most; ++e) at[i][e] = Chain::join(left[e], right);
            }
        } else {
            lanes<K, count> running[vectors];
            for (int v = 0; v < vectors; ++v) running[v] = lanes<K, count>{} + Chain::unit();
            index s = writes.low(), begun = 0; // the writes that stand before row s
            for (index i = 0; i < reads.count; ++i) {
                for (; s < reads.bound[i]; ++s) {
                    while (begun < writes.count && writes.bound[begun] <= s) ++begun;
                    lanes<K, count> const row = lanes<K, count>{} + column[s];
                    DELTALOOM_UNROLL
                    for (int v = 0; v < vectors; ++v)
                        running[v] = before<count, K>(begun, v * count, Chain::join(running[v], row), running[v]);
                }
                DELTALOOM_UNROLL
                for (int v = 0; v < vectors; ++v) write_lanes<count>(&at[i][v * count], running[v]);
            }
        }
        index seen = 0;
        for (index i = 0; i < reads.count; ++i) {
            while (seen < writes.count && visible(reads, i, writes, seen)) ++seen;
            DELTALOOM_UNROLL
            for (int v = 0; v < vectors; ++v) {
                lanes<K, count> const x = Chain::template value<count>(read_lanes<count>(&at[i][v * count]));
                write_lanes<count>(&at[i][v * count], before<count, K>(seen, v * count, x, lanes<K, count>{}));
            }
        }
    }
};

// n x n transitions of n coupled states: entry [state of the read, state of the write] of the product of the rows
// between.
template<class K, int size, class Chain>
void transitions(Chain, matrix<K> out, events const& reads, events const& writes, bool masked,
                 matrix<K> const (&a)[size]) {
    constexpr int states = [] {
        int n = 1;
        while (n * n < size) ++n;
        return n;
    }();
    static_assert(states * states == size, "the decays of n coupled states are n x n matrices of transitions");
    for (index e = 0; e < out.cols; ++e)
        writes.along(e, e + 1, [&](index written, index start) {
            K column[states] = {};
            column[writes.state(e)] = K(1.0);
            index s = start, i = 0;
            reads.along(0, out.rows, [&](index read, index bound) {
                for (; s < bound; ++s) {
                    K next[states] = {};
                    for (int r = 0; r < states; ++r)
                        for (int c = 0; c < states; ++c)
                            next[r] = next[r] + Chain::template value<1>(a[r * states + c].data[s]) * column[c];
                    for (int r = 0; r < states; ++r) column[r] = next[r];
                }
                bool const seen = masked ? written < read : start <= bound;
                out(i, e) = seen ? column[reads.state(i)] : K(0.0);
                return ++i > 0;
            });
            return true;
        });
}

// D[i, e]: the product of the decay rows strictly between write e and read i; of n coupled states with n x n matrices
// of one column each.
template<class K, int size> void decay(matrix<K> out, span const& s, index n, matrix<K> const (&a)[size], domain d) {
    events const reads(s, n, false), writes(s, n, true);
    visibility const visible{s.masked};
    with_chain<K>(d, [&](auto chain) {
        if constexpr (size > 1) return transitions(chain, out, reads, writes, s.masked, a);
        using Chain = decltype(chain);
        K const* const column = a[0].data;
        clear(out);
        for (event_tile w(writes, 0); !w.empty(); w = event_tile(writes, w.next())) {
            K between = Chain::unit();
            index reached = w.high();
            for (event_tile r(reads, 0); !r.empty(); r = event_tile(reads, r.next())) {
                if (!visible.any(r, w)) continue;
                for (; reached < r.low(); ++reached) between = Chain::join(between, column[reached]);
                decay_tile<K> const tile(chain, column, r, w, visible, between);
                for (index i = 0; i < r.count; ++i) {
                    K* const to = &out(r.first + i, w.first);
                    in_lanes<K>(w.count, [&](index e, auto width) {
                        write_lanes<width.value>(to + e, read_lanes<width.value>(&tile.at[i][e]));
                    });
                }
            }
        }
    });
}
// The causal mask: 1 where the read sees the write.
template<class K> void mask(matrix<K> out, span const& s, index n) { decay(out, s, n, {matrix<K>{}}, domain::linear); }

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
