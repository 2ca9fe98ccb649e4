// Which strides name an element twice and which tensors meet, against the sets of their bytes.
#include <deltaloom/runtime/cpu/overlap.hpp>

#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <set>
#include <vector>

using namespace deltaloom::runtime;
using Int = deltaloom::runtime::index;

namespace {

struct Strided {
    std::vector<Int> extents, strides;
    int element;
    Int base;
};

void* at_address(Int bytes) { return __builtin_bit_cast(void*, bytes); } // nothing is there, nothing is touched

placed placed_of(Strided const& s) {
    placed p;
    int axis = -1;
    REQUIRE(place(p, at_address((1 << 20) + s.base), s.element, s.extents.data(), s.strides.data(),
                  int(s.extents.size()), axis));
    return p;
}
std::vector<Int> addresses(Strided const& s) {
    std::vector<Int> all{s.base};
    for (std::size_t a = 0; a < s.extents.size(); ++a) {
        std::vector<Int> more;
        for (Int at : all)
            for (Int i = 0; i < s.extents[a]; ++i) more.push_back(at + i * s.strides[a] * s.element);
        all = more;
    }
    return all;
}
std::set<Int> bytes(Strided const& s) {
    std::set<Int> all;
    for (Int at : addresses(s))
        for (int b = 0; b < s.element; ++b) all.insert(at + b);
    return all;
}

struct Draw {
    std::mt19937 generator;
    Int below(Int n) { return Int(generator() % std::uint32_t(n)); }
    Strided strided() {
        Strided s{{}, {}, int(Int(1) << below(4)), below(200)};
        for (Int axes = 1 + below(4); axes > 0; --axes) {
            s.extents.push_back(1 + below(5));
            Int const stride = 1 + below(below(3) ? 12 : 60);
            s.strides.push_back(below(4) ? stride : -stride);
        }
        return s;
    }
};

} // namespace

TEST_CASE("coinciding axes and meeting tensors are found exactly") {
    constexpr unsigned seed = 31;
    INFO("seed " << seed);
    Draw draw{std::mt19937(seed)};
    int distinct = 0, apart = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        Strided const a = draw.strided(), b = draw.strided();
        auto const all = addresses(a);
        bool const twice = std::set<Int>(all.begin(), all.end()).size() < all.size();
        INFO("trial " << trial);
        REQUIRE((coinciding_axis(placed_of(a)) >= 0) == twice);
        distinct += !twice;
        auto const mine = bytes(a), theirs = bytes(b);
        bool shared = false;
        for (Int x : mine) shared |= theirs.count(x) > 0;
        REQUIRE(meet(placed_of(a), placed_of(b)) == shared);
        REQUIRE(meet(placed_of(b), placed_of(a)) == shared);
        apart += !shared && *mine.begin() <= *theirs.rbegin() && *theirs.begin() <= *mine.rbegin();
        auto const p = placed_of(a);
        REQUIRE(Int(p.low) - (1 << 20) == *mine.begin());
        REQUIRE(Int(p.span) == *mine.rbegin() - *mine.begin() + 1);
    }
    CHECK(distinct > 2000); // both answers are given, and views within each other's span
    CHECK(apart > 500);
}

TEST_CASE("large strides") {
    int axis = -1;
    placed p;
    auto const at = [&](std::uintptr_t base, std::vector<Int> extents, std::vector<Int> strides) {
        return place(p, at_address(Int(base)), 4, extents.data(), strides.data(), int(extents.size()), axis);
    };
    constexpr Int far = Int(1) << 61;
    CHECK_FALSE(at(4096, {2, 3}, {1, far}));
    CHECK(axis == 1);
    CHECK_FALSE(at(4096, {far, 3}, {4, 1}));
    CHECK(axis == 0);
    CHECK_FALSE(at(4096, {2, 2}, {std::numeric_limits<Int>::min(), 1}));
    CHECK(axis == 0);
    CHECK_FALSE(at(4096, {3}, {-1000}));            // below 0
    CHECK_FALSE(at(~std::uintptr_t(15), {9}, {1})); // past the last address
    CHECK(at(4096, {far}, {0}));                    // broadcast
    CHECK(at(4096, {1, 2}, {far, 1}));              // one position: its stride is not used
    CHECK(p.span == 8);
    // Two long axes whose strides have no small common multiple: told by their residues, not by trying.
    CHECK(at(4096, {1000000, 1000000}, {1000003, 1000000}));
    CHECK(coinciding_axis(p) == -1);
    CHECK(at(4096, {1000001, 1000004}, {1000003, 1000000}));
    CHECK(coinciding_axis(p) == 0);
}
