// Mapped dimensions at the C ABI: their names, their refusal, and what the typed header computes of them.
#include <deltaloom/runtime/abi/dimension.hpp>
#include <feature_rules/featured.hpp>

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

namespace {

using Vector = std::vector<double>;

Vector dpfp2(float const* x, int d) {
    Vector r, y;
    for (int i = 0; i < 2 * d; ++i) r.push_back(std::fmax(i < d ? x[i] : -x[i - d], 0.0));
    for (int j = 1; j <= 2; ++j)
        for (int i = 0; i < 2 * d; ++i) y.push_back(r[std::size_t(i)] * r[std::size_t((i - j + 2 * d) % (2 * d))]);
    return y;
}
double inner(Vector const& a, Vector const& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

} // namespace

TEST_CASE("the typed header computes what a feature map makes of a dimension, and a library says and checks it") {
    constexpr int tokens = 19, dv = 2, dk = 3;
    namespace rule = feature_rules::featured;
    rule::arguments a{.tokens = tokens, .dv = dv, .dk = dk};
    CHECK(a.dpfp_2_dk() == 12);
    CHECK(a.taylor2_dpfp_2_dk() == 1 + 12 + 144);

    std::vector<float> k(tokens * dk), q(tokens * dk), v(tokens * dv), beta(tokens), o(tokens * dv), P(dv * 12);
    for (std::size_t i = 0; i < k.size(); ++i) k[i] = std::sin(float(i * i)), q[i] = std::cos(float(3 * i));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = std::cos(float(i));
    for (std::size_t i = 0; i < beta.size(); ++i) beta[i] = 0.5f + 0.01f * float(i);
    a.k = deltaloom::tensor(k.data(), tokens, 1, {dk}), a.q = deltaloom::tensor(q.data(), tokens, 1, {dk});
    a.v = deltaloom::tensor(v.data(), tokens, 1, {dv}), a.o = deltaloom::tensor(o.data(), tokens, 1, {dv});
    a.beta = deltaloom::tensor(beta.data(), tokens, 1);
    a.P_final = deltaloom::state(P.data(), 1, {dv, a.dpfp_2_dk()});
    a.chunk = 8;
    rule::forward(a);

    std::vector<Vector> state(dv, Vector(12));
    double worst = 0;
    for (int t = 0; t < tokens; ++t) {
        auto const key = dpfp2(&k[std::size_t(t * dk)], dk), query = dpfp2(&q[std::size_t(t * dk)], dk);
        double const meet = inner(query, key), weight = 1 + meet + meet * meet / 2;
        for (int i = 0; i < dv; ++i) {
            auto& row = state[std::size_t(i)];
            double const change = double(beta[std::size_t(t)]) * (double(v[std::size_t(t * dv + i)]) - inner(row, key));
            for (std::size_t j = 0; j < row.size(); ++j) row[j] += change * key[j];
            worst = std::fmax(worst, std::abs(double(o[std::size_t(t * dv + i)]) - inner(row, query) * weight));
        }
    }
    CHECK(worst < 1e-5);

    dl_rule const& described = *rule::rule();
    std::vector<std::string> const names{"dv", "dk", "dpfp_dim<2, dk>", "taylor2_dim<dpfp_dim<2, dk>>"};
    CHECK(std::vector<std::string>(described.dims, described.dims + described.dim_count) == names);

    for (std::uint32_t d = 0; d < described.dim_count; ++d) { // as a host that knows no rule has them
        std::int64_t const all[] = {2, 3, 12, 157};
        CHECK(deltaloom::extent_of(described.dims[d], [](std::string const& name) { return name == "dk" ? 3 : 2; }) ==
              all[d]);
    }

    rule::detail::filled c;
    rule::detail::fill(c, a, false);
    std::size_t bytes = 0;
    dl_status status{};
    REQUIRE(feature_rules_workspace(&described, &c.call, &bytes, &status) == 0);
    for (std::uint32_t d : {2u, 3u}) {
        auto wrong = c.call;
        wrong.dim[d] += 1;
        CHECK(feature_rules_workspace(&described, &wrong, &bytes, &status) == DL_BAD_FIELD);
        CHECK(status.axis == d);
        CHECK(status.operand == DL_NONE);
        std::string const said = status.message;
        INFO(said);
        CHECK(said.find(names[d]) != std::string::npos);
        CHECK(said.find(d == 2 ? "is 13: with dk = 3 it is 12" : "is 158: with dpfp_dim<2, dk> = 12 it is 157") !=
              said.npos);
    }
    auto other = c.call; // of another extent of dk the same one is wrong
    other.dim[1] = 4;
    CHECK(feature_rules_forward(&described, &other, &status) == DL_BAD_FIELD);
    CHECK(status.axis == 2);
}
