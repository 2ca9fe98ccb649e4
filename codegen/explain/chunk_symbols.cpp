// What the symbols of a component's chunk stand for: indices, decays, the writes of a token.
#include "codegen/explain/chunk_writer.hpp"
#include "codegen/program/chunk_values.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace deltaloom::codegen {
namespace {

struct DecayFactors { // of one kind of decay: by statement
    std::vector<std::pair<int, Formula>> factors;
    std::set<std::string> logs;
};

std::string log_note(std::set<std::string> const& logs, std::string const& index) {
    if (logs.empty()) return "";
    std::string names;
    for (auto const& g : logs) names += (names.empty() ? "" : ", ") + g;
    return fmt::format("; {} {} in log form: the product is exp of the sum over the same {}, never a difference of "
                       "sums, so that -inf is an exact reset",
                       names, logs.size() == 1 ? "is" : "are", index);
}

} // namespace

std::vector<Meaning> ChunkWriter::meanings() const {
    std::vector<Meaning> all;
    auto const writes = slots > 0 ? listed({e, i}) : e;
    if (single())
        all.push_back(
            {writes, fmt::format("writes of the chunk, one a token: write {0} is that of token {0}", e.text)});
    else if (!events.empty())
        all.push_back({writes, fmt::format("writes of the chunk in order, {} a token", events.size())});
    if (!positions.empty()) all.push_back({t, "tokens of the chunk, where the state is read out"});
    if (!simple) {
        std::string places;
        auto const list = [&](char const* what, std::set<int> const& at) {
            if (at.empty()) return;
            places += (places.empty() ? "" : "; ") + std::string(what) + " at";
            for (int const j : at)
                places += (j == *at.begin() ? " " : ", ") + (m() == 1 ? "" : std::to_string(m()) + " ") + t.text +
                          (j == 0 ? "" : " + " + std::to_string(j));
        };
        std::set<int> decays, writes_at;
        for (int j = 0; j < m(); ++j) {
            auto const& micro = c.micro[std::size_t(j)];
            if (decaying(j) || micro.key_decay || micro.value_decay) decays.insert(j);
        }
        for (auto const& event : events) writes_at.insert(event.micro);
        list("decays", decays), list("writes and their reads", writes_at), list("read-outs", positions);
        all.push_back({p, fmt::format("what comes before what, over all statements on the state; of token {} stand: {}",
                                      t.text, places)});
    }
    std::vector<Formula> starts, ends;
    for (std::size_t j = 0; j < n(); ++j) starts.push_back(start(j)), ends.push_back(after(j));
    all.push_back({listed(starts), "before the chunk"});
    all.push_back({listed(ends), "after it"});
    if (n() > 1 && !mixes())
        all.push_back({phi, "1 between a state and itself, 0 between two: nothing mixes them but their reads"});
    if (scalar || key || value)
        all.push_back(
            {listed({start_index(), end_index()}), "the two ends of the chunk: before everything, after everything"});
    return all;
}

std::vector<Equation> ChunkWriter::decays() {
    DecayFactors scalars, keys, values;
    auto const add = [&](Value const& v, int micro, DecayFactors& all) {
        all.factors.emplace_back(micro, at(v, s));
        all.logs.merge(log_gates(rule, v));
    };
    for (int j = 0; j < m(); ++j) {
        auto const& micro = c.micro[std::size_t(j)];
        if (micro.key_decay) add(*micro.key_decay, j, keys);
        if (micro.value_decay) add(*micro.value_decay, j, values);
        if (!decaying(j)) continue;
        auto const& own_mix = micro.mix[std::size_t(micro.target)];
        if (n() == 1) {
            add(own_mix ? *own_mix : Value{}, j, scalars);
            continue;
        }
        std::vector<std::vector<Formula>> matrix(n());
        for (std::size_t to = 0; to < n(); ++to)
            for (std::size_t from = 0; from < n(); ++from) {
                auto const& mix = micro.mix[from];
                bool const target = int(to) == micro.target;
                matrix[to].push_back(!target ? number(to == from) : mix ? at(*mix, s) : number(0));
                if (target && mix) scalars.logs.merge(log_gates(rule, *mix));
            }
        scalars.factors.emplace_back(j, rows_of(matrix));
    }

    std::vector<Equation> all;
    auto const define = [&](Formula const& name, DecayFactors const& decay, std::string const& words) {
        auto const& factors = decay.factors;
        if (factors.empty()) return;
        auto F = factors[0].second;
        bool const same =
            std::all_of(factors.begin(), factors.end(), [&](auto const& f) { return f.second.text == F.text; });
        if (!same || n() > 1) {
            F = indexed(n() > 1 ? own({"T", "N"}) : own({"a", "f", "h"}), {s});
            for (auto const& [micro, f] : factors)
                all.push_back({F, "=", f, fmt::format("where {} is statement {} on the state", s.text, micro + 1)});
        }
        auto note = F.text == "0" ? "; nothing outlasts one of them" : log_note(decay.logs, s.text);
        // Over what lies between a write, or the chunk's start, and a read. Every component is read by something.
        int const micro = factors[0].first;
        auto const low = simple && micro > write_micro() ? "<=" : "<";
        auto const since = events.empty() ? std::string(" from the start to ") : " between write " + e.text + " and ";
        auto const say = [&](Formula const& last, char const* relation, std::string const& what) {
            auto const index = [&](Formula const& f) { return simple ? f : place(f); };
            std::vector<Formula> of{index(s), index(last)};
            std::vector<std::string> relations{simple ? relation : "<"};
            if (!events.empty()) of.insert(of.begin(), index(e)), relations.insert(relations.begin(), low);
            all.push_back({call(name, {events.empty() ? start_index() : e, last}), "=",
                           product_over(chain(of, relations), F), words + since + what + note});
            note.clear();
        };
        if (slots > 0) say(i, up_to(micro, write_micro()), "the reads of write " + i.text);
        if (!positions.empty()) say(t, up_to(micro, *positions.begin()), "the read-out of token " + t.text);
    };
    std::string names;
    for (std::size_t j = 0; j < n(); ++j) names += (j ? ", " : "") + state(j).text;
    define(phi, scalars,
           n() > 1 ? "a matrix over the states " + names + ", later factors on the left: how they mix"
                   : "what the state is multiplied by");
    auto const channel = [&](DimId dim) {
        return "for each channel of " + rule.dims[std::size_t(dim)] + ", what the state is multiplied by";
    };
    if (key) define(D, keys, channel(c.col));
    if (value) define(E, values, channel(c.row));
    return all;
}

std::vector<Equation> ChunkWriter::rows() const {
    std::vector<Equation> all;
    if (events.size() < 2) return all;
    for (std::size_t w = 0; w < events.size(); ++w) {
        auto const& event = events[w];
        std::vector<Formula> left{indexed(x, {e}), indexed(P, {e})};
        std::vector<Formula> right{formula(naming, event.write->key),
                                   event.direct ? formula(naming, event.write->direct) : number(0)};
        for (std::size_t slot = 0; slot < slots; ++slot) {
            auto const* read = slot < event.reads.size() ? event.reads[slot] : nullptr;
            left.push_back(indexed(k[slot], {e}));
            left.push_back(indexed(r[slot], {e}));
            right.push_back(read ? formula(naming, read->coefficient) : number(0));
            right.push_back(read ? formula(naming, read->key) : number(0));
        }
        auto words =
            fmt::format("where {} is write {} of a token, by statement {} on the state: its key, its direct part",
                        e.text, w + 1, event.micro + 1);
        if (slots > 0) words += ", the coefficient and the key of its read";
        if (n() > 1) {
            words += "; written is " + state(std::size_t(event.target)).text;
            if (!event.reads.empty()) words += ", read is " + state(std::size_t(event.reads[0]->state)).text;
        }
        all.push_back({listed(left), "=", listed(right), words});
    }
    return all;
}

} // namespace deltaloom::codegen
