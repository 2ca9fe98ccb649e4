#pragma once
// One call of the generated kernels for a layer: tensors by the description of the rule, whatever rule it is.
#include "layers.hpp"
#include "model.hpp"

#include <deltaloom/runtime/abi/call.hpp>

namespace lm {

// Pointers of one layer. Vectors and gates are rows of plan.vectors and plan.gates columns, read and d_read of
// heads * dv; learned values lie per head. States as in Model::state, or null.
template<class K> struct MemoryData {
    K *vectors, *gates, *learned, *read;
    K *d_vectors = nullptr, *d_gates = nullptr, *d_learned = nullptr, *d_read = nullptr;
    K const* before = nullptr;
    K* after = nullptr;
};

// Throws deltaloom::error.
template<class K>
void run_memory(Model const& model, int layer, int sequences, int tokens, MemoryData<K> const& data,
                std::vector<std::byte>& workspace, bool backward) {
    dl_rule const& rule = *model.plan.rule;
    int const heads = model.settings.heads;
    std::vector<dl_tensor> operand(rule.operand_count), gradient(rule.operand_count);
    // A tensor whose trailing axes are dense, with the given steps from sequence, token and head to the next.
    auto const tensor = [&](K const* at, std::size_t sequence, std::size_t token, std::size_t head,
                            std::vector<int> const& axes) {
        dl_tensor t{};
        t.data = const_cast<K*>(at), t.heads = std::uint32_t(heads);
        t.scalar = std::is_same_v<K, float> ? DL_F32 : DL_F64;
        t.stride[0] = std::int64_t(sequence), t.stride[1] = std::int64_t(token), t.stride[2] = std::int64_t(head);
        std::int64_t step = 1;
        for (std::size_t a = axes.size(); a-- > 0; step *= axes[a]) t.stride[3 + a] = step;
        return t;
    };
    auto const rows = [&](K const* at, int columns, std::size_t head, std::vector<int> const& axes) {
        return tensor(at, std::size_t(tokens) * std::size_t(columns), std::size_t(columns), head, axes);
    };
    for (auto const& f : model.plan.fillings) {
        auto const head = std::size_t(f.per_head());
        if (f.learned) {
            operand[f.operand] = tensor(data.learned + f.column, 0, 0, head, f.axes);
            if (data.d_learned) gradient[f.operand] = tensor(data.d_learned + f.column, 0, 0, head, f.axes);
            continue;
        }
        bool const vector = f.map == Map::unit || f.map == Map::plain;
        int const columns = vector ? model.plan.vectors : model.plan.gates;
        K *const from = vector ? data.vectors : data.gates, *const to = vector ? data.d_vectors : data.d_gates;
        operand[f.operand] = rows(from + f.column, columns, head, f.axes);
        if (to) gradient[f.operand] = rows(to + f.column, columns, head, f.axes);
    }
    int const width = model.value_width;
    operand[model.plan.output] = rows(data.read, width, std::size_t(model.settings.dv), {model.settings.dv});
    if (data.d_read)
        gradient[model.plan.output] = rows(data.d_read, width, std::size_t(model.settings.dv), {model.settings.dv});

    std::vector<dl_tensor> before(model.plan.states.size()), after(before.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
        auto const& shape = model.plan.states[i];
        auto const at = model.state.layers[std::size_t(layer)].states[i];
        if (data.before) before[i] = tensor(data.before + at, model.state.count, 0, shape.entries, shape.axes);
        if (data.after) after[i] = tensor(data.after + at, model.state.count, 0, shape.entries, shape.axes);
    }
    dl_call call{};
    call.struct_size = sizeof call, call.abi_version = DL_ABI_VERSION;
    call.batch = sequences, call.tokens = tokens, call.value_heads = heads, call.threads = 1;
    std::copy(model.plan.dim.begin(), model.plan.dim.end(), call.dim);
    call.operand = operand.data(), call.gradient = backward ? gradient.data() : nullptr;
    call.state_in = before.data(), call.state_out = after.data();
    dl_status status{};
    std::size_t needed = 0;
    if (model.calls.workspace(&rule, &call, &needed, &status)) throw deltaloom::error(status);
    if (workspace.size() < needed) workspace.resize(needed);
    call.workspace = workspace.data(), call.workspace_bytes = workspace.size();
    if ((backward ? model.calls.backward : model.calls.forward)(&rule, &call, &status)) throw deltaloom::error(status);
}

} // namespace lm
