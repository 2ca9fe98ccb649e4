#pragma once
// A unit triangular system per value channel, all with one shared G:
//     U = B + c . apply(G, U, A)          or, transposed,          Z = B + applyt(G, c . Z, A)
// Reads and writes are the same events. Tiles that are solved enter as in apply; inside a tile events go one by one.
#include "deltaloom/runtime/ops/channels.hpp"

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

// A run of rows that is a tile both as reads and as writes.
struct event_pair {
    event_tile reads, writes;
    event_pair(events const& r, events const& w, index row) : reads(r, row), writes(w, row) {
        reads.count = writes.count = smaller(reads.count, writes.count);
    }
    // The one that ends before a row > 0.
    static event_pair before(events const& r, events const& w, index row) {
        event_pair pair(r, w, smaller(event_tile::before(r, row).first, event_tile::before(w, row).first));
        while (pair.reads.next() < row) pair = event_pair(r, w, pair.reads.next());
        return pair;
    }
};

template<class K> void multiply_by_coefficient(K* row, matrix<K> c, index e, index channel, index width) {
    if (c.cols == 1)
        for (index j = 0; j < width; ++j) row[j] = c.data[e] * row[j];
    else
        multiply_row(row, c.row(e) + channel, width);
}

template<class K>
void csolve(matrix<K> u, span const& s, index n, matrix<K> g, matrix<K> c, matrix<K> b, matrix<K> a, domain d) {
    events const reads(s, n, false), writes(s, n, true);
    visibility const visible{s.masked};
    with_chain<K>(d, [&](auto chain) {
        in_panels<K>(u.cols, [&](index channel, index width) {
            using Chain = decltype(chain);
            channel_decays<Chain, K> const here = decays_of(chain, a, channel, width);
            part<K> const solved = rows_from(u, 0, channel);
            panel<K> sum, running;
            for (index row = 0; row < u.rows;) {
                event_pair const tile(reads, writes, row);
                event_tile const &t = tile.reads, &w = tile.writes;
                index first = apply_far(sum, t, writes, row, visible, g, solved, here);
                if (first > 0) here.from_low(sum, sum.whole(), t);
                while (first < row) {
                    event_tile before(writes, first);
                    before.count = smaller(before.count, row - first);
                    if (visible.any(t, before)) apply_near(sum, t, before, visible, g, solved, here);
                    first = before.next();
                }
                near_factors<Chain, K> factors(here, w.low(), t.high());
                index done[event_tile::most];
                for (index i = 0; i < t.count; ++i) {
                    done[i] = w.bound[i];
                    for (index e = 0; e < i && visible(t, i, w, e); ++e) {
                        for (; done[e] < t.bound[i]; ++done[e]) multiply_row(running[e], factors.at(done[e]), width);
                        add_multiple(sum[i], g(row + i, row + e), running[e], width);
                    }
                    K* const to = running[i];
                    each_channel(to, width, [&](index j, auto lane) {
                        constexpr int L = lane.value;
                        K const* const at = c.cols == 1 ? c.row(row + i) : c.row(row + i) + channel + j;
                        auto const scale = c.cols == 1 ? lanes<K, L>{} + *at : read_lanes<L>(at);
                        return multiply_add_lanes<L, K>(read_lanes<L>(b.row(row + i) + channel + j), scale,
                                                        read_lanes<L>(sum[i] + j));
                    });
                    copy_row(u.row(row + i) + channel, running[i], width);
                }
                row = t.next();
            }
        });
    });
}

template<class K>
void csolve_transposed(matrix<K> z, span const& s, index n, matrix<K> g, matrix<K> c, matrix<K> b, matrix<K> a,
                       domain d) {
    events const reads(s, n, false), writes(s, n, true);
    visibility const visible{s.masked};
    with_chain<K>(d, [&](auto chain) {
        in_panels<K>(z.cols, [&](index channel, index width) {
            using Chain = decltype(chain);
            channel_decays<Chain, K> const here = decays_of(chain, a, channel, width);
            panel<K> sum, left, running;
            for (index row = z.rows; row > 0;) {
                event_pair const tile = event_pair::before(reads, writes, row);
                event_tile const &t = tile.reads, &w = tile.writes;
                for (index e = 0; e < w.count; ++e) fill_row(sum[e], K(0.0), width);
                // What is solved, c . Z behind this tile: reads that are apart, decayed back to the writes' high, then
                // the others.
                for (int apart_ones = 1; apart_ones >= 0; --apart_ones) {
                    for (index first = row; first < z.rows;) {
                        event_tile const past = event_pair(reads, writes, first).reads;
                        first = past.next();
                        if (apart(past, w) != bool(apart_ones) || !visible.any(past, w)) continue;
                        for (index i = 0; i < past.count; ++i) {
                            copy_row(left[i], z.row(past.first + i) + channel, width);
                            multiply_by_coefficient(left[i], c, past.first + i, channel, width);
                        }
                        if (apart_ones)
                            applyt_apart(sum, past, w, visible, g, left.whole(), here);
                        else
                            applyt_near(sum, past, w, visible, g, left.whole(), here);
                    }
                    if (apart_ones) here.to_high(sum, sum.whole(), w);
                }
                near_factors<Chain, K> factors(here, w.low(), t.high());
                index done[event_tile::most];
                for (index e = w.count - 1; e >= 0; --e) {
                    for (index i = e + 1; i < t.count; ++i) {
                        if (!visible(t, i, w, e)) continue;
                        for (; done[i] > w.bound[e]; --done[i])
                            multiply_row(running[i], factors.at(done[i] - 1), width);
                        add_multiple(sum[e], g(t.first + i, w.first + e), running[i], width);
                    }
                    done[e] = t.bound[e];
                    for (index j = 0; j < width; ++j) running[e][j] = b(w.first + e, channel + j) + sum[e][j];
                    copy_row(z.row(w.first + e) + channel, running[e], width);
                    multiply_by_coefficient(running[e], c, w.first + e, channel, width);
                }
                row = t.first;
            }
        });
    });
}

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
