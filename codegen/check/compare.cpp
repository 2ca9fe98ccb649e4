#include "codegen/check/compare.hpp"

namespace deltaloom::codegen {

using runtime::field;

std::string index_of(std::string name, int token, int step, Dense<field> const& m, int entry) {
    auto add = [&](int i) { name += "[" + std::to_string(i) + "]"; };
    if (token >= 0) add(token);
    if (step >= 0) add(step);
    if (m.rows * m.cols > 1 || token < 0) add(entry / m.cols);
    if (m.cols > 1) add(entry % m.cols);
    return name;
}

static std::optional<Difference> differ(Dense<field> const& got, Dense<field> const& want, std::string const& name,
                                        int token) {
    if (got.rows != want.rows || got.cols != want.cols)
        return Difference{name, std::to_string(got.rows) + " x " + std::to_string(got.cols),
                          std::to_string(want.rows) + " x " + std::to_string(want.cols)};
    for (std::size_t i = 0; i < want.e.size(); ++i)
        if (got.e[i] != want.e[i])
            return Difference{index_of(name, token, -1, want, int(i)), std::to_string(got.e[i].element),
                              std::to_string(want.e[i].element)};
    return std::nullopt;
}

static std::optional<Difference> differ(Environment<field> const& got, Environment<field> const& want, int token) {
    for (auto const& [name, m] : want) {
        auto const found = got.find(name);
        if (found == got.end()) return Difference{name, "nothing", "a value"};
        if (auto d = differ(found->second, m, name, token)) return d;
    }
    return std::nullopt;
}

std::optional<Difference> compare_forward(Drive const& drive, Trial& trial, int length) {
    Prefix const& p = trial.prefix(length);
    Driven const got = drive(p);
    for (int t = 0; t < length; ++t)
        if (auto d = differ(got.forward.outputs[t], p.expected.outputs[t], t)) return d;
    return differ(got.forward.states, p.expected.states, -1);
}

// The entry of an operand's gradient that differs.
static Difference locate(OracleData<field> const& gradients, Trial& trial, int length, std::string const& operand) {
    auto const all = matrices(gradients, operand);
    auto const tokens = gradients.tokens.find(operand);
    int const steps = tokens == gradients.tokens.end() || length == 0 ? 0 : int(tokens->second[0].size());
    for (int which = 0; which < int(all.size()); ++which)
        for (int entry = 0; entry < int(all[which]->e.size()); ++entry) {
            field const got = all[which]->e[entry], want = trial.derivative(length, operand, which, entry);
            if (got == want) continue;
            int const token = steps ? which / steps : -1, step = steps > 1 ? which % steps : -1;
            return {index_of("d_" + operand, token, step, *all[which], entry), std::to_string(got.element),
                    std::to_string(want.element)};
        }
    return {"d_" + operand, "another sum along a random direction", ""};
}

std::optional<Difference> compare_backward(Drive const& drive, Trial& trial, int length) {
    Prefix const& p = trial.with_slopes(length);
    Driven const got = drive(p);
    for (auto const& [operand, want] : p.slopes) {
        auto const gradient = matrices(got.gradients, operand), directions = matrices(trial.directions(), operand);
        auto const shapes = matrices(p.data, operand);
        if (gradient.size() != shapes.size()) return Difference{"d_" + operand, "nothing", "a gradient"};
        field slope;
        for (std::size_t i = 0; i < gradient.size(); ++i) {
            if (gradient[i]->rows != shapes[i]->rows || gradient[i]->cols != shapes[i]->cols)
                return Difference{"d_" + operand, gradient[i]->e.empty() ? "nothing" : "another shape", "a gradient"};
            slope += inner(*gradient[i], *directions[i]);
        }
        if (slope != want) return locate(got.gradients, trial, length, operand);
    }
    return std::nullopt;
}

void report(Result& result, std::function<std::optional<Difference>(int)> const& compare, int shortest, int longest) {
    result.pass = false;
    for (int length = shortest; length <= longest; ++length)
        if (auto const d = compare(length)) {
            result.tokens = length;
            result.index = d->index, result.got = d->got, result.want = d->want;
            return;
        }
}

} // namespace deltaloom::codegen
