#include "codegen/check/summary.hpp"

#include <algorithm>
#include <stdexcept>

namespace deltaloom::codegen {
namespace {

using runtime::field;
using Matrix = Dense<field>;

Matrix product(Matrix const& a, Matrix const& b) {
    if (a.cols != b.rows) throw std::logic_error("a summary has another shape than its state");
    Matrix r(a.rows, b.cols);
    for (int i = 0; i < a.rows; ++i)
        for (int k = 0; k < a.cols; ++k)
            for (int j = 0; j < b.cols; ++j) r(i, j) += a(i, k) * b(k, j);
    return r;
}
Matrix sum(Matrix a, Matrix const& b) {
    if (a.rows != b.rows || a.cols != b.cols) throw std::logic_error("a summary has another shape than its state");
    for (std::size_t i = 0; i < a.e.size(); ++i) a.e[i] += b.e[i];
    return a;
}
Matrix turned(Matrix const& a) {
    Matrix r(a.cols, a.rows);
    for (int i = 0; i < a.rows; ++i)
        for (int j = 0; j < a.cols; ++j) r(j, i) = a(i, j);
    return r;
}

Matrix identity(int n) {
    Matrix r(n, n);
    for (int i = 0; i < n; ++i) r(i, i) = field(1.0);
    return r;
}
bool carries(Program const& program, std::string const& name) {
    auto const& all = program.phases.front().carries;
    return std::find(all.begin(), all.end(), name) != all.end();
}
Program const& forward_summary(Derived const& derived) {
    for (auto const& p : derived.programs)
        if (p.form == Form::summary && p.direction == Direction::forward) return p;
    throw std::logic_error("a backward of a form without a forward");
}

struct Map { // of one state
    bool right = true;
    Matrix factor, plus;
    Matrix operator()(Matrix const& S) const { return sum(right ? product(S, factor) : product(factor, S), plus); }
    Map after(Map const& first) const { // this map of what `first` gives
        return {right, right ? product(first.factor, factor) : product(factor, first.factor), (*this)(first.plus)};
    }
    Map adjoint(Matrix d_plus) const { return {right, turned(factor), std::move(d_plus)}; }
};

// Tokens first .. last-1, from the state that the declaration reaches there.
OracleData<field> segment(Trial& trial, int first, int last) {
    auto data = trial.prefix(last).data;
    data.length = last - first;
    for (auto& [name, tokens] : data.tokens) tokens.erase(tokens.begin(), tokens.begin() + first);
    data.states = trial.prefix(first).expected.states;
    return data;
}

// The segment's map by the forward Program, chunk by chunk from the identity on; in a backward the adjoint map.
std::map<std::string, Map> maps(Derived const& derived, Program const& program, int chunk, Trial& trial, int first,
                                int last) {
    auto data = segment(trial, first, last);
    auto const dims = all_extents(derived.rule, trial.dims());
    Arriving<field> arriving = trial.prefix(last).arriving;
    arriving.outputs.erase(arriving.outputs.begin(), arriving.outputs.begin() + first);
    Program const& maps_forward = program.direction == Direction::forward ? program : forward_summary(derived);
    std::map<std::string, Map> found;
    auto before = data;
    for (auto const& [state, value] : data.states) {
        bool const right = carries(maps_forward, state + ".right");
        found[state].right = right;
        before.states[state + (right ? ".right" : ".left")] = identity(right ? value.cols : value.rows);
        before.states[state + ".plus"] = Matrix(value.rows, value.cols);
    }
    auto const after = drive(derived.rule, maps_forward, {chunk}, dims, before, arriving).forward.states;
    for (auto& [state, map] : found) {
        map.factor = after.at(state + (map.right ? ".right" : ".left"));
        map.plus = after.at(state + ".plus");
    }
    if (program.direction == Direction::forward) return found;
    for (auto& [state, value] : arriving.states) value = Matrix(value.rows, value.cols);
    auto const owed = drive(derived.rule, program, {chunk}, dims, data, arriving).gradients.states;
    for (auto& [state, map] : found) map = map.adjoint(owed.at(state));
    return found;
}

std::optional<Difference> differ(std::string const& name, Matrix const& got, Matrix const& want) {
    for (std::size_t i = 0; i < want.e.size(); ++i)
        if (got.e[i] != want.e[i])
            return Difference{index_of(name, -1, -1, want, int(i)), std::to_string(got.e[i].element),
                              std::to_string(want.e[i].element)};
    return std::nullopt;
}

} // namespace

std::optional<Difference> compare_summary(Derived const& derived, Program const& program, int chunk, Trial& trial,
                                          int length) {
    if (length == 0) return std::nullopt; // no segment
    bool const forward = program.direction == Direction::forward;
    int const half = length / 2;
    auto whole = maps(derived, program, chunk, trial, 0, length);
    for (int pieces = 1; pieces <= (half ? 2 : 1); ++pieces) {
        if (pieces == 2) {
            auto const first = maps(derived, program, chunk, trial, 0, half),
                       second = maps(derived, program, chunk, trial, half, length);
            for (auto& [state, map] : whole)
                map = forward ? second.at(state).after(first.at(state)) : first.at(state).after(second.at(state));
        }
        Prefix const& p = forward ? trial.prefix(length) : trial.with_slopes(length);
        for (auto const& [state, map] : whole) {
            if (forward) {
                if (auto d = differ(state, map(p.data.states.at(state)), p.expected.states.at(state))) return d;
                continue;
            }
            Matrix const gradient = map(p.arriving.states.at(state));
            if (inner(gradient, trial.directions().states.at(state)) == p.slopes.at(state)) continue;
            for (int i = 0; i < int(gradient.e.size()); ++i)
                if (field const want = trial.derivative(length, state, 0, i); gradient.e[i] != want)
                    return Difference{index_of("d_" + state, -1, -1, gradient, i),
                                      std::to_string(gradient.e[i].element), std::to_string(want.element)};
        }
    }
    return std::nullopt;
}

// Of the whole, or of two segments: each at most the whole's, the second's times the first's.
long summary_degree(Derived const& derived, Program const& program, int chunk, std::vector<int> const& dims,
                    int length) {
    if (length == 0) return 1;
    auto const of = [&](Program const& p) { return degree(derived.rule, p, {chunk}, dims, length); };
    return 2 * std::max(of(program), of(forward_summary(derived))) + 1;
}

} // namespace deltaloom::codegen
