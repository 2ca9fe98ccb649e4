#include "codegen/program/chunk_component.hpp"

#include <algorithm>

namespace deltaloom::codegen {
namespace {

using Kind = EventRows::Kind;

EventRows start_row(int state) { return {Kind::start, {}, {state}}; }
EventRows end_row(int state) { return {Kind::end, {}, {state}}; }

NodeId label(Builder& b, NodeId node, std::string hint, std::string note) {
    if (b[node].op == Op::input || b[node].op == Op::constant) return node;
    return b.named(node, std::move(hint), std::move(note));
}

// "k" of the value k or -k, empty of anything longer.
std::string short_name(std::string const& text) {
    auto const word = text.substr(0, 1) == "-" ? text.substr(1) : text;
    bool const plain = word.size() <= 8 && std::all_of(word.begin(), word.end(),
                                                       [](unsigned char c) { return std::isalnum(c) || c == '_'; });
    return plain ? word : "";
}

std::string joined_name(std::string const& left, std::string const& right, char const* otherwise) {
    auto const a = short_name(left), b = short_name(right);
    return a.empty() || b.empty() ? otherwise : a.size() + b.size() <= 3 ? a + b : a + "_" + b;
}

void list(std::string& all, std::string const& one_more) {
    if (all.empty())
        all = one_more;
    else if ((", " + all + ", ").find(", " + one_more + ", ") == std::string::npos)
        all += ", " + one_more;
}

} // namespace

// ---- decays -----------------------------------------------------------------------------------------------------

namespace {

// phi, or -1 where it is 1 throughout: no decay and every write before every read.
NodeId between(ChunkComponent const& c, EventRows reads, EventRows writes) {
    auto& b = c.values.b;
    bool const from_start = writes.kind == Kind::start, to_end = reads.kind == Kind::end;
    auto const span = c.scalar.span(std::move(reads), std::move(writes));
    if (!c.scalar && c.component.states.size() == 1) {
        if (from_start || to_end) return -1;
        return label(b, b.mask(span), "earlier", "earlier[i,e] = 1 where write e is before i, else 0");
    }
    auto const node = b.decay(c.scalar.rows, span, static_cast<int>(c.component.states.size()));
    auto const product = "product of " + (c.scalar.factor.empty() ? "1" : c.scalar.factor);
    if (from_start && to_end) return label(b, node, "whole_decay", "whole_decay = " + product + " over the chunk");
    if (from_start) return label(b, node, "from_start", "from_start[i] = " + product + " up to i");
    if (to_end) return label(b, node, "to_end", "to_end[e] = " + product + " after e");
    return label(b, node, "decay", "decay[i,e] = " + product + " between e and i, 0 unless e is before i");
}

NodeId scaled(ChunkComponent const& c, NodeId factor, NodeId x) { return factor < 0 ? x : c.values.b.mul(factor, x); }

// Channel decays from the chunk's start to each read, reads x width; -1: none.
NodeId channels_from_start(ChunkComponent const& c, DecayTrack const& track, EventRows const& reads, Extent width) {
    if (!track) return -1;
    auto& b = c.values.b;
    auto const span = track.span(reads, start_row(0));
    bool const whole = reads.kind == Kind::end;
    auto const rows = whole ? Extent::of(1) : Extent::tokens(static_cast<int>(reads.position.size()));
    auto const node =
        b.apply(b.constant(1, {rows, Extent::of(1)}), b.constant(1, {Extent::of(1), width}), track.rows[0], span);
    auto const side = &track == &c.key ? std::string("key") : std::string("value");
    auto const product = " = product of " + track.factor;
    if (whole) return label(b, node, side + "_whole_decay", side + "_whole_decay[j]" + product + " over the chunk");
    return label(b, node, side + "_from_start", side + "_from_start[i,j]" + product + " up to i");
}

// Channel decays from each write to the chunk's end, events x width; -1: none.
NodeId channels_to_end(ChunkComponent const& c, DecayTrack const& track, Extent width) {
    if (!track) return -1;
    auto& b = c.values.b;
    auto const events = Extent::tokens(static_cast<int>(c.events.position.size()));
    auto const node = b.applyt(b.constant(1, {Extent::of(1), events}), b.constant(1, {Extent::of(1), width}),
                               track.rows[0], track.span(end_row(0), c.events));
    auto const side = &track == &c.key ? std::string("key") : std::string("value");
    return label(b, node, side + "_to_end", side + "_to_end[e,j] = product of " + track.factor + " after e");
}

Extent row_extent(ChunkComponent const& c) { return Extent::dim(c.component.row); }
Extent col_extent(ChunkComponent const& c) { return Extent::dim(c.component.col); }

std::string sigma_text(ChunkComponent const& c, int state) {
    auto const& x = c.values.rule.operands[c.component.states[state]];
    return c.component.flipped && x.shape.cols != one ? "T(" + x.name + ")" : x.name;
}

} // namespace

// ---- events -----------------------------------------------------------------------------------------------------

namespace {

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

bool row_coefficients(Component const& component) {
    for (auto const& micro : component.micro)
        for (auto const& w : micro.writes)
            for (auto const& r : w.reads)
                if (!r.coefficient.shape.scalar()) return true;
    return false;
}

ReadSlot read_slot(ChunkComponent const& c, std::vector<Event> const& events, std::size_t slot) {
    auto& values = c.values;
    auto& b = values.b;
    ReadSlot s;
    s.rows = c.events;
    s.rows.state.clear();
    auto const width = c.per_channel ? row_extent(c) : Extent::of(1);
    std::vector<NodeId> keys, coefficients;
    for (auto const& event : events) {
        auto const* r = slot < event.reads.size() ? event.reads[slot] : nullptr;
        s.rows.state.push_back(r ? r->state : 0);
        keys.push_back(r ? values.rows(r->key) : b.constant(0, {Extent::tokens(1), col_extent(c)}));
        coefficients.push_back(r ? values.neutral(values.whole(values.value(r->coefficient), width), 0)
                                 : b.constant(0, {Extent::tokens(1), width}));
        if (r) list(s.text, print(values.rule, r->key));
    }
    s.keys = b.interleave(keys);
    s.coefficient = b.interleave(coefficients);
    if (keys.size() > 1) {
        label(b, s.keys, "read_keys", "rows of read_keys: " + s.text);
        label(b, s.coefficient, "c", "c = coefficients of the reads");
    }
    return s;
}

} // namespace

std::string ChunkComponent::name() const { return values.rule.operands[component.states[0]].name; }

ChunkComponent chunk_component(ChunkValues& values, Component const& component) {
    auto& b = values.b;
    ChunkComponent c{values, component, transition_track(values, component), key_track(values, component),
                     value_track(values, component)};
    for (auto const s : component.states) {
        auto const x = values.operand(s);
        c.start.push_back(component.flipped ? b.transpose(x) : x);
    }
    c.per_channel = component.channel_solve || row_coefficients(component);
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
    }
    c.X = b.interleave(keys);
    c.P = b.interleave(direct);
    if (events.size() > 1) {
        label(b, c.X, "keys", "rows of keys: " + c.key_text);
        label(b, c.P, "direct", "what the writes add without a read");
    }
    for (std::size_t j = 0; j < slots; ++j) c.reads.push_back(read_slot(c, events, j));
    return c;
}

// ---- the triangular system ----------------------------------------------------------------------------------------

namespace {

// sum_j Q[i,j] D_j(e,i) Y[e,j].
NodeId weigh(ChunkComponent const& c, DecayTrack const& track, NodeId Q, NodeId Y, EventRows const& reads) {
    auto& b = c.values.b;
    if (track) return b.gram(Q, Y, track.rows[0], track.span(reads, c.events));
    return b.matmul(Q, b.transpose(Y));
}

// sum_e W[i,e] D_j(e,i) Y[e,j].
NodeId collect(ChunkComponent const& c, DecayTrack const& track, NodeId W, NodeId Y, EventRows const& reads) {
    auto& b = c.values.b;
    return track ? b.apply(W, Y, track.rows[0], track.span(reads, c.events)) : b.matmul(W, Y);
}

// G. `masked`: whoever uses it looks at writes before the read only.
NodeId gram(ChunkComponent const& c, NodeId R, EventRows const& reads, std::string const& text, bool masked) {
    auto& b = c.values.b;
    auto const hint = joined_name(text, c.key_text, "gram");
    auto const product =
        c.key ? "<" + text + "[i] D(e,i), " + c.key_text + "[e]>" : "<" + text + "[i], " + c.key_text + "[e]>";
    auto const weights = label(b, weigh(c, c.key, R, c.X, reads), hint, hint + "[i,e] = " + product);
    bool const plain = !c.scalar && c.component.states.size() == 1;
    if (plain && (masked || c.key)) return weights;
    return b.mul(between(c, reads, c.events), weights);
}

// phi(0,i) (R . D(0,i)) Sigma^T, with value-channel decays to each read.
NodeId from_state(ChunkComponent const& c, NodeId R, EventRows const& reads, std::string const& text,
                  std::string const& hint) {
    auto& b = c.values.b;
    auto const decayed = scaled(c, channels_from_start(c, c.key, reads, col_extent(c)), R);
    NodeId sum = -1;
    for (int k = 0; k < static_cast<int>(c.start.size()); ++k) {
        auto const read = b.matmul(decayed, b.transpose(c.start[k]));
        label(b, read, hint, hint + "[i] = " + sigma_text(c, k) + " " + text + "[i]" + (c.key ? " D(0,i)" : ""));
        auto const term = scaled(c, between(c, reads, start_row(k)), read);
        sum = sum < 0 ? term : b.add(sum, term);
    }
    return scaled(c, channels_from_start(c, c.value, reads, row_extent(c)), sum);
}

// M = sum over slots of c . G; -1: nothing is read.
NodeId system(ChunkComponent const& c) {
    auto& b = c.values.b;
    NodeId M = -1;
    for (auto const& slot : c.reads) {
        auto const term = b.mul(slot.coefficient, gram(c, slot.keys, slot.rows, slot.text, false));
        M = M < 0 ? term : b.add(M, term);
    }
    return M < 0 ? M : label(b, M, "M", "M = c . G, strictly lower: what each write takes from the writes before it");
}

} // namespace

NodeId pseudo_values(ChunkComponent const& c) {
    auto& b = c.values.b;
    if (!c.writes()) return -1;
    auto rhs = c.P;
    for (auto const& slot : c.reads)
        rhs = b.add(rhs, b.mul(slot.coefficient, from_state(c, slot.keys, slot.rows, slot.text, "reads")));
    if (c.reads.empty()) return rhs;
    label(b, rhs, "rhs",
          "rhs = P + c . (R . D(0,i)) " + sigma_text(c, 0) +
              "^T: the writes, as if each read the state before the chunk");
    if (!c.per_channel) return label(b, b.solve(system(c), rhs), "u", "U = (I - M)^-1 rhs");
    auto const& slot = c.reads[0];
    auto const G = gram(c, slot.keys, slot.rows, slot.text, true);
    auto const A = c.value.rows[0];
    auto const U = b.csolve(G, slot.coefficient, rhs, A, c.value.span(slot.rows, c.events));
    return label(b, U, "u", "U = rhs + c . sum_e G[i,e] D(e,i) U[e]: a triangular system per value channel");
}

SplitValues split_values(ChunkComponent const& c) {
    auto& b = c.values.b;
    if (!c.writes()) return {};
    auto const M = system(c);
    if (M < 0) return {c.P, -1};
    NodeId read = -1;
    for (auto const& slot : c.reads) {
        auto const R = scaled(c, channels_from_start(c, c.key, slot.rows, col_extent(c)), slot.keys);
        auto const term = b.mul(slot.coefficient, scaled(c, between(c, slot.rows, start_row(0)), R));
        read = read < 0 ? term : b.add(read, term);
    }
    label(b, read, "erase", "c . (R . D(0,i)): what the writes read of the state before the chunk");
    return {label(b, b.solve(M, c.P), "u", "u = (I - M)^-1 P"),
            label(b, b.solve(M, read), "w", "w = (I - M)^-1 c . (R . D(0,i))")};
}

NodeId joined(ChunkComponent const& c, SplitValues s) {
    auto& b = c.values.b;
    if (s.w < 0) return s.u;
    return label(b, b.add(s.u, b.matmul(s.w, b.transpose(c.start[0]))), "U", "U = u + w " + sigma_text(c, 0) + "^T");
}

// ---- read-outs and the state after --------------------------------------------------------------------------------

namespace {

std::string text(ChunkComponent const& c, Monomial const& m, DimId dim) {
    Value v{{dim, one}, false, {}};
    v.terms.push_back({{}, m, {}, {}, 1, {}});
    return print(c.values.rule, v);
}

EventRows tokens_at(int position, int state) { return {Kind::tokens, {position}, {state}}; }

// Sigma q per token.
NodeId right(ChunkComponent const& c, Monomial const& q, int position, int state) {
    auto& b = c.values.b;
    auto const rows = tokens_at(position, state);
    auto const Q = c.values.whole(c.values.product(q, c.component.col), col_extent(c));
    auto const name = text(c, q, c.component.col);
    auto const before = from_state(c, Q, rows, name, "from_state");
    if (!c.writes()) return before;
    auto const scores = label(b, gram(c, Q, rows, name, bool(c.value)), "scores",
                              "scores[i,e] = <" + name + "[i] D(e,i), " + c.key_text + "[e]>, 0 unless e is before i");
    auto const inside = collect(c, c.value, scores, c.U, rows);
    label(b, inside, "from_chunk", "from_chunk[i] = sum_e scores[i,e] U[e]");
    auto const read = sigma_text(c, state) + " " + name;
    return label(b, b.add(before, inside), "read", read + " = from_state + from_chunk");
}

// Sigma^T q per token; q = nullptr: Sigma has one row, and is wanted itself.
NodeId left(ChunkComponent const& c, Monomial const* q, int position, int state) {
    auto& b = c.values.b;
    auto const rows = tokens_at(position, state);
    auto const Q = q ? c.values.whole(c.values.product(*q, c.component.row), row_extent(c)) : -1;
    auto const name = q ? "T(" + text(c, *q, c.component.row) + ") " : "";
    auto const decayed = q ? scaled(c, channels_from_start(c, c.value, rows, row_extent(c)), Q) : -1;
    NodeId before = -1;
    for (int k = 0; k < static_cast<int>(c.start.size()); ++k) {
        auto const read = q ? b.matmul(decayed, c.start[k]) : c.start[k];
        if (q) label(b, read, "from_state", "from_state[i] = " + name + sigma_text(c, k));
        auto const term = scaled(c, between(c, rows, start_row(k)), read);
        before = before < 0 ? term : b.add(before, term);
    }
    before = c.values.whole(scaled(c, channels_from_start(c, c.key, rows, col_extent(c)), before), col_extent(c));
    if (!c.writes()) return before;
    auto const weights = q ? weigh(c, c.value, Q, c.U, rows) : b.transpose(c.U);
    auto const scores = b.mul(between(c, rows, c.events), weights);
    label(b, scores, "scores",
          q ? "scores[i,e] = " + name + "U[e] D(e,i), 0 unless e is before i"
            : "scores[i,e] = U[e] D(e,i), 0 unless e is before i");
    auto const inside = collect(c, c.key, scores, c.X, rows);
    label(b, inside, "from_chunk", "from_chunk[i] = sum_e scores[i,e] " + c.key_text + "[e]");
    return label(b, b.add(before, inside), "read", name + sigma_text(c, state) + " = from_state + from_chunk");
}

} // namespace

NodeId read_out(ChunkComponent const& c, Atom const& a) {
    auto const state_of = [&](OperandId s) {
        auto const& all = c.component.states;
        return static_cast<int>(std::find(all.begin(), all.end(), s) - all.begin());
    };
    auto const position = [&](int state, int version) { return c.component.after[state][version]; };
    auto const ask = [&](bool straight, Monomial const& q, OperandId s, int version) {
        int const state = state_of(s);
        return straight ? right(c, q, position(state, version), state) : left(c, &q, position(state, version), state);
    };
    switch (a.kind) {
    case Atom::Kind::vector_state: {
        int const state = state_of(a.operand);
        return left(c, nullptr, position(state, a.version), state);
    }
    case Atom::Kind::dot: {
        auto const own = state_read(a);
        auto const z = std::find_if(a.left.begin(), a.left.end(), [&](Factor const& f) {
            return f.atom->kind == Atom::Kind::vector_state && f.atom->operand == own;
        });
        return ask(true, without(a.left, z->atom.get()), own, z->atom->version);
    }
    case Atom::Kind::read: return ask(a.transposed == c.component.flipped, a.left, a.operand, a.version);
    case Atom::Kind::form: { // right^T S left
        bool const straight = !c.component.flipped;
        auto const y = ask(straight, a.left, a.operand, a.version);
        auto const other = c.values.product(a.right, straight ? c.component.row : c.component.col);
        return c.values.b.sum(c.values.b.mul(other, y), 1);
    }
    case Atom::Kind::operand:
    case Atom::Kind::exp_log:
    case Atom::Kind::map:
    case Atom::Kind::vector_map:
    case Atom::Kind::sum: break;
    }
    return -1;
}

namespace {

// phi(e,end) D(e,end) . X, events x col.
NodeId keys_at_end(ChunkComponent const& c, int state) {
    auto& b = c.values.b;
    auto const X = scaled(c, channels_to_end(c, c.key, col_extent(c)), c.X);
    auto const phi = between(c, end_row(state), c.events);
    return label(b, phi < 0 ? X : b.mul(b.transpose(phi), X), "keys_at_end",
                 "keys_at_end[e] = (" + c.key_text + ")[e] D(e,end)");
}

// U with its value-channel decays to the end, events x row.
NodeId values_at_end(ChunkComponent const& c, NodeId U) {
    return label(c.values.b, scaled(c, channels_to_end(c, c.value, row_extent(c)), U), "u_at_end",
                 "u_at_end[e] = D(e,end) U[e]");
}

} // namespace

// In the orientation of the declaration, so that nothing is transposed but one operand of the product.
NodeId state_after(ChunkComponent const& c, int state) {
    auto& b = c.values.b;
    auto const turned = [&](NodeId x) { return c.component.flipped ? b.transpose(x) : x; };
    auto const key_decay = channels_from_start(c, c.key, end_row(state), col_extent(c));
    auto const value_decay = channels_from_start(c, c.value, end_row(state), row_extent(c));
    NodeId after = -1;
    for (int k = 0; k < static_cast<int>(c.start.size()); ++k) {
        auto term = scaled(c, between(c, end_row(state), start_row(k)), turned(c.start[k]));
        if (key_decay >= 0) term = b.mul(term, turned(key_decay));
        if (value_decay >= 0) term = b.mul(term, turned(b.transpose(value_decay)));
        after = after < 0 ? term : b.add(after, term);
    }
    auto const name = c.values.rule.operands[c.component.states[state]].name;
    if (c.writes()) {
        auto const X = keys_at_end(c, state), U = values_at_end(c, c.U);
        auto const written = c.component.flipped ? b.matmul(b.transpose(X), U) : b.matmul(b.transpose(U), X);
        after = b.add(after, written);
    }
    return label(b, after, name, name + " = " + name + " . D(0,end) + sum_e U[e] (X[e] D(e,end))^T");
}

AffineMap affine_map(ChunkComponent const& c) {
    auto& b = c.values.b;
    bool const left = bool(c.value);
    auto const width = left ? row_extent(c) : col_extent(c);
    auto const channels = channels_from_start(c, left ? c.value : c.key, end_row(0), width);
    auto factor = scaled(c, between(c, end_row(0), start_row(0)), b.eye(width));
    if (channels >= 0) factor = b.mul(channels, factor);
    AffineMap map{factor, b.constant(0, {row_extent(c), col_extent(c)}), left};
    if (!c.writes()) return map;
    auto const split = split_values(c);
    auto const X = keys_at_end(c, 0);
    if (split.w >= 0) map.factor = b.add(factor, b.matmul(b.transpose(split.w), X));
    map.plus = b.matmul(b.transpose(values_at_end(c, split.u)), X);
    return map;
}

} // namespace deltaloom::codegen
