#include "codegen/check/data.hpp"

#include <algorithm>
#include <cmath>

namespace deltaloom::codegen {
namespace {

// Every operand filled by draw(operand, use, rows, cols); a hidden state as the operand it remembers.
template<class K, class F> OracleData<K> filled(Declaration const& rule, Dims const& dims, int length, F draw) {
    OracleData<K> data;
    data.length = length;
    auto const use = uses(rule);
    for (std::size_t i = 0; i < rule.operands.size(); ++i) {
        DeclaredOperand const& o = rule.operands[i];
        int const rows = o.dims.empty() ? 1 : dims.at(o.dims[0]), cols = o.dims.size() > 1 ? dims.at(o.dims[1]) : 1;
        auto one = [&] { return draw(o, use[i], rows, cols); };
        switch (o.role) {
        case Role::output: break;
        case Role::state: data.states[o.name] = one(); break;
        case Role::parameter: data.parameters[o.name] = one(); break;
        case Role::input:
        case Role::gate:
            if (use[i].previous) data.states[o.name + "_previous"] = one();
            auto& tokens = data.tokens[o.name];
            tokens.resize(length);
            for (auto& steps : tokens)
                for (int j = 0; j < std::max(1, use[i].steps); ++j) steps.push_back(one());
        }
    }
    return data;
}

} // namespace

std::vector<std::string> dimensions(Declaration const& rule) {
    std::vector<std::string> found;
    for (auto const& o : rule.operands)
        for (auto const& d : o.dims) dimension(found, d);
    return found;
}

std::vector<int> all_extents(TypedRule const& rule, Dims const& dims) {
    std::vector<int> plain;
    for (auto const& name : rule.dims) plain.push_back(mapped_dim(name) ? 0 : dims.at(name));
    return with_mapped(rule.dims, std::move(plain));
}

OracleData<double> draw_data(Declaration const& rule, Dims const& dims, int length, Draw& draw, Keys keys) {
    return filled<double>(rule, dims, length, [&](DeclaredOperand const& o, OperandUse use, int rows, int cols) {
        Dense<double> m(rows, cols);
        bool const key = use.key && o.domain == Domain::real;
        double const deviation = key && keys == Keys::normal ? 1 : 1 / std::sqrt(double(cols > 1 ? cols : rows));
        double norm = 0;
        for (double& x : m.e) {
            if (o.domain == Domain::log)
                x = draw.uniform(-1, 0);
            else if (o.domain == Domain::linear)
                x = draw.uniform(0.5, 1);
            else if (o.dims.empty() && o.role != Role::state)
                x = draw.uniform();
            else
                x = draw.normal() * deviation;
            norm += x * x;
        }
        if (key && keys == Keys::unit)
            for (double& x : m.e) x = norm > 0 ? x / std::sqrt(norm) : 1 / std::sqrt(double(rows));
        return m;
    });
}

runtime::field draw_element(Draw& draw) {
    for (;;)
        if (auto const x = runtime::field::from_element(draw.next()); x.element) return x;
}

OracleData<runtime::field> draw_field(Declaration const& rule, Dims const& dims, int length, double resets,
                                      Draw& draw) {
    return filled<runtime::field>(rule, dims, length,
                                  [&](DeclaredOperand const& o, OperandUse use, int rows, int cols) {
                                      Dense<runtime::field> m(rows, cols);
                                      bool const gate = o.domain != Domain::real && !use.denominator;
                                      for (auto& x : m.e)
                                          x = gate && draw.chance(resets) ? runtime::field() : draw_element(draw);
                                      return m;
                                  });
}

} // namespace deltaloom::codegen
