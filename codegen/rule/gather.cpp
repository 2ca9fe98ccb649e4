// Sums of monomials as few products: the decay of a state, the writes and reads of a statement.
#include "codegen/rule/split.hpp"

namespace deltaloom::codegen {
namespace {

using Poly = std::map<std::string, Term>; // by key

// b / a, if b is a rational multiple of a
std::optional<Rational> ratio(Poly const& a, Poly const& b) {
    if (a.size() != b.size()) return std::nullopt;
    std::optional<Rational> r;
    for (auto i = a.begin(), j = b.begin(); i != a.end(); ++i, ++j) {
        if (i->first != j->first) return std::nullopt;
        Rational const q = j->second.coefficient / i->second.coefficient;
        if (r && *r != q) return std::nullopt;
        r = q;
    }
    return r;
}

Value value_from(Shape shape, Poly const& p) {
    Sum sum;
    for (auto const& [k, t] : p) sum.add(t);
    return value_of(shape, std::move(sum));
}

bool is_one(Value const& v) {
    return v.terms.size() == 1 && v.terms[0].coefficient == 1 && v.terms[0].scalar.empty() && v.terms[0].rows.empty() &&
           v.terms[0].cols.empty();
}

// sum_i m_i p_i, p_i all multiples of one p: (sum_i ratio_i m_i) p. The first ratio is 1.
struct Product {
    Poly outer, inner;
};
std::optional<Product> taken_out(Poly const& p, Monomial Term::* part) {
    std::map<std::string, std::pair<Monomial, Poly>> groups;
    for (auto const& [k, t] : p) {
        auto& [m, rest] = groups[key(t.*part)];
        m = t.*part;
        Term inner = t;
        inner.*part = {};
        rest.emplace(inner.key(), inner);
    }
    if (groups.empty()) return std::nullopt;
    Product out;
    out.inner = groups.begin()->second.second;
    for (auto const& [k, group] : groups) {
        auto const r = ratio(out.inner, group.second);
        if (!r) return std::nullopt;
        Term outer;
        outer.*part = group.first;
        outer.coefficient = *r;
        outer.where = group.second.begin()->second.where;
        out.outer.emplace(outer.key(), outer);
    }
    return out;
}

// A vector over a dimension has its factors in the rows.
Value column(DimId dim, Poly const& p) {
    Sum sum;
    for (auto [k, t] : p) {
        t.rows = times(t.rows, std::exchange(t.cols, {}));
        sum.add(std::move(t));
    }
    return value_of({dim, one}, std::move(sum));
}

std::optional<Value> unless_one(Value v) { return is_one(v) ? std::nullopt : std::optional(std::move(v)); }

} // namespace

std::optional<Decay> factored(std::vector<Term> const& kept, DimId row, DimId col) {
    Poly all;
    for (auto const& t : kept) all.emplace(t.key(), t);
    Term unit;
    unit.coefficient = 1;
    Value const one_scalar{{}, false, {unit}};
    if (auto const by_row = taken_out(all, &Term::rows)) {
        Value rows = column(row, by_row->outer);
        if (auto const by_col = taken_out(by_row->inner, &Term::cols))
            return Decay{value_from({}, by_col->inner), unless_one(std::move(rows)),
                         unless_one(column(col, by_col->outer))};
        return Decay{one_scalar, unless_one(std::move(rows)), column(col, by_row->inner)};
    }
    if (auto const by_col = taken_out(all, &Term::cols))
        return Decay{one_scalar, column(row, by_col->inner), unless_one(column(col, by_col->outer))};
    return std::nullopt;
}

namespace {

// What a key monomial carries: its direct part and its reads, as one list of products.
struct Content {
    std::map<std::string, std::pair<std::string, Term>> terms; // by slot and key: the slot ("" for direct) and the term
};

std::optional<Rational> ratio(Content const& a, Content const& b) {
    Poly x, y;
    for (auto const& [k, t] : a.terms) x.emplace(k, t.second);
    for (auto const& [k, t] : b.terms) y.emplace(k, t.second);
    return ratio(x, y);
}

Term key_term(Monomial const& m, Rational const& coefficient, Location const& where) {
    Term t;
    t.rows = m;
    t.coefficient = coefficient;
    t.where = where;
    return t;
}

struct Shared { // several key monomials that multiply one content
    Poly keys;
    Content content;
};

struct SharedRead {
    int state = 0;
    Poly keys, coefficient;
};

std::vector<Read> reads_of(Frame const& frame, std::map<std::string, Poly> const& slots,
                           std::map<std::string, ReadTerms> const& names) {
    std::vector<SharedRead> merged;
    for (auto const& [slot, coefficient] : slots) {
        ReadTerms const& name = names.at(slot);
        bool found = false;
        for (auto& m : merged) {
            auto const r = m.state == name.state ? ratio(m.coefficient, coefficient) : std::nullopt;
            if (!r) continue;
            Term t = key_term(name.key, *r, coefficient.begin()->second.where);
            m.keys.emplace(t.key(), t);
            found = true;
            break;
        }
        if (found) continue;
        Term t = key_term(name.key, 1, coefficient.begin()->second.where);
        merged.push_back({name.state, {{t.key(), t}}, coefficient});
    }
    std::vector<Read> out;
    for (auto& m : merged) {
        bool over_rows = false;
        for (auto const& [k, t] : m.coefficient) over_rows = over_rows || !t.rows.empty();
        out.push_back({m.state, value_from({over_rows ? frame.row : one, one}, m.coefficient),
                       value_from({frame.col, one}, m.keys)});
    }
    return out;
}

} // namespace

std::vector<Write> gathered(Frame const& frame, Parts&& parts) {
    std::vector<Shared> groups;
    std::map<std::string, ReadTerms> names;
    for (auto& [unused, w] : parts.writes) {
        Content content;
        for (auto& t : std::move(w.direct).terms()) content.terms.emplace("|" + t.key(), std::pair{"", t});
        for (auto& [slot, r] : w.reads) {
            for (auto& t : std::move(r.coefficient).terms())
                content.terms.emplace(slot + "|" + t.key(), std::pair{slot, t});
            names[slot].state = r.state;
            names[slot].key = r.key;
        }
        if (content.terms.empty()) continue;
        Location const where = content.terms.begin()->second.second.where;
        bool found = false;
        for (auto& g : groups) {
            auto const r = ratio(g.content, content);
            if (!r) continue;
            Term t = key_term(w.key, *r, where);
            g.keys.emplace(t.key(), t);
            found = true;
            break;
        }
        if (found) continue;
        Term t = key_term(w.key, 1, where);
        groups.push_back({{{t.key(), t}}, std::move(content)});
    }
    std::vector<Write> out;
    for (auto& g : groups) {
        Poly direct;
        std::map<std::string, Poly> slots;
        for (auto& [k, entry] : g.content.terms)
            (entry.first.empty() ? direct : slots[entry.first]).emplace(entry.second.key(), entry.second);
        out.push_back({value_from({frame.col, one}, g.keys), value_from({frame.row, one}, direct),
                       reads_of(frame, slots, names)});
    }
    return out;
}

} // namespace deltaloom::codegen
