// The canonical recurrence as a person writes it: S <- alpha S + (beta v - alpha beta S k) k^T.
#include "codegen/explain/derivation.hpp"
#include "codegen/program/chunk_values.hpp"

#include <fmt/format.h>

#include <map>

namespace deltaloom::codegen {
namespace {

struct Lines {
    TypedRule const& rule;
    std::map<OperandId, int> written = {}; // how often, so far in the token

    Naming naming() const {
        return {rule, [this](OperandId id, int version) {
                    auto const name = operand_formula(rule, id);
                    auto const now = written.find(id);
                    if (version == (now == written.end() ? 0 : now->second)) return name;
                    return indexed(name, {number(version)});
                }};
    }

    bool vector(Component const& c) const { return rule.operands[std::size_t(c.states[0])].shape.cols == one; }

    // Sigma r, in the orientation of the declaration.
    Formula read(Component const& c, Read const& r) const {
        auto const S = operand_formula(rule, c.states[std::size_t(r.state)]);
        auto const key = formula(naming(), r.key);
        if (vector(c)) return inner(S, key);
        return product({c.flipped ? transposed(S) : S, within(key, Binding::closed)});
    }

    std::vector<Signed> inside(Component const& c, Write const& w) const {
        auto all = terms(naming(), w.direct);
        for (auto const& r : w.reads) {
            auto const c_ = factor(naming(), r.coefficient);
            auto const read_ = read(c, r);
            if (is_one(r.coefficient))
                all.push_back({false, read_});
            else if (c_.minus && c_.formula.text == "1")
                all.push_back({true, read_});
            else if (r.coefficient.shape.scalar())
                all.push_back({c_.minus, product({c_.formula, read_})});
            else
                all.push_back({c_.minus, entrywise({c_.formula, read_})});
        }
        return all;
    }

    Signed write(Component const& c, Write const& w) const {
        auto all = inside(c, w);
        bool const minus = all.size() == 1 && all[0].minus;
        if (minus) all[0].minus = false;
        auto const values = sum(all);
        auto const key = formula(naming(), w.key);
        if (vector(c)) {
            if (values.text == "1") return {minus, key};
            return {minus, product({values, key})};
        }
        return {minus, c.flipped ? product({key, transposed(values)}) : product({values, transposed(key)})};
    }

    Signed kept(Component const& c, MicroStep const& m, std::size_t from) const {
        auto scalar = factor(naming(), *m.mix[from]);
        std::vector<Formula> factors;
        if (scalar.formula.text != "1") factors.push_back(scalar.formula);
        auto const S = operand_formula(rule, c.states[from]);
        auto const channels = [&](std::optional<Value> const& decay) {
            if (!decay) return;
            auto const f = formula(naming(), *decay);
            factors.push_back(vector(c) ? f : diagonal(f));
        };
        if (vector(c) && m.key_decay) {
            factors.push_back(entrywise({formula(naming(), *m.key_decay), S}));
        } else {
            channels(c.flipped ? m.key_decay : m.value_decay);
            factors.push_back(S);
            if (!vector(c)) channels(c.flipped ? m.value_decay : m.key_decay);
        }
        return {scalar.minus, product(factors)};
    }

    Equation update(Component const& c, MicroStep const& m) const {
        std::vector<Signed> all;
        for (std::size_t b = 0; b < m.mix.size(); ++b)
            if (m.mix[b] && !m.mix[b]->zero()) all.push_back(kept(c, m, b));
        for (auto const& w : m.writes) all.push_back(write(c, w));
        return {operand_formula(rule, c.states[std::size_t(m.target)]), "<-", sum(all)};
    }
};

} // namespace

std::vector<Equation> recurrence_lines(TypedRule const& rule, Recurrence const& recurrence) {
    Lines lines{rule};
    std::vector<Equation> all;
    for (std::size_t s = 0; s < rule.statements.size(); ++s) {
        auto const target = rule.statements[s].target;
        for (auto const& o : recurrence.outputs)
            if (o.output == target)
                all.push_back({operand_formula(rule, target), "=", formula(lines.naming(), o.value)});
        for (auto const& c : recurrence.components)
            for (auto const& m : c.micro)
                if (m.statement == int(s)) all.push_back(lines.update(c, m));
        if (rule.operands[std::size_t(target)].role == Role::state) ++lines.written[target];
    }
    return all;
}

std::vector<Meaning> component_lines(TypedRule const& rule, Recurrence const& recurrence) {
    std::vector<Meaning> all;
    auto const extent = [&](DimId d) { return d == one ? std::string("1") : rule.dims[std::size_t(d)]; };
    for (auto const& c : recurrence.components) {
        std::vector<Formula> names;
        for (auto const id : c.states) names.push_back(operand_formula(rule, id));
        std::size_t writes = 0, reads = 0;
        bool scalar = false, key = false, value = false;
        for (auto const& m : c.micro) {
            writes += m.writes.size();
            for (auto const& w : m.writes) reads += w.reads.size();
            for (std::size_t b = 0; b < m.mix.size(); ++b)
                scalar |= m.mix[b] ? int(b) != m.target || !is_one(*m.mix[b]) : int(b) == m.target;
            key |= m.key_decay.has_value(), value |= m.value_decay.has_value();
        }
        auto const& shape = rule.operands[std::size_t(c.states[0])].shape;
        auto words =
            shape.cols == one ? extent(shape.rows) + " numbers" : extent(shape.rows) + " x " + extent(shape.cols);
        if (c.states.size() > 1)
            words = fmt::format("{} states of {} that read or add each other", c.states.size(), words);
        words += fmt::format("; {} rank-one write{} and {} read{} of the state a token", writes, writes == 1 ? "" : "s",
                             reads, reads == 1 ? "" : "s");
        std::string decays;
        auto const list = [&](bool there, std::string const& what) {
            if (there) decays += (decays.empty() ? "" : ", ") + what;
        };
        list(scalar, c.states.size() > 1 ? "mixed by numbers" : "multiplied by a number");
        list(key, "a decay for each channel of " + extent(c.col));
        list(value, "a decay for each channel of " + extent(c.row));
        words += "; " + (decays.empty() ? "nothing decays" : decays);
        if (c.flipped && shape.cols != one) words += "; the mirror image: it is read from the left";
        if (c.channel_solve) words += "; one triangular system for each channel of " + extent(c.row) + " (csolve)";
        all.push_back({listed(names), words});
    }
    return all;
}

} // namespace deltaloom::codegen
