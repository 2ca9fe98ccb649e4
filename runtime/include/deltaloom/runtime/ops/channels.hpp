#pragma once
// Bilinear forms under decays per channel: with D_j(e, i) the product of A[s, j] over the decay rows s between write e
// and read i,
//     gram    G[i, e] = sum_j R[i, j] D_j(e, i) X[e, j]
//     apply   Y[i, j] = sum_e W[i, e] D_j(e, i) X[e, j]
//     applyt  Y[e, j] = sum_i W[i, e] D_j(e, i) R[i, j]
// Tiles of at most 16 events. Where they are apart the decays meet at the low of the reads, both factors are at most 1,
// and the rest is a matrix product; where they are not, the rows run along in time. A with one column stands for all
// channels.
#include "deltaloom/runtime/ops/stairs.hpp"

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

// Calls body(reads, writes, decay tile) for the pairs of tiles in which a read sees a write.
template<class Chain, class K, class Body>
void one_decay_pairs(Chain chain, events const& reads, events const& writes, visibility visible, matrix<K> a,
                     Body body) {
    for (event_tile w(writes, 0); !w.empty(); w = event_tile(writes, w.next())) {
        K between = Chain::unit();
        index reached = w.high();
        for (event_tile r(reads, 0); !r.empty(); r = event_tile(reads, r.next())) {
            if (!visible.any(r, w)) continue;
            for (; reached < r.low(); ++reached) between = Chain::join(between, a.data[reached]);
            body(r, w, decay_tile<K>(chain, a.data, r, w, visible, between));
        }
    }
}

template<class Chain, class K>
void gram_panel(matrix<K> out, events const& reads, events const& writes, visibility visible, matrix<K> r, matrix<K> x,
                channel_decays<Chain, K> const& a, index channel) {
    index const width = a.width;
    alignas(64) K between[panel_width<K>], interval[panel_width<K>];
    panel<K> left, right;
    for (event_tile w(writes, 0); !w.empty(); w = event_tile(writes, w.next())) {
        part<K> const x_rows = rows_from(x, w.first, channel);
        a.unit(between);
        bool ready = false; // the writes, brought up to their high
        index reached = w.high();
        for (event_tile t(reads, 0); !t.empty(); t = event_tile(reads, t.next())) {
            if (!visible.any(t, w)) continue;
            part<K> const entries{&out(t.first, w.first), out.cols, 1}, r_rows = rows_from(r, t.first, channel);
            if (apart(t, w)) {
                if (!ready) a.to_high(right, x_rows, w), ready = true;
                for (; reached < t.low(); ++reached) a.join(between, reached);
                copy_row(interval, between, width);
                a.from_low(left, r_rows, t, interval);
                if (visible.all(t, w)) {
                    dots(entries, t.count, w.count, left.whole(), right.whole(), width, true);
                    continue;
                }
                weight_tile<K> tile;
                dots(tile.whole(), t.count, w.count, left.whole(), right.whole(), width, false);
                for (index i = 0; i < t.count; ++i)
                    for (index e = 0; e < w.count; ++e)
                        if (visible(t, i, w, e)) *entries.at(i, e) = *entries.at(i, e) + tile.at[i][e];
                continue;
            }
            panel<K> running;
            for (index e = 0; e < w.count; ++e) copy_row(running[e], x_rows.at(e, 0), width);
            stairs(
                running, t, w, visible, a,
                [&](index i, index rows, index seen, panel<K, stair_height>& row_decays) {
                    for (index k = 0; k < rows; ++k) multiply_row(row_decays[k], r_rows.at(i + k, 0), width);
                    dots({entries.at(i, 0), out.cols, 1}, rows, seen, row_decays.whole(), running.whole(), width, true);
                },
                [&](index i, index e, index end) {
                    part<K> const here{entries.at(i, e), out.cols, 1}, later{running[e], panel_width<K>, 1};
                    dots(here, 1, end - e, {r_rows.at(i, 0), 0, 1}, later, width, true);
                });
        }
    }
}
template<class K> void gram(matrix<K> out, span const& s, index n, matrix<K> r, matrix<K> x, matrix<K> a, domain d) {
    events const reads(s, n, false), writes(s, n, true);
    visibility const visible{s.masked};
    clear(out);
    with_chain<K>(d, [&](auto chain) {
        using Chain = decltype(chain);
        if (a.cols == 1)
            return one_decay_pairs(chain, reads, writes, visible, a, [&](auto& t, auto& w, decay_tile<K> const& by) {
                weight_tile<K> tile;
                dots(tile.whole(), t.count, w.count, rows_from(r, t.first), rows_from(x, w.first), r.cols, false);
                for (index i = 0; i < t.count; ++i)
                    for (index e = 0; e < w.count; ++e)
                        if (visible(t, i, w, e)) out(t.first + i, w.first + e) = by.at[i][e] * tile.at[i][e];
            });
        in_panels<K>(r.cols, [&](index channel, index width) {
            gram_panel<Chain, K>(out, reads, writes, visible, r, x, decays_of(chain, a, channel, width), channel);
        });
    });
}

// sum (count x width) = what the writes before row `end` that are apart from the reads give them, decayed up to the
// reads' low; says where the other writes begin.
template<class Chain, class K>
index apply_far(panel<K>& sum, event_tile const& t, events const& writes, index end, visibility visible,
                matrix<K> weights, part<K> x, channel_decays<Chain, K> const& a) {
    alignas(64) K interval[panel_width<K>];
    panel<K> right;
    for (index i = 0; i < t.count; ++i) fill_row(sum[i], K(0.0), a.width);
    for (index first = 0; first < end;) {
        event_tile w(writes, first);
        w.count = smaller(w.count, end - first);
        if (!apart(t, w)) return first;
        if (!visible.any(t, w)) return end;
        first = w.next();
        a.unit(interval);
        a.join(interval, w.high(), t.low());
        a.to_high(right, {x.at(w.first, 0), x.down, 1}, w, interval);
        weight_tile<K> tile(weights, t, w, visible);
        product(sum.whole(), t.count, a.width, tile.whole(), right.whole(), w.count, true);
    }
    return end;
}
// Adds what one tile of writes that is not apart from the reads gives them.
template<class Chain, class K>
void apply_near(panel<K>& sum, event_tile const& t, event_tile const& w, visibility visible, matrix<K> weights,
                part<K> x, channel_decays<Chain, K> const& a) {
    panel<K> running;
    panel<K, stair_height> given;
    for (index e = 0; e < w.count; ++e) copy_row(running[e], x.at(w.first + e, 0), a.width);
    stairs(
        running, t, w, visible, a,
        [&](index i, index rows, index seen, panel<K, stair_height>& row_decays) {
            part<K> const here{&weights(t.first + i, w.first), weights.cols, 1};
            product(given.whole(), rows, a.width, here, running.whole(), seen, false);
            for (index k = 0; k < rows; ++k) add_product(sum[i + k], given[k], row_decays[k], a.width);
        },
        [&](index i, index e, index end) {
            for (; e < end; ++e) add_multiple(sum[i], weights(t.first + i, w.first + e), running[e], a.width);
        });
}
template<class K>
void apply(matrix<K> out, span const& s, index n, matrix<K> weights, matrix<K> x, matrix<K> a, domain d) {
    events const reads(s, n, false), writes(s, n, true);
    visibility const visible{s.masked};
    with_chain<K>(d, [&](auto chain) {
        if (a.cols == 1) {
            clear(out);
            return one_decay_pairs(chain, reads, writes, visible, a, [&](auto& t, auto& w, decay_tile<K> const& by) {
                weight_tile<K> tile(weights, t, w, visible);
                tile.scale(by, t, w);
                product(rows_from(out, t.first), t.count, out.cols, tile.whole(), rows_from(x, w.first), w.count, true);
            });
        }
        in_panels<K>(x.cols, [&](index channel, index width) {
            auto const here = decays_of(chain, a, channel, width);
            part<K> const rows = rows_from(x, 0, channel);
            panel<K> sum;
            for (event_tile t(reads, 0); !t.empty(); t = event_tile(reads, t.next())) {
                index const near = apply_far(sum, t, writes, writes.count(), visible, weights, rows, here);
                if (near > 0) here.from_low(sum, sum.whole(), t);
                for (event_tile w(writes, near); !w.empty() && visible.any(t, w); w = event_tile(writes, w.next()))
                    apply_near(sum, t, w, visible, weights, rows, here);
                for (index i = 0; i < t.count; ++i) copy_row(out.row(t.first + i) + channel, sum[i], width);
            }
        });
    });
}

// Adds to sum (writes x width) what a tile of reads that is apart from the writes gives them, decayed back to the
// writes' high. r: the tile's rows.
template<class Chain, class K>
void applyt_apart(panel<K>& sum, event_tile const& t, event_tile const& w, visibility visible, matrix<K> weights,
                  part<K> r, channel_decays<Chain, K> const& a) {
    alignas(64) K interval[panel_width<K>];
    panel<K> left;
    a.unit(interval);
    a.join(interval, w.high(), t.low());
    a.from_low(left, r, t, interval);
    weight_tile<K> tile(weights, t, w, visible);
    product(sum.whole(), w.count, a.width, tile.transposed(), left.whole(), t.count, true);
}
// Adds what a tile of reads that is not apart from the writes gives them.
template<class Chain, class K>
void applyt_near(panel<K>& sum, event_tile const& t, event_tile const& w, visibility visible, matrix<K> weights,
                 part<K> r, channel_decays<Chain, K> const& a) {
    panel<K> running, given; // running: the decay from each write on
    alignas(64) K row[panel_width<K>];
    for (index e = 0; e < w.count; ++e) fill_row(running[e], K(1.0), a.width);
    stairs(
        running, t, w, visible, a,
        [&](index i, index rows, index seen, panel<K, stair_height>& row_decays) {
            for (index k = 0; k < rows; ++k) multiply_row(row_decays[k], r.at(i + k, 0), a.width);
            part<K> const here{&weights(t.first + i, w.first), 1, weights.cols};
            product(given.whole(), seen, a.width, here, row_decays.whole(), rows, false);
            for (index e = 0; e < seen; ++e) add_product(sum[e], running[e], given[e], a.width);
        },
        [&](index i, index e, index end) {
            for (; e < end; ++e) {
                fill_row(row, K(0.0), a.width);
                add_multiple(row, weights(t.first + i, w.first + e), r.at(i, 0), a.width);
                add_product(sum[e], running[e], row, a.width);
            }
        });
}
template<class K>
void applyt(matrix<K> out, span const& s, index n, matrix<K> weights, matrix<K> r, matrix<K> a, domain d) {
    events const reads(s, n, false), writes(s, n, true);
    visibility const visible{s.masked};
    with_chain<K>(d, [&](auto chain) {
        if (a.cols == 1) {
            clear(out);
            return one_decay_pairs(chain, reads, writes, visible, a, [&](auto& t, auto& w, decay_tile<K> const& by) {
                weight_tile<K> tile(weights, t, w, visible);
                tile.scale(by, t, w);
                product(rows_from(out, w.first), w.count, out.cols, tile.transposed(), rows_from(r, t.first), t.count,
                        true);
            });
        }
        in_panels<K>(r.cols, [&](index channel, index width) {
            auto const here = decays_of(chain, a, channel, width);
            panel<K> sum;
            for (event_tile w(writes, 0); !w.empty(); w = event_tile(writes, w.next())) {
                for (index e = 0; e < w.count; ++e) fill_row(sum[e], K(0.0), width);
                bool any = false;
                for (event_tile t(reads, 0); !t.empty(); t = event_tile(reads, t.next()))
                    if (apart(t, w) && visible.any(t, w)) {
                        applyt_apart(sum, t, w, visible, weights, rows_from(r, t.first, channel), here);
                        any = true;
                    }
                if (any) here.to_high(sum, sum.whole(), w);
                for (event_tile t(reads, 0); !t.empty(); t = event_tile(reads, t.next()))
                    if (!apart(t, w) && visible.any(t, w))
                        applyt_near(sum, t, w, visible, weights, rows_from(r, t.first, channel), here);
                for (index e = 0; e < w.count; ++e) copy_row(out.row(w.first + e) + channel, sum[e], width);
            }
        });
    });
}

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
