#pragma once
// Every operation by its definition: loops over dense tables, no blocks. A log decay is the factor itself here, so that
// one text serves the field and long double.
#include "deltaloom/runtime/ops/ops.hpp"

#include <vector>

namespace reference {
using deltaloom::runtime::event_rows;
using deltaloom::runtime::span;

template<class K> struct table {
    int rows = 0, cols = 0;
    std::vector<K> entries;
    table(int r, int c) : rows(r), cols(c), entries(std::size_t(r) * std::size_t(c), K(0.0)) {}
    K& operator()(int i, int j) { return entries[std::size_t(i) * std::size_t(cols) + std::size_t(j)]; }
    K const& operator()(int i, int j) const { return entries[std::size_t(i) * std::size_t(cols) + std::size_t(j)]; }
    K const& wide(int i, int j) const { return (*this)(i, cols == 1 ? 0 : j); }
};

struct event {
    int position, state;
};
inline std::vector<event> list(event_rows const& e, span const& s, int n) {
    std::vector<event> all;
    auto const state = [&](int row) { return e.state.size ? e.state.data[row] : 0; };
    if (e.rows == event_rows::start) return {{-1, state(0)}};
    if (e.rows == event_rows::end) return {{n * s.micro_steps, state(0)}};
    for (int t = 0; t < n; ++t) {
        if (e.rows == event_rows::tokens)
            for (int r = 0; r < e.position.size; ++r) all.push_back({t * s.micro_steps + e.position.data[r], state(r)});
        else
            for (int k = 0; k < s.decaying.size; ++k) all.push_back({t * s.micro_steps + s.decaying.data[k], state(0)});
    }
    return all;
}
// Positions of the decay rows.
inline std::vector<int> decays(span const& s, int n) {
    std::vector<int> all;
    for (int t = 0; t < n; ++t)
        for (int k = 0; k < s.decaying.size; ++k) all.push_back(t * s.micro_steps + s.decaying.data[k]);
    return all;
}
struct pairs {
    std::vector<event> reads, writes;
    std::vector<int> rows;
    bool masked;
    pairs(span const& s, int n)
        : reads(list(s.reads, s, n)),
          writes(list(s.writes, s, n)),
          rows(decays(s, n)),
          masked(s.masked) {}
    bool visible(int i, int e) const {
        if (masked) return writes[e].position < reads[i].position;
        int after_write = 0, before_read = 0;
        for (int p : rows) after_write += p <= writes[e].position, before_read += p < reads[i].position;
        return after_write <= before_read;
    }
    bool holds(int i, int e, int row) const { return writes[e].position < rows[row] && rows[row] < reads[i].position; }
};
// D_j(e, i) without row `but`.
template<class K> K interval(pairs const& p, table<K> const& a, int i, int e, int j, int but = -1) {
    if (!p.visible(i, e)) return K(0.0);
    K product(1.0);
    for (int s = 0; s < int(p.rows.size()); ++s)
        if (s != but && p.holds(i, e, s)) product = product * a.wide(s, j);
    return product;
}
template<class K> table<K> decay(span const& s, int n, std::vector<table<K>> const& a) {
    pairs const p(s, n);
    int states = 1;
    while (states * states < int(a.size())) ++states;
    table<K> out(int(p.reads.size()), int(p.writes.size()));
    for (int i = 0; i < out.rows; ++i)
        for (int e = 0; e < out.cols; ++e) {
            std::vector<K> column(std::size_t(states), K(0.0));
            column[std::size_t(p.writes[e].state)] = K(1.0);
            for (int row = 0; row < int(p.rows.size()); ++row) {
                if (!p.holds(i, e, row)) continue;
                std::vector<K> next(std::size_t(states), K(0.0));
                for (int x = 0; x < states; ++x)
                    for (int y = 0; y < states; ++y)
                        next[std::size_t(x)] =
                            next[std::size_t(x)] + a[std::size_t(x * states + y)](row, 0) * column[std::size_t(y)];
                column = next;
            }
            if (p.visible(i, e)) out(i, e) = column[std::size_t(p.reads[i].state)];
        }
    return out;
}
template<class K> table<K> gram(span const& s, int n, table<K> const& r, table<K> const& x, table<K> const& a) {
    pairs const p(s, n);
    table<K> out(r.rows, x.rows);
    for (int i = 0; i < r.rows; ++i)
        for (int e = 0; e < x.rows; ++e)
            for (int j = 0; j < r.cols; ++j) out(i, e) = out(i, e) + r(i, j) * interval(p, a, i, e, j) * x(e, j);
    return out;
}
template<class K> table<K> apply(span const& s, int n, table<K> const& w, table<K> const& x, table<K> const& a) {
    pairs const p(s, n);
    table<K> out(w.rows, x.cols);
    for (int i = 0; i < w.rows; ++i)
        for (int e = 0; e < x.rows; ++e)
            for (int j = 0; j < x.cols; ++j)
                if (p.visible(i, e)) out(i, j) = out(i, j) + w(i, e) * interval(p, a, i, e, j) * x(e, j);
    return out;
}
template<class K> table<K> applyt(span const& s, int n, table<K> const& w, table<K> const& r, table<K> const& a) {
    pairs const p(s, n);
    table<K> out(w.cols, r.cols);
    for (int i = 0; i < w.rows; ++i)
        for (int e = 0; e < w.cols; ++e)
            for (int j = 0; j < r.cols; ++j)
                if (p.visible(i, e)) out(e, j) = out(e, j) + w(i, e) * interval(p, a, i, e, j) * r(i, j);
    return out;
}
template<class K>
table<K> spread(span const& s, int n, table<K> const& w, table<K> const& r, table<K> const& x, table<K> const& a) {
    pairs const p(s, n);
    table<K> out(a.rows, a.cols);
    for (int i = 0; i < w.rows; ++i)
        for (int e = 0; e < w.cols; ++e)
            for (int row = 0; row < a.rows; ++row)
                for (int j = 0; j < r.cols && p.visible(i, e) && p.holds(i, e, row); ++j) {
                    K& to = out(row, a.cols == 1 ? 0 : j);
                    to = to + w(i, e) * r(i, j) * x(e, j) * interval(p, a, i, e, j, row);
                }
    return out;
}
template<class K> table<K> solve(table<K> const& m, table<K> const& b, bool transposed) {
    table<K> u = b;
    for (int step = 0; step < u.rows; ++step) {
        int const e = transposed ? u.rows - 1 - step : step;
        for (int f = transposed ? e + 1 : 0; f < (transposed ? u.rows : e); ++f)
            for (int j = 0; j < u.cols; ++j) u(e, j) = u(e, j) + (transposed ? m(f, e) : m(e, f)) * u(f, j);
    }
    return u;
}
template<class K>
table<K> csolve(span const& s, int n, table<K> const& g, table<K> const& c, table<K> const& b, table<K> const& a,
                bool transposed) {
    pairs const p(s, n);
    table<K> u = b;
    for (int step = 0; step < u.rows; ++step) {
        int const e = transposed ? u.rows - 1 - step : step;
        for (int f = transposed ? e + 1 : 0; f < (transposed ? u.rows : e); ++f)
            for (int j = 0; j < u.cols; ++j) {
                int const i = transposed ? f : e, x = transposed ? e : f;
                if (p.visible(i, x)) u(e, j) = u(e, j) + c.wide(i, j) * g(i, x) * interval(p, a, i, x, j) * u(f, j);
            }
    }
    return u;
}
template<class K> table<K> product(table<K> const& a, table<K> const& b) {
    table<K> out(a.rows, b.cols);
    for (int i = 0; i < a.rows; ++i)
        for (int j = 0; j < b.cols; ++j)
            for (int e = 0; e < a.cols; ++e) out(i, j) = out(i, j) + a(i, e) * b(e, j);
    return out;
}
template<class K> table<K> transposed(table<K> const& a) {
    table<K> out(a.cols, a.rows);
    for (int i = 0; i < a.rows; ++i)
        for (int j = 0; j < a.cols; ++j) out(j, i) = a(i, j);
    return out;
}

} // namespace reference
