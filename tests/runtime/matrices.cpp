// Products, triangular systems, sums and vector functions against their definitions, at odd extents; rows that do not
// depend on later rows.
#include "fixture.hpp"

using namespace fixture;

namespace {

constexpr int extents[] = {0, 1, 2, 3, 15, 16, 17, 33, 70};

template<class K>
void check(char const* what, int r, int k, int c, operand<K>& got, table<exact<K>> const& want, double allowed) {
    double const e = error(got, want);
    if (e <= allowed) return;
    CAPTURE(seed(), what, r, k, c, e);
    CHECK(e <= allowed);
}
template<class K> table<K> plus(table<K> a, table<K> const& b) {
    for (std::size_t i = 0; i < a.entries.size(); ++i) a.entries[i] = a.entries[i] + b.entries[i];
    return a;
}

} // namespace

TEMPLATE_TEST_CASE("products are their definitions", "", field, float, double) {
    using K = TestType;
    double const allowed = budget<K>();
    for (int r : extents)
        for (int k : extents)
            for (int c : extents) {
                if (is_field<K> && r * k * c > 20000) continue;
                draw<K> random(static_cast<unsigned long>(r * 10000 + k * 100 + c));
                double const scale = 1 / std::sqrt(k + 1.0);
                auto a = random.values(r, k, scale), at = random.values(k, r, scale), b = random.values(k, c),
                     bt = random.values(c, k);
                auto const start = random.values(r, c);
                auto out = output<K>(r, c);
                auto const ab = reference::product(a.twin, b.twin),
                           abt = reference::product(a.twin, reference::transposed(bt.twin));
                auto const atb = reference::product(reference::transposed(at.twin), b.twin);
                multiply<K>(out, a, b);
                check("multiply", r, k, c, out, ab, allowed);
                out = start, multiply_add<K>(out, a, b);
                check("multiply_add", r, k, c, out, plus(ab, start.twin), allowed);
                out = output<K>(r, c), multiply_nt<K>(out, a, bt);
                check("multiply_nt", r, k, c, out, abt, allowed);
                out = start, multiply_nt_add<K>(out, a, bt);
                check("multiply_nt_add", r, k, c, out, plus(abt, start.twin), allowed);
                out = output<K>(r, c), multiply_tn<K>(out, at, b);
                check("multiply_tn", r, k, c, out, atb, allowed);
                out = start, multiply_tn_add<K>(out, at, b);
                check("multiply_tn_add", r, k, c, out, plus(atb, start.twin), allowed);
            }
    SUCCEED();
}

TEMPLATE_TEST_CASE("triangular systems are their definitions and read below the diagonal only", "", field, float,
                   double) {
    using K = TestType;
    for (int n : extents)
        for (int c : extents) {
            draw<K> random(static_cast<unsigned long>(n * 100 + c));
            auto m = random.values(n, n, 0.7 / std::sqrt(n + 1.0)), b = random.values(n, c);
            auto lower = m;
            for (int i = 0; i < n; ++i)
                for (int e = i; e < n; ++e) m.view()(i, e) = poison<K>(), lower.twin(i, e) = exact<K>(0.0);
            auto u = output<K>(n, c), z = output<K>(n, c), in_place = b;
            solve<K>(u, m, b);
            solve_transposed<K>(z, m, b);
            solve<K>(in_place, m, in_place);
            auto const want = reference::solve(lower.twin, b.twin, false);
            check("solve", n, n, c, u, want, 4 * budget<K>());
            check("solve in place", n, n, c, in_place, want, 4 * budget<K>());
            check("solve_transposed", n, n, c, z, reference::solve(lower.twin, b.twin, true), 4 * budget<K>());
        }
    SUCCEED();
}

TEMPLATE_TEST_CASE("a row does not depend on how many follow it, bit for bit", "", float, double) {
    using K = TestType;
    draw<K> random(5);
    static constexpr int zero[] = {0}, one[] = {1};
    span const s{1, {zero, 1}, {event_rows::tokens, {one, 1}, {}}, {event_rows::tokens, {zero, 1}, {}}, true};
    span const own{1, {zero, 1}, {event_rows::tokens, {zero, 1}, {}}, {event_rows::tokens, {zero, 1}, {}}, true};
    int const full = 41, d = 37;
    auto const k = random.values(full, d, 0.1), q = random.values(full, d, 0.1), w = random.values(full, full, 0.1),
               c = random.values(full, 1);
    auto const wide = random.decays(full, d, domain::log, gates::usual),
               narrow = random.decays(full, 1, domain::log, gates::usual);
    auto const right = random.values(d, 19);
    auto const first = [](operand<K> const& x, int rows, int cols) {
        operand<K> cut(rows, cols);
        operand<K> from = x;
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < cols; ++j) cut.view()(i, j) = from.view()(i, j);
        return cut;
    };
    auto const run = [&](int n) {
        std::vector<operand<K>> all;
        auto key = first(k, n, d), query = first(q, n, d), weights = first(w, n, n), scale = first(c, n, 1), b = right;
        auto gate = first(wide, n, d), gate1 = first(narrow, n, 1);
        auto const add = [&](int cols, auto op) {
            all.push_back(output<K>(n, cols));
            op(all.back().view());
        };
        add(19, [&](auto out) { multiply<K>(out, query, b); });
        add(full, [&](auto out) { // against all keys
            auto keys = k;
            multiply_nt<K>(out, query, keys);
        });
        add(d, [&](auto out) { solve<K>(out, weights, key); });
        add(n, [&](auto out) { decay<K>(out, s, n, {gate1.view()}, domain::log); });
        for (auto* a : {&gate, &gate1}) {
            add(n, [&](auto out) { gram<K>(out, s, n, query, key, *a, domain::log); });
            add(d, [&](auto out) { apply<K>(out, s, n, weights, key, *a, domain::log); });
            add(d, [&](auto out) { csolve<K>(out, own, n, weights, scale, key, *a, domain::log); });
        }
        return all;
    };
    auto whole = run(full);
    for (int n : {1, 7, 8, 15, 16, 17, 31, 33, 40}) {
        auto cut = run(n);
        for (std::size_t o = 0; o < cut.size(); ++o)
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < std::min(cut[o].twin.cols, whole[o].twin.cols); ++j)
                    if (std::memcmp(&cut[o].view()(i, j), &whole[o].view()(i, j), sizeof(K)) != 0)
                        FAIL("operation " << o << ", n " << n << ", row " << i << ", column " << j);
    }
    SUCCEED();
}

TEMPLATE_TEST_CASE("sums, transposes, events in order", "", field, float, double) {
    using K = TestType;
    for (int r : {0, 1, 3, 17, 33})
        for (int c : {1, 2, 16, 35}) {
            draw<K> random(static_cast<unsigned long>(r * 100 + c));
            auto x = random.values(r, c), y = random.values(r, c);
            auto rows = output<K>(1, c), cols = output<K>(r, 1), flipped = output<K>(c, r), both = output<K>(2 * r, c),
                 back = output<K>(r, c);
            table<exact<K>> row_sum(1, c), col_sum(r, 1);
            for (int i = 0; i < r; ++i)
                for (int j = 0; j < c; ++j)
                    row_sum(0, j) = row_sum(0, j) + x.twin(i, j), col_sum(i, 0) = col_sum(i, 0) + x.twin(i, j);
            sum_rows<K>(rows, x);
            check("sum_rows", r, 0, c, rows, row_sum, budget<K>());
            sum_cols<K>(cols, x);
            check("sum_cols", r, 0, c, cols, col_sum, budget<K>());
            transpose<K>(flipped, x);
            check("transpose", r, 0, c, flipped, reference::transposed(x.twin), 0);
            copy<K>(back, x);
            check("copy", r, 0, c, back, x.twin, 0);
            interleave<K>(both, 0, 2, x), interleave<K>(both, 1, 2, y);
            pick<K>(back, both, 1, 2);
            check("pick", r, 0, c, back, y.twin, 0);
            pick<K>(back, both, 0, 2);
            check("interleave", r, 0, c, back, x.twin, 0);
        }
    SUCCEED();
}

TEMPLATE_TEST_CASE("vector functions: their products with a cotangent are derivatives", "", double, field) {
    using K = TestType;
    using D = dual<K>;
    for (int axis : {0, 1}) {
        draw<K> random(static_cast<unsigned long>(axis));
        auto x = random.values(5, 4, 1), y = random.values(5, 4, 1), direction = random.values(5, 4, 1);
        for (int which = 0; which < 3; ++which) {
            std::vector<D> in(20), out(20);
            for (int i = 0; i < 20; ++i) in[std::size_t(i)] = D(x.view().data[i], direction.view().data[i]);
            matrix<D> const from{in.data(), 5, 4}, to{out.data(), 5, 4};
            auto value = output<K>(5, 4), gradient = output<K>(5, 4);
            if (which == 0)
                l2norm(to, from, axis, 0.5), l2norm<K>(value, x, axis, 0.5), l2norm_vjp<K>(gradient, x, y, axis, 0.5);
            if (which == 1)
                sum_norm(to, from, axis, 9.0), sum_norm<K>(value, x, axis, 9.0),
                    sum_norm_vjp<K>(gradient, x, y, axis, 9.0);
            if (which == 2) softmax(to, from, axis), softmax<K>(value, x, axis), softmax_vjp<K>(gradient, x, y, axis);
            K along(0.0), want(0.0);
            bool same = true;
            for (int i = 0; i < 20; ++i) {
                along = along + gradient.view().data[i] * direction.view().data[i];
                want = want + y.view().data[i] * out[std::size_t(i)].tangent;
                if constexpr (is_field<K>)
                    same = same && value.view().data[i] == out[std::size_t(i)].value;
                else
                    same = same && std::fabs(value.view().data[i] - out[std::size_t(i)].value) < 1e-14;
            }
            CAPTURE(seed(), axis, which);
            CHECK(same);
            if constexpr (is_field<K>)
                CHECK(along == want);
            else
                CHECK(along == Approx(want).epsilon(1e-11));
        }
    }
    std::vector<double> big = {1000, 1001, -5000}, p(3);
    softmax(matrix<double>{p.data(), 1, 3}, matrix<double>{big.data(), 1, 3}, 1);
    CHECK(p[1] == Approx(1 / (1 + std::exp(-1.0))));
    std::vector<float> huge = {1e25f, -1e25f}, unit(2);
    l2norm(matrix<float>{unit.data(), 1, 2}, matrix<float>{huge.data(), 1, 2}, 1, 1e-6);
    CHECK(unit[0] == Approx(std::sqrt(0.5)));
}

TEMPLATE_TEST_CASE("exp of vectors", "", float, double) {
    using K = TestType;
    constexpr int count = vector_lanes<K>;
    K worst = 0, before = 0;
    K const low = std::is_same_v<K, float> ? K(-86) : K(-707), high = std::is_same_v<K, float> ? K(88) : K(709);
    for (int i = 0; i < 200000; ++i) {
        K const x = low + (high - low) * K(i) / K(200000);
        K const y = lanes_exp<K, count>(lanes<K, count>{} + x)[0];
        long double const want = std::exp((long double)x);
        K const unit = std::ldexp(std::numeric_limits<K>::epsilon(), std::ilogb(K(want)));
        worst = std::max(worst, K(std::fabs(want - (long double)(y)) / unit));
        if (y < before) FAIL("not monotone at " << x);
        before = y;
        lanes<K, 1> const alone = lanes_exp<K, 1>(x);
        if (std::memcmp(&alone, &y, sizeof y) != 0) FAIL("one lane differs at " << x);
    }
    CAPTURE(worst);
    CHECK(worst < 2);
    auto const at = [](K x) { return lanes_exp<K, count>(lanes<K, count>{} + x)[0]; };
    CHECK(at(-std::numeric_limits<K>::infinity()) == 0);
    CHECK(at(-1e4) == 0);
    CHECK(at(0) == 1);
    CHECK(at(std::numeric_limits<K>::infinity()) == std::numeric_limits<K>::infinity());
    CHECK(std::isnan(at(std::numeric_limits<K>::quiet_NaN())));
}

TEMPLATE_TEST_CASE("feature maps: their values entry by entry, their products with a cotangent are derivatives", "",
                   double, field) {
    using K = TestType;
    using D = dual<K>;
    for (int axis : {0, 1})
        for (int nu : {0, 1, 2, 9}) // 0: taylor2; 9 blocks of 8 entries go round
            for (int d : {1, 4}) {
                int const lines = 3, size = nu ? 2 * nu * d : 1 + d + d * d;
                auto const of = [&](int extent) { return axis ? std::pair(lines, extent) : std::pair(extent, lines); };
                auto const [rows, cols] = of(d);
                auto const [out_rows, out_cols] = of(size);
                draw<K> random(static_cast<unsigned long>(axis * 100 + nu * 10 + d));
                auto x = random.values(rows, cols, 1), direction = random.values(rows, cols, 1);
                auto y = random.values(out_rows, out_cols, 1);
                std::vector<D> in(std::size_t(d * lines)), out(std::size_t(size * lines));
                for (std::size_t i = 0; i < in.size(); ++i) in[i] = D(x.view().data[i], direction.view().data[i]);
                matrix<D> const from{in.data(), rows, cols}, to{out.data(), out_rows, out_cols};
                auto value = output<K>(out_rows, out_cols), gradient = output<K>(rows, cols);
                if (nu)
                    dpfp(to, from, axis, nu), dpfp<K>(value, x, axis, nu), dpfp_vjp<K>(gradient, x, y, axis, nu);
                else
                    taylor2(to, from, axis), taylor2<K>(value, x, axis), taylor2_vjp<K>(gradient, x, y, axis);
                bool same = true;
                for (int l = 0; l < lines; ++l) {
                    auto const at = [&](int i) { return x.view().data[axis ? l * d + i : i * lines + l]; };
                    auto const half = [&](int i) { return i < d ? map_relu(at(i)) : map_relu(K(0.0) - at(i - d)); };
                    for (int c = 0; c < size; ++c) {
                        int const i = nu ? c % (2 * d) : (c - 1 - d) / d, j = nu ? 1 + c / (2 * d) : (c - 1 - d) % d;
                        K const want = nu          ? half(i) * half((i - j + 100 * d) % (2 * d))
                                       : c == 0    ? K(1.0)
                                       : c < 1 + d ? at(c - 1)
                                                   : K(0.70710678118654752440) * (at(i) * at(j));
                        int const place = axis ? l * size + c : c * lines + l;
                        same = same && value.view().data[place] == want && out[std::size_t(place)].value == want;
                    }
                }
                K along(0.0), want(0.0);
                for (int i = 0; i < d * lines; ++i) along = along + gradient.view().data[i] * direction.view().data[i];
                for (int i = 0; i < size * lines; ++i) want = want + y.view().data[i] * out[std::size_t(i)].tangent;
                CAPTURE(seed(), axis, nu, d);
                CHECK(same);
                if constexpr (is_field<K>)
                    CHECK(along == want);
                else
                    CHECK(along == Approx(want).epsilon(1e-11));
            }
}
