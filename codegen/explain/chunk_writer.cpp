#include "codegen/explain/chunk_writer.hpp"

#include "codegen/program/chunk_values.hpp"

#include <algorithm>

namespace deltaloom::codegen {

// A write that reads twice is two events where every value channel has a system of its own.
std::vector<ExplainedEvent> explained_events(Component const& c) {
    std::vector<ExplainedEvent> events;
    for (std::size_t j = 0; j < c.micro.size(); ++j)
        for (auto const& w : c.micro[j].writes) {
            ExplainedEvent event{int(j), c.micro[j].target, &w, true, {}};
            for (auto const& read : w.reads) {
                if (c.channel_solve && !event.reads.empty()) {
                    events.push_back(event);
                    event.direct = false;
                    event.reads.clear();
                }
                event.reads.push_back(&read);
            }
            events.push_back(event);
        }
    return events;
}

std::vector<Formula> with(std::vector<Formula> factors, Formula const& f) {
    factors.push_back(f);
    return factors;
}

bool ChunkWriter::decaying(int micro) const {
    auto const& step = c.micro[std::size_t(micro)];
    for (std::size_t j = 0; j < n(); ++j) {
        auto const& mix = step.mix[j];
        if (int(j) == step.target ? !mix || !is_one(*mix) : mix && !mix->zero()) return true;
    }
    return false;
}

bool ChunkWriter::mixes() const {
    for (int j = 0; j < m(); ++j)
        if (decaying(j)) return true;
    return false;
}

void ChunkWriter::name_symbols() {
    events = explained_events(c);
    int scalars = 0, keys = 0, values = 0;
    for (int j = 0; j < m(); ++j) {
        scalars += decaying(j);
        keys += c.micro[std::size_t(j)].key_decay.has_value();
        values += c.micro[std::size_t(j)].value_decay.has_value();
    }
    scalar = n() > 1 || scalars > 0, key = keys > 0, value = values > 0;
    for (auto const& event : events) slots = std::max(slots, event.reads.size());
    simple = events.size() < 2 && scalars < 2 && keys < 2 && values < 2 && positions.size() < 2;
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
        k.push_back(own({"c" + numbered, "coefficient" + numbered}));
        r.push_back(own({"r" + numbered, "read" + numbered}));
    }
}

// ---- names at an index ------------------------------------------------------------------------------------------

Formula ChunkWriter::start(std::size_t j) const {
    auto const name = state(j);
    if (rule.operands[std::size_t(c.states[j])].previous_of >= 0) return indexed(name, {start_index()});
    return before_all(name);
}
Formula ChunkWriter::after(std::size_t j) const { return after_all(state(j)); }

Formula ChunkWriter::at(Value const& v, Formula const& index) const {
    auto const f = formula(naming, v);
    return varies(rule, v) ? indexed(f, {index}) : f;
}
Formula ChunkWriter::key_at(Formula const& index) const {
    return single() ? at(events[0].write->key, index) : indexed(x, {index});
}
Formula ChunkWriter::direct_at(Formula const& index) const {
    return single() ? at(events[0].write->direct, index) : indexed(P, {index});
}
Formula ChunkWriter::read_at(std::size_t slot, Formula const& index) const {
    return single() ? at(events[0].reads[slot]->key, index) : indexed(r[slot], {index});
}

Signed ChunkWriter::scaled(std::size_t slot, Formula const& index, Formula const& f) const {
    if (!single()) {
        auto const by = indexed(k[slot], {index});
        return {false, c.channel_solve ? entrywise({by, f}) : product({by, f})};
    }
    auto const& v = events[0].reads[slot]->coefficient;
    auto const [minus, size] = factor(naming, v);
    if (size.text == "1") return {minus, f};
    auto const by = varies(rule, v) ? indexed(size, {index}) : size;
    return {minus, v.shape.scalar() ? product({by, f}) : entrywise({by, f})};
}

// ---- decays and order -------------------------------------------------------------------------------------------

Formula ChunkWriter::to(Formula const& index, bool read) const {
    if (single()) return state(std::size_t(read ? events[0].reads[0]->state : events[0].target));
    return call(function(read ? "read" : "written"), {index});
}

std::vector<Formula> ChunkWriter::phi_of(Formula const& from, Formula const& to, Formula const& to_state,
                                         Formula const& from_state) const {
    if (n() > 1) return {call(indexed(phi, {to_state, from_state}), {from, to})};
    if (!scalar) return {};
    return {call(phi, {from, to})};
}

Formula ChunkWriter::keyed(Formula const& from, Formula const& to, Formula const& f) const {
    return key ? entrywise({call(D, {from, to}), f}) : f;
}
Formula ChunkWriter::valued(Formula const& from, Formula const& to, Formula const& f) const {
    return value ? entrywise({call(E, {from, to}), f}) : f;
}

Formula ChunkWriter::before(Formula const& a, Formula const& b) const {
    return simple ? chain({a, b}, {"<"}) : chain({place(a), place(b)}, {"<"});
}
Formula ChunkWriter::before_read() const {
    return simple ? chain({e, t}, {up_to(write_micro(), *positions.begin())}) : before(e, t);
}

} // namespace deltaloom::codegen
