// B T H dk over 2^31: keys and queries of 8 GB each in memory that is mostly pages of zeros nobody wrote; their
// gradients in 64 MB that stand behind every window of their addresses, so that what is written last stays. Where all
// but a few tokens are zero, those few are a short sequence of their own.
#include "calling.hpp"

#include <catch2/catch.hpp>

using namespace deltaloom::test;

namespace {

constexpr std::int64_t batch = 2, tokens = (std::int64_t(1) << 19) + 3, heads = 2, dk = 1024;
static_assert(batch * tokens * heads * dk > std::int64_t(1) << 31);
constexpr std::int64_t places[] = {0, 5, 8000, tokens / 2, tokens - 1}; // of the tokens that are not zero
constexpr std::int64_t window = std::int64_t(1) << 26;                  // bytes; whole tokens

// Addresses for `bytes`: zeros, or one window again and again.
struct Sparse {
    std::size_t bytes;
    char* data;
    explicit Sparse(std::int64_t n, bool windows = false) : bytes(std::size_t((n + window - 1) / window * window)) {
        void* const all =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        REQUIRE(all != MAP_FAILED);
        data = static_cast<char*>(all);
        if (!windows) return;
        int const file = memfd_create("window", 0);
        REQUIRE(file >= 0);
        REQUIRE(ftruncate(file, window) == 0);
        for (std::size_t at = 0; at < bytes; at += std::size_t(window))
            REQUIRE(mmap(data + at, std::size_t(window), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) !=
                    MAP_FAILED);
        close(file);
    }
    ~Sparse() { munmap(data, bytes); }
};

} // namespace

TEST_CASE("2^31 elements and more") {
    dl_rule const& r = *dl_rule_named("delta");
    Shape shape{.batch = batch, .tokens = std::int64_t(std::size(places)), .heads = heads, .dk = dk, .dv = 1};
    Call few(r, shape);
    few.call.form = DL_RECURRENT;
    for (bool backward : {false, true}) REQUIRE(few.run(backward) == 0);

    std::deque<Sparse> memory;
    std::vector<dl_tensor> operand(r.operand_count), gradient(r.operand_count);
    auto const large = [&](dl_tensor const& small, bool windows) {
        dl_tensor t = small;
        t.stride[0] = tokens * t.stride[1];
        t.data = memory.emplace_back(batch * t.stride[0] * 4, windows).data;
        return t;
    };
    // Token `i` of those that are not zero, for each sequence.
    auto const each_token = [&](dl_tensor const& small, dl_tensor const& big, auto f) {
        for (std::int64_t b = 0; b < batch; ++b)
            for (std::size_t i = 0; i < std::size(places); ++i)
                f(b, i, few.data(small) + b * small.stride[0] + std::int64_t(i) * small.stride[1],
                  static_cast<float*>(big.data) + b * big.stride[0] + places[i] * big.stride[1], small.stride[1]);
    };
    for (std::uint32_t i = 0; i < r.operand_count; ++i) {
        if (r.operands[i].kind == DL_STATE) continue;
        bool const output = r.operands[i].kind == DL_OUTPUT, wide = few.operand[i].stride[1] == heads * dk;
        operand[i] = large(few.operand[i], false), gradient[i] = large(few.gradient[i], !output && wide);
        auto const put = [](std::int64_t, std::size_t, float const* from, float* to, std::int64_t n) {
            std::copy_n(from, n, to);
        };
        each_token(output ? few.gradient[i] : few.operand[i], output ? gradient[i] : operand[i], put);
    }
    Call states(r, {.batch = batch, .tokens = 0, .heads = heads, .dk = dk, .dv = 1});
    std::copy_n(few.data(few.state_in[0]), few.entries.at(&few.state_in[0]), states.data(states.state_in[0]));
    std::copy_n(few.data(few.state_out_gradient[0]), few.entries.at(&few.state_in[0]),
                states.data(states.state_out_gradient[0]));
    states.call.operand = operand.data(), states.call.gradient = gradient.data();
    states.call.tokens = tokens, states.call.form = DL_CHUNKED, states.call.threads = 2;
    for (bool backward : {false, true}) {
        int const code = states.run(backward);
        INFO(states.status.message);
        REQUIRE(code == 0);
    }
    CHECK(largest_difference(few.values(few.state_out[0]), states.values(states.state_out[0])) <= 1e-5);
    CHECK(largest_difference(few.values(few.state_in_gradient[0]), states.values(states.state_in_gradient[0])) <= 1e-4);
    for (std::uint32_t i = 0; i < r.operand_count; ++i) {
        if (r.operands[i].kind == DL_STATE) continue;
        bool const output = r.operands[i].kind == DL_OUTPUT, wide = few.operand[i].stride[1] == heads * dk;
        auto const &small = output ? few.operand[i] : few.gradient[i], &big = output ? operand[i] : gradient[i];
        INFO(r.operands[i].name);
        each_token(small, big,
                   [&](std::int64_t b, std::size_t place, float const* want, float const* got, std::int64_t n) {
                       // Of a window what was written last stays: the first tokens of the last sequence.
                       if (!output && wide && (b + 1 < batch || places[place] >= window / (heads * dk * 4))) return;
                       INFO("sequence " << b << " token " << places[place]);
                       CHECK(largest_difference({want, want + n}, {got, got + n}) <= 1e-4);
                   });
        if (wide) continue;
        std::int64_t others = 0; // the tokens that are zero have zeros
        auto const* all = static_cast<float const*>(big.data);
        for (std::int64_t e = 0; e < batch * big.stride[0]; ++e)
            others += all[e] != 0 &&
                      std::find(std::begin(places), std::end(places), e / big.stride[1] % tokens) == std::end(places);
        CHECK(others == 0);
    }
}
