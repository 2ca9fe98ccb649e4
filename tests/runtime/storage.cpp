// Operands of every stored scalar and stride to matrices and back.
#include "fixture.hpp"

using namespace fixture;

namespace {

template<class Stored> constexpr std::uint32_t scalar_of() {
    if constexpr (std::is_same_v<Stored, float>)
        return DL_F32;
    else if constexpr (std::is_same_v<Stored, double>)
        return DL_F64;
    else if constexpr (std::is_same_v<Stored, bfloat16>)
        return DL_BF16;
    else if constexpr (std::is_same_v<Stored, float16>)
        return DL_F16;
    else
        return DL_EXACT;
}
// Small integers, which every stored scalar holds exactly.
template<class K> K sample(int i) { return K(double(i * 7 % 31) - 15); }

template<class Stored, class K> void check_round_trip() {
    static_assert(element_bytes(scalar_of<Stored>()) == sizeof(Stored));
    // [token][c][r] in memory, the operand is r x c: permuted strides, with gaps.
    int const tokens = 3, r = 5, c = 4, gap = 2;
    std::vector<Stored> memory(std::size_t(tokens * (r * c + gap)), narrowed<Stored>(K(9.0)));
    strided x{memory.data(), r * c + gap, {1, r, 0}, scalar_of<Stored>(), false};
    std::vector<K> in(std::size_t(r * c)), out(std::size_t(r * c));
    for (int t = 0; t < tokens; ++t) {
        for (int i = 0; i < r * c; ++i) in[std::size_t(i)] = sample<K>(t * 100 + i);
        store_token(matrix<K>{in.data(), r, c}, x, t);
    }
    for (int t = 0; t < tokens; ++t) {
        load_token(matrix<K>{out.data(), r, c}, x, t);
        for (int i = 0; i < r * c; ++i) CHECK(out[std::size_t(i)] == sample<K>(t * 100 + i));
        CHECK(widened<K>(memory[std::size_t(t * (r * c + gap) + r * c)]) == K(9.0));
        CHECK(widened<K>(memory[std::size_t(t * (r * c + gap) + 1)]) == sample<K>(t * 100 + c));
    }
    // Rows of tokens: column 2 of each token's matrix as a vector.
    strided column = x;
    column.data = memory.data() + 2 * r;
    std::vector<K> rows(std::size_t(2 * r));
    load(matrix<K>{rows.data(), 2, r}, column, 1);
    for (int t = 0; t < 2; ++t)
        for (int i = 0; i < r; ++i) CHECK(rows[std::size_t(t * r + i)] == sample<K>((t + 1) * 100 + i * c + 2));
    column.accumulate = true;
    store(matrix<K>{rows.data(), 2, r}, column, 1);
    load(matrix<K>{rows.data(), 2, r}, column, 1);
    CHECK(rows[3] == sample<K>(100 + 3 * c + 2) + sample<K>(100 + 3 * c + 2));
    // A step axis before the vector's.
    strided steps = x;
    strided const second = steps.step(2);
    CHECK(second.data == static_cast<void*>(memory.data() + 2));
    CHECK(second.axis[0] == r);
    // Absent: zeros, and nothing happens.
    strided const absent;
    load(matrix<K>{rows.data(), 2, r}, absent, 0);
    CHECK(rows[3] == K(0.0));
    store(matrix<K>{rows.data(), 2, r}, absent, 0);
    load_state(matrix<K>{rows.data(), 2, r}, absent);
    // Broadcast: stride 0.
    strided const same{memory.data(), 0, {0, 0, 0}, scalar_of<Stored>(), false};
    load_all(matrix<K>{rows.data(), 2, r}, same);
    CHECK(rows[9] == widened<K>(memory[0]));
}

} // namespace

TEST_CASE("loads and stores of every scalar") {
    check_round_trip<float, float>();
    check_round_trip<double, float>();
    check_round_trip<bfloat16, float>();
    check_round_trip<float16, float>();
    check_round_trip<float, double>();
    check_round_trip<double, double>();
    check_round_trip<bfloat16, double>();
    check_round_trip<float16, double>();
    check_round_trip<field, field>();
}

TEST_CASE("short floats round to nearest, ties to even") {
    CHECK(narrowed<bfloat16>(1.0f).bits == 0x3f80);
    CHECK(narrowed<bfloat16>(1.00390625f).bits == 0x3f80); // halfway: down to even
    CHECK(narrowed<bfloat16>(1.01171875f).bits == 0x3f82); // halfway: up to even
    CHECK(narrowed<bfloat16>(3.4e38f).bits == 0x7f80);
    CHECK(std::isnan(widened<float>(narrowed<bfloat16>(std::numeric_limits<float>::quiet_NaN()))));
    CHECK(narrowed<bfloat16>(-std::numeric_limits<float>::infinity()).bits == 0xff80);
    CHECK(widened<float>(float16{0x3c00}) == 1);
    CHECK(widened<float>(float16{0x0001}) == std::ldexp(1.0f, -24));
    CHECK(narrowed<float16>(65536.0f).bits == 0x7c00);
    CHECK(narrowed<float16>(1.00048828125f).bits == 0x3c00);
}

// All of them, and floats around every place where rounding turns.
TEST_CASE("the host's own way to 16 bits and back is the kernels'") {
    std::uint32_t wrong = 0;
    auto const see = [&](float x) {
        wrong += bfloat16::nearest(x).bits != narrowed<bfloat16>(x).bits;
        wrong += float16::nearest(x).bits != narrowed<float16>(x).bits;
    };
    auto const same = [](float a, float b) {
        return __builtin_bit_cast(std::uint32_t, a) == __builtin_bit_cast(std::uint32_t, b) || (a != a && b != b);
    };
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        bfloat16 const b{std::uint16_t(bits)};
        float16 const h{std::uint16_t(bits)};
        wrong += !same(float(b), widened<float>(b)) || !same(float(h), widened<float>(h));
        for (std::uint32_t low :
             {0u, 1u, 0x0fffu, 0x1000u, 0x1001u, 0x2fffu, 0x3000u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
            see(__builtin_bit_cast(float, bits << 16 | low));
    }
    CHECK(wrong == 0);
}

TEST_CASE("a double rounds once on its way to 16 bits") {
    double const tie = 1 + 0x1p-8, above = tie + 0x1p-40, below = tie - 0x1p-40; // float32 sees neither
    CHECK(narrowed<bfloat16>(tie).bits == 0x3f80);
    CHECK(narrowed<bfloat16>(above).bits == 0x3f81);
    CHECK(narrowed<bfloat16>(-above).bits == 0xbf81);
    CHECK(narrowed<bfloat16>(below).bits == 0x3f80);
    CHECK(narrowed<bfloat16>(1e300).bits == 0x7f80);
    CHECK(narrowed<bfloat16>(-1e-300).bits == 0x8000);
    CHECK(narrowed<float16>(1 + 0x1p-11 + 0x1p-45).bits == 0x3c01);
    CHECK(narrowed<float16>(-(1 + 0x1p-11 - 0x1p-45)).bits == 0xbc00);
    CHECK(narrowed<float16>(1 + 3 * 0x1p-11 - 0x1p-45).bits == 0x3c01);
    CHECK(narrowed<float16>(65519.999999999).bits == 0x7bff);
    CHECK(std::isnan(widened<double>(narrowed<float16>(std::numeric_limits<double>::quiet_NaN()))));
}

TEST_CASE("scratch is taken in whole lines and given back by scope") {
    alignas(64) float memory[256];
    scratch<float> room{memory, memory + 256};
    CHECK(scratch_size<float>(3, 5) == 16);
    CHECK(scratch_size<double>(3, 3) == 16);
    CHECK(scratch_size<float>(0, 5) == 0);
    auto const a = room.matrix(3, 5);
    auto inner = room;
    auto const b = inner.matrix(4, 4), c = room.matrix(1, 1);
    CHECK(b.data == a.data + 16);
    CHECK(c.data == b.data);
    CHECK(room.left() == 224);
}
