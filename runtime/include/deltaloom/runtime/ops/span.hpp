#pragma once
// Where reads, writes and decay rows of a chunk stand in time. A chunk of n tokens has positions 0 .. n * m: token * m
// + micro-step, and n * m is its end. The rows of a token stand in ascending order of position.
#include "deltaloom/runtime/ops/matrix.hpp"

namespace deltaloom::runtime {

// How a decay is given: by its logarithm, or as the factor itself.
enum class domain { log, linear };

struct int_list {
    int const* data = nullptr;
    int size = 0;
};
// start: one row at -1; end: one row at n * m; decays: one row per decay row; tokens: position.size rows per token.
struct event_rows {
    enum kind { start, end, tokens, decays } rows = tokens;
    int_list position; // of tokens: the micro-step of each of the rows of a token, 0 .. m
    int_list state;    // which state of n coupled ones, per row of a token (the other kinds: one entry); empty: 0
};
struct span {
    int micro_steps = 1;
    int_list decaying; // the micro-steps that have a decay row, ascending
    event_rows reads, writes;
    bool masked = true; // 0 unless the write's position is before the read's
};

inline namespace DELTALOOM_ISA {

// Row for row: its position, its state, and its bound among the decay rows. The decay between a write and a read is the
// product of the decay rows from the write's bound to the read's: a read stands before the decay of its own micro-step,
// a write after it.
struct events {
    event_rows of;
    int_list decaying;
    index micro_steps, tokens;
    bool writes;

    events(span const& s, index n, bool are_writes)
        : of(are_writes ? s.writes : s.reads),
          decaying(s.decaying),
          micro_steps(s.micro_steps),
          tokens(n),
          writes(are_writes) {}

    index count() const {
        switch (of.rows) {
        case event_rows::start:
        case event_rows::end: return 1;
        case event_rows::tokens: return tokens * of.position.size;
        case event_rows::decays: return tokens * decaying.size;
        }
        return 0;
    }
    // Of start and end, whose row belongs to no token: 1.
    index rows_per_token() const {
        if (of.rows == event_rows::start || of.rows == event_rows::end) return 1;
        index const rows = of.rows == event_rows::tokens ? of.position.size : decaying.size;
        return rows > 0 ? rows : 1;
    }
    index state(index row) const {
        if (!of.state.size) return 0;
        return of.state.data[of.rows == event_rows::tokens ? row % of.state.size : 0];
    }
    // Calls body(position, bound) for the rows from `row` on until it says false.
    template<class Body> void along(index row, index end, Body body) const {
        if (of.rows == event_rows::start || of.rows == event_rows::end) {
            bool const last = of.rows == event_rows::end;
            if (row < end) body(last ? tokens * micro_steps : -1, last ? tokens * decaying.size : 0);
            return;
        }
        int_list const& steps = of.rows == event_rows::tokens ? of.position : decaying;
        if (row >= end) return;
        index token = row / steps.size;
        int step = -1;
        index before = 0;
        for (int r = int(row % steps.size); row < end; ++row) {
            if (steps.data[r] != step) {
                step = steps.data[r], before = 0;
                for (int k = 0; k < decaying.size; ++k) before += decaying.data[k] < step + writes;
            }
            if (!body(token * micro_steps + step, token * decaying.size + before)) return;
            if (++r == steps.size) r = 0, ++token;
        }
    }
};

// Up to 16 rows in a run whose bounds are at most 16 decay rows apart: whole tokens where they are short enough, else
// parts of one token.
struct event_tile {
    static constexpr int most = 16;
    index first = 0, count = 0;
    index position[most], bound[most];
    // The bound of its last row if the tokens went on: how a tile is treated must not depend on how many tokens follow.
    index reach = 0;

    // The tile that begins at a row; empty past the last one.
    event_tile(events const& all, index row) : first(row) {
        index const here = all.count() - row;
        if (here <= 0) return;
        index rows = 0;
        all.along(row, smaller((row / group(all) + 1) * group(all), row + most), [&](index p, index b) {
            if (rows && b - bound[0] > most) return false;
            if (rows++ < here) position[count] = p, bound[count++] = b;
            reach = b;
            return true;
        });
    }
    // The tile that ends before a row > 0.
    static event_tile before(events const& all, index row) {
        event_tile tile(all, (row - 1) / group(all) * group(all));
        while (tile.next() < row) tile = event_tile(all, tile.next());
        return tile;
    }
    bool empty() const { return count == 0; }
    index next() const { return first + count; }
    index low() const { return bound[0]; }
    index high() const { return bound[count - 1]; }

private:
    // Rows of the tokens that share a tile, or of one token.
    static index group(events const& all) {
        index const rows = all.rows_per_token(), decays = all.decaying.size;
        index const tokens = most / (rows > decays ? rows : decays > 0 ? decays : 1);
        return tokens > 1 ? rows * tokens : rows;
    }
};

// May entry [read, write] differ from 0? Masked: the write stands before the read; else the interval is not negative.
struct visibility {
    bool masked;
    bool operator()(event_tile const& reads, index i, event_tile const& writes, index e) const {
        return masked ? writes.position[e] < reads.position[i] : writes.bound[e] <= reads.bound[i];
    }
    bool any(event_tile const& reads, event_tile const& writes) const {
        return (*this)(reads, reads.count - 1, writes, 0);
    }
    // How many of the writes a read sees: the first ones.
    index count(event_tile const& reads, index i, event_tile const& writes) const {
        index e = 0;
        while (e < writes.count && (*this)(reads, i, writes, e)) ++e;
        return e;
    }
    bool all(event_tile const& reads, event_tile const& writes) const {
        return (*this)(reads, 0, writes, writes.count - 1);
    }
};

} // namespace DELTALOOM_ISA
} // namespace deltaloom::runtime
