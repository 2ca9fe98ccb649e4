#pragma once
// The gradient of the bilinear form of channels.hpp along its decays: out[s, j] = d/dA[s, j] of sum W[i, e] R[i, j]
// X[e, j] D_j(e, i), that is the sum over all pairs whose interval holds row s, each with the product of the other rows
// of the interval. Nothing is divided, nothing subtracted.
//     pairs of tiles that are not apart: per read, the writes gathered forwards, the decay behind row s gathered
//     backwards apart, rows from the reads' low on: the same, from what the writes give at the reads' low apart, rows
//     before it: per tile of writes, the reads gathered backwards
#include "deltaloom/runtime/ops/channels.hpp"

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

template<class Chain, class K> struct spread_panel {
    part<K> out; // decay rows x the panel's channels; added to
    events const &reads, &writes;
    visibility visible;
    part<K> r, x; // of the panel's channels
    channel_decays<Chain, K> a;

    static constexpr index most = event_tile::most;

    // out[s] += gathered[s] . after[s], s from low to high: gathered starts with `start` and takes what add(gathered,
    // s) adds at row s; after is the product of the rows behind s, times `end`.
    template<class Add> void along(index low, index high, K const* start, K const* end, K* factors, Add add) const {
        panel<K, 2 * most> after;
        alignas(64) K gathered[panel_width<K>];
        for (index s = high - 1; s >= low; --s) {
            if (s == high - 1)
                copy_row(after[s - low], end, a.width);
            else {
                copy_row(after[s - low], after[s + 1 - low], a.width);
                multiply_row(after[s - low], factors + (s + 1 - low) * panel_width<K>, a.width);
            }
        }
        copy_row(gathered, start, a.width);
        for (index s = low; s < high; ++s) {
            add(gathered, s);
            add_product(out.at(s, 0), gathered, after[s - low], a.width);
            multiply_row(gathered, factors + (s - low) * panel_width<K>, a.width);
        }
    }
    template<class Weights> void near(event_tile const& t, event_tile const& w, Weights const& weights) const {
        weight_tile<K> const tile = weights(t, w);
        near_factors<Chain, K> factors(a, w.low(), t.high());
        alignas(64) K zero[panel_width<K>] = {};
        for (index i = 0; i < t.count; ++i) {
            index e = 0;
            along(w.low(), t.bound[i], zero, r.at(t.first + i, 0), factors.at(w.low()), [&](K* gathered, index s) {
                for (; e < w.count && w.bound[e] <= s; ++e)
                    add_multiple(gathered, tile.at[i][e], x.at(w.first + e, 0), a.width);
            });
        }
    }
    // The rows from the low of each tile of reads on.
    template<class Weights> void reads_side(Weights const& weights) const {
        panel<K> sum, right;
        alignas(64) K interval[panel_width<K>];
        for (event_tile t(reads, 0); !t.empty(); t = event_tile(reads, t.next())) {
            for (index i = 0; i < t.count; ++i) fill_row(sum[i], K(0.0), a.width);
            bool any = false;
            for (event_tile w(writes, 0); !w.empty() && visible.any(t, w); w = event_tile(writes, w.next())) {
                if (!apart(t, w)) {
                    near(t, w, weights);
                    continue;
                }
                any = true;
                a.unit(interval);
                a.join(interval, w.high(), t.low());
                a.to_high(right, {x.at(w.first, 0), x.down, 1}, w, interval);
                weight_tile<K> tile = weights(t, w);
                product(sum.whole(), t.count, a.width, tile.whole(), right.whole(), w.count, true);
            }
            if (!any) continue;
            near_factors<Chain, K> factors(a, t.low(), t.high());
            for (index i = 0; i < t.count; ++i)
                along(t.low(), t.bound[i], sum[i], r.at(t.first + i, 0), factors.rows[0], [](K*, index) {});
        }
    }
    // The rows before the low of each tile of reads, of the pairs that are apart.
    template<class Weights> void writes_side(Weights const& weights) const {
        panel<K> sum, left, right; // sum: per write, what the reads behind row `level` give, decayed back to it
        alignas(64) K row[panel_width<K>], interval[panel_width<K>], factor[panel_width<K>];
        for (event_tile w(writes, 0); !w.empty(); w = event_tile(writes, w.next())) {
            if (index const all = reads.count(); !all || !apart(event_tile::before(reads, all), w)) continue;
            for (index e = 0; e < w.count; ++e) fill_row(sum[e], K(0.0), a.width);
            a.to_high(right, {x.at(w.first, 0), x.down, 1}, w);
            for (index last = reads.count(); last > 0;) {
                event_tile const t = event_tile::before(reads, last);
                last = t.first;
                if (!apart(t, w)) break;
                index const next = last > 0 ? event_tile::before(reads, last).low() : w.high();
                if (visible.any(t, w)) {
                    a.from_low(left, {r.at(t.first, 0), r.down, 1}, t);
                    weight_tile<K> tile = weights(t, w);
                    product(sum.whole(), w.count, a.width, tile.transposed(), left.whole(), t.count, true);
                }
                index const stop = next > w.high() ? next : w.high();
                for (index level = t.low(); level > stop;) {
                    index const low = level - most > stop ? level - most : stop;
                    fill_row(row, K(0.0), a.width);
                    for (index e = 0; e < w.count; ++e) add_product(row, right[e], sum[e], a.width);
                    near_factors<Chain, K> factors(a, low, level);
                    a.unit(interval);
                    a.join(interval, w.high(), low);
                    fill_row(factor, K(1.0), a.width);
                    a.scaled(factor, factor, interval);
                    multiply_row(row, factor, a.width);
                    between(low, level, row, factors.rows[0]);
                    for (index s = low; s < level; ++s)
                        for (index e = 0; e < w.count; ++e) multiply_row(sum[e], factors.at(s), a.width);
                    level = low;
                }
            }
            near_factors<Chain, K> factors(a, w.low(), w.high());
            alignas(64) K zero[panel_width<K>] = {}, one[panel_width<K>];
            fill_row(one, K(1.0), a.width);
            index e = 0;
            along(w.low(), w.high(), zero, one, factors.rows[0], [&](K* gathered, index s) {
                for (; e < w.count && w.bound[e] <= s; ++e)
                    add_product(gathered, x.at(w.first + e, 0), sum[e], a.width);
            });
        }
    }
    // Every pair in `row` holds all rows from low to high.
    void between(index low, index high, K const* row, K* factors) const {
        alignas(64) K one[panel_width<K>];
        fill_row(one, K(1.0), a.width);
        along(low, high, row, one, factors, [](K*, index) {});
    }
};

template<class K>
void spread(matrix<K> out, span const& s, index n, matrix<K> w, matrix<K> r, matrix<K> x, matrix<K> a, domain d) {
    events const reads(s, n, false), writes(s, n, true);
    visibility const visible{s.masked};
    clear(out);
    with_chain<K>(d, [&](auto chain) {
        using Chain = decltype(chain);
        auto const run = [&](spread_panel<Chain, K> const& panel_here, auto weights) {
            panel_here.reads_side(weights);
            panel_here.writes_side(weights);
        };
        if (a.cols == 1) { // the sum over the channels is in the weights
            K one(1.0);
            part<K> const ones{&one, 0, 1};
            return run({whole(out), reads, writes, visible, ones, ones, decays_of(chain, a, 0, 1)},
                       [&](event_tile const& t, event_tile const& v) {
                           weight_tile<K> tile(w, t, v, visible), products;
                           dots(products.whole(), t.count, v.count, rows_from(r, t.first), rows_from(x, v.first),
                                r.cols, false);
                           for (index i = 0; i < t.count; ++i)
                               for (index e = 0; e < v.count; ++e)
                                   tile.at[i][e] = visible(t, i, v, e) ? tile.at[i][e] * products.at[i][e] : K(0.0);
                           return tile;
                       });
        }
        in_panels<K>(r.cols, [&](index channel, index width) {
            run({{out.data + channel, out.cols, 1},
                 reads,
                 writes,
                 visible,
                 rows_from(r, 0, channel),
                 rows_from(x, 0, channel),
                 decays_of(chain, a, channel, width)},
                [&](event_tile const& t, event_tile const& v) { return weight_tile<K>(w, t, v, visible); });
        });
    });
}

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
