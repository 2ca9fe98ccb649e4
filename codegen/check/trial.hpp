#pragma once
// One random point at which forms and declaration are compared, and what the declaration says there: outputs and final
// states, and for each operand the derivative of  sum <arriving gradient, output or final state>  along one random
// direction, from dual numbers.
#include "codegen/check/drive.hpp"

#include <functional>

namespace deltaloom::codegen {

// A sequence that ends after `data.length` tokens of the trial.
struct Prefix {
    OracleData<runtime::field> data;
    Arriving<runtime::field> arriving;
    OracleRun<runtime::field> expected;
    std::map<std::string, runtime::field> slopes; // by operand; filled by Trial::with_slopes
};

// What stands for the declaration: the tree walk of oracle.hpp, or the expression templates, compiled.
using Evaluate =
    std::function<OracleRun<runtime::dual<runtime::field>>(OracleData<runtime::dual<runtime::field>> const&)>;

class Trial {
public:
    // Extents pairwise different, or all equal; zeros for gates with probability `resets`. `evaluate` gets the trial's
    // extents first.
    Trial(Declaration const&, int length, bool equal_extents, double resets, Draw,
          std::function<Evaluate(Dims const&)> const& evaluate = {});
    Trial(Trial const&) = delete; // evaluates its own rule

    int length() const { return data_.length; }
    Dims const& dims() const { return dims_; }
    Prefix const& prefix(int length);
    Prefix const& with_slopes(int length);
    OracleData<runtime::field> const& directions() const { return directions_; }
    // The derivative with respect to one entry of an operand's `which`-th matrix: (token, step) in order for per-token
    // operands.
    runtime::field derivative(int length, std::string const& operand, int which, int entry);

private:
    Declaration const& rule_;
    Dims dims_;
    Evaluate evaluate_;
    OracleData<runtime::field> data_, directions_;
    Arriving<runtime::field> arriving_;
    std::map<int, Prefix> prefixes_;
    runtime::field along(Prefix const&, OracleData<runtime::field> const& directions, std::string const& operand) const;
};

// The matrices of one operand, in order.
template<class K> std::vector<Dense<K>*> matrices(OracleData<K>& data, std::string const& operand) {
    std::vector<Dense<K>*> all;
    if (auto const s = data.states.find(operand); s != data.states.end()) all.push_back(&s->second);
    if (auto const p = data.parameters.find(operand); p != data.parameters.end()) all.push_back(&p->second);
    if (auto const t = data.tokens.find(operand); t != data.tokens.end())
        for (auto& steps : t->second)
            for (auto& m : steps) all.push_back(&m);
    return all;
}
template<class K> std::vector<Dense<K> const*> matrices(OracleData<K> const& data, std::string const& operand) {
    auto const all = matrices(const_cast<OracleData<K>&>(data), operand);
    return {all.begin(), all.end()};
}
std::vector<std::string> operands(OracleData<runtime::field> const&);
// The first `length` tokens.
template<class K> OracleData<K> first_tokens(OracleData<K> data, int length) {
    data.length = length;
    for (auto& [name, tokens] : data.tokens) tokens.resize(length);
    return data;
}
runtime::field inner(Dense<runtime::field> const&, Dense<runtime::field> const&);

} // namespace deltaloom::codegen
