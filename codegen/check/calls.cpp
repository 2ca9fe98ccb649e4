#include "codegen/check/calls.hpp"

#include "deltaloom/runtime/cpu/driver.hpp"

#include <limits>
#include <stdexcept>

namespace deltaloom::codegen {

std::size_t entries(TypedRule const& rule, CallShape const& shape, OperandId id) {
    auto const& o = rule.operands[std::size_t(id)];
    std::size_t n = o.steps ? std::size_t(o.steps) : 1;
    for (DimId d : {o.shape.rows, o.shape.cols})
        if (d != one) n *= std::size_t(shape.dims[std::size_t(d)]);
    return n;
}
std::size_t total(TypedRule const& rule, CallShape const& shape, OperandId id) {
    std::size_t const n = entries(rule, shape, id) * std::size_t(shape.operand_heads[std::size_t(id)]);
    switch (rule.operands[std::size_t(id)].role) {
    case Role::parameter: return n;
    case Role::state: return n * std::size_t(shape.batch);
    case Role::input:
    case Role::gate:
    case Role::output: return n * std::size_t(shape.batch) * std::size_t(shape.tokens);
    }
    return n;
}

namespace {

// Storage of one scalar type behind a dl_tensor.
struct Stored {
    std::vector<float> f;
    std::vector<double> d;
    Stored(std::vector<double> const& values, bool is_double) {
        if (is_double)
            d = values, d.resize(std::max<std::size_t>(1, d.size()));
        else
            f.assign(values.begin(), values.end()), f.resize(std::max<std::size_t>(1, f.size()));
    }
    void* data() { return d.empty() ? static_cast<void*>(f.data()) : d.data(); }
    std::vector<double> read(std::size_t n) const {
        std::vector<double> r(n);
        for (std::size_t i = 0; i < n; ++i) r[i] = d.empty() ? double(f[i]) : d[i];
        return r;
    }
};

dl_tensor tensor(TypedRule const& rule, CallShape const& shape, OperandId id, Stored& stored) {
    auto const& o = rule.operands[std::size_t(id)];
    dl_tensor t{};
    t.data = stored.data();
    t.scalar = shape.is_double ? DL_F64 : DL_F32;
    t.heads = std::uint32_t(shape.operand_heads[std::size_t(id)]);
    std::vector<std::int64_t> axes;
    if (o.steps) axes.push_back(o.steps);
    for (DimId d : {o.shape.rows, o.shape.cols})
        if (d != one) axes.push_back(shape.dims[std::size_t(d)]);
    std::int64_t step = 1;
    for (std::size_t a = axes.size(); a-- > 0; step *= axes[a]) t.stride[3 + a] = step;
    t.stride[2] = step;
    if (o.role == Role::parameter) return t;
    t.stride[1] = o.role == Role::state ? 0 : step * t.heads;
    t.stride[0] = step * t.heads * (o.role == Role::state ? 1 : shape.tokens);
    return t;
}

} // namespace

CallResult call(Described const& described, TypedRule const& rule, CallShape const& shape, dl_form form, int chunk,
                int threads, CallTensors const& values, CallTensors const& arriving) {
    std::size_t const count = rule.operands.size();
    constexpr double rubbish = std::numeric_limits<double>::quiet_NaN(); // what is not written is seen
    std::vector<Stored> in, out;
    in.reserve(2 * count), out.reserve(2 * count);
    std::vector<dl_tensor> operand(count), gradient(count), state_in, state_out, state_in_gradient, state_out_gradient;
    std::vector<int> written(count), written_gradient(count);
    auto const fresh = [&](OperandId id) {
        out.emplace_back(std::vector<double>(total(rule, shape, id), rubbish), shape.is_double);
        return tensor(rule, shape, id, out.back());
    };
    auto const given = [&](OperandId id, std::vector<double> const& v) {
        in.emplace_back(v, shape.is_double);
        return tensor(rule, shape, id, in.back());
    };
    for (OperandId id = 0; id < OperandId(count); ++id) {
        auto const i = std::size_t(id);
        switch (rule.operands[i].role) {
        case Role::state:
            state_in.push_back(given(id, values.values[i]));
            written[i] = int(out.size()), state_out.push_back(fresh(id));
            written_gradient[i] = int(out.size()), state_in_gradient.push_back(fresh(id));
            state_out_gradient.push_back(given(id, arriving.values[i]));
            break;
        case Role::output:
            written[i] = int(out.size()), operand[i] = fresh(id);
            gradient[i] = given(id, arriving.values[i]);
            break;
        case Role::input:
        case Role::gate:
        case Role::parameter:
            operand[i] = given(id, values.values[i]);
            written_gradient[i] = int(out.size()), gradient[i] = fresh(id);
            break;
        }
    }
    dl_call c{};
    c.struct_size = sizeof c, c.abi_version = DL_ABI_VERSION;
    c.form = form, c.chunk = std::uint32_t(chunk), c.threads = threads;
    c.batch = shape.batch, c.tokens = shape.tokens, c.value_heads = shape.heads;
    for (std::size_t d = 0; d < shape.dims.size(); ++d) c.dim[d] = shape.dims[d];
    c.operand = operand.data(), c.gradient = gradient.data();
    c.state_in = state_in.data(), c.state_out = state_out.data(), c.state_in_gradient = state_in_gradient.data(),
    c.state_out_gradient = state_out_gradient.data();
    dl_status status{};
    for (bool backward : {false, true}) {
        auto const must = [&](int code) {
            if (code) throw std::runtime_error(status.message);
        };
        runtime::place_list places;
        must(runtime::validate(&described.rule, &c, backward, &status, places));
        runtime::driver driver(described.rule, c, backward);
        must(driver.prepare(&status));
        std::vector<char> workspace(driver.bytes, char(0xff)); // NaN in every scalar
        c.workspace = workspace.data(), c.workspace_bytes = workspace.size();
        must(driver.execute(places, &status));
    }
    CallResult result;
    result.forward.values.resize(count), result.gradients.values.resize(count);
    for (OperandId id = 0; id < OperandId(count); ++id) {
        auto const i = std::size_t(id);
        auto const read = [&](int at) { return out[std::size_t(at)].read(total(rule, shape, id)); };
        Role const role = rule.operands[i].role;
        if (role == Role::state || role == Role::output) result.forward.values[i] = read(written[i]);
        if (role != Role::output) result.gradients.values[i] = read(written_gradient[i]);
    }
    return result;
}

} // namespace deltaloom::codegen
