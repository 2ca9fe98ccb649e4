// One hash for any number of threads, and whatever a host's own loop does; many short sequences.
#include "comparing.hpp"

#include <thread>

using namespace deltaloom::test;

namespace {

using Body = void (*)(void*, std::int64_t);

void forwards(void*, std::int64_t n, Body body, void* context) {
    for (std::int64_t i = 0; i < n; ++i) body(context, i);
}
void backwards(void*, std::int64_t n, Body body, void* context) {
    while (n-- > 0) body(context, n);
}
void inside_out(void*, std::int64_t n, Body body, void* context) {
    for (std::int64_t i = n / 2; i < n; ++i) body(context, i);
    for (std::int64_t i = n / 2; i-- > 0;) body(context, i);
}
void at_once(void* host, std::int64_t n, Body body, void* context) {
    ++*static_cast<int*>(host);
    std::vector<std::thread> all;
    all.reserve(std::size_t(n));
    for (std::int64_t i = 0; i < n; ++i) all.emplace_back([=] { body(context, i); });
    for (auto& t : all) t.join();
}

} // namespace

TEST_CASE("one hash for 1, 2, 3 and 7 threads, and for any loop of the host") {
    for (std::uint32_t i = 0; i < dl_rule_count(); ++i)
        for (std::uint32_t form : {DL_RECURRENT, DL_CHUNKED, DL_PARALLEL, DL_SUMMARY})
            for (bool packed : {false, true}) {
                if (!(dl_rule_at(i)->forms >> form & 1)) continue;
                int const loops = form == DL_SUMMARY ? 3 + 5 : 1 + 1; // the stages of both directions
                Shape shape{.batch = 3,
                            .tokens = 18,
                            .heads = 6,
                            .dk = 9,
                            .dv = 5,
                            .own_heads = {{"k", 2}, {"q", 3}, {"u", 2}}};
                if (packed) shape.batch = 1, shape.offsets = {0, 2, 2, 11, 12, 18};
                if (form == DL_SUMMARY) { // several segments
                    shape.tokens = 50;
                    if (packed) shape.offsets = {0, 2, 2, 40, 50};
                }
                std::uint64_t want[2] = {};
                bool have = false;
                auto const see = [&](int threads, decltype(dl_call::parallel_for) loop) {
                    int calls = 0;
                    Call c(*dl_rule_at(i), shape);
                    c.call.form = form, c.call.threads = threads, c.call.parallel_for = loop, c.call.host = &calls;
                    if (form == DL_SUMMARY) c.call.chunk = 1;
                    INFO(c.rule.name << " form " << form << " threads " << threads);
                    for (bool backward : {false, true}) {
                        run(c, backward);
                        if (!have) want[backward] = c.hash(backward);
                        CHECK(c.hash(backward) == want[backward]);
                    }
                    CHECK(calls == (loop == at_once && threads > 1 ? loops : 0));
                    have = true;
                };
                for (int threads : {1, 2, 3, 7, 0, 1000}) see(threads, nullptr);
                for (auto* loop : {forwards, backwards, inside_out, at_once})
                    for (int threads : {1, 2, 7}) see(threads, loop);
            }
}

TEST_CASE("calls from several threads at a time") {
    dl_rule const& r = *dl_rule_named("gated_delta");
    Shape const shape{.batch = 2, .tokens = 40, .heads = 2, .dk = 8, .dv = 8};
    Call want(r, shape);
    for (bool backward : {false, true}) run(want, backward);
    std::vector<std::thread> all;
    std::vector<int> right(4);
    all.reserve(right.size());
    for (std::size_t t = 0; t < right.size(); ++t)
        all.emplace_back([&, t] {
            bool same = true;
            for (int n = 0; n < 20; ++n) {
                Call c(r, shape);
                c.call.threads = n % 2 ? 3 : 1;
                for (bool backward : {false, true})
                    same &= c.run(backward) == 0 && c.hash(backward) == want.hash(backward);
            }
            right[t] = same;
        });
    for (auto& t : all) t.join();
    CHECK(right == std::vector<int>(4, 1));
}

TEST_CASE("70,000 packed sequences of no to three tokens, forward and backward") {
    for (char const* name : {"gated_delta", "all_kinds"}) {
        dl_rule const& r = *dl_rule_named(name);
        Shape shape{
            .batch = 1, .tokens = 0, .heads = 2, .dk = 3, .dv = 2, .offsets = {0}, .own_heads = {{"k", 1}, {"q", 1}}};
        std::mt19937 draw(11);
        for (int s = 0; s < 70000; ++s) shape.offsets.push_back(shape.tokens += std::int64_t(draw() % 4));
        Call all(r, shape, 7);
        all.call.threads = 2;
        for (bool backward : {false, true}) {
            run(all, backward);
            REQUIRE(all.finite(backward));
        }
        // Every sequence by itself: the same bits.
        for (std::int64_t s = 0; s < 70000; s += 1 + std::int64_t(draw() % 199) * (s > 300)) {
            std::int64_t const first = shape.offsets[std::size_t(s)], n = shape.offsets[std::size_t(s) + 1] - first;
            Shape alone = shape;
            alone.offsets.clear(), alone.tokens = n;
            Call one(r, alone);
            // Chosen as for the packed call, whose longest sequence has three tokens.
            one.call.form = DL_CHUNKED;
            auto const mine = [&](dl_tensor const& t, dl_operand const& o) {
                return all.data(t) + (o.kind == DL_STATE        ? s * t.stride[0]
                                      : o.varies == DL_PER_HEAD ? 0
                                                                : first * t.stride[1]);
            };
            for (int what = 0; what < 4; ++what) {
                std::vector<dl_tensor*> from;
                all.each(what, [&](dl_tensor& t, dl_operand const&) { from.push_back(&t); });
                if (what == 2)
                    for (bool backward : {false, true}) run(one, backward);
                std::size_t at = 0;
                one.each(what, [&](dl_tensor& t, dl_operand const& o) {
                    auto const& whole = *from[at++];
                    std::size_t const bytes = one.entries.at(&t) * sizeof(float);
                    if (what < 2)
                        std::memcpy(t.data, mine(whole, o), bytes);
                    else if (o.varies != DL_PER_HEAD) {
                        INFO(name << " sequence " << s << " of " << n << " tokens: " << o.name);
                        REQUIRE(std::memcmp(t.data, mine(whole, o), bytes) == 0);
                    }
                });
            }
        }
    }
}
