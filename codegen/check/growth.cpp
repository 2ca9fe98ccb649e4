#include "codegen/check/growth.hpp"

#include "codegen/check/drive.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>

namespace deltaloom::codegen {
namespace {

constexpr int tokens = 256, extent = 16, chunk = 16;
constexpr double infinite = std::numeric_limits<double>::infinity();

template<class K> double largest(Dense<K> const& m) {
    double most = 0;
    for (K const x : m.e) {
        double const a = std::abs(double(x));
        if (!(a <= most)) most = std::isnan(a) ? infinite : a;
    }
    return most;
}
template<class K> double largest(Environment<K> const& all) {
    double most = 0;
    for (auto const& [name, m] : all) most = std::max(most, largest(m));
    return most;
}

Program const* forward_program(Derived const& derived, Form form) {
    for (auto const& p : derived.programs)
        if (p.form == form && p.direction == Direction::forward && !p.split) return &p;
    return nullptr;
}

// Right digits of one run against the reference: at most 7.2, what float32 holds; none where either is not finite.
double digits(OracleRun<float> const& got, OracleRun<double> const& want) {
    double error = 0, scale = 0;
    auto const see = [&](Dense<float> const& g, Dense<double> const& w) {
        for (std::size_t i = 0; i < w.e.size(); ++i) {
            double const e = std::abs(double(g.e[i]) - w.e[i]);
            if (!(e <= error)) error = std::isnan(e) ? infinite : e;
        }
        scale = std::max(scale, largest(w));
    };
    for (auto const& [name, m] : want.states) see(got.states.at(name), m);
    for (std::size_t t = 0; t < want.outputs.size(); ++t)
        for (auto const& [name, m] : want.outputs[t]) see(got.outputs[t].at(name), m);
    if (error == 0) return -std::log10(double(std::numeric_limits<float>::epsilon()) / 2);
    if (!std::isfinite(error) || !std::isfinite(scale)) return 0;
    return std::clamp(-std::log10(error / scale), 0.0, -std::log10(double(std::numeric_limits<float>::epsilon()) / 2));
}

// The chunk's solves keep their right side and what they make of it. The names are no operand's.
double solve_growth(Derived const& derived, Program program, std::vector<int> const& dims,
                    OracleData<double> const& data) {
    std::vector<std::pair<std::string, std::string>> solves;
    for (auto& phase : program.phases)
        for (NodeId i = 0; i < NodeId(phase.body.nodes.size()); ++i) {
            auto const& node = phase.body.nodes[std::size_t(i)];
            if (node.op != Op::solve && node.op != Op::csolve) continue;
            solves.emplace_back(fmt::format("(right side {})", i), fmt::format("(solution {})", i));
            phase.body.results.emplace_back(solves.back().first, node.args[node.op == Op::solve ? 1 : 2]);
            phase.body.results.emplace_back(solves.back().second, i);
        }
    double most = 1;
    if (solves.empty()) return most;
    auto const driven = drive<double>(derived.rule, program, {chunk}, dims, data, {});
    for (auto const& left : driven.left)
        for (auto const& [right, solution] : solves) {
            double const before = largest(left.at(right)), after = largest(left.at(solution));
            if (!std::isfinite(after)) return infinite;
            if (before > 0) most = std::max(most, after / before);
        }
    return most;
}

Growth measured(Declaration const& declaration, Derived const& derived, Keys keys, std::uint64_t seed) {
    Growth g;
    g.keys = keys, g.tokens = tokens, g.extent = extent, g.chunk = chunk;
    auto const dims = filled_dims(dimensions(declaration), [](std::string const&) { return extent; });
    auto const extents = all_extents(derived.rule, dims);
    Draw draw(seed);
    auto const drawn = draw_data(declaration, dims, tokens, draw, keys);
    auto const in_float = mapped<double, float>(drawn, [](std::string const&, Dense<double> const& m) {
        Dense<float> f(m.rows, m.cols);
        std::transform(m.e.begin(), m.e.end(), f.e.begin(), [](double x) { return float(x); });
        return f;
    });
    auto const data = mapped<float, double>(in_float, [](std::string const&, Dense<float> const& m) {
        Dense<double> d(m.rows, m.cols);
        std::copy(m.e.begin(), m.e.end(), d.e.begin());
        return d;
    });
    auto half = data;
    half.length = tokens / 2;
    for (auto& [name, of_token] : half.tokens) of_token.resize(tokens / 2);

    auto const want = run(declaration, data);
    double const before = largest(run(declaration, half).states);
    g.state = largest(want.states);
    g.doubling = !std::isfinite(g.state) ? infinite : before > 0 ? g.state / before : 1;
    if (auto const* p = forward_program(derived, Form::recurrent))
        g.digits_step = digits(drive<float>(derived.rule, *p, {1}, extents, in_float, {}).forward, want);
    if (auto const* p = forward_program(derived, Form::chunked)) {
        g.chunked = true;
        g.digits_chunked = digits(drive<float>(derived.rule, *p, {chunk}, extents, in_float, {}).forward, want);
        g.solve = solve_growth(derived, *p, extents, data);
    }
    return g;
}

} // namespace

std::vector<Growth> growth(Declaration const& declaration, Derived const& derived, std::uint64_t seed) {
    std::vector<Growth> all{measured(declaration, derived, Keys::unit, seed)};
    auto const use = uses(declaration);
    if (std::any_of(use.begin(), use.end(), [](OperandUse const& u) { return u.key; }))
        all.push_back(measured(declaration, derived, Keys::normal, seed));
    return all;
}

std::string advice(Derived const& derived) {
    std::set<std::string> keys;
    if (derived.recurrence)
        for (auto const& component : derived.recurrence->components)
            for (auto const& micro : component.micro)
                for (auto const& write : micro.writes)
                    for (auto const& read : write.reads) keys.insert(print(derived.rule, read.key));
    if (keys.empty()) return "keep what multiplies the state at most 1: a log gate, or a sigmoid";
    std::string names;
    for (auto const& key : keys) names += (names.empty() ? "" : ", ") + key;
    return fmt::format("normalise the erase {} {} (l2norm), and bound the strength: strength * |key|^2 at most 2",
                       keys.size() > 1 ? "keys" : "key", names);
}

std::string sentence(Growth const& g) {
    auto text = fmt::format(
        "{}: after {} tokens the largest entry of a state is {:.2g}, {:.2g} times that of half of them",
        g.keys == Keys::unit ? "keys of unit norm" : fmt::format("keys of N(0, 1) entries, |key|^2 = {}", g.extent),
        g.tokens, g.state, g.doubling);
    if (g.chunked) text += fmt::format("; a chunk's solve multiplies by {:.2g}", g.solve);
    text += fmt::format("; float32 keeps {:.1f} digits step by step", g.digits_step);
    if (g.chunked) text += fmt::format(", {:.1f} in chunks", g.digits_chunked);
    return text;
}

} // namespace deltaloom::codegen
