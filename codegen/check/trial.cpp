#include "codegen/check/trial.hpp"

#include <algorithm>

namespace deltaloom::codegen {

using runtime::dual;
using runtime::field;

std::vector<std::string> operands(OracleData<field> const& data) {
    std::vector<std::string> names;
    for (auto const& [name, m] : data.states) names.push_back(name);
    for (auto const& [name, m] : data.parameters) names.push_back(name);
    for (auto const& [name, m] : data.tokens) names.push_back(name);
    return names;
}

field inner(Dense<field> const& a, Dense<field> const& b) {
    field sum;
    for (std::size_t i = 0; i < a.e.size(); ++i) sum += a.e[i] * b.e[i];
    return sum;
}

static Dims extents_of(Declaration const& rule, bool equal, Draw& draw) {
    auto const names = dimensions(rule); // the mapped ones need no choice
    int const most = std::max(5, int(names.size()) + 1), same = draw.between(2, 4);
    std::vector<int> choices;
    for (int d = 2; d <= most; ++d) choices.push_back(d);
    if (draw.chance(0.3)) choices[draw.below(int(choices.size()))] = 1;
    return filled_dims(names, [&](std::string const&) {
        int const at = draw.below(int(choices.size())), chosen = choices[at];
        choices.erase(choices.begin() + at);
        return equal ? same : chosen;
    });
}

static OracleData<dual<field>> without_tangents(OracleData<field> const& data) {
    return mapped<field, dual<field>>(data, [](std::string const&, Dense<field> const& m) {
        Dense<dual<field>> d(m.rows, m.cols);
        for (std::size_t i = 0; i < m.e.size(); ++i) d.e[i].value = m.e[i];
        return d;
    });
}

Trial::Trial(Declaration const& rule, int length, bool equal_extents, double resets, Draw draw,
             std::function<Evaluate(Dims const&)> const& evaluate)
    : rule_(rule),
      dims_(extents_of(rule, equal_extents, draw)) {
    if (evaluate)
        evaluate_ = evaluate(dims_);
    else
        evaluate_ = [this](OracleData<dual<field>> const& data) { return run(rule_, data); };
    data_ = draw_field(rule, dims_, length, resets, draw);
    auto any = [&](std::string const&, Dense<field> const& m) {
        Dense<field> d(m.rows, m.cols);
        for (auto& x : d.e) x = draw_element(draw);
        return d;
    };
    directions_ = mapped<field, field>(data_, any);
    auto const shapes = run(rule, data_);
    for (auto const& [name, m] : shapes.states) arriving_.states[name] = any(name, m);
    for (auto const& outputs : shapes.outputs) {
        auto& to = arriving_.outputs.emplace_back();
        for (auto const& [name, m] : outputs) to[name] = any(name, m);
    }
}

static OracleRun<field> values(OracleRun<dual<field>> const& run) {
    auto const of = [](Environment<dual<field>> const& from) {
        Environment<field> to;
        for (auto const& [name, m] : from) {
            Dense<field>& v = to[name] = Dense<field>(m.rows, m.cols);
            for (std::size_t i = 0; i < m.e.size(); ++i) v.e[i] = m.e[i].value;
        }
        return to;
    };
    OracleRun<field> result;
    result.states = of(run.states);
    for (auto const& outputs : run.outputs) result.outputs.push_back(of(outputs));
    return result;
}

Prefix const& Trial::prefix(int length) {
    auto const [at, fresh] = prefixes_.try_emplace(length);
    if (fresh) {
        Prefix& p = at->second;
        p.data = first_tokens(data_, length);
        p.arriving = arriving_;
        p.arriving.outputs.resize(length);
        p.expected = values(evaluate_(without_tangents(p.data)));
    }
    return at->second;
}

Prefix const& Trial::with_slopes(int length) {
    prefix(length);
    Prefix& p = prefixes_.at(length);
    if (p.slopes.empty())
        for (auto const& name : operands(p.data)) p.slopes[name] = along(p, directions_, name);
    return p;
}

field Trial::along(Prefix const& p, OracleData<field> const& directions, std::string const& operand) const {
    auto data = without_tangents(p.data);
    auto const to = matrices(data, operand);
    auto const from = matrices(directions, operand);
    for (std::size_t i = 0; i < to.size(); ++i)
        for (std::size_t j = 0; j < to[i]->e.size(); ++j) to[i]->e[j].tangent = from[i]->e[j];
    auto const result = evaluate_(data);
    field slope;
    auto add = [&](Dense<dual<field>> const& value, Dense<field> const& weight) {
        for (std::size_t i = 0; i < value.e.size(); ++i) slope += value.e[i].tangent * weight.e[i];
    };
    for (auto const& [name, m] : result.states) add(m, p.arriving.states.at(name));
    for (int t = 0; t < p.data.length; ++t)
        for (auto const& [name, m] : result.outputs[t]) add(m, p.arriving.outputs[t].at(name));
    return slope;
}

field Trial::derivative(int length, std::string const& operand, int which, int entry) {
    Prefix const& p = prefix(length);
    auto unit = mapped<field, field>(
        p.data, [](std::string const&, Dense<field> const& m) { return Dense<field>(m.rows, m.cols); });
    matrices(unit, operand)[which]->e[entry] = field(1.0);
    return along(p, unit, operand);
}

} // namespace deltaloom::codegen
