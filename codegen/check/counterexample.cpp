#include "codegen/check/counterexample.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <set>
#include <stdexcept>
#include <tuple>

namespace deltaloom::codegen {
namespace {

using runtime::field;

// ---- values -----------------------------------------------------------------------------------------------------

std::set<std::string> log_operands(TypedRule const& rule) {
    std::set<std::string> names;
    for (auto const& o : rule.operands)
        if (o.domain == Domain::log) names.insert(o.name);
    return names;
}

// Data that hold exp(g) of log gates, as the field and as floats take them.
OracleData<field> in_field(OracleData<double> const& data) {
    return mapped<double, field>(data, [](std::string const&, Dense<double> const& m) {
        Dense<field> f(m.rows, m.cols);
        for (std::size_t i = 0; i < m.e.size(); ++i) f.e[i] = field(m.e[i]);
        return f;
    });
}
OracleData<double> in_double(OracleData<double> const& data, std::set<std::string> const& log) {
    return mapped<double, double>(data, [&](std::string const& name, Dense<double> m) {
        if (log.count(name))
            for (double& x : m.e) x = std::log(x);
        return m;
    });
}

// Simple numbers first: a draw takes one of the first `many`, and shrinking prefers what comes earlier.
std::vector<double> const& simple(Domain domain) {
    static std::vector<double> const real{0, 1, -1, 2, 0.5, -2, 3, -0.5, 4, -3, 5, 0.25, -4, 7, -5, 1.5, 9, -7, 6, 8};
    static std::vector<double> const linear{1, 0, 2, 0.5, -1, 3, 0.25, -2, 1.5, -0.5, 0.75, 4, 5};
    static std::vector<double> const log{1, 0.5, 0, 0.25, 0.75, 0.125, 0.625};
    switch (domain) {
    case Domain::real: return real;
    case Domain::linear: return linear;
    case Domain::log: return log;
    }
    return real;
}

struct Entry {
    double* at = nullptr;
    Domain domain = Domain::real;
};
std::vector<Entry> entries(TypedRule const& rule, OracleData<double>& data) {
    std::vector<Entry> all;
    for (auto const& o : rule.operands) {
        auto const add = [&](Dense<double>& m) {
            for (double& x : m.e) all.push_back({&x, o.domain});
        };
        if (auto const s = data.states.find(o.name); s != data.states.end()) add(s->second);
        if (auto const p = data.parameters.find(o.name); p != data.parameters.end()) add(p->second);
        if (auto const t = data.tokens.find(o.name); t != data.tokens.end())
            for (auto& steps : t->second)
                for (auto& m : steps) add(m);
    }
    return all;
}

// ---- where two runs differ --------------------------------------------------------------------------------------

struct Place {
    std::string operand;
    int token = -1; // -1: a state after the last token
    std::size_t entry = 0;
};
template<class K> Dense<K> const& value_at(OracleRun<K> const& run, Place const& p) {
    return p.token < 0 ? run.states.at(p.operand) : run.outputs[std::size_t(p.token)].at(p.operand);
}
template<class K> void value_at(OracleRun<K> const&&, Place const&) = delete; // the result is a part of it
template<class K> K entry_at(OracleRun<K> const& run, Place const& p) { return value_at(run, p).e[p.entry]; }

bool far(double a, double b) {
    return std::isfinite(a) && std::isfinite(b) && std::abs(a - b) > 1e-6 * (1 + std::max(std::abs(a), std::abs(b)));
}

struct Search {
    ComparedRule const& one;
    ComparedRule const& two;
    std::set<std::string> log = log_operands(one.derived.rule);
    bool exact = !has_functions(one.derived.rule) && !has_functions(two.derived.rule);
    bool outputs = true; // only a difference of outputs counts

    std::vector<Place> places(OracleRun<double> const& run) const {
        std::vector<Place> all;
        auto const add = [&](Role role, Environment<double> const& values, int token) {
            for (auto const& o : one.derived.rule.operands) {
                if (o.role != role) continue;
                for (std::size_t i = 0; i < values.at(o.name).e.size(); ++i) all.push_back({o.name, token, i});
            }
        };
        for (std::size_t t = 0; t < run.outputs.size(); ++t) add(Role::output, run.outputs[t], int(t));
        if (!outputs) add(Role::state, run.states, -1);
        return all;
    }

    // Large numbers that cancel make a difference of two equal values. They stand in outputs or states, or, where they
    // cancel inside of a token, show in float, whose rounding is 2^29 times as coarse.
    bool beyond_rounding(Dims const& dims, OracleData<double> const& numbers, OracleRun<double> const& a,
                         OracleRun<double> const& b, Place const& p) const {
        auto const rough = mapped<double, float>(numbers, [](std::string const&, Dense<double> const& m) {
            Dense<float> f(m.rows, m.cols);
            for (std::size_t i = 0; i < m.e.size(); ++i) f.e[i] = float(m.e[i]);
            return f;
        });
        double const x = entry_at(a, p), y = entry_at(b, p);
        double const error = std::abs(x - double(entry_at(evaluate(one, dims, rough), p))) +
                             std::abs(y - double(entry_at(evaluate(two, dims, rough), p)));
        double largest = 0;
        for (auto const* run : {&a, &b}) {
            auto const see = [&](Environment<double> const& values) {
                for (auto const& [name, m] : values)
                    for (double const e : m.e) largest = std::max(largest, std::isfinite(e) ? std::abs(e) : HUGE_VAL);
            };
            see(run->states);
            for (auto const& of_token : run->outputs) see(of_token);
        }
        // Rounding errors of double, a million times over.
        return std::abs(x - y) > 1e-3 * error + 1e-9 * largest;
    }

    // Every entry is finite in both, and there they differ: in floating point and, where that is exact, in the field.
    std::optional<Place> difference(Dims const& dims, OracleData<double> const& data) const {
        auto const numbers = in_double(data, log);
        auto const a = evaluate(one, dims, numbers), b = evaluate(two, dims, numbers);
        for (auto const& p : places(a)) {
            if (!far(entry_at(a, p), entry_at(b, p))) continue;
            if (!exact) {
                if (beyond_rounding(dims, numbers, a, b, p)) return p;
                continue;
            }
            auto const elements = in_field(data);
            if (entry_at(evaluate(one, dims, elements), p) != entry_at(evaluate(two, dims, elements), p)) return p;
        }
        return std::nullopt;
    }

    OracleData<double> drawn(Dims const& dims, int tokens, int many, Draw& draw) const {
        auto data = draw_data(one.declaration, dims, tokens, draw);
        bool const empty = draw.chance(0.4); // from a state of zeros
        for (auto& [name, m] : data.states)
            if (empty) std::fill(m.e.begin(), m.e.end(), 0.0);
        for (auto const& [at, domain] : entries(one.derived.rule, data)) {
            auto const& values = simple(domain);
            if (!(empty && *at == 0)) *at = values[std::size_t(draw.below(std::min(many, int(values.size()))))];
        }
        return data;
    }

    // Number by number, as long as they still differ.
    void shrink(Dims const& dims, OracleData<double>& data) const {
        for (bool changed = true; changed;) {
            changed = false;
            for (auto const& [at, domain] : entries(one.derived.rule, data)) {
                double const kept = *at;
                for (double const candidate : simple(domain)) {
                    if (candidate == kept) break;
                    *at = candidate;
                    if (difference(dims, data)) {
                        changed = true;
                        break;
                    }
                    *at = kept;
                }
            }
        }
    }

    Counterexample told(Dims const& dims, OracleData<double> data, Place const& p) const {
        auto const numbers = in_double(data, log);
        double values[2];
        std::string texts[2];
        int i = 0, columns = 0;
        for (auto const* rule : {&one, &two}) {
            auto const answer = evaluate(*rule, dims, numbers);
            values[i] = entry_at(answer, p), columns = value_at(answer, p).cols; // the same for both rules
            double const said = entry_at(run(rule->declaration, numbers), p);
            if (far(values[i], said))
                throw std::logic_error(fmt::format("the derivation of {} says {} where the declaration says {}",
                                                   rule->declaration.name, values[i], said));
            texts[i] = exact ? number_text(entry_at(evaluate(*rule, dims, in_field(data)), p), values[i])
                             : number_text(values[i]);
            ++i;
        }
        Counterexample c;
        c.tokens = data.length;
        auto const extents = all_extents(one.derived.rule, dims);
        for (std::size_t d = 0; d < extents.size(); ++d) c.dims.emplace_back(one.derived.rule.dims[d], extents[d]);
        c.data = std::move(data);
        c.log.assign(log.begin(), log.end());
        c.operand = p.operand, c.token = p.token;
        c.row = int(p.entry) / columns, c.column = int(p.entry) % columns, c.vector = columns == 1;
        c.one = texts[0], c.two = texts[1];
        return c;
    }
};

struct Size {
    int tokens = 1;
    Dims dims;
    int total = 0;
};
// Few tokens and small extents of the plain dimensions first.
std::vector<Size> sizes(std::vector<std::string> const& names) {
    auto const plain = std::count_if(names.begin(), names.end(), [](auto const& name) { return !mapped_dim(name); });
    int const most = plain <= 3 ? 3 : 2;
    std::vector<std::vector<int>> extents{{}};
    for (int d = 0; d < plain; ++d) {
        std::vector<std::vector<int>> wider;
        for (auto const& e : extents)
            for (int extent = 1; extent <= most; ++extent) wider.push_back(e), wider.back().push_back(extent);
        extents = std::move(wider);
    }
    std::vector<Size> all;
    for (auto const& e : extents) {
        auto next = e.begin();
        Size s;
        s.dims = filled_dims(names, [&](auto const&) { return *next++; });
        s.total = std::accumulate(e.begin(), e.end(), 0);
        all.push_back(std::move(s));
    }
    std::vector<Size> with_tokens;
    for (int tokens = 1; tokens <= 3; ++tokens)
        for (auto s : all) s.tokens = tokens, s.total += 2 * tokens, with_tokens.push_back(std::move(s));
    std::sort(with_tokens.begin(), with_tokens.end(), [](Size const& a, Size const& b) {
        return std::tie(a.total, a.tokens, a.dims) < std::tie(b.total, b.tokens, b.dims);
    });
    return with_tokens;
}

} // namespace

bool has_functions(TypedRule const& rule) {
    return std::any_of(rule.nodes.begin(), rule.nodes.end(), [](ExprNode const& n) {
        if (n.kind == ExprKind::map) return n.function != "neg" && n.function != "inv";
        return n.kind == ExprKind::maximum || (n.kind == ExprKind::vector_map && n.function != "sum_norm");
    });
}

template<class K> OracleRun<K> evaluate(ComparedRule const& rule, Dims const& dims, OracleData<K> const& data) {
    auto const extents = all_extents(rule.derived.rule, dims);
    for (auto const& program : rule.derived.programs)
        if (program.form == Form::recurrent && program.direction == Direction::forward)
            return drive(rule.derived.rule, program, Plan{1}, extents, data, Arriving<K>{}).forward;
    throw std::logic_error("a rule without a recurrent form: " + rule.declaration.name);
}
template OracleRun<double> evaluate(ComparedRule const&, Dims const&, OracleData<double> const&);
template OracleRun<float> evaluate(ComparedRule const&, Dims const&, OracleData<float> const&);
template OracleRun<field> evaluate(ComparedRule const&, Dims const&, OracleData<field> const&);

std::optional<Counterexample> counterexample(ComparedRule const& a, ComparedRule const& b, std::uint64_t seed) {
    Search search{a, b};
    auto const all = sizes(dimensions(a.declaration));
    for (bool const outputs : {true, false})
        for (int const many : {3, 8, 20}) {
            search.outputs = outputs;
            Draw draw(seed, std::uint64_t(many));
            for (auto const& size : all)
                for (int attempt = 0; attempt < 60; ++attempt) {
                    auto data = search.drawn(size.dims, size.tokens, many, draw);
                    if (!search.difference(size.dims, data)) continue;
                    search.shrink(size.dims, data);
                    auto const place = *search.difference(size.dims, data);
                    return search.told(size.dims, std::move(data), place);
                }
        }
    return std::nullopt;
}

std::string number_text(double x) {
    if (x == std::floor(x) && std::abs(x) < 1e15) return fmt::format("{:.0f}", x == 0 ? 0.0 : x);
    for (int const below : {2, 4, 8, 16, 3, 5, 6, 7, 9, 10, 12})
        if (double const above = x * below; above == std::floor(above) && std::abs(above) < 1e6)
            return fmt::format("{:.0f}/{}", above, below);
    return fmt::format("{:.9g}", x);
}

// The continued fraction of element / prime: its convergents are the small fractions that the element can be.
std::string number_text(field x, double near) {
    std::int64_t remainder[2] = {std::int64_t(field::prime), std::int64_t(x.element)}, factor[2] = {0, 1};
    while (remainder[1] > std::int64_t(1) << 30) {
        std::int64_t const times = remainder[0] / remainder[1];
        std::int64_t const r = remainder[0] - times * remainder[1], f = factor[0] - times * factor[1];
        remainder[0] = remainder[1], factor[0] = factor[1];
        remainder[1] = r, factor[1] = f;
    }
    std::int64_t const above = factor[1] < 0 ? -remainder[1] : remainder[1], below = std::abs(factor[1]);
    if (below == 0 || std::abs(double(above) / double(below) - near) > 1e-9 * (1 + std::abs(near)))
        return number_text(near);
    return below == 1 ? fmt::format("{}", above) : fmt::format("{}/{}", above, below);
}

} // namespace deltaloom::codegen
