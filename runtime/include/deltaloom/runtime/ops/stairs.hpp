#pragma once
// Two tiles that are not apart, in time.
#include "deltaloom/runtime/ops/panel.hpp"

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

// `running` holds a row for each write, which is decayed as time passes, in steps of four reads. The writes that the
// first of the four sees are brought up to it and serve all four,
//     step(first read, reads, writes, row_decays)      row_decays[k]: the decay from the first read to read first + k
// and the few writes in between are brought up to each of the later reads:
//     single(read, first write, end of writes)
inline constexpr index stair_height = 4;
template<class Chain, class K, class Step, class Single>
void stairs(panel<K>& running, event_tile const& t, event_tile const& w, visibility visible,
            channel_decays<Chain, K> const& a, Step step, Single single) {
    near_factors<Chain, K> factors(a, w.low(), t.high());
    panel<K, stair_height> row_decays;
    alignas(64) K product[panel_width<K>];
    index done[event_tile::most], common = 0, level = w.low(); // `common` writes are brought up to row `level`
    for (index e = 0; e < w.count; ++e) done[e] = w.bound[e];
    auto const bring = [&](index e, index to) {
        for (; done[e] < to; ++done[e]) multiply_row(running[e], factors.at(done[e]), a.width);
    };
    for (index i = 0; i < t.count; i += stair_height) {
        index const rows = smaller(stair_height, t.count - i), low = t.bound[i], seen = visible.count(t, i, w);
        if (common > 0 && level < low) {
            copy_row(product, factors.at(level), a.width);
            for (index s = level + 1; s < low; ++s) multiply_row(product, factors.at(s), a.width);
            for (index e = 0; e < common; ++e) multiply_row(running[e], product, a.width), done[e] = low;
        }
        for (index e = common; e < seen; ++e) bring(e, low);
        common = seen, level = low;
        if (seen > 0) { // then the reads stand behind the writes' low, where the factors begin
            fill_row(row_decays[0], K(1.0), a.width);
            for (index k = 1, s = low; k < rows; ++k) {
                copy_row(row_decays[k], row_decays[k - 1], a.width);
                for (; s < t.bound[i + k]; ++s) multiply_row(row_decays[k], factors.at(s), a.width);
            }
            step(i, rows, seen, row_decays);
        }
        for (index k = 1; k < rows; ++k) {
            index const later = visible.count(t, i + k, w);
            for (index e = seen; e < later; ++e) bring(e, t.bound[i + k]);
            if (later > seen) single(i + k, seen, later);
        }
    }
}

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
