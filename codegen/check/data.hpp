#pragma once
// Seeded data for a rule. For floats (design section 5): linear gates in [1/2, 1], log gates in [-1, 0], other scalars
// in [0, 1], keys of unit norm, the rest of mean 0 and variance 1/d, d the length of a vector, the columns of a matrix.
// Keys are the vector inputs that stand inside T(...) or are multiplied with a state where a state is updated; queries,
// values and parameters are not. The state x_previous is drawn as x is.
#include "codegen/check/draw.hpp"
#include "codegen/check/oracle.hpp"
#include "codegen/rule/dimension.hpp"

namespace deltaloom::codegen {

using Dims = std::map<std::string, int>; // extent of every dimension, by name

std::vector<std::string> dimensions(Declaration const&); // in the order of first use, what is mapped after its own
// Extents for the plain dimensions among them, from `extent`, one after the other, and those of the mapped ones.
template<class F> Dims filled_dims(std::vector<std::string> const& names, F extent) {
    Dims dims;
    for (auto const& name : names) {
        auto const made = mapped_dim(name);
        dims[name] = made ? static_cast<int>(made->extent(dims.at(made->of))) : extent(name);
    }
    return dims;
}
// Of all of a rule's dimensions, by DimId; what only expressions have is mapped from what operands have.
std::vector<int> all_extents(TypedRule const&, Dims const&);

// Keys::normal: keys of N(0, 1) entries instead, of norm sqrt(d).
enum class Keys { unit, normal };
OracleData<double> draw_data(Declaration const&, Dims const&, int length, Draw&, Keys = Keys::unit);

// Uniform elements of the field, none of them 0, but each entry of a gate 0 with probability `resets`: log gates of
// exp(g) = 0, linear gates of 0. Gates that something is divided by are never 0.
OracleData<runtime::field> draw_field(Declaration const&, Dims const&, int length, double resets, Draw&);
runtime::field draw_element(Draw&);

// Data of the same shapes with f(operand name, entries) applied to each matrix, in one order: states, parameters,
// tokens.
template<class K, class L, class F> OracleData<L> mapped(OracleData<K> const& data, F f) {
    OracleData<L> result;
    result.length = data.length;
    for (auto const& [name, m] : data.states) result.states[name] = f(name, m);
    for (auto const& [name, m] : data.parameters) result.parameters[name] = f(name, m);
    for (auto const& [name, tokens] : data.tokens)
        for (auto const& steps : tokens) {
            auto& to = result.tokens[name].emplace_back();
            for (auto const& m : steps) to.push_back(f(name, m));
        }
    return result;
}

} // namespace deltaloom::codegen
