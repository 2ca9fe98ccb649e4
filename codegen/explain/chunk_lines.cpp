// The chunk's equations with the rule's own names: those of codegen/program/chunk_component.hpp, for one rule.
#include "codegen/explain/chunk_names.hpp"
#include "codegen/program/chunk_values.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace deltaloom::codegen {
namespace {

struct Event {
    int micro = 0, target = 0;
    Write const* write = nullptr;
    bool direct = true; // the first of the events that one write is split into has the direct part
    std::vector<Read const*> reads;
};

// A write that reads twice is two events where every value channel has a system of its own.
std::vector<Event> events_of(Component const& c) {
    std::vector<Event> events;
    for (std::size_t j = 0; j < c.micro.size(); ++j)
        for (auto const& w : c.micro[j].writes) {
            Event event{int(j), c.micro[j].target, &w, true, {}};
            for (auto const& r : w.reads) {
                if (c.channel_solve && !event.reads.empty()) {
                    events.push_back(event);
                    event.direct = false;
                    event.reads.clear();
                }
                event.reads.push_back(&r);
            }
            events.push_back(event);
        }
    return events;
}

using Factors = std::vector<Formula>;

struct Chunk {
    TypedRule const& rule;
    Component const& c;
    Naming naming;
    FreshNames& fresh;
    Formula e, i, t, s, p; // indices, and the order
    std::string mark;      // of this component among several
    bool simple = false;   // one statement, one write, every read at one place: indices are tokens
    int after = 1;         // where the reads stand, if simple
    std::vector<Event> events = events_of(c);
    std::size_t slots = 0;
    bool scalar = false, key = false, value = false;
    Formula phi, D, E, M, B, U, x, P;
    Factors r, k; // keys and coefficients of the reads of a write

    std::size_t n() const { return c.states.size(); }
    int m() const { return int(c.micro.size()); }
    bool single() const { return events.size() == 1; }
    Formula state(std::size_t j) const { return operand_formula(rule, c.states[j]); }
    bool vector() const { return rule.operands[std::size_t(c.states[0])].shape.cols == one; }
    Formula start(std::size_t j) const {
        auto const name = state(j);
        return {name.text + "0", "{" + name.latex + "}_{0}"};
    }
    Formula own(std::vector<std::string> const& wishes) { return marked(fresh(wishes), mark); }

    Formula full(Value const& v, Formula const& at) const {
        auto const f = formula(naming, v);
        return varies(rule, v) ? indexed(f, {at}) : f;
    }
    Signed signed_(Value const& v, Formula const& at) const {
        auto [minus, f] = factor(naming, v);
        return {minus, varies(rule, v) ? indexed(f, {at}) : f};
    }

    // ---- the factors of the equations ----

    Formula to_of(Formula const& at, bool read) const { // which state, of several
        if (single()) return state(std::size_t(read ? events[0].reads[0]->state : events[0].target));
        return call(read ? Formula{"read", "\\operatorname{read}"} : Formula{"written", "\\operatorname{written}"},
                    {at});
    }
    Factors phi_of(Formula const& from, Formula const& to, Formula const& to_state, Formula const& from_state) const {
        if (n() > 1) return {call(indexed(phi, {to_state, from_state}), {from, to})};
        return scalar ? Factors{call(phi, {from, to})} : Factors{};
    }
    static Formula weighted(Formula const& decay, bool there, Formula const& from, Formula const& to,
                            Formula const& f) {
        return there ? entrywise({call(decay, {from, to}), f}) : f;
    }
    Formula keyed(Formula const& from, Formula const& to, Formula const& f) const {
        return weighted(D, key, from, to, f);
    }
    Formula valued(Formula const& from, Formula const& to, Formula const& f) const {
        return weighted(E, value, from, to, f);
    }
    static Factors with(Factors factors, Formula const& f) {
        factors.push_back(f);
        return factors;
    }
    Formula key_at(Formula const& at) const { return single() ? full(events[0].write->key, at) : indexed(x, {at}); }
    Formula direct_at(Formula const& at) const {
        return single() ? full(events[0].write->direct, at) : indexed(P, {at});
    }
    Formula read_at(std::size_t slot, Formula const& at) const {
        return single() ? full(events[0].reads[slot]->key, at) : indexed(r[slot], {at});
    }
    Signed coefficient_at(std::size_t slot, Formula const& at) const {
        return single() ? signed_(events[0].reads[slot]->coefficient, at) : Signed{false, indexed(k[slot], {at})};
    }
    Signed scaled(std::size_t slot, Formula const& at, Formula const& f) const {
        auto const [minus, by] = coefficient_at(slot, at);
        if (by.text == "1") return {minus, f};
        return {minus, c.channel_solve ? entrywise({by, f}) : product({by, f})};
    }
    Formula at_zero() const { return number(0); }
    Formula end() const { return {"end", "\\mathrm{end}"}; }

    Formula before(Formula const& a, Formula const& b) const {
        return simple ? chain({a, b}, {"<"}) : chain({call(p, {a}), call(p, {b})}, {"<"});
    }
    Formula before_read() const { return simple ? chain({e, t}, {after == 1 ? "<=" : "<"}) : before(e, t); }

    // Sigma and its transpose, of the state before the chunk.
    Formula sigma(std::size_t j, Formula const& f) const {
        if (vector()) return inner(start(j), f);
        return product({c.flipped ? transposed(start(j)) : start(j), within(f, Binding::closed)});
    }
    Formula sigma_transposed(std::size_t j, Formula const& f) const {
        return product({c.flipped ? start(j) : transposed(start(j)), within(f, Binding::closed)});
    }

    // phi(0,to) E(0,to) . (Sigma (D(0,to) . f)), over all states.
    std::vector<Signed> from_start(Formula const& to, Formula const& to_state, Formula const& f) const {
        std::vector<Signed> all;
        for (std::size_t j = 0; j < n(); ++j)
            all.push_back({false, valued(at_zero(), to,
                                         product(with(phi_of(at_zero(), to, to_state, state(j)),
                                                      sigma(j, keyed(at_zero(), to, f)))))});
        return all;
    }
    Formula pair(Formula const& to, Formula const& to_state, Formula const& f) const { // phi <f . D, x>
        return product(with(phi_of(e, to, to_state, to_of(e, false)), inner(keyed(e, to, f), key_at(e))));
    }

    Formula right_read(Formula const& q, std::size_t of) const {
        auto all = from_start(t, state(of), q);
        if (!events.empty())
            all.push_back(
                {false, sum_over(before_read(), product({pair(t, state(of), q), valued(e, t, indexed(U, {e}))}))});
        return sum(all);
    }
    Formula left_read(Formula const* y, std::size_t of) const { // no y: the vector state itself
        std::vector<Signed> all;
        for (std::size_t j = 0; j < n(); ++j) {
            auto const read = y ? sigma_transposed(j, valued(at_zero(), t, *y)) : start(j);
            all.push_back({false, product(with(phi_of(at_zero(), t, state(of), state(j)), keyed(at_zero(), t, read)))});
        }
        if (!events.empty()) {
            auto factors = phi_of(e, t, state(of), to_of(e, false));
            factors.push_back(y ? inner(valued(e, t, *y), indexed(U, {e})) : indexed(U, {e}));
            all.push_back({false, sum_over(before_read(), product(with(factors, keyed(e, t, key_at(e)))))});
        }
        return sum(all);
    }

    Formula read_formula(Atom const& a) const {
        auto const of = std::size_t(read_state(c, a));
        auto const at_t = [&](Monomial const& m) { return indexed(formula(naming, m, true), {t}); };
        switch (a.kind) {
        case Atom::Kind::vector_state: return left_read(nullptr, of);
        case Atom::Kind::dot: {
            Monomial rest;
            for (auto const& f : a.left)
                if (f.atom->kind != Atom::Kind::vector_state || f.atom->operand != c.states[of]) rest.push_back(f);
            return right_read(at_t(rest), of);
        }
        case Atom::Kind::read: {
            auto const y = at_t(a.left);
            return a.transposed == c.flipped ? right_read(y, of) : left_read(&y, of);
        }
        case Atom::Kind::form: {
            auto const y = at_t(a.left);
            return inner(at_t(a.right), c.flipped ? left_read(&y, of) : right_read(y, of));
        }
        case Atom::Kind::operand:
        case Atom::Kind::exp_log:
        case Atom::Kind::map:
        case Atom::Kind::vector_map:
        case Atom::Kind::sum: break;
        }
        return {};
    }

    Equation state_after(std::size_t of) const {
        std::vector<Signed> all;
        auto const whole = [&](Formula const& decay) { return diagonal(call(decay, {at_zero(), end()})); };
        bool const left = c.flipped ? key : value, right = c.flipped ? value : key;
        for (std::size_t j = 0; j < n(); ++j) {
            auto factors = phi_of(at_zero(), end(), state(of), state(j));
            if (vector())
                factors.push_back(keyed(at_zero(), end(), start(j)));
            else {
                if (left) factors.push_back(whole(c.flipped ? D : E));
                factors.push_back(start(j));
                if (right) factors.push_back(whole(c.flipped ? E : D));
            }
            all.push_back({false, product(factors)});
        }
        if (!events.empty()) {
            auto factors = phi_of(e, end(), state(of), to_of(e, false));
            auto const values = valued(e, end(), indexed(U, {e})), keys = keyed(e, end(), key_at(e));
            factors.push_back(c.flipped && !vector() ? keys : values);
            factors.push_back(vector() ? keys : transposed(c.flipped ? values : keys));
            all.push_back({false, sum_over(e, product(factors))});
        }
        auto const name = state(of);
        return {{name.text + "'", "{" + name.latex + "}'"}, "=", sum(all), "the state after the chunk"};
    }

    // ---- what the symbols are ----

    void name_symbols() {
        bool const coupled = n() > 1;
        for (auto const& micro : c.micro) {
            auto const& own_mix = micro.mix[std::size_t(micro.target)];
            scalar |= coupled || !own_mix || !is_one(*own_mix);
            key |= micro.key_decay.has_value();
            value |= micro.value_decay.has_value();
        }
        for (auto const& event : events) slots = std::max(slots, event.reads.size());
        if (scalar) phi = own({"phi", "decay"});
        if (key) D = own({"D", "K"});
        if (value) E = own({"E", "V"});
        if (slots > 0) M = c.channel_solve ? own({"G", "A"}) : own({"M", "L", "A"});
        if (slots > 0) B = own({"B", "H", "R"});
        if (!events.empty()) U = own({"U", "W", "Y"});
        if (events.size() < 2) return;
        x = own({"x", "X"});
        P = own({"P", "w"});
        for (std::size_t slot = 0; slot < slots; ++slot) {
            auto const numbered = slots > 1 ? std::to_string(slot + 1) : "";
            r.push_back(own({"r" + numbered, "read" + numbered}));
            k.push_back(own({"c" + numbered, "coefficient" + numbered}));
        }
    }

    std::vector<Meaning> meanings() const {
        std::vector<Meaning> all;
        auto const both = Formula{e.text + ", " + i.text, e.latex + ", " + i.latex};
        if (!events.empty())
            all.push_back(
                {both, simple || (single() && m() == 1)
                           ? "writes of the chunk, one a token: write " + e.text + " is that of token " + e.text
                           : fmt::format("writes of the chunk in order, {} a token", events.size())});
        all.push_back({t, "tokens of the chunk, where the state is read out"});
        if (!simple)
            all.push_back(
                {p, fmt::format(
                        "what comes before what: the {0} of a token take the places {1} t + 0 .. {1} t + {2}, "
                        "each with its write, its reads and its decay; a read-out after j of them stands at {1} t + j",
                        m() == 1 ? "statement" : "statements", m(), m() - 1)});
        Formula starts, ends;
        for (std::size_t j = 0; j < n(); ++j) {
            auto const name = state(j);
            starts.text += (j ? ", " : "") + start(j).text, starts.latex += (j ? ", " : "") + start(j).latex;
            ends.text += (j ? ", " : "") + name.text + "'", ends.latex += (j ? ", " : "") + ("{" + name.latex + "}'");
        }
        all.push_back({starts, "before the chunk"});
        all.push_back({ends, "after it"});
        if (scalar || key || value)
            all.push_back(
                {{"0, end", "0, \\mathrm{end}"}, "the two ends of the chunk: before everything, after everything"});
        return all;
    }

    // One decay: its product over what lies between, and what its factors are where they differ by statement.
    void decay(std::vector<Equation>& all, Formula const& name, std::vector<std::pair<int, Formula>> factors,
               std::set<std::string> const& logs, std::string words) {
        bool const same = std::all_of(factors.begin(), factors.end(),
                                      [&](auto const& f) { return f.second.text == factors[0].second.text; });
        auto F = factors[0].second;
        if (!same || n() > 1) {
            F = indexed(own(n() > 1 ? std::vector<std::string>{"T", "N"} : std::vector<std::string>{"a", "f", "h"}),
                        {s});
            for (auto const& [micro, f] : factors)
                all.push_back({F, "=", f, fmt::format("where {} is statement {} on the state", s.text, micro + 1)});
        }
        auto note = logs.empty() ? std::string() : std::string("; ");
        for (auto const& g : logs) note += (g == *logs.begin() ? "" : ", ") + g;
        if (!logs.empty())
            note +=
                fmt::format(" {} in log form: the product is exp of the sum over the same {}, never a difference of "
                            "sums, so that -inf is an exact reset",
                            logs.size() == 1 ? "is" : "are", s.text);
        if (simple) {
            if (!events.empty())
                all.push_back({call(name, {e, i}), "=", product_over(chain({e, s, i}, {"<", "<"}), F),
                               words + " between write " + e.text + " and the reads of write " + i.text + note});
            all.push_back({call(name, {e, t}), "=", product_over(chain({e, s, t}, {"<", after == 1 ? "<=" : "<"}), F),
                           words + " between write " + e.text + " and the read-out of token " + t.text +
                               (events.empty() ? note : "")});
            return;
        }
        auto const place = [&](Formula const& f) { return call(p, {f}); };
        all.push_back(
            {call(name, {e, i}), "=", product_over(chain({place(e), place(s), place(i)}, {"<", "<"}), F),
             fmt::format("{} between write {} and {}, over the decaying statements {} ({} of {} a token); with {} "
                         "in the place of {} up to a read-out",
                         words, e.text, i.text, s.text, factors.size(), m(), t.text, i.text) +
                 note});
    }

    std::vector<Equation> decays() {
        std::vector<Equation> all;
        std::vector<std::pair<int, Formula>> scalars, keys, values;
        std::set<std::string> scalar_logs, key_logs, value_logs;
        for (int j = 0; j < m(); ++j) {
            auto const& micro = c.micro[std::size_t(j)];
            auto const add = [&](Value const& v, auto& factors, auto& logs) {
                factors.emplace_back(j, full(v, s));
                logs.merge(log_gates(rule, v));
            };
            if (micro.key_decay) add(*micro.key_decay, keys, key_logs);
            if (micro.value_decay) add(*micro.value_decay, values, value_logs);
            auto const& own_mix = micro.mix[std::size_t(micro.target)];
            if (n() == 1) {
                if (!own_mix)
                    scalars.emplace_back(j, number(0));
                else if (!is_one(*own_mix))
                    add(*own_mix, scalars, scalar_logs);
                continue;
            }
            std::vector<std::vector<Formula>> rows(n());
            for (std::size_t to = 0; to < n(); ++to)
                for (std::size_t from = 0; from < n(); ++from) {
                    auto const& mix = micro.mix[from];
                    rows[to].push_back(int(to) != micro.target ? number(to == from) : mix ? full(*mix, s) : number(0));
                    if (int(to) == micro.target && mix) scalar_logs.merge(log_gates(rule, *mix));
                }
            scalars.emplace_back(j, rows_of(rows));
        }
        if (!scalars.empty()) {
            std::string names;
            for (std::size_t j = 0; j < n(); ++j) names += (j ? ", " : "") + state(j).text;
            decay(all, phi, scalars, scalar_logs,
                  n() > 1 ? "a matrix over the states " + names + ", later factors on the left: how they mix"
                          : "what the state is multiplied by");
        }
        if (!keys.empty())
            decay(all, D, keys, key_logs,
                  vector() ? "channel by channel, what the state is multiplied by"
                           : "per key channel, what the state is multiplied by");
        if (!values.empty()) decay(all, E, values, value_logs, "per value channel, what the state is multiplied by");
        return all;
    }

    // The rows of the writes, where a token has several.
    void rows(std::vector<Equation>& all) const {
        if (events.size() < 2) return;
        for (std::size_t w = 0; w < events.size(); ++w) {
            auto const& event = events[w];
            auto where = fmt::format("write {} of a token, by statement {} on the state; all values are that token's",
                                     w + 1, event.micro + 1);
            if (n() > 1) {
                where += "; written is " + state(std::size_t(event.target)).text;
                if (!event.reads.empty()) where += ", read is " + state(std::size_t(event.reads[0]->state)).text;
            }
            all.push_back({indexed(x, {e}), "=", formula(naming, event.write->key), where});
            all.push_back({indexed(P, {e}), "=", event.direct ? formula(naming, event.write->direct) : number(0)});
            for (std::size_t slot = 0; slot < slots; ++slot) {
                auto const* read = slot < event.reads.size() ? event.reads[slot] : nullptr;
                all.push_back({indexed(k[slot], {e}), "=", read ? formula(naming, read->coefficient) : number(0)});
                if (read) all.push_back({indexed(r[slot], {e}), "=", formula(naming, read->key)});
            }
        }
    }

    void solve(std::vector<Equation>& all) const {
        if (events.empty()) return;
        if (slots == 0) {
            all.push_back(
                {indexed(U, {e}), "=", direct_at(e), "what each write adds; nothing is read, so nothing is to solve"});
            return;
        }
        auto const zero = "0 unless " + before(e, i).text + ": strictly lower triangular";
        auto const m_ie = indexed(M, {i, e});
        auto const read_state_of = [&](std::size_t slot) {
            return single() ? state(std::size_t(events[0].reads[slot]->state)) : to_of(i, true);
        };
        std::vector<Signed> entries, before_chunk;
        if (!single() || !events[0].write->direct.zero()) before_chunk.push_back({false, direct_at(i)});
        for (std::size_t slot = 0; slot < slots; ++slot) {
            auto const of = read_state_of(slot);
            auto const gram = pair(i, of, read_at(slot, i));
            entries.push_back(c.channel_solve ? Signed{false, gram} : scaled(slot, i, gram));
            before_chunk.push_back(scaled(slot, i, sum(from_start(i, of, read_at(slot, i)))));
        }
        all.push_back(
            {m_ie, "=", sum(entries),
             "how much of what write " + e.text + " put there the reads of write " + i.text + " find; " + zero});
        all.push_back({indexed(B, {i}), "=", sum(before_chunk),
                       "what write " + i.text + " adds as far as the state before the chunk says it"});
        if (c.channel_solve) {
            auto const inside = sum_over(before(e, i), product({m_ie, valued(e, i, indexed(U, {e}))}));
            all.push_back(
                {indexed(U, {i}), "=", sum({{false, indexed(B, {i})}, scaled(0, i, within(inside, Binding::product))}),
                 "the pseudo-values, what each write really adds: one triangular system per value channel (csolve), "
                 "all with the same " +
                     M.text});
            return;
        }
        all.push_back(
            {U, "=", product({inverse(sum({{false, symbol("I")}, {true, M}})), B}),
             fmt::format(
                 "the pseudo-values, what each write really adds: a unit lower triangular solve, row by row {0}[i] = "
                 "{1}[i] + sum {2}[i,e] {0}[e]",
                 U.text, B.text, M.text)});
    }
};

} // namespace

ChunkLines chunk_lines(TypedRule const& rule, Recurrence const& recurrence) {
    ChunkLines lines;
    auto const reads = state_reads(rule, recurrence);
    Naming const naming{rule, [&](OperandId id, int version) {
                            auto const name = operand_formula(rule, id);
                            auto const seen = reads.versions.find(id);
                            bool const one_only = seen == reads.versions.end() || seen->second.size() < 2;
                            return one_only ? name : indexed(name, {number(version)});
                        }};
    FreshNames fresh;
    for (auto const& x : rule.operands) fresh.used.insert(x.name);
    auto const e = fresh({"e", "j"}), i = fresh({"i", "l"}), t = fresh({"t", "n"}), s = fresh({"s", "h"}),
               p = fresh({"p", "pos"});
    // An output that is nothing but a read is the left side of that read's equation.
    std::map<std::string, OperandId> outputs;
    for (auto const& o : recurrence.outputs) {
        if (o.value.terms.size() != 1) continue;
        auto const& term = o.value.terms[0];
        auto channels = term.scalar;
        for (auto const* part : {&term.rows, &term.cols}) channels.insert(channels.end(), part->begin(), part->end());
        if (term.coefficient != 1 || channels.size() != 1 || channels[0].power != 1) continue;
        outputs.emplace(channels[0].atom->key, o.output);
    }
    std::set<OperandId> said;
    for (auto const& c : recurrence.components) {
        auto const name = operand_formula(rule, c.states[0]).text;
        auto f = fresh; // a component's symbols carry its mark
        Chunk chunk{rule, c, naming, f, e, i, t, s, p, recurrence.components.size() > 1 ? name : ""};
        std::vector<Atom const*> own;
        std::set<int> positions;
        for (auto const* a : reads.atoms)
            if (read_state(c, *a) >= 0) {
                own.push_back(a);
                positions.insert(read_position(c, *a));
            }
        chunk.simple = c.micro.size() == 1 && chunk.events.size() < 2 && positions.size() < 2;
        if (!positions.empty()) chunk.after = *positions.begin();
        chunk.name_symbols();
        ExplainedChunk out;
        for (std::size_t j = 0; j < c.states.size(); ++j) out.states += (j ? ", " : "") + chunk.state(j).text;
        out.meanings = chunk.meanings();
        out.decays = chunk.decays();
        chunk.rows(out.decays);
        chunk.solve(out.equations);
        for (auto const* a : own) {
            auto const output = outputs.find(a->key);
            auto const read = formula(naming, *a);
            auto const where =
                fmt::format("{} of token {}, after {} of the {} statement{} on the state", read.text, t.text,
                            read_position(c, *a), c.micro.size(), c.micro.size() == 1 ? "" : "s");
            bool const is_output = output != outputs.end() && said.insert(output->second).second;
            out.equations.push_back({indexed(is_output ? operand_formula(rule, output->second) : read, {t}), "=",
                                     chunk.read_formula(*a), where});
        }
        for (std::size_t j = 0; j < c.states.size(); ++j) out.equations.push_back(chunk.state_after(j));
        lines.chunks.push_back(std::move(out));
    }
    for (auto const& o : recurrence.outputs)
        if (!said.count(o.output))
            lines.outputs.push_back(
                {indexed(operand_formula(rule, o.output), {t}), "=",
                 varies(rule, o.value) ? indexed(formula(naming, o.value), {t}) : formula(naming, o.value)});
    return lines;
}

} // namespace deltaloom::codegen
