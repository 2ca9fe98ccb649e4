// No read and no write outside the buffers, the workspace included: every buffer lies against a forbidden page, its end
// first, then its begin. Every length and extent of the tail list, every rule and form, on every instruction set that
// the machine has.
#include "calling.hpp"

#include "deltaloom/runtime/cpu/features.hpp"

#include <catch2/catch.hpp>

using namespace deltaloom::test;
namespace runtime = deltaloom::runtime;

namespace {

constexpr std::int64_t lengths[] = {0, 1, 2, 3, 15, 17, 33, 63, 64, 65, 70, 200};
constexpr std::int64_t extents[][2] = {{60, 60}, {80, 64}, {100, 100}, {96, 192}, {8, 64}, {64, 8}, {5, 3}};

void stays_inside(Call& c) {
    for (bool backward : {false, true}) {
        REQUIRE(c.prepare(backward) == 0);
        int code = -1;
        void const* const touched = deltaloom::codegen::forbidden_touch(
            [&] { code = (backward ? c.library.backward : c.library.forward)(&c.rule, &c.call, &c.status); });
        INFO(c.rule.name << " " << (backward ? "backward" : "forward") << ", form " << c.call.form
                         << ", T = " << c.shape.tokens << ", dk = " << c.shape.dk << ", dv = " << c.shape.dv << ", "
                         << (c.end == GuardedEnd::back ? "past the end" : "before the begin"));
        INFO("touched " << touched << (c.workspace.guards(touched) ? ", beside the workspace" : ", beside a tensor"));
        REQUIRE(touched == nullptr);
        REQUIRE(code == 0);
        REQUIRE(c.intact());
        REQUIRE(c.finite(backward)); // nor was anything left out
    }
}
void every_form(dl_rule const& rule, Shape const& shape) {
    for (auto end : {GuardedEnd::back, GuardedEnd::front})
        for (std::uint32_t form : {DL_STEP, DL_RECURRENT, DL_CHUNKED, DL_SUMMARY}) {
            if ((form == DL_STEP && shape.tokens != 1) || !(rule.forms >> form & 1)) continue;
            Call c(rule, shape, 1, end);
            c.call.form = form;
            if (form == DL_SUMMARY) c.call.chunk = 2;
            stays_inside(c);
        }
}
struct Forced { // a level of the instruction set
    explicit Forced(char const* level) { setenv("DELTALOOM_ISA", level, 1); }
    ~Forced() { unsetenv("DELTALOOM_ISA"); }
};

} // namespace

TEST_CASE("a touch outside is seen") {
    using deltaloom::codegen::forbidden_touch;
    for (std::size_t bytes : {1, 100, 4096, 5000}) {
        Guarded const back(bytes, GuardedEnd::back), front(bytes, GuardedEnd::front);
        auto *const past = static_cast<std::byte volatile*>(back.data()) + bytes, *const before =
                                                                                      static_cast<std::byte volatile*>(
                                                                                          front.data()) -
                                                                                      1;
        CHECK(forbidden_touch([&] { *(past - 1) = *(before + 1); }) == nullptr);
        CHECK(forbidden_touch([&] { *past = std::byte(1); }) == back.data() + bytes);
        CHECK(forbidden_touch([&] { (void)std::byte(*before); }) == front.data() - 1);
        CHECK(back.guards(back.data() + bytes));
        CHECK((back.intact() && front.intact()));
        if (bytes % 4096 == 0) continue;
        back.data()[-1] = std::byte(7), front.data()[bytes] = std::byte(7); // no page there: the pattern tells
        CHECK_FALSE(back.intact());
        CHECK_FALSE(front.intact());
    }
    // A kernel with less scratch than it needs is caught.
    Call c(*dl_rule_named("delta"), {.batch = 1, .tokens = 40, .dk = 8, .dv = 8}, 1, GuardedEnd::back);
    REQUIRE(c.prepare(false) == 0);
    Guarded less(c.workspace.bytes() / 2, GuardedEnd::back);
    c.call.workspace = less.data(); // and says that it is all there
    CHECK(less.guards(forbidden_touch([&] { c.library.forward(&c.rule, &c.call, &c.status); })));
}

TEST_CASE("inside the buffers at every length and extent of the tail list") {
    for (std::uint32_t i = 0; i < dl_rule_count(); ++i)
        for (auto tokens : lengths)
            for (auto [dk, dv] : extents)
                every_form(*dl_rule_at(i), {.batch = 1, .tokens = tokens, .dk = dk, .dv = dv});
}

TEST_CASE("inside the buffers on the lower instruction sets") {
    for (int level = 0; level < runtime::machine_level(); ++level) {
        Forced const forced(runtime::isa_name(runtime::isa_level(level)));
        for (std::uint32_t i = 0; i < dl_rule_count(); ++i)
            for (std::int64_t tokens : {0, 1, 3, 17, 33})
                for (auto const* extent : {extents[0], extents[5], extents[6]}) {
                    auto const dk = extent[0], dv = extent[1];
                    every_form(*dl_rule_at(i), {.batch = 1, .tokens = tokens, .dk = dk, .dv = dv});
                    CHECK(std::string(dl_last_path()).find(runtime::isa_name(runtime::isa_level(level))) !=
                          std::string::npos);
                }
    }
}

TEST_CASE("inside the buffers with batches, shared heads, packed sequences, snapshots") {
    for (std::uint32_t i = 0; i < dl_rule_count(); ++i)
        for (auto end : {GuardedEnd::back, GuardedEnd::front})
            for (std::uint32_t threads : {1u, 3u})
                for (int kind = 0; kind < 5; ++kind) {
                    Shape shape{
                        .batch = 2, .tokens = 19, .heads = 4, .dk = 7, .dv = 9, .own_heads = {{"q", 2}, {"k", 1}}};
                    if (kind == 1) shape.batch = 1, shape.offsets = {0, 0, 3, 4, 19, 19};
                    Call c(*dl_rule_at(i), shape, 3, end);
                    // A pool's threads would die of a forbidden touch: in this test a host's loop stands in for them.
                    c.call.threads = int(threads);
                    c.call.parallel_for = [](void*, std::int64_t n, void (*body)(void*, std::int64_t), void* context) {
                        while (n-- > 0) body(context, n);
                    };
                    if (kind == 2) c.make_snapshots(5);
                    if (kind == 3) c.make_snapshots(30);
                    if (kind == 4) {
                        c.make_snapshots(5);
                        c.call.form = DL_CHUNKED, c.call.chunk = 4, c.call.flags = DL_CHUNK_STATES;
                    }
                    stays_inside(c);
                }
}

TEST_CASE("inside the buffers at the largest heads") {
    for (std::uint32_t i = 0; i < dl_rule_count(); ++i)
        for (std::int64_t tokens : {1, 17})
            every_form(*dl_rule_at(i), {.batch = 1, .tokens = tokens, .dk = 256, .dv = 512});
}
