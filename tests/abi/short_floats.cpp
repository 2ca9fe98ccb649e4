// Tensors of 16 bits: states in and out, kept on the way and read again, for every rule and form of the library; and
// what a user of the typed header writes.
#include "comparing.hpp"

#include <contract_rules/gated_delta.hpp>

using namespace deltaloom::test;
using deltaloom::bfloat16, deltaloom::float16;

namespace my {
struct half { // a host's own float16
    std::uint16_t x;
};
} // namespace my
template<> inline constexpr std::uint32_t deltaloom::scalar_of<my::half> = DL_F16;

namespace {

float rounded(float x) { return float(bfloat16::nearest(x)); }

// A float32 call whose states hold what bfloat16 can, and the same call with states of bfloat16.
struct Pair {
    Call whole, half;
    std::deque<std::vector<bfloat16>> room;

    Pair(dl_rule const& r, Shape const& shape, std::uint32_t form, std::int64_t slots)
        : whole(r, shape),
          half(r, shape) {
        for (Call* c : {&whole, &half}) {
            c->call.form = form;
            if (form == DL_SUMMARY) c->call.chunk = 1;
            if (form == DL_CHUNKED) c->call.chunk = 8;
            if (slots) c->make_snapshots(slots);
        }
        for (auto all : {&Call::state_in, &Call::state_out_gradient, &Call::state_out, &Call::state_in_gradient})
            for (std::size_t s = 0; s < states(r); ++s) shorten(whole, (whole.*all)[s], (half.*all)[s]);
        for (std::size_t s = 0; slots && s < states(r); ++s) shorten(whole, whole.snapshots[s], half.snapshots[s]);
    }
    void shorten(Call& from, dl_tensor& wide, dl_tensor& t) {
        auto& memory = room.emplace_back();
        for (std::size_t i = 0; i < from.entries.at(&wide); ++i) {
            float& x = from.data(wide)[i];
            x = rounded(x);
            memory.push_back(bfloat16::nearest(x));
        }
        t.data = memory.data(), t.scalar = DL_BF16;
    }
    void same(dl_tensor const& wide, dl_tensor const& t) {
        auto const want = whole.values(wide);
        if (t.scalar != DL_BF16) {
            CHECK(half.values(t) == want);
            return;
        }
        auto const* const got = static_cast<bfloat16 const*>(t.data);
        for (std::size_t e = 0; e < want.size(); ++e) REQUIRE(got[e].bits == bfloat16::nearest(want[e]).bits);
    }
    void run_both(bool backward) {
        run(whole, backward), run(half, backward);
        for (std::size_t o = 0; o < whole.outputs[backward].size(); ++o)
            same(*whole.outputs[backward][o].tensor, *half.outputs[backward][o].tensor);
    }
};

} // namespace

TEST_CASE("states of 16 bits: float32 inside, rounded once at the end") {
    each_rule([](dl_rule const& r) {
        REQUIRE(r.state_scalars == (1u << DL_F32 | 1u << DL_BF16));
        for (std::uint32_t form : {DL_CHOOSE, DL_RECURRENT, DL_CHUNKED, DL_PARALLEL, DL_SUMMARY}) {
            if (form != DL_CHOOSE && !(r.forms >> form & 1)) continue;
            for (Shape const& shape : {usual(1), usual(21), packed()})
                for (std::int64_t slots : {0, 3}) {
                    Pair p(r, shape, form, slots);
                    for (bool backward : {false, true}) p.run_both(backward);
                    for (std::size_t s = 0; slots && s < states(r); ++s)
                        p.same(p.whole.snapshots[s], p.half.snapshots[s]);
                }
        }
        Pair in_place(r, usual(1), DL_STEP, 0);
        run(in_place.whole, false);
        in_place.half.call.state_out = in_place.half.call.state_in;
        run(in_place.half, false);
        for (std::size_t s = 0; s < states(r); ++s)
            in_place.same(in_place.whole.state_out[s], in_place.half.state_in[s]);
    });
}

TEST_CASE("chunk states of 16 bits: written rounded, read as they are") {
    each_rule([](dl_rule const& r) {
        for (std::uint32_t form : {DL_RECURRENT, DL_CHUNKED}) {
            Pair p(r, usual(21), form, 21);
            p.whole.call.flags = p.half.call.flags = DL_CHUNK_STATES;
            std::size_t const slots = form == DL_CHUNKED ? 3 : 21; // the rest is left alone
            p.run_both(false);
            for (std::size_t s = 0; s < states(r); ++s) {
                auto const& t = p.whole.snapshots[s];
                std::size_t const each = std::size_t(t.stride[1]), n = p.whole.entries.at(&t);
                for (std::size_t e = 0; e < n; ++e) {
                    if (e / each % 21 >= slots) continue;
                    float& x = p.whole.data(t)[e];
                    x = rounded(x);
                    REQUIRE(static_cast<bfloat16 const*>(p.half.snapshots[s].data)[e].bits ==
                            bfloat16::nearest(x).bits);
                }
            }
            p.run_both(true);
        }
    });
}

TEST_CASE("the typed header takes what a pointer points to") {
    namespace rule = contract_rules::gated_delta;
    constexpr std::int64_t tokens = 9, heads = 2, dk = 4, dv = 3;
    std::mt19937 draw(4);
    auto const random = [&](std::int64_t n) {
        std::vector<bfloat16> x;
        for (std::int64_t i = 0; i < n; ++i)
            x.push_back(bfloat16::nearest(std::normal_distribution<float>(0, 0.5)(draw)));
        return x;
    };
    auto const k = random(tokens * heads * dk), v = random(tokens * heads * dv), q = random(tokens * heads * dk);
    std::vector<std::uint16_t> gates; // as a host has them: bits without a type
    for (int i = 0; i < tokens * heads; ++i) gates.push_back(bfloat16::nearest(0.5f + float(i) / 64).bits);
    std::vector<float> const strengths(tokens * heads, 0.5f);
    std::vector<bfloat16> o(tokens * heads * dv), S(heads * dv * dk), d_S(heads * dv * dk), d_k(k.size());
    std::vector<my::half> others(o.size());

    rule::arguments a;
    a.tokens = tokens, a.value_heads = heads, a.dk = dk, a.dv = dv;
    a.k = deltaloom::tensor(k.data(), tokens, heads, {dk}), a.q = deltaloom::tensor(q.data(), tokens, heads, {dk});
    a.v = deltaloom::tensor(v.data(), tokens, heads, {dv});
    a.alpha = deltaloom::tensor(reinterpret_cast<bfloat16 const*>(gates.data()), tokens, heads);
    a.beta = deltaloom::tensor(strengths.data(), tokens, heads); // each tensor has its own scalar
    a.o = deltaloom::tensor(o.data(), tokens, heads, {dv});
    a.S_initial = a.S_final = deltaloom::state(S.data(), heads, {dv, dk}); // in place
    rule::forward(a);
    a.o = deltaloom::tensor(others.data(), tokens, heads, {dv});
    std::fill(S.begin(), S.end(), bfloat16{});
    rule::forward(a);
    for (std::size_t i = 0; i < o.size(); ++i)
        CHECK(std::fabs(float(o[i]) - float(float16{others[i].x})) <= 0x1p-7f * std::fabs(float(o[i])) + 1e-6f);

    a.d_o = deltaloom::tensor(o.data(), tokens, heads, {dv});
    a.d_k = deltaloom::tensor(d_k.data(), tokens, heads, {dk});
    a.d_S_initial = deltaloom::state(d_S.data(), heads, {dv, dk});
    rule::backward(a);
    CHECK(std::any_of(d_k.begin(), d_k.end(), [](bfloat16 x) { return float(x) != 0; }));
    CHECK(std::any_of(d_S.begin(), d_S.end(), [](bfloat16 x) { return float(x) != 0; }));

    // The last three states beside the final one, the key axis first.
    std::vector<float> before(S.size()), after(S.size());
    for (std::size_t i = 0; i < S.size(); ++i) before[i] = float(S[i]);
    std::vector<bfloat16> kept(3 * S.size()), turned(S.size());
    a.S_initial = deltaloom::state(before.data(), heads, {dv, dk});
    a.S_final = deltaloom::state(after.data(), heads, {dv, dk});
    rule::forward(a);
    for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t i = 0; i < dv; ++i)
            for (std::int64_t j = 0; j < dk; ++j)
                turned[std::size_t((h * dk + j) * dv + i)] = S[std::size_t((h * dv + i) * dk + j)];
    auto t = a;
    t.flags = DL_STATE_TRANSPOSED, t.snapshots = 3;
    t.S_initial = t.S_final = deltaloom::state(turned.data(), heads, {dk, dv});
    t.S_snapshots = deltaloom::tensor(kept.data(), 3, heads, {dk, dv});
    rule::forward(t);
    for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t i = 0; i < dv; ++i)
            for (std::int64_t j = 0; j < dk; ++j) {
                std::size_t const there = std::size_t((h * dk + j) * dv + i);
                CHECK(kept[there].bits == turned[there].bits); // slot 0 is the newest
                float const plain = after[std::size_t((h * dv + i) * dk + j)];
                CHECK(std::fabs(float(turned[there]) - plain) <= 0x1p-8f * std::fabs(plain) + 1e-6f);
            }

    std::vector<float16> short_state(S.size()); // not one of this library's state scalars
    a.S_initial = deltaloom::state(short_state.data(), heads, {dv, dk});
    try {
        rule::forward(a);
        FAIL("a float16 state was taken");
    } catch (deltaloom::error const& e) {
        INFO(e.what());
        CHECK(
            std::string(e.what()).find("initial state S: scalar 3 (f16) is not offered for states; it may be f32 (0), "
                                       "bf16 (2)") == 0);
    }
}
