#include "codegen/program/chunk_factors.hpp"

#include <algorithm>

namespace deltaloom::codegen {
namespace {

// Adds to a list without repeating.
void list(std::string& all, std::string const& one_more) {
    if (all.empty())
        all = one_more;
    else if ((", " + all + ", ").find(", " + one_more + ", ") == std::string::npos)
        all += ", " + one_more;
}

struct Event {
    int micro = 0, target = 0;
    Write const* write = nullptr;
    bool direct = true; // the first of the events that one write is split into carries the direct term
    std::vector<Read const*> reads;
};

std::vector<Event> events_of(Component const& component, bool per_channel) {
    std::vector<Event> events;
    for (int j = 0; j < static_cast<int>(component.micro.size()); ++j)
        for (auto const& w : component.micro[j].writes) {
            Event event{j, component.micro[j].target, &w, true, {}};
            for (auto const& r : w.reads) {
                // The coefficient of a read is a row, not a number: one read an event.
                if (per_channel && !event.reads.empty()) {
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

ReadSlot read_slot(ChunkComponent const& c, std::vector<Event> const& events, std::size_t slot) {
    auto& values = c.values;
    auto& b = values.b;
    ReadSlot s;
    s.rows = c.events;
    s.rows.state.clear();
    auto const over_rows = [&](Event const& event) {
        return slot < event.reads.size() && !event.reads[slot]->coefficient.shape.scalar();
    };
    auto const width = std::any_of(events.begin(), events.end(), over_rows) ? row_extent(c) : Extent::of(1);
    std::vector<NodeId> keys, coefficients;
    for (auto const& event : events) {
        auto const* r = slot < event.reads.size() ? event.reads[slot] : nullptr;
        s.rows.state.push_back(r ? r->state : 0);
        keys.push_back(r ? values.rows(r->key) : b.constant(0, {Extent::tokens(1), col_extent(c)}));
        coefficients.push_back(r ? values.neutral(values.whole(values.value(r->coefficient), width), 0)
                                 : b.constant(0, {Extent::tokens(1), width}));
        if (!r) continue;
        list(s.text, print(values.rule, r->key));
        list(s.coefficient_text, print(values.rule, r->coefficient));
    }
    s.keys = b.interleave(keys);
    s.coefficient = b.interleave(coefficients);
    if (keys.size() == 1) return s;
    auto const same = s.keys == c.X;
    label(b, s.keys, "read_keys", "rows of read_keys: " + s.text);
    label(b, s.coefficient, "c", "rows of c: " + s.coefficient_text);
    s.text = same ? "keys" : "read_keys";
    s.coefficient_text = "c";
    return s;
}

} // namespace

std::string ChunkComponent::name() const { return state_name(*this, 0); }

ChunkComponent chunk_component(ChunkValues& values, Component const& component) {
    auto& b = values.b;
    ChunkComponent c{values, component, transition_track(values, component), key_track(values, component),
                     value_track(values, component)};
    for (auto const s : component.states) {
        auto const x = values.operand(s);
        c.start.push_back(component.flipped ? b.transpose(x) : x);
    }
    c.per_channel = component.channel_solve;
    auto const events = events_of(component, c.per_channel);
    if (events.empty()) return c;
    std::vector<NodeId> keys, direct;
    std::size_t slots = 0;
    for (auto const& event : events) {
        c.events.position.push_back(event.micro);
        c.events.state.push_back(event.target);
        keys.push_back(values.neutral(values.rows(event.write->key), 0));
        direct.push_back(event.direct ? values.neutral(values.rows(event.write->direct), 0)
                                      : b.constant(0, {Extent::tokens(1), row_extent(c)}));
        slots = std::max(slots, event.reads.size());
        list(c.key_text, print(values.rule, event.write->key));
        if (event.direct) list(c.direct_text, print(values.rule, event.write->direct));
    }
    c.X = b.interleave(keys);
    c.P = b.interleave(direct);
    if (events.size() > 1) {
        label(b, c.X, "keys", "rows of keys: " + c.key_text);
        label(b, c.P, "direct", "rows of direct: " + c.direct_text);
        c.key_text = "keys";
        c.direct_text = "direct";
    }
    for (std::size_t j = 0; j < slots; ++j) c.reads.push_back(read_slot(c, events, j));
    return c;
}

} // namespace deltaloom::codegen
