// The descriptor of a call, field by field from the fuzzer's bytes, against what the contract promises: a refusal has a
// code, a sentence and writes nothing; what is accepted has distinct elements where it writes, shares no byte it may
// not, reads and writes nothing outside its buffers (forbidden pages around every one, the workspace included), changes
// no input, and asks for the workspace that dl_workspace has said.
#include "codegen/check/guarded.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fuzz_rules/library-calls.h>
#include <vector>

using namespace deltaloom::codegen;

namespace {

#define EXPECT(condition, ...)                                                                                         \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::fprintf(stderr, "%s:%d: not %s: ", __FILE__, __LINE__, #condition);                                   \
            std::fprintf(stderr, __VA_ARGS__);                                                                         \
            std::fprintf(stderr, "\n");                                                                                \
            std::abort();                                                                                              \
        }                                                                                                              \
    } while (0)

struct Bytes {
    std::uint8_t const* at;
    std::size_t left;
    std::uint64_t take(int n = 1) {
        std::uint64_t x = 0;
        while (n-- > 0) {
            x = x << 8 | (left ? *at : 0);
            if (left) ++at, --left;
        }
        return x;
    }
    std::int64_t below(std::int64_t n) { return std::int64_t(take(n > 256 ? 2 : 1)) % n; }
    bool rarely() { return take() >= 252; }
    std::int64_t wild() { // near 0, near a power of two, anything
        switch (take() % 4) {
        case 0: return std::int64_t(take()) - 128;
        case 1: return (std::int64_t(1) << (take() % 63)) - std::int64_t(take() % 3);
        case 2: return -(std::int64_t(1) << (take() % 63));
        }
        return std::int64_t(take(8));
    }
};

constexpr std::size_t capacity = 1 << 15, room = 1 << 19;
constexpr std::size_t most_tensors = 96;

// What lies in memory for a tensor: its bytes' places, if it fits.
struct Place {
    std::int64_t low = 0, high = 0; // bytes from data: the first, one past the last
    bool empty = false, fits = false;
};
int element(std::uint32_t scalar) { return scalar == DL_F64 ? 8 : scalar == DL_F32 ? 4 : 2; }

struct Described {
    dl_tensor* tensor;
    std::int64_t extents[6];
    bool written;
    int kind; // 0 operand, 1 gradient, 2 state_in, 3 state_out, 4 its gradients, 6 snapshots
    std::uint32_t operand, state;
    Guarded* home = nullptr;
    Place place{};
};

Place place_of(Described const& d) {
    Place p;
    if (*std::min_element(d.extents, d.extents + 6) <= 0) return p.empty = true, p.fits = true, p;
    __extension__ typedef __int128 wide;
    wide low = 0, high = 0;
    for (int a = 0; a < 6; ++a) {
        wide const reach = wide(d.extents[a] - 1) * d.tensor->stride[a];
        if (reach > wide(capacity) || reach < -wide(capacity)) return p;
        (reach < 0 ? low : high) += reach;
    }
    int const e = d.tensor->scalar <= DL_F16 ? element(d.tensor->scalar) : 4;
    if ((high - low + 1) * e > wide(capacity)) return p;
    p.low = std::int64_t(low * e), p.high = std::int64_t((high + 1) * e), p.fits = true;
    return p;
}
template<class F> void each_byte(Described const& d, F f) {
    if (d.place.empty || !d.tensor->data) return;
    int const e = element(d.tensor->scalar);
    std::int64_t at[6] = {};
    while (true) {
        std::int64_t offset = 0;
        for (int a = 0; a < 6; ++a) offset += at[a] * d.tensor->stride[a];
        for (int b = 0; b < e; ++b) f(static_cast<unsigned char*>(d.tensor->data) + offset * e + b);
        int a = 5;
        while (a >= 0 && ++at[a] == d.extents[a]) at[a--] = 0;
        if (a < 0) return;
    }
}

struct Arena {
    std::vector<Guarded> tensors;
    Guarded workspace{room};
    Arena() {
        for (std::size_t i = 0; i < most_tensors; ++i) tensors.emplace_back(capacity);
    }
};

std::uint64_t hash(Guarded const& g) {
    std::uint64_t h = 14695981039346656037u;
    auto const* words = g.as<unsigned char>();
    for (std::size_t i = 0; i < g.bytes(); ++i) h = (h ^ words[i]) * 1099511628211u;
    return h;
}

void reversed(void*, std::int64_t n, void (*body)(void*, std::int64_t), void* context) {
    while (n-- > 0) body(context, n);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    static Arena arena;
    Bytes in{data, size};
    dl_rule const& rule = *dl_rule_at(std::uint32_t(in.below(dl_rule_count())));
    GuardedEnd const end = in.take() & 1 ? GuardedEnd::back : GuardedEnd::front;
    bool const backward = in.take() & 1;

    dl_call c{};
    c.struct_size = sizeof c, c.abi_version = DL_ABI_VERSION;
    c.form = std::uint32_t(in.below(5)), c.batch = in.below(3), c.tokens = in.below(9);
    if (c.form == DL_STEP) c.tokens = 1;
    c.value_heads = 1 + in.below(4);
    c.threads = int(in.below(4));
    c.parallel_for = reversed; // a pool's threads would die of a forbidden touch unheard
    for (std::uint32_t d = 0; d < rule.dim_count; ++d) c.dim[d] = 1 + in.below(5);
    std::int64_t offsets[6] = {};
    if (in.take() % 4 == 0) {
        c.batch = 1, c.offsets = offsets, c.sequences = in.below(5);
        for (int s = 1; s <= c.sequences; ++s) offsets[s] = offsets[s - 1] + in.below(4);
        c.tokens = offsets[c.sequences];
        if (in.rarely()) offsets[in.below(6)] = in.wild();
    }
    if (in.take() % 4 == 0) {
        std::uint32_t n = 0;
        while (rule.chunks[n]) ++n;
        c.chunk = rule.chunks[std::uint32_t(in.below(n))];
    }
    std::uint8_t const flags = std::uint8_t(in.take());
    c.flags = flags & 128 ? flags & 7u : 0;
    if (in.take() % 4 == 0) c.snapshots = 1 + in.below(10);
    if (in.rarely()) c.struct_size = std::uint32_t(in.wild());
    if (in.rarely()) c.abi_version = std::uint32_t(in.take());
    if (in.rarely()) c.form = std::uint32_t(in.wild());
    if (in.rarely()) c.batch = in.wild();
    if (in.rarely()) c.tokens = in.wild();
    if (in.rarely()) c.value_heads = in.wild();
    if (in.rarely()) c.dim[in.below(8)] = in.wild();
    if (in.rarely()) c.sequences = c.offsets ? in.below(5) : in.wild();
    if (in.rarely()) c.chunk = std::uint32_t(in.wild());
    if (in.rarely()) c.flags = std::uint32_t(in.wild());
    if (in.rarely()) c.snapshots = in.wild();
    if (in.rarely()) c.threads = int(in.wild());
    if (in.rarely()) c.stream = &c;

    // Tensors: contiguous ones as the call describes itself, then bent.
    std::vector<dl_tensor> operand(rule.operand_count), gradient(rule.operand_count), states[6];
    std::uint32_t state_count = 0;
    for (std::uint32_t i = 0; i < rule.operand_count; ++i) state_count += rule.operands[i].kind == DL_STATE;
    for (auto& s : states) s.resize(state_count);
    std::vector<Described> all;
    std::int64_t const sequences = c.offsets ? c.sequences : c.batch;
    bool const chunk_states = c.flags & DL_CHUNK_STATES;
    auto const extent = [&](char const* name) {
        for (std::uint32_t d = 0; d < rule.dim_count; ++d)
            if (!std::strcmp(rule.dims[d], name)) return c.dim[d];
        return std::int64_t(std::atoll(name));
    };
    std::uint32_t state = 0;
    auto const describe = [&](dl_tensor& t, std::uint32_t i, int kind, bool written, std::int64_t rows,
                              std::int64_t tokens) {
        dl_operand const& o = rule.operands[i];
        t.scalar = DL_F32;
        std::int64_t const heads = std::max<std::int64_t>(1, c.value_heads);
        t.heads = std::uint32_t(heads);
        bool const own = o.kind != DL_STATE && o.kind != DL_OUTPUT;
        if (own && kind == 1) t.heads = operand[i].heads;
        if (own && kind == 0 && in.take() % 4 == 0) t.heads = 1;
        if (in.rarely()) t.heads = std::uint32_t(in.wild());
        if (in.rarely()) t.scalar = std::uint32_t(in.take() % 18);
        if (in.take() % 8 == 0) t.scalar = std::uint32_t(in.below(4));
        Described d{&t, {rows, tokens, std::int64_t(t.heads), 1, 1, 1}, written, kind, i, state};
        bool const turned = o.kind == DL_STATE && o.rank == 2 && c.flags & DL_STATE_TRANSPOSED;
        for (std::uint32_t a = 0; a < o.rank; ++a) d.extents[3 + (turned ? 1 - a : a)] = extent(o.dims[a]);
        std::int64_t step = 1;
        for (int a = 5; a >= 0; --a) {
            t.stride[a] = step;
            if (d.extents[a] > 0 && __builtin_mul_overflow(step, d.extents[a], &step)) step = 1;
        }
        if (in.take() % 8 == 0) {
            int const a = int(in.below(6)), b = int(in.below(6));
            switch (in.take() % 5) {
            case 0: t.stride[a] = -t.stride[a]; break;
            case 1: std::swap(t.stride[a], t.stride[b]); break;
            case 2: t.stride[a] = 0; break;
            case 3: t.stride[a] = in.below(64); break;
            case 4: t.stride[a] = in.wild(); break;
            }
        }
        all.push_back(d);
    };
    for (std::uint32_t i = 0; i < rule.operand_count; ++i) {
        dl_operand const& o = rule.operands[i];
        if (o.kind == DL_STATE) {
            describe(states[0][state], i, 2, false, sequences, 1);
            if (!backward) describe(states[1][state], i, 3, true, sequences, 1);
            if (backward) {
                describe(states[2][state], i, 4, true, sequences, 1);
                describe(states[3][state], i, 5, false, sequences, 1);
            }
            if (c.snapshots > 0 && (!backward || chunk_states))
                describe(states[4][state], i, 6, !backward, sequences, c.snapshots);
            ++state;
            continue;
        }
        bool const output = o.kind == DL_OUTPUT, parameter = o.varies == DL_PER_HEAD;
        std::int64_t const rows = parameter ? 1 : c.batch, tokens = parameter ? 1 : c.tokens;
        if (!(backward && output)) describe(operand[i], i, 0, output, rows, tokens);
        if (backward) describe(gradient[i], i, 1, !output, rows, tokens);
    }
    c.operand = operand.data();
    if (backward) c.gradient = gradient.data();
    c.state_in = states[0].data(), c.state_out = states[1].data(), c.state_in_gradient = states[2].data(),
    c.state_out_gradient = states[3].data();
    if (c.snapshots > 0) c.state_snapshots = states[4].data();
    if (in.rarely()) c.operand = nullptr;
    if (in.rarely()) c.gradient = nullptr;
    for (auto** p : {&c.state_in, &c.state_out, &c.state_in_gradient, &c.state_out_gradient, &c.state_snapshots})
        if (in.rarely()) *p = nullptr;

    // Each in its own buffer, at one of its ends; some absent, some in another's.
    bool runnable = all.size() <= most_tensors;
    for (std::size_t i = 0; i < all.size() && i < most_tensors; ++i) {
        auto& d = all[i];
        d.place = place_of(d);
        runnable &= d.place.fits;
        d.home = &arena.tensors[i];
        auto* const begin =
            d.home->place(d.place.fits && !d.place.empty ? std::size_t(d.place.high - d.place.low) : 0, end);
        // Finite in every scalar: small positive numbers, but for log gates, which may be -0.
        d.home->fill(d.written ? 0xff : rule.operands[d.operand].domain == DL_LOG ? 0x80 : 0x3c);
        d.tensor->data = begin - d.place.low;
        if (in.take() % 16 == 0) d.tensor->data = nullptr;
        if (d.kind == 3 && in.take() % 4 == 0) { // in place
            auto const& initial = states[0][d.state];
            *d.tensor = initial;
            d.extents[2] = initial.heads, d.place = place_of(d);
        }
    }
    if (in.rarely() && !all.empty()) { // one on another, as far as it fits there
        auto &a = all[std::size_t(in.below(std::int64_t(all.size())))],
             &b = all[std::size_t(in.below(std::int64_t(all.size())))];
        std::int64_t const slack = std::int64_t(b.home ? b.home->bytes() : 0) - (a.place.high - a.place.low);
        if (a.home && b.home && a.place.fits && b.place.fits && !a.place.empty && slack >= 0)
            a.tensor->data = b.home->data() + in.below(slack + 1) - a.place.low;
    }
    if (in.rarely() && !all.empty()) {
        auto& a = all[std::size_t(in.below(std::int64_t(all.size())))];
        if (a.tensor->data) a.tensor->data = reinterpret_cast<char*>(a.tensor->data) + in.below(8), runnable = false;
    }

    for (auto& d : all) { // of an array that is absent
        dl_tensor const* const arrays[] = {c.operand,           c.gradient,           c.state_in,       c.state_out,
                                           c.state_in_gradient, c.state_out_gradient, c.state_snapshots};
        if (!arrays[d.kind]) d.tensor->data = nullptr;
    }

    // Values of a tensor that is described and not there cannot be looked at: not even by a call that has nothing to
    // do.
    if (!runnable) c.flags &= ~std::uint32_t(DL_CHECK_VALUES);

    // What an accepted call does with them.
    auto const sound = [&](int code, dl_status const& s) {
        EXPECT(code >= 0 && code <= DL_BAD_VALUE, "code %d", code);
        EXPECT(std::uint32_t(code) == s.code, "code %d, status %u", code, s.code);
        EXPECT((code == 0) == (s.message[0] == 0), "code %d: '%s'", code, s.message);
        EXPECT(std::memchr(s.message, 0, sizeof s.message), "no end");
        EXPECT(s.operand == DL_NONE || s.operand < rule.operand_count, "operand %u", s.operand);
    };
    dl_status status;
    std::memset(&status, 0x5a, sizeof status);
    std::size_t bytes = 0;
    int const asked = dl_workspace(&rule, &c, &bytes, &status);
    sound(asked, status);
    if (c.tokens > 64 || sequences > 64 || c.value_heads > 64 || bytes > room) runnable = false;
    c.workspace = arena.workspace.place(runnable ? bytes : 0, end), c.workspace_bytes = bytes;
    arena.workspace.fill(0xff);
    if (!runnable) c.workspace = nullptr, c.workspace_bytes = 0;
    bool const small = runnable && bytes && in.rarely();
    if (small) --c.workspace_bytes;
    std::vector<std::uint64_t> before;
    for (auto const& d : all) before.push_back(d.home ? hash(*d.home) : 0);

    std::memset(&status, 0x5a, sizeof status);
    int code = 0;
    auto const go = [&] { code = (backward ? dl_backward : dl_forward)(&rule, &c, &status); };
    // Where it cannot be run, nothing may be touched: no workspace was given.
    if (!runnable && asked == 0 && bytes == 0) return 0;
    if (void const* touched = forbidden_touch(go)) {
        bool const of_workspace = arena.workspace.guards(touched);
        int whose = -1;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (all[i].home && all[i].home->guards(touched)) whose = int(i);
        EXPECT(!touched, "%s touched %p: %s %d", rule.name, touched, of_workspace ? "workspace" : "tensor", whose);
    }
    sound(code, status);
    // Of a call with gradients dl_workspace speaks for both directions.
    if (asked && !backward) EXPECT(code != 0, "dl_workspace refused, the call did not");
    if (small && !backward) EXPECT(code != 0, "a workspace too small was taken");
    bool const none = std::strncmp(dl_last_path(), "none", 4) == 0; // nothing it writes is wanted
    if (!runnable) EXPECT(code != 0 || none, "ran without a workspace: %s", rule.name);
    EXPECT(arena.workspace.intact(), "beside the workspace");
    std::vector<unsigned char*> written;
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto const& d = all[i];
        if (!d.home) continue;
        EXPECT(d.home->intact(), "beside tensor %zu", i);
        if (code) EXPECT(hash(*d.home) == before[i], "refused ('%s'), yet wrote tensor %zu", status.message, i);
        if (!code && d.written) each_byte(d, [&](unsigned char* b) { written.push_back(b); });
    }
    if (code || none) return 0;
    std::sort(written.begin(), written.end());
    EXPECT(std::adjacent_find(written.begin(), written.end()) == written.end(), "%s: two results on one byte",
           rule.name);
    for (auto const& d : all)
        if (!d.written)
            each_byte(d, [&](unsigned char* b) {
                bool const hit = std::binary_search(written.begin(), written.end(), b);
                EXPECT(!hit || (d.kind == 2 && states[1][d.state].data == d.tensor->data && !backward),
                       "%s: a result lies on what is read", rule.name);
            });
    return 0;
}
