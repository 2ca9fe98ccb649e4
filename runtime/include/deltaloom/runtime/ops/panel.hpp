#pragma once
// Rows of a tile of events, cut to a few channels: the working set of the channel decays, on the stack.
#include "deltaloom/runtime/ops/decay.hpp"
#include "deltaloom/runtime/ops/dots.hpp"

namespace deltaloom::runtime {
inline namespace DELTALOOM_ISA {

template<class K> inline constexpr index panel_width = 512 / index(sizeof(K));
template<class K, int rows = event_tile::most> struct panel {
    alignas(64) K at[rows][panel_width<K>];
    K* operator[](index i) { return at[i]; }
    part<K> whole() { return {at[0], panel_width<K>, 1}; }
};

// Row-wise arithmetic on w channels: to = f(lanes of the rows).
template<class K, class F> DELTALOOM_INLINE void each_channel(K* to, index w, F f) {
    in_lanes<K>(w, [&](index c, auto count)
                       __attribute__((always_inline)) { write_lanes<count.value>(to + c, f(c, count)); });
}
template<class K> DELTALOOM_INLINE void fill_row(K* to, K x, index w) {
    each_channel(to, w, [&](index, auto n) { return lanes<K, n.value>{} + x; });
}
template<class K> DELTALOOM_INLINE void copy_row(K* to, K const* from, index w) {
    each_channel(to, w, [&](index c, auto n) { return read_lanes<n.value>(from + c); });
}
template<class K> DELTALOOM_INLINE void multiply_row(K* to, K const* by, index w) {
    each_channel(to, w, [&](index c, auto n) {
        return lanes<K, n.value>(read_lanes<n.value>(to + c) * read_lanes<n.value>(by + c));
    });
}
template<class K> DELTALOOM_INLINE void add_multiple(K* to, K factor, K const* row, index w) {
    each_channel(to, w, [&](index c, auto n) {
        return multiply_add_lanes<n.value, K>(read_lanes<n.value>(to + c), factor, read_lanes<n.value>(row + c));
    });
}
template<class K> DELTALOOM_INLINE void add_product(K* to, K const* x, K const* y, index w) {
    each_channel(to, w, [&](index c, auto n) {
        return multiply_add_lanes<n.value, K>(read_lanes<n.value>(to + c), read_lanes<n.value>(x + c),
                                              read_lanes<n.value>(y + c));
    });
}

// The decay rows of a few channels: rows of logarithms or factors, joined by the chain. With across = 0 one decay for
// all channels.
template<class Chain, class K> struct channel_decays {
    part<K> rows;
    index width;

    template<int count> DELTALOOM_INLINE lanes<K, count> read(index s, index c) const {
        K const* const at = rows.at(s, c);
        return rows.across == 0 ? lanes<K, count>{} + *at : read_lanes<count>(at);
    }

    void unit(K* to) const { fill_row(to, Chain::unit(), width); }
    void join(K* to, index s) const {
        in_lanes<K>(width, [&](index c, auto count) {
            constexpr int n = count.value;
            write_lanes<n>(to + c, lanes<K, n>(Chain::join(read_lanes<n>(to + c), read<n>(s, c))));
        });
    }
    void join(K* to, index from, index end) const {
        for (index s = from; s < end; ++s) join(to, s);
    }
    // to = x * value(interval)
    void scaled(K* to, K const* x, K const* interval) const {
        in_lanes<K>(width, [&](index c, auto count) {
            constexpr int n = count.value;
            write_lanes<n>(to + c,
                           lanes<K, n>(read_lanes<n>(x + c) * Chain::template value<n>(read_lanes<n>(interval + c))));
        });
    }
    // The factor of row s itself.
    void factor(K* to, index s) const {
        in_lanes<K>(width, [&](index c, auto count) {
            constexpr int n = count.value;
            write_lanes<n>(to + c, Chain::template value<n>(read<n>(s, c)));
        });
    }
    // Never inlined, for the reason that products are not: what they scale is added to later.
    // to_e = x_e D(e, high of the tile)
    void to_high(panel<K>& to, part<K> x, event_tile const& writes) const {
        alignas(64) K interval[panel_width<K>];
        unit(interval);
        to_high(to, x, writes, interval);
    }
    // The same, up to where the given interval from the tile's high on ends.
    DELTALOOM_CALL void to_high(panel<K>& to, part<K> x, event_tile const& writes, K* interval) const {
        index s = writes.high();
        for (index e = writes.count - 1; e >= 0; --e) {
            for (; s > writes.bound[e]; --s) join(interval, s - 1);
            scaled(to[e], x.at(e, 0), interval);
        }
    }
    // to_i = x_i D(low of the tile, i), from where the given interval up to the tile's low begins.
    DELTALOOM_CALL void from_low(panel<K>& to, part<K> x, event_tile const& reads, K* interval) const {
        index s = reads.low();
        for (index i = 0; i < reads.count; ++i) {
            for (; s < reads.bound[i]; ++s) join(interval, s);
            scaled(to[i], x.at(i, 0), interval);
        }
    }
    void from_low(panel<K>& to, part<K> x, event_tile const& reads) const {
        alignas(64) K interval[panel_width<K>];
        unit(interval);
        from_low(to, x, reads, interval);
    }
};

// All reads of the one tile stand behind all writes of the other: their decays meet at the reads' low.
inline bool apart(event_tile const& reads, event_tile const& writes) { return writes.reach <= reads.low(); }

// Tiles that are not apart reach over at most 32 decay rows: their factors.
template<class Chain, class K> struct near_factors {
    panel<K, 2 * event_tile::most> rows;
    index first;
    near_factors(channel_decays<Chain, K> const& a, index low, index high) : first(low) {
        for (index s = low; s < high; ++s) a.factor(rows[s - low], s);
    }
    K* at(index s) { return rows[s - first]; }
};

// Entries of W for two tiles, 0 where the read does not see the write.
template<class K> struct weight_tile {
    static constexpr index most = event_tile::most;
    K at[most][most];
    weight_tile() = default;
    weight_tile(matrix<K> w, event_tile const& reads, event_tile const& writes, visibility visible) {
        for (index i = 0; i < reads.count; ++i)
            for (index e = 0; e < writes.count; ++e)
                at[i][e] = visible(reads, i, writes, e) ? w(reads.first + i, writes.first + e) : K(0.0);
    }
    void scale(decay_tile<K> const& by, event_tile const& reads, event_tile const& writes) {
        for (index i = 0; i < reads.count; ++i)
            for (index e = 0; e < writes.count; ++e) at[i][e] = at[i][e] * by.at[i][e];
    }
    part<K> whole() { return {at[0], most, 1}; }
    part<K> transposed() { return {at[0], 1, most}; }
};
// Decays of the channels from `channel` on; one column stands for all.
template<class Chain, class K> channel_decays<Chain, K> decays_of(Chain, matrix<K> a, index channel, index width) {
    if (a.cols == 1) return {{a.data, 1, 0}, width};
    return {{a.data + channel, a.cols, 1}, width};
}
template<class K> part<K> rows_from(matrix<K> x, index row, index channel = 0) {
    return {x.row(row) + channel, x.cols, 1};
}

// Calls body(first channel, width) for the channels in panels.
template<class K, class Body> void in_panels(index channels, Body body) {
    for (index c = 0; c < channels; c += panel_width<K>) body(c, smaller(panel_width<K>, channels - c));
}

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
