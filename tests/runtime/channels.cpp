// Decays, bilinear forms under decays and triangular systems against their definitions, over the field and over floats.
#include "fixture.hpp"

using namespace fixture;

namespace {

constexpr int zero[] = {0}, one[] = {1}, zero_one[] = {0, 1}, zero_one_two[] = {0, 1, 2}, twice[] = {1, 1, 2},
              far[] = {3}, all_four[] = {0, 1, 2, 3}, pairs_of[] = {0, 0, 1},
              twenty[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19},
              next_twenty[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20},
              forty[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
                         20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39},
              two_ends[] = {0, 39};
constexpr int second[] = {0, 1};
template<int n> constexpr int_list list(int const (&x)[n]) { return {x, n}; }
constexpr int_list none{};
constexpr event_rows tokens(int_list position, int_list state = {}) { return {event_rows::tokens, position, state}; }

struct shape {
    char const* name;
    span s;
};
// The spans of rules: one statement, decay in a statement of its own, several writes a token, decays that are rarer or
// denser than events, none at all.
shape const spans[] = {
    {"one statement", {1, list(zero), tokens(list(zero)), tokens(list(zero)), true}},
    {"read after the statement", {1, list(zero), tokens(list(one)), tokens(list(zero)), true}},
    {"decay, then write", {2, list(zero), tokens(list(one)), tokens(list(one)), true}},
    {"product of three", {3, list(zero), tokens(list(zero_one_two)), tokens(list(zero_one_two)), true}},
    {"two writes in one statement", {2, list(one), tokens(list(twice)), tokens(list(zero_one)), true}},
    {"four decays a token", {4, list(all_four), tokens(list(far)), tokens(list(zero_one)), true}},
    {"no decay", {1, none, tokens(list(zero)), tokens(list(zero)), true}},
    {"no decay, three writes", {3, none, tokens(list(twice)), tokens(list(zero_one_two)), true}},
    {"from the start", {1, list(zero), tokens(list(zero)), {event_rows::start, {}, {}}, true}},
    {"to the end", {2, list(zero_one), {event_rows::end, {}, {}}, tokens(list(zero_one)), true}},
    {"start to end", {1, list(zero), {event_rows::end, {}, {}}, {event_rows::start, {}, {}}, true}},
    {"two events at one place", {2, list(one), tokens(list(pairs_of)), tokens(list(pairs_of)), true}},
    {"reads to decays", {2, list(one), tokens(list(zero_one)), {event_rows::decays, {}, {}}, false}},
    {"decays to writes", {2, list(one), {event_rows::decays, {}, {}}, tokens(list(zero_one)), false}},
};

// More than a tile holds: events and decays of one token, or one of them.
shape const wide_tokens[] = {
    {"twenty events and decays a token", {20, list(twenty), tokens(list(twenty)), tokens(list(twenty)), true}},
    {"twenty decays a token", {20, list(twenty), tokens(list(zero_one)), tokens(list(zero_one_two)), true}},
    {"forty decays between two events", {40, list(forty), tokens(list(two_ends)), tokens(list(two_ends)), true}},
    {"twenty reads after twenty writes", {20, list(far), tokens(list(next_twenty)), tokens(list(twenty)), true}},
    {"twenty events and one decay a token", {20, list(far), tokens(list(twenty)), tokens(list(twenty)), true}},
};

template<class K>
void check(char const* what, shape const& s, int n, int d, operand<K>& got, table<exact<K>> const& want,
           double allowed) {
    double const e = error(got, want);
    CAPTURE(seed(), what, s.name, n, d, e);
    CHECK(e <= allowed);
}

template<class K> void check_span(shape const& sh, int n, int d, domain dom, gates kind, bool narrow) {
    span const& s = sh.s;
    draw<K> random(static_cast<unsigned long>(n * 100 + d));
    reference::pairs const p(s, n);
    int const reads = int(p.reads.size()), writes = int(p.writes.size()), rows = int(p.rows.size());
    double const allowed = budget<K>();
    auto a = random.decays(rows, narrow ? 1 : d, dom, kind), column = random.decays(rows, 1, dom, kind);
    auto r = random.values(reads, d, 1 / std::sqrt(d + 1.0)), x = random.values(writes, d, 1 / std::sqrt(d + 1.0));
    auto w = random.values(reads, writes, 1 / std::sqrt(writes + 1.0));

    auto out = output<K>(reads, writes);
    decay<K>(out, s, n, {column.view()}, dom);
    check("decay", sh, n, d, out, reference::decay<exact<K>>(s, n, {column.twin}), allowed);
    out = output<K>(reads, writes);
    gram<K>(out, s, n, r, x, a, dom);
    check("gram", sh, n, d, out, reference::gram(s, n, r.twin, x.twin, a.twin), allowed);
    auto read_rows = output<K>(reads, d), write_rows = output<K>(writes, d), decay_rows = output<K>(rows, a.twin.cols);
    apply<K>(read_rows, s, n, w, x, a, dom);
    check("apply", sh, n, d, read_rows, reference::apply(s, n, w.twin, x.twin, a.twin), allowed);
    applyt<K>(write_rows, s, n, w, r, a, dom);
    check("applyt", sh, n, d, write_rows, reference::applyt(s, n, w.twin, r.twin, a.twin), allowed);
    spread<K>(decay_rows, s, n, w, r, x, a, dom);
    check("spread", sh, n, d, decay_rows, reference::spread(s, n, w.twin, r.twin, x.twin, a.twin), allowed);

    if (reads != writes || s.reads.rows != event_rows::tokens || s.writes.rows != event_rows::tokens) return;
    for (int i = 0; i < reads; ++i)
        if (p.reads[std::size_t(i)].position != p.writes[std::size_t(i)].position) return;
    auto g = random.values(reads, writes, 0.5 / std::sqrt(writes + 1.0));
    for (int channels : {1, d}) {
        auto c = random.values(reads, channels, 0.5);
        auto u = output<K>(reads, d);
        csolve<K>(u, s, n, g, c, r, a, dom);
        check("csolve", sh, n, d, u, reference::csolve(s, n, g.twin, c.twin, r.twin, a.twin, false), 2 * allowed);
        u = output<K>(reads, d);
        csolve_transposed<K>(u, s, n, g, c, r, a, dom);
        check("csolve_transposed", sh, n, d, u, reference::csolve(s, n, g.twin, c.twin, r.twin, a.twin, true),
              2 * allowed);
    }
}

} // namespace

TEST_CASE("channel operations over the field are their definitions") {
    for (auto const& s : spans)
        for (int n : {0, 1, 2, 3, 15, 16, 17, 33})
            for (int d : {1, 2, 33})
                if (n * d < 70)
                    for (domain dom : {domain::log, domain::linear})
                        for (bool narrow : {false, true}) check_span<field>(s, n, d, dom, gates::usual, narrow);
    check_span<field>(spans[0], 70, 3, domain::log, gates::usual, false);
    check_span<field>(spans[1], 70, 3, domain::log, gates::usual, false);
    check_span<field>(spans[2], 50, 3, domain::linear, gates::usual, false);
    for (auto const& s : wide_tokens)
        for (int n : {1, 2, 3}) check_span<field>(s, n, 2, domain::linear, gates::usual, false);
    for (int d : {64, 65, 130}) // more channels than a panel holds
        check_span<field>(spans[2], 3, d, domain::linear, gates::usual, false);
}

TEMPLATE_TEST_CASE("channel operations over floats, from weak gates to resets", "", float, double) {
    for (auto const& s : spans)
        for (int n : {3, 17, 33})
            for (int d : {16, 35})
                for (domain dom : {domain::log, domain::linear})
                    for (gates kind :
                         {gates::usual, gates::weak, gates::strong, gates::steep, gates::cliff, gates::resets})
                        for (bool narrow : {false, true}) {
                            bool const plain = kind == gates::usual || kind == gates::resets;
                            if (dom == domain::linear && !plain) continue;
                            if (n < 33 || (d == 16 && dom == domain::log))
                                check_span<TestType>(s, n, d, dom, kind, narrow);
                        }
}

TEMPLATE_TEST_CASE("transitions of coupled states", "", field, float, double) {
    static constexpr int states[] = {0, 0, 1}; // of the reads at 0, 1, 2: a write beside a read of its own state
    span const t{2, list(zero_one), tokens(list(zero_one_two), list(states)), tokens(list(zero_one), list(second)),
                 true};
    for (int n : {0, 1, 3, 17, 33})
        for (domain dom : {domain::linear, domain::log}) {
            draw<TestType> random(static_cast<unsigned long>(n));
            std::vector<operand<TestType>> a;
            for (int i = 0; i < 4; ++i) a.push_back(random.decays(2 * n, 1, dom, gates::usual));
            for (auto& x : a) // bounded products
                for (int i = 0; i < 2 * n && dom == domain::linear; ++i)
                    x.view().data[i] = x.view().data[i] * TestType(0.5),
                    x.twin.entries[std::size_t(i)] = x.twin.entries[std::size_t(i)] * exact<TestType>(0.5);
            if (dom == domain::log && !is_field<TestType>) continue;
            auto out = output<TestType>(3 * n, 2 * n);
            decay<TestType>(out, t, n, {a[0].view(), a[1].view(), a[2].view(), a[3].view()}, dom);
            check("transitions", {"coupled", t}, n, 1, out,
                  reference::decay<exact<TestType>>(t, n, {a[0].twin, a[1].twin, a[2].twin, a[3].twin}),
                  budget<TestType>());
        }
}
