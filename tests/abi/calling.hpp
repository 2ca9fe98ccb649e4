#pragma once
// A call of any rule of a library, from what the library says of itself: contiguous float32 tensors between forbidden
// pages, drawn by kind and domain. A test changes what it is about and runs it.
#include "codegen/check/guarded.hpp"

#include <algorithm>
#include <cmath>
#include <contract_rules/library-calls.h>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace deltaloom::test {

using codegen::Guarded;
using codegen::GuardedEnd;

struct Shape {
    std::int64_t batch = 1, tokens = 0, heads = 1, dk = 5, dv = 3;
    std::vector<std::int64_t> offsets{};              // packed sequences, where there are any
    std::map<std::string, std::uint32_t> own_heads{}; // fewer heads; a hidden state has those of what it holds
};

// The functions of one library.
struct Library {
    int (*workspace)(dl_rule const*, dl_call const*, std::size_t*, dl_status*) = dl_workspace;
    int (*forward)(dl_rule const*, dl_call const*, dl_status*) = dl_forward;
    int (*backward)(dl_rule const*, dl_call const*, dl_status*) = dl_backward;
};

struct Call {
    dl_rule const& rule;
    Shape shape;
    GuardedEnd end;
    dl_call call{};
    std::vector<dl_tensor> operand, gradient, state_in, state_out, state_in_gradient, state_out_gradient, snapshots;
    std::deque<Guarded> memory;
    struct Output {
        dl_tensor* tensor;
        unsigned char* data; // where it was made
        std::size_t bytes;
    };
    std::vector<Output> outputs[2];                    // what forward, backward write
    std::map<dl_tensor const*, std::size_t> entries{}; // of a tensor
    Library library{};
    Guarded workspace{0};
    dl_status status{};

    Call(dl_rule const& r, Shape s, unsigned seed = 1, GuardedEnd e = GuardedEnd::back)
        : rule(r),
          shape(std::move(s)),
          end(e) {
        std::mt19937 generator(seed);
        call.struct_size = sizeof call, call.abi_version = DL_ABI_VERSION;
        call.batch = shape.batch, call.tokens = shape.tokens, call.value_heads = shape.heads;
        for (std::uint32_t d = 0; d < rule.dim_count; ++d) call.dim[d] = extent(rule.dims[d]);
        if (!shape.offsets.empty())
            call.offsets = shape.offsets.data(), call.sequences = std::int64_t(shape.offsets.size()) - 1;
        std::size_t const count = rule.operand_count;
        operand.resize(count), gradient.resize(count);
        std::size_t states = 0, state = 0;
        for (std::size_t i = 0; i < count; ++i) states += rule.operands[i].kind == DL_STATE;
        for (auto* all : {&state_in, &state_out, &state_in_gradient, &state_out_gradient, &snapshots})
            all->resize(states);
        for (std::size_t i = 0; i < count; ++i) {
            dl_operand const& o = rule.operands[i];
            if (o.kind == DL_STATE) {
                make(state_in[state], o, &generator), make(state_out[state], o, nullptr, 0);
                make(state_in_gradient[state], o, nullptr, 1), make(state_out_gradient[state], o, &generator);
                ++state;
            } else if (o.kind == DL_OUTPUT) {
                make(operand[i], o, nullptr, 0), make(gradient[i], o, &generator);
            } else {
                make(operand[i], o, &generator), make(gradient[i], o, nullptr, 1);
            }
        }
        call.operand = operand.data(), call.gradient = gradient.data();
        call.state_in = state_in.data(), call.state_out = state_out.data();
        call.state_in_gradient = state_in_gradient.data(), call.state_out_gradient = state_out_gradient.data();
    }
    Call(Call const&) = delete;

    std::int64_t extent(std::string const& dim) const {
        return dim == "dk" ? shape.dk : dim == "dv" ? shape.dv : std::atoll(dim.c_str());
    }
    std::uint32_t heads(dl_operand const& o) const {
        if (o.kind == DL_OUTPUT) return std::uint32_t(shape.heads);
        std::string name = o.name;
        if (o.kind == DL_STATE && name.find("_previous") != name.npos) name.resize(name.find("_previous"));
        auto const own = shape.own_heads.find(name);
        return own == shape.own_heads.end() ? std::uint32_t(shape.heads) : own->second;
    }
    std::int64_t sequences() const {
        return shape.offsets.empty() ? shape.batch : std::int64_t(shape.offsets.size()) - 1;
    }
    std::size_t index(std::string const& name) const { // of an operand, of a state among the states
        std::size_t state = 0;
        for (std::size_t i = 0; i < rule.operand_count; ++i) {
            bool const is_state = rule.operands[i].kind == DL_STATE;
            if (rule.operands[i].name == name) return is_state ? state : i;
            state += is_state;
        }
        throw std::runtime_error("no operand " + name);
    }
    float* data(dl_tensor const& t) const { return static_cast<float*>(t.data); }
    std::vector<float> values(dl_tensor const& t) const {
        return t.data ? std::vector<float>(data(t), data(t) + entries.at(&t)) : std::vector<float>{};
    }

    // Contiguous [rows, tokens, heads, axes...] as the operand has them; `slots`: a state's snapshots. Drawn, or
    // poisoned and written by direction `writes`.
    void make(dl_tensor& t, dl_operand const& o, std::mt19937* draw, int writes = -1, std::int64_t slots = 0) {
        bool const state = o.kind == DL_STATE, parameter = o.varies == DL_PER_HEAD;
        t = {};
        t.scalar = DL_F32, t.heads = heads(o);
        std::int64_t step = 1;
        for (std::uint32_t a = o.rank; a-- > 0;) t.stride[3 + a] = step, step *= extent(o.dims[a]);
        t.stride[2] = step, step *= t.heads;
        if (slots) t.stride[1] = step, step *= slots;
        if (!state && !parameter) t.stride[1] = step, step *= shape.tokens;
        if (!parameter) t.stride[0] = step, step *= state ? sequences() : shape.batch;
        auto& room = memory.emplace_back(std::size_t(step) * sizeof(float), end);
        t.data = room.data();
        entries[&t] = std::size_t(step);
        if (writes >= 0) outputs[writes].push_back({&t, room.as<unsigned char>(), room.bytes()});
        if (!draw) return room.fill(0xff);
        std::uniform_real_distribution<float> unit(0, 1);
        float* const out = room.as<float>();
        for (std::int64_t e = 0; e < step; ++e) {
            float const x = unit(*draw);
            bool const scalar = o.rank == 0 || (o.rank == 1 && std::isdigit(o.dims[0][0]));
            out[e] = o.domain == DL_LOG      ? -x
                     : o.domain == DL_LINEAR ? 0.5f + x / 2
                     : scalar                ? x
                                             : (2 * x - 1) * std::sqrt(3.0f / float(extent(o.dims[o.rank - 1])));
        }
    }
    // Where the elements of a tensor are, in the order of a contiguous one, wherever its strides have them.
    std::vector<float*> places(dl_tensor const& t, dl_operand const& o, std::int64_t slots = 1) const {
        bool const state = o.kind == DL_STATE, parameter = o.varies == DL_PER_HEAD;
        std::int64_t const rows = parameter ? 1 : state ? sequences() : shape.batch;
        std::int64_t const tokens = parameter ? 1 : state ? slots : shape.tokens;
        std::vector<std::int64_t> offsets;
        for (std::int64_t b = 0; b < rows; ++b)
            for (std::int64_t s = 0; s < tokens; ++s)
                for (std::int64_t h = 0; h < std::int64_t(t.heads); ++h)
                    offsets.push_back((parameter ? 0 : b * t.stride[0] + s * t.stride[1]) + h * t.stride[2]);
        bool const turned = state && o.rank == 2 && call.flags & DL_STATE_TRANSPOSED;
        for (std::uint32_t a = 0; a < o.rank; ++a) {
            std::vector<std::int64_t> more;
            more.reserve(offsets.size() * std::size_t(extent(o.dims[a])));
            for (auto at : offsets)
                for (std::int64_t i = 0; i < extent(o.dims[a]); ++i)
                    more.push_back(at + i * t.stride[3 + (turned ? 1 - a : a)]);
            offsets = more;
        }
        std::vector<float*> all;
        all.reserve(offsets.size());
        for (auto at : offsets) all.push_back(data(t) + at);
        return all;
    }
    std::vector<float> read(dl_tensor const& t, dl_operand const& o, std::int64_t slots = 1) const {
        auto const from = places(t, o, slots);
        std::vector<float> all(from.size());
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = *from[i];
        return all;
    }
    void write(dl_tensor const& t, dl_operand const& o, std::vector<float> const& values) const {
        auto const all = places(t, o);
        for (std::size_t i = 0; i < all.size(); ++i) *all[i] = values[i];
    }
    // f(tensor, operand) for every tensor of a direction: 0 what both read, 1 what backward reads too, 2 what forward
    // writes, 3 what backward writes.
    template<class F> void each(int what, F f) {
        std::size_t state = 0;
        for (std::uint32_t i = 0; i < rule.operand_count; ++i) {
            dl_operand const& o = rule.operands[i];
            bool const output = o.kind == DL_OUTPUT;
            if (o.kind == DL_STATE) {
                auto& all = what == 0   ? state_in
                            : what == 1 ? state_out_gradient
                            : what == 2 ? state_out
                                        : state_in_gradient;
                f(all[state++], o);
            } else if (output == (what == 1 || what == 2))
                f(what == 0 || what == 2 ? operand[i] : gradient[i], o);
        }
    }
    void make_snapshots(std::int64_t n) {
        std::size_t state = 0;
        for (std::uint32_t i = 0; i < rule.operand_count; ++i)
            if (rule.operands[i].kind == DL_STATE) make(snapshots[state++], rule.operands[i], nullptr, 0, n);
        call.state_snapshots = snapshots.data(), call.snapshots = n;
    }

    // A workspace of exactly what is asked for, full of NaN.
    int prepare(bool backward) {
        std::size_t bytes = 0;
        auto const kept = call.gradient;
        if (!backward) call.gradient = nullptr;
        int const code = library.workspace(&rule, &call, &bytes, &status);
        call.gradient = kept;
        if (code) return code;
        workspace = Guarded(bytes, end);
        workspace.fill(0xff);
        call.workspace = workspace.data(), call.workspace_bytes = bytes;
        return 0;
    }
    int run(bool backward) {
        if (int code = prepare(backward)) return code;
        return (backward ? library.backward : library.forward)(&rule, &call, &status);
    }
    // Nothing was written beside the buffers.
    bool intact() const {
        return workspace.intact() &&
               std::all_of(memory.begin(), memory.end(), [](Guarded const& g) { return g.intact(); });
    }
    void poison() const {
        for (auto const& direction : outputs)
            for (auto const& o : direction) std::memset(o.data, 0xff, o.bytes);
    }
    bool untouched() const { // as `poison` left it
        for (auto const& direction : outputs)
            for (auto const& o : direction)
                for (std::size_t b = 0; b < o.bytes; ++b)
                    if (o.data[b] != 0xff) return false;
        return true;
    }
    // The bits of everything that a direction wrote.
    std::uint64_t hash(bool backward) const {
        std::uint64_t h = 0xcbf29ce484222325u;
        for (auto const& o : outputs[backward])
            for (std::size_t b = 0; o.tensor->data && b < o.bytes; ++b) h = (h ^ o.data[b]) * 0x100000001b3u;
        return h;
    }
    bool finite(bool backward) const { // NaN: something was not written
        for (auto const& o : outputs[backward])
            for (float x : values(*o.tensor))
                if (!std::isfinite(x)) return false;
        return true;
    }
};

inline double largest_difference(std::vector<float> const& a, std::vector<float> const& b) {
    double worst = a.size() == b.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) {
        double const d = std::fabs(double(a[i]) - double(b[i]));
        if (!(d <= worst)) worst = std::isnan(d) ? INFINITY : d;
    }
    return worst;
}

} // namespace deltaloom::test
