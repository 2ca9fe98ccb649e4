#include "codegen/check/compiled.hpp"

#include "codegen/check/segments.hpp"
#include "codegen/check/trial.hpp"
#include "deltaloom/runtime/cpu/features.hpp"

#include <algorithm>
#include <deque>
#include <dlfcn.h>
#include <fmt/format.h>
#include <stdexcept>

namespace deltaloom::codegen {

Compiled::Compiled(std::filesystem::path const& object, LoadedRule const& rule, std::string const& library)
    : rule_(rule) {
    handle_ = dlopen(object.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) throw std::runtime_error(dlerror());
    oracle_ = static_cast<check::token_function const*>(
        dlsym(handle_, ("deltaloom_oracle_" + rule.declaration.name).c_str()));
    text_ = static_cast<runtime::kernel const*>(dlsym(handle_, ("deltaloom_exact_" + rule.declaration.name).c_str()));
    for (int level = 0; level < runtime::isa_levels; ++level)
        production_[level] = static_cast<runtime::kernel_table const*>(
            dlsym(handle_, fmt::format("{}_{}_kernels_{}", library, rule.declaration.name,
                                       runtime::isa_name(runtime::isa_level(level)))
                               .c_str()));
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

// Memory with rubbish around it. Fresh memory holds rubbish too, so that what a kernel does not write is seen.
struct Zoned {
    static constexpr std::size_t zone = 64; // elements on each side
    static field rubbish() { return field::from_element(0x123456789abcdu); }
    std::string name;
    std::vector<field> all, given; // given: what has to stay
    bool output = false;

    Zoned(std::string n, std::vector<field> values) : name(std::move(n)), given(std::move(values)) { fill(given); }
    Zoned(std::string n, std::size_t size) : name(std::move(n)), output(true) {
        fill(std::vector<field>(size, rubbish()));
    }
    field* data() { return all.data() + zone; }
    std::size_t size() const { return all.size() - 2 * zone; }
    // What a kernel wrote here and must not.
    std::optional<Stray> stray() const {
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (i < zone && all[i] != rubbish()) return Stray{name, "a write before its begin"};
            if (i >= all.size() - zone && all[i] != rubbish()) return Stray{name, "a write behind its end"};
            if (i >= zone && i < all.size() - zone && !output && all[i] != given[i - zone])
                return Stray{name, "a write, although it is only read"};
        }
        return std::nullopt;
    }

private:
    void fill(std::vector<field> const& middle) {
        all.assign(middle.size() + 2 * zone, rubbish());
        std::copy(middle.begin(), middle.end(), all.begin() + zone);
    }
};

} // namespace

Driven run_text(Compiled const& compiled, int form, Direction direction, int chunk, int segment, int length,
                std::vector<int> const& dims, OracleData<field> const& data, Arriving<field> const& arriving,
                std::optional<Stray>& stray) {
    auto const& typed = compiled.rule().derived.rule;
    std::vector<index> dim(dims.begin(), dims.end());
    std::size_t const count = typed.operands.size();
    std::vector<strided> operand(count), gradient(count), state_in, state_out, in_gradient, out_gradient;
    std::deque<Zoned> memory; // pointers into it stay
    auto const given = [&](std::string name, std::vector<field> v) {
        return memory.emplace_back(std::move(name), std::move(v)).data();
    };
    std::vector<field*> state_data(count), state_gradient(count), output_data(count), gradient_data(count);
    auto const fresh = [&](field*& at, std::string name, std::size_t n) {
        return at = memory.emplace_back(std::move(name), n).data();
    };
    auto const axes_of = [&](Operand const& o) {
        std::vector<index> axes;
        if (o.steps) axes.push_back(o.steps);
        for (DimId d : {o.shape.rows, o.shape.cols})
            if (d != one) axes.push_back(dims[std::size_t(d)]);
        return axes;
    };
    for (std::size_t i = 0; i < count; ++i) {
        Operand const& o = typed.operands[i];
        auto const axes = axes_of(o);
        index entries = 1;
        for (index a : axes) entries *= a;
        auto const n = std::size_t(entries) * std::size_t(data.length), once = std::size_t(entries);
        auto const flat = [](auto const& tokens, auto const& entries_of) {
            std::vector<field> values;
            for (auto const& token : tokens) entries_of(token, values);
            return values;
        };
        switch (o.role) {
        case Role::state:
            state_in.push_back(dense(given(o.name, data.states.at(o.name).e), 0, axes));
            state_out.push_back(dense(fresh(state_data[i], "the final " + o.name, once), 0, axes));
            in_gradient.push_back(dense(fresh(state_gradient[i], "d_" + o.name, once), 0, axes));
            out_gradient.push_back(dense(given("the arriving d_" + o.name, arriving.states.at(o.name).e), 0, axes));
            break;
        case Role::parameter:
            operand[i] = dense(given(o.name, data.parameters.at(o.name).e), 0, axes);
            gradient[i] = dense(fresh(gradient_data[i], "d_" + o.name, once), 0, axes);
            break;
        case Role::output:
            operand[i] = dense(fresh(output_data[i], o.name, n), entries, axes);
            gradient[i] = dense(given("the arriving d_" + o.name, flat(arriving.outputs,
                                                                       [&](auto const& token, auto& to) {
                                                                           auto const& e = token.at(o.name).e;
                                                                           to.insert(to.end(), e.begin(), e.end());
                                                                       })),
                                entries, axes);
            break;
        case Role::input:
        case Role::gate:
            operand[i] = dense(given(o.name, flat(data.tokens.at(o.name),
                                                  [](auto const& steps, auto& to) {
                                                      for (auto const& step : steps)
                                                          to.insert(to.end(), step.e.begin(), step.e.end());
                                                  })),
                               entries, axes);
            gradient[i] = dense(fresh(gradient_data[i], "d_" + o.name, n), entries, axes);
            break;
        }
    }
    runtime::sequence s;
    s.tokens = data.length, s.chunk = chunk, s.segment = segment, s.dim = dim.data();
    s.operand = operand.data(), s.gradient = gradient.data();
    s.state_in = state_in.data(), s.state_out = state_out.data(), s.state_in_gradient = in_gradient.data(),
    s.state_out_gradient = out_gradient.data();
    auto const in_scratch = [&](index wanted, auto const& run) {
        if (wanted < 0 || wanted > (index(1) << 24))
            throw std::runtime_error(fmt::format("a scratch of {} elements", wanted));
        // Aligned to 64 bytes: eight elements.
        Zoned room("the scratch", std::size_t(wanted) + 8);
        auto const over = reinterpret_cast<std::uintptr_t>(room.data()) % 64;
        auto const skipped = over ? (64 - over) / sizeof(field) : 0;
        run(static_cast<void*>(room.data() + skipped));
        if (!stray) stray = room.stray();
        for (std::size_t i = std::size_t(wanted) + skipped; i < room.size(); ++i)
            if (!stray && room.data()[i] != Zoned::rubbish()) stray = Stray{room.name, "a write behind its end"};
    };
    auto const kernel = compiled.text(form, direction);
    if (form == 3)
        run_segments(compiled, direction, s, length, in_scratch);
    else
        in_scratch(kernel.scratch(s), [&](void* room) { kernel.run(s, room); });
    for (auto const& m : memory)
        if (!stray) stray = m.stray();

    Driven driven;
    auto const take = [](field const*& from, Dense<field> shape) {
        for (auto& x : shape.e) x = *from++;
        return shape;
    };
    if (direction == Direction::forward) {
        driven.forward.outputs.resize(std::size_t(data.length));
        for (std::size_t i = 0; i < count; ++i) {
            auto const& name = typed.operands[i].name;
            if (field const* from = state_data[i]) driven.forward.states[name] = take(from, data.states.at(name));
            if (field const* from = output_data[i])
                for (std::size_t t = 0; t < std::size_t(data.length); ++t)
                    driven.forward.outputs[t][name] = take(from, arriving.outputs[t].at(name));
        }
        return driven;
    }
    driven.gradients = data;
    for (std::size_t i = 0; i < count; ++i)
        for (field const* from : {state_gradient[i], gradient_data[i]})
            if (from)
                for (auto* m : matrices(driven.gradients, typed.operands[i].name)) *m = take(from, *m);
    return driven;
}

} // namespace deltaloom::codegen
