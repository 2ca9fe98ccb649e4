#include "codegen/program/interpret_decays.hpp"
#include "codegen/program/events.hpp"

#include <stdexcept>

namespace deltaloom::codegen {

namespace {

template<class K> using Arguments = std::vector<Dense<K> const*>;

// The numbers that decay rows q .. p-1 multiply by, per channel: 1 for none of them; log rows are added before the exp.
template<class K> class Intervals {
public:
    Intervals(Dense<K> const& A, bool log)
        : channels_(A.cols),
          side_(A.rows + 1),
          product_(std::size_t(side_) * side_ * channels_, K(0.0)) {
        std::vector<K> step(channels_);
        for (int q = 0; q <= A.rows; ++q) {
            std::fill(step.begin(), step.end(), log ? runtime::log_one<K>() : K(1.0));
            for (int p = q; p <= A.rows; ++p) {
                for (int j = 0; j < channels_; ++j) {
                    if (p > q) step[j] = log ? runtime::addlog(step[j], A(p - 1, j)) : step[j] * A(p - 1, j);
                    product_[at(q, p, j)] = log ? runtime::unlog(step[j]) : step[j];
                }
            }
        }
    }
    K operator()(int from, int upto, int channel) const {
        return product_[at(from, upto, channels_ == 1 ? 0 : channel)];
    }

private:
    int channels_, side_;
    std::vector<K> product_;
    std::size_t at(int q, int p, int j) const { return (std::size_t(q) * side_ + p) * channels_ + j; }
};

// The pairs of an event matrix that count, with the rows of their products: from .. upto-1.
struct Pairs {
    Span const& span;
    std::vector<EventRow> reads, writes;
    Pairs(Span const& s, int tokens) : span(s), reads(reads_of(s, tokens)), writes(writes_of(s, tokens)) {}
    int count_reads() const { return int(reads.size()); }
    int count_writes() const { return int(writes.size()); }
    int from(int e) const { return writes[e].decay + 1; }
    int upto(int i) const { return reads[i].decay; }
    bool counts(int i, int e) const { return from(e) <= upto(i) && reaches(span, writes[e], reads[i]); }
    template<class F> void each(F visit) const {
        for (int i = 0; i < count_reads(); ++i)
            for (int e = 0; e < count_writes(); ++e)
                if (counts(i, e)) visit(i, e);
    }
};

template<class K> Dense<K> scalar_decay(Pairs const& pairs, Dense<K> const& A, bool log) {
    Intervals<K> const product(A, log);
    Dense<K> D(pairs.count_reads(), pairs.count_writes());
    pairs.each([&](int i, int e) { D(i, e) = product(pairs.from(e), pairs.upto(i), 0); });
    return D;
}

// Products of n x n transitions, the later one on the left.
template<class K> Dense<K> coupled_decay(Pairs const& pairs, Arguments<K> const& A, int n) {
    Dense<K> D(pairs.count_reads(), pairs.count_writes());
    int const rows = A[0]->rows;
    for (int from = 0; from <= rows; ++from) {
        Dense<K> phi(n, n);
        for (int a = 0; a < n; ++a) phi(a, a) = K(1.0);
        for (int upto = from; upto <= rows; ++upto) {
            if (upto > from) {
                Dense<K> next(n, n);
                for (int a = 0; a < n; ++a)
                    for (int b = 0; b < n; ++b)
                        for (int c = 0; c < n; ++c) next(a, b) += (*A[a * n + c])(upto - 1, 0) * phi(c, b);
                phi = next;
            }
            pairs.each([&](int i, int e) {
                if (pairs.from(e) == from && pairs.upto(i) == upto)
                    D(i, e) = phi(pairs.reads[i].state, pairs.writes[e].state);
            });
        }
    }
    return D;
}

template<class K> Dense<K> gram(Pairs const& pairs, Dense<K> const& R, Dense<K> const& X, Intervals<K> const& product) {
    Dense<K> G(pairs.count_reads(), pairs.count_writes());
    pairs.each([&](int i, int e) {
        for (int j = 0; j < R.cols; ++j) G(i, e) += R(i, j) * product(pairs.from(e), pairs.upto(i), j) * X(e, j);
    });
    return G;
}
template<class K>
Dense<K> apply(Pairs const& pairs, Dense<K> const& W, Dense<K> const& X, Intervals<K> const& product) {
    Dense<K> Y(pairs.count_reads(), X.cols);
    pairs.each([&](int i, int e) {
        for (int j = 0; j < X.cols; ++j) Y(i, j) += W(i, e) * product(pairs.from(e), pairs.upto(i), j) * X(e, j);
    });
    return Y;
}
template<class K>
Dense<K> applyt(Pairs const& pairs, Dense<K> const& W, Dense<K> const& R, Intervals<K> const& product) {
    Dense<K> Y(pairs.count_writes(), R.cols);
    pairs.each([&](int i, int e) {
        for (int j = 0; j < R.cols; ++j) Y(e, j) += W(i, e) * product(pairs.from(e), pairs.upto(i), j) * R(i, j);
    });
    return Y;
}
// Of each row s between a write and a read: the product of the others. Nothing is divided.
template<class K>
Dense<K> spread(Pairs const& pairs, Dense<K> const& W, Dense<K> const& R, Dense<K> const& X, Dense<K> const& A,
                Intervals<K> const& product) {
    Dense<K> Y(A.rows, A.cols);
    pairs.each([&](int i, int e) {
        for (int s = pairs.from(e); s < pairs.upto(i); ++s)
            for (int j = 0; j < R.cols; ++j) {
                auto const others = product(pairs.from(e), s, j) * product(s + 1, pairs.upto(i), j);
                Y(s, A.cols == 1 ? 0 : j) += W(i, e) * R(i, j) * X(e, j) * others;
            }
    });
    return Y;
}

// By substitution, row by row; c broadcasts.
template<class K>
Dense<K> csolve(Pairs const& pairs, Dense<K> const& G, Dense<K> const& c, Dense<K> const& B,
                Intervals<K> const& product, bool transposed) {
    auto const weight = [&](int i, int j) { return c(c.rows == 1 ? 0 : i, c.cols == 1 ? 0 : j); };
    auto U = B;
    int const count = B.rows;
    for (int step = 0; step < count; ++step) {
        int const row = transposed ? count - 1 - step : step;
        for (int other = transposed ? row + 1 : 0; other < (transposed ? count : row); ++other) {
            int const i = transposed ? other : row, e = transposed ? row : other;
            if (!pairs.counts(i, e)) continue;
            for (int j = 0; j < B.cols; ++j)
                U(row, j) += weight(i, j) * G(i, e) * product(pairs.from(e), pairs.upto(i), j) * U(other, j);
        }
    }
    return U;
}

} // namespace

template<class K> Dense<K> between_events(Node const& n, Arguments<K> const& a, bool log, Sizes const& sizes) {
    Pairs const pairs(n.span, sizes.tokens);
    if (n.op == Op::decay) return n.states == 1 ? scalar_decay(pairs, *a[0], log) : coupled_decay(pairs, a, n.states);
    Intervals<K> const product(*a.back(), log);
    if (n.op == Op::gram) return gram(pairs, *a[0], *a[1], product);
    if (n.op == Op::apply) return apply(pairs, *a[0], *a[1], product);
    if (n.op == Op::applyt) return applyt(pairs, *a[0], *a[1], product);
    if (n.op == Op::spread) return spread(pairs, *a[0], *a[1], *a[2], *a[3], product);
    if (n.op == Op::csolve) return csolve(pairs, *a[0], *a[1], *a[2], product, n.transposed);
    throw std::logic_error(std::string(name(n.op)) + " is no operation between events");
}

template Dense<runtime::field> between_events(Node const&, Arguments<runtime::field> const&, bool, Sizes const&);
template Dense<double> between_events(Node const&, Arguments<double> const&, bool, Sizes const&);
template Dense<float> between_events(Node const&, Arguments<float> const&, bool, Sizes const&);
template Dense<runtime::dual<runtime::field>>
between_events(Node const&, Arguments<runtime::dual<runtime::field>> const&, bool, Sizes const&);

} // namespace deltaloom::codegen
