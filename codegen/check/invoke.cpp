#include "codegen/check/invoke.hpp"

#include "codegen/check/guarded.hpp"
#include "deltaloom/runtime/cpu/calls.hpp"

#include <cfenv>
#include <deque>
#include <fmt/format.h>
#include <limits>

namespace deltaloom::codegen {
namespace {

using runtime::index;

// Memory of a tensor or of the workspace.
struct Memory {
    std::vector<unsigned char> plain;
    std::optional<Guarded> guarded;
    std::size_t bytes = 0;

    Memory(std::size_t n, Layout layout, unsigned char rubbish) : bytes(n) {
        if (layout == Layout::guarded_front || layout == Layout::guarded_back) {
            guarded.emplace(n, layout == Layout::guarded_front ? GuardedEnd::front : GuardedEnd::back);
            guarded->fill(rubbish);
        } else
            plain.assign(n + 64, rubbish); // the rest is looked at, too
    }
    unsigned char* data() { return guarded ? reinterpret_cast<unsigned char*>(guarded->data()) : plain.data(); }
    std::size_t watched() const { return guarded ? bytes : plain.size(); }
};

struct Tensor {
    std::string name;
    dl_tensor t{};
    std::vector<index> offsets; // of the elements, in row-major order
    std::optional<Memory> memory;
    std::vector<unsigned char> before; // the bytes as they were
    bool output = false;

    // Row-major axes: extent and the slot of dl_tensor::stride that it has.
    void lay_out(std::vector<std::pair<index, int>> const& axes, Layout layout, unsigned char rubbish) {
        auto order = axes; // the fastest first
        std::reverse(order.begin(), order.end());
        if (layout == Layout::turned) // tokens, the trailing axes from the first to the last, heads, batch
            std::sort(order.begin(), order.end(), [](auto const& a, auto const& b) {
                auto const rank = [](int slot) { return slot == 1 ? 0 : slot >= 3 ? slot : 10 - slot; };
                return rank(a.second) < rank(b.second);
            });
        index step = layout == Layout::spaced ? 2 : 1;
        for (auto [extent, slot] : order) {
            t.stride[slot] = step;
            step *= extent + (layout == Layout::spaced ? 1 + slot % 2 : 0);
        }
        offsets.assign(1, 0);
        for (auto [extent, slot] : axes) {
            std::vector<index> next;
            next.reserve(offsets.size() * std::size_t(extent));
            for (index at : offsets)
                for (index i = 0; i < extent; ++i) next.push_back(at + i * t.stride[slot]);
            offsets = std::move(next);
        }
        index last = 0;
        for (index at : offsets) last = std::max(last, at);
        memory.emplace(std::size_t(last + 1) * std::size_t(runtime::element_bytes(t.scalar)), layout, rubbish);
        t.data = memory->data();
    }
    void write(std::vector<double> const& values) {
        runtime::as_stored<double>(t.data, t.scalar, [&]<class Stored>(Stored* data) {
            for (std::size_t i = 0; i < offsets.size(); ++i) data[offsets[i]] = runtime::narrowed<Stored>(values[i]);
        });
    }
    std::vector<double> read() const {
        std::vector<double> values(offsets.size());
        runtime::as_stored<double>(t.data, t.scalar, [&]<class Stored>(Stored* data) {
            for (std::size_t i = 0; i < offsets.size(); ++i) values[i] = runtime::widened<double>(data[offsets[i]]);
        });
        return values;
    }
    void remember() { before.assign(memory->data(), memory->data() + memory->watched()); }
    // Changed bytes that belong to no element which may be written.
    bool strayed() {
        auto const size = std::size_t(runtime::element_bytes(t.scalar));
        if (output)
            for (index at : offsets)
                std::copy_n(memory->data() + std::size_t(at) * size, size,
                            before.begin() + std::ptrdiff_t(std::size_t(at) * size));
        return !std::equal(before.begin(), before.end(), memory->data()) ||
               (memory->guarded && !memory->guarded->intact());
    }
};

void run_in_order(void*, std::int64_t n, void (*body)(void*, std::int64_t), void* context) {
    for (std::int64_t i = 0; i < n; ++i) body(context, i);
}
void run_reversed(void*, std::int64_t n, void (*body)(void*, std::int64_t), void* context) {
    for (std::int64_t i = n; i-- > 0;) body(context, i);
}

struct Flags {
    bool called = false, inexact = false;
};
void run_watched(void* host, std::int64_t n, void (*body)(void*, std::int64_t), void* context) {
    auto& flags = *static_cast<Flags*>(host);
    flags.called = true;
    for (std::int64_t i = 0; i < n; ++i) {
        std::feclearexcept(FE_ALL_EXCEPT);
        body(context, i);
        flags.inexact |= std::fetestexcept(FE_INEXACT) != 0;
    }
}

struct Invocation {
    TypedRule const& rule;
    Point const& point;
    Manner const& manner;
    std::deque<Tensor> tensors;

    // slots: of a state's snapshots.
    Tensor& tensor(OperandId id, std::string const& prefix, bool output, int slots = 0) {
        auto const& o = rule.operands[std::size_t(id)];
        auto const& shape = point.shape;
        Tensor& t = tensors.emplace_back();
        t.name = prefix + o.name, t.output = output;
        t.t.scalar = !manner.scalars.empty() ? manner.scalars[std::size_t(id)] : shape.stored(o.role);
        t.t.heads = std::uint32_t(shape.operand_heads[std::size_t(id)]);
        std::vector<std::pair<index, int>> axes;
        if (o.role == Role::state) axes.emplace_back(point.sequences(), 0);
        if (slots) axes.emplace_back(slots, 1);
        if (o.role != Role::state && o.role != Role::parameter)
            axes.emplace_back(shape.batch, 0), axes.emplace_back(shape.tokens, 1);
        axes.emplace_back(t.t.heads, 2);
        int slot = 3;
        if (o.steps) axes.emplace_back(o.steps, slot++);
        for (DimId d : {o.shape.rows, o.shape.cols})
            if (d != one) axes.emplace_back(shape.dims[std::size_t(d)], slot++);
        bool const matrix = o.shape.rows != one && o.shape.cols != one;
        if (o.role == Role::state && matrix && manner.flags & DL_STATE_TRANSPOSED)
            std::swap(axes[axes.size() - 1].second, axes[axes.size() - 2].second);
        t.lay_out(axes, manner.layout, manner.rubbish);
        return t;
    }
    dl_tensor given(OperandId id, CallTensors const& values, std::string const& prefix = "") {
        Tensor& t = tensor(id, prefix, false);
        t.write(values.values[std::size_t(id)]);
        return t.t;
    }
};

} // namespace

Answer invoke(Described const& described, TypedRule const& rule, Point const& point, Manner const& manner) {
    Invocation call{rule, point, manner, {}};
    std::size_t const count = rule.operands.size();
    std::vector<dl_tensor> operand(count), gradient(count), state_in, state_out, state_in_gradient, state_out_gradient,
        snapshots;
    std::vector<Tensor*> written(count), written_gradient(count), kept(count);
    auto const fresh = [&](std::vector<Tensor*>& list, OperandId id, char const* prefix) {
        return (list[std::size_t(id)] = &call.tensor(id, prefix, true))->t;
    };
    for (OperandId id = 0; id < OperandId(count); ++id) {
        auto const i = std::size_t(id);
        switch (rule.operands[i].role) {
        case Role::state:
            state_in.push_back(manner.state_in ? call.given(id, point.values) : dl_tensor{});
            if (manner.in_place) {
                written[i] = &call.tensors.back();
                written[i]->output = true;
                state_out.push_back(state_in.back());
            } else
                state_out.push_back(manner.state_out ? fresh(written, id, "the final ") : dl_tensor{});
            if (manner.snapshots) {
                kept[i] = &call.tensor(id, "the snapshots of ", true, manner.snapshots);
                snapshots.push_back(kept[i]->t);
            }
            state_in_gradient.push_back(manner.state_in ? fresh(written_gradient, id, "d_") : dl_tensor{});
            state_out_gradient.push_back(manner.arriving_states ? call.given(id, point.arriving, "the arriving d_")
                                                                : dl_tensor{});
            break;
        case Role::output:
            operand[i] = fresh(written, id, "");
            if (manner.arriving_outputs) gradient[i] = call.given(id, point.arriving, "the arriving d_");
            break;
        case Role::input:
        case Role::gate:
        case Role::parameter:
            operand[i] = call.given(id, point.values);
            gradient[i] = fresh(written_gradient, id, "d_");
            break;
        }
    }
    dl_call c{};
    c.struct_size = sizeof c, c.abi_version = DL_ABI_VERSION;
    c.form = manner.form, c.chunk = std::uint32_t(manner.chunk), c.threads = manner.threads, c.flags = manner.flags;
    c.batch = point.shape.batch, c.tokens = point.shape.tokens, c.value_heads = point.shape.heads;
    for (std::size_t d = 0; d < point.shape.dims.size(); ++d) c.dim[d] = point.shape.dims[d];
    if (!point.offsets.empty()) c.offsets = point.offsets.data(), c.sequences = point.sequences();
    c.operand = operand.data();
    c.state_in = state_in.data(), c.state_out = state_out.data();
    if (manner.snapshots) c.state_snapshots = snapshots.data(), c.snapshots = manner.snapshots;
    if (manner.overlap) {
        auto const role = [&](std::size_t i) { return rule.operands[i].role; };
        std::size_t from = 0, to = 0;
        while (role(to) != Role::output) ++to;
        while (role(from) != Role::input && role(from) != Role::gate) ++from;
        operand[to].data = operand[from].data;
    }
    Flags flags;
    c.host = &flags;
    switch (manner.host) {
    case Host::none: break;
    case Host::in_order: c.parallel_for = run_in_order; break;
    case Host::reversed: c.parallel_for = run_reversed; break;
    case Host::watched: c.parallel_for = run_watched; break;
    }
    for (auto& t : call.tensors) t.remember();

    Answer answer;
    for (bool backward : {false, true}) {
        if (backward ? !manner.backward : !manner.forward) continue;
        if (backward)
            c.gradient = gradient.data(), c.state_in_gradient = state_in_gradient.data(),
            c.state_out_gradient = state_out_gradient.data();
        std::size_t bytes = 0;
        answer.code = std::uint32_t(runtime::workspace(&described.rule, &c, &bytes, &answer.status));
        if (answer.code) return answer;
        Memory workspace(bytes, manner.layout, manner.rubbish);
        std::vector<unsigned char> const around(workspace.data() + bytes, workspace.data() + workspace.watched());
        c.workspace = workspace.data(), c.workspace_bytes = bytes;
        auto const run = [&] {
            answer.code = std::uint32_t(runtime::execute(&described.rule, &c, &answer.status, backward));
        };
        void const* touched = nullptr;
        if (workspace.guarded)
            touched = forbidden_touch(run);
        else
            run();
        answer.path = runtime::last_path();
        if (touched) {
            answer.stray = "memory of nobody";
            if (workspace.guarded->guards(touched)) answer.stray = "beside the workspace";
            for (auto const& t : call.tensors)
                if (t.memory->guarded->guards(touched)) answer.stray = "beside " + t.name;
            return answer;
        }
        if (answer.code) return answer;
        if (!std::equal(around.begin(), around.end(), workspace.data() + bytes) ||
            (workspace.guarded && !workspace.guarded->intact()))
            answer.stray = "a write beside the workspace";
    }
    answer.exact = flags.called && !flags.inexact;
    for (auto& t : call.tensors)
        if (answer.stray.empty() && t.strayed()) answer.stray = "a write beside the elements of " + t.name;
    answer.forward.values.resize(count), answer.gradients.values.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        answer.snapshots.values.push_back(kept[i] ? kept[i]->read() : std::vector<double>());
        if (manner.forward && written[i]) answer.forward.values[i] = written[i]->read();
        if (manner.backward && written_gradient[i]) answer.gradients.values[i] = written_gradient[i]->read();
    }
    return answer;
}

} // namespace deltaloom::codegen
