#pragma once
// Bodies evaluated on plain matrices over a ring: the field (exact), double or float. Plain definitions, no blocks: the
// kernels' operations are checked against them.
#include "codegen/program/body.hpp"
#include "deltaloom/runtime/scalar/scalar.hpp"

#include <map>
#include <string>
#include <vector>

namespace deltaloom::codegen {

template<class K> struct Dense { // row-major
    int rows = 0, cols = 0;
    std::vector<K> e;
    Dense() = default;
    Dense(int r, int c, K fill = K(0.0)) : rows(r), cols(c), e(std::size_t(r) * c, fill) {}
    K& operator()(int i, int j) { return e[std::size_t(i) * cols + j]; }
    K const& operator()(int i, int j) const { return e[std::size_t(i) * cols + j]; }
    friend bool operator==(Dense const&, Dense const&) = default;
};
struct Sizes {
    std::vector<int> dims; // by DimId
    int tokens = 1;        // of the chunk
    int valid = 1;         // of a padded chunk: real tokens
    int of(Extent) const;
};
template<class K> using Environment = std::map<std::string, Dense<K>>;
// The results of the body, by name. Log values: over a field the element exp(g) itself; over floats g.
template<class K> Environment<K> interpret(Body const&, Environment<K> const& inputs, Sizes const&);
extern template Environment<runtime::field> interpret(Body const&, Environment<runtime::field> const&, Sizes const&);
extern template Environment<double> interpret(Body const&, Environment<double> const&, Sizes const&);
extern template Environment<float> interpret(Body const&, Environment<float> const&, Sizes const&);
extern template Environment<runtime::dual<runtime::field>>
interpret(Body const&, Environment<runtime::dual<runtime::field>> const&, Sizes const&);

// Formal total degree of every result's entries, given the degrees of the inputs: the Schwartz-Zippel bound. A map's
// value, its derivative and an inverse count as fresh variables of degree 1.
std::map<std::string, long> degrees(Body const&, std::map<std::string, long> const& inputs, Sizes const&);

} // namespace deltaloom::codegen
