#include "codegen/check/compiled.hpp"

#include "codegen/check/segments.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <fmt/format.h>
#include <stdexcept>

namespace deltaloom::codegen {

Compiled::Compiled(std::filesystem::path const& object, LoadedRule const& rule, std::string const& library,
                   std::string const& isa)
    : rule_(rule) {
    handle_ = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) throw std::runtime_error(dlerror());
    oracle_ = static_cast<check::token_function const*>(
        dlsym(handle_, ("deltaloom_oracle_" + rule.declaration.name).c_str()));
    text_ = static_cast<runtime::kernel const*>(dlsym(handle_, ("deltaloom_exact_" + rule.declaration.name).c_str()));
    production_ = static_cast<runtime::kernel_table const*>(
        dlsym(handle_, fmt::format("{}_{}_kernels_{}", library, rule.declaration.name, isa).c_str()));
}
Compiled::~Compiled() {
    if (handle_) dlclose(handle_);
}

template<class K>
static OracleRun<K> evaluate_with(check::token_function token, LoadedRule const& rule, std::vector<int> const& dims,
                                  OracleData<K> const& data) {
    auto const& typed = rule.derived.rule;
    auto const extent = [&](DimId dim) { return dim == one ? 1 : dims[std::size_t(dim)]; };
    OracleRun<K> result;
    result.states = data.states;
    auto parameters = data.parameters;
    for (int t = 0; t < data.length; ++t) {
        auto& outputs = result.outputs.emplace_back();
        std::map<std::string, std::vector<Dense<K>>> inputs;
        for (auto const& [name, tokens] : data.tokens) inputs[name] = tokens[std::size_t(t)];
        std::vector<check::slot> slots;
        for (auto const& o : typed.operands) {
            auto const add = [&](Dense<K>& m, int step) {
                char const* const name =
                    o.previous_of < 0 ? o.name.c_str() : typed.operands[std::size_t(o.previous_of)].name.c_str();
                slots.push_back({name, o.previous_of >= 0, step, o.steps, m.rows, m.cols, o.role == Role::state,
                                 o.role == Role::output, m.e.data()});
            };
            switch (o.role) {
            case Role::parameter: add(parameters.at(o.name), 0); break;
            case Role::state: add(result.states.at(o.name), 0); break;
            case Role::output:
                add(outputs[o.name] = Dense<K>(extent(o.shape.rows), extent(o.shape.cols), K()), 0);
                break;
            case Role::input:
            case Role::gate:
                for (int j = 0; j < std::max(1, o.steps); ++j) add(inputs.at(o.name)[std::size_t(j)], j);
                break;
            }
        }
        token(slots.data(), int(slots.size()));
    }
    return result;
}

OracleRun<runtime::dual<runtime::field>>
Compiled::evaluate(std::vector<int> const& dims, OracleData<runtime::dual<runtime::field>> const& data) const {
    return oracle_ ? evaluate_with(oracle_[0], rule_, dims, data) : run(rule_.declaration, data);
}
OracleRun<runtime::dual<double>> Compiled::evaluate(std::vector<int> const& dims,
                                                    OracleData<runtime::dual<double>> const& data) const {
    return oracle_ ? evaluate_with(oracle_[1], rule_, dims, data) : run(rule_.declaration, data);
}

// ---- the text over the field
// -----------------------------------------------------------------------------------------------------

namespace {

using runtime::field;
using runtime::index;
using runtime::strided;

strided dense(field* data, index entries_per_token, std::vector<index> const& axes) {
    strided s;
    s.data = data, s.token = entries_per_token, s.scalar = DL_EXACT;
    index step = 1;
    for (std::size_t a = axes.size(); a-- > 0; step *= axes[a]) s.axis[a] = step;
    return s;
}

} // namespace

Driven run_text(Compiled const& compiled, int form, int chunk, int segment, std::vector<int> const& dims,
                OracleData<field> const& data, Arriving<field> const& arriving) {
    auto const& typed = compiled.rule().derived.rule;
    std::vector<index> dim(dims.begin(), dims.end());
    std::size_t const count = typed.operands.size();
    std::vector<strided> operand(count), gradient(count), state_in, state_out, in_gradient, out_gradient;
    std::vector<std::vector<field>> storage; // stable: reserved before pointers are taken
    storage.reserve(8 * count);
    auto const keep = [&](std::vector<field> v) {
        if (v.empty()) v.resize(1);
        storage.push_back(std::move(v));
        return storage.back().data();
    };
    auto const axes_of = [&](Operand const& o) {
        std::vector<index> axes;
        if (o.steps) axes.push_back(o.steps);
        for (DimId d : {o.shape.rows, o.shape.cols})
            if (d != one) axes.push_back(dims[std::size_t(d)]);
        return axes;
    };
    // Fresh memory holds rubbish, so that what a kernel does not write is seen.
    auto const rubbish = [](std::size_t n) { return std::vector<field>(n, field::from_element(0x123456789abcdu)); };
    std::vector<field*> state_data(count), state_gradient(count), output_data(count), gradient_data(count);
    for (std::size_t i = 0; i < count; ++i) {
        Operand const& o = typed.operands[i];
        auto const axes = axes_of(o);
        index entries = 1;
        for (index a : axes) entries *= a;
        auto const n = std::size_t(entries) * std::size_t(data.length);
        if (o.role == Role::state) {
            std::vector<field> before = data.states.at(o.name).e, after = arriving.states.at(o.name).e;
            state_in.push_back(dense(keep(before), 0, axes));
            state_out.push_back(dense(state_data[i] = keep(rubbish(std::size_t(entries))), 0, axes));
            in_gradient.push_back(dense(state_gradient[i] = keep(rubbish(std::size_t(entries))), 0, axes));
            out_gradient.push_back(dense(keep(after), 0, axes));
        } else if (o.role == Role::parameter) {
            operand[i] = dense(keep(data.parameters.at(o.name).e), 0, axes);
            gradient[i] = dense(gradient_data[i] = keep(rubbish(std::size_t(entries))), 0, axes);
        } else if (o.role == Role::output) {
            std::vector<field> incoming;
            for (auto const& token : arriving.outputs)
                incoming.insert(incoming.end(), token.at(o.name).e.begin(), token.at(o.name).e.end());
            operand[i] = dense(output_data[i] = keep(rubbish(n)), entries, axes);
            gradient[i] = dense(keep(incoming), entries, axes);
        } else {
            std::vector<field> values;
            for (auto const& token : data.tokens.at(o.name))
                for (auto const& step : token) values.insert(values.end(), step.e.begin(), step.e.end());
            operand[i] = dense(keep(values), entries, axes);
            gradient[i] = dense(gradient_data[i] = keep(rubbish(n)), entries, axes);
        }
    }
    runtime::sequence s;
    s.tokens = data.length, s.chunk = chunk, s.segment = segment, s.dim = dim.data();
    s.operand = operand.data(), s.gradient = gradient.data();
    s.state_in = state_in.data(), s.state_out = state_out.data(), s.state_in_gradient = in_gradient.data(),
    s.state_out_gradient = out_gradient.data();
    for (Direction direction : {Direction::forward, Direction::backward}) {
        if (form == 3) {
            run_segments(compiled, direction, s, chunk * segment);
            continue;
        }
        auto const kernel = compiled.text(form, direction);
        auto room = rubbish(std::size_t(kernel.scratch(s)) + 16);
        auto const aligned = (reinterpret_cast<std::uintptr_t>(room.data()) + 63) / 64 * 64;
        kernel.run(s, reinterpret_cast<void*>(aligned));
    }

    Driven driven;
    driven.forward.outputs.resize(std::size_t(data.length));
    driven.gradients = data;
    for (std::size_t i = 0; i < count; ++i) {
        Operand const& o = typed.operands[i];
        auto const take = [](field const*& from, Dense<field>& to) {
            for (auto& x : to.e) x = *from++;
        };
        if (o.role == Role::state) {
            Dense<field> m = data.states.at(o.name);
            field const* from = state_data[i];
            take(from, m);
            driven.forward.states[o.name] = m;
            from = state_gradient[i];
            take(from, driven.gradients.states.at(o.name));
        } else if (o.role == Role::output) {
            field const* from = output_data[i];
            for (std::size_t t = 0; t < std::size_t(data.length); ++t) {
                Dense<field> m = arriving.outputs[t].at(o.name);
                take(from, m);
                driven.forward.outputs[t][o.name] = m;
            }
        } else {
            field const* from = gradient_data[i];
            if (o.role == Role::parameter)
                take(from, driven.gradients.parameters.at(o.name));
            else
                for (auto& token : driven.gradients.tokens.at(o.name))
                    for (auto& step : token) take(from, step);
        }
    }
    return driven;
}

} // namespace deltaloom::codegen
