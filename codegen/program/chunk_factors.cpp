#include "codegen/program/chunk_factors.hpp"

#include <algorithm>

namespace deltaloom::codegen {

using Kind = EventRows::Kind;

NodeId label(Builder& b, NodeId node, std::string hint, std::string note) {
    if (b[node].op == Op::input || b[node].op == Op::constant) return node;
    return b.named(node, std::move(hint), std::move(note));
}

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

std::string sigma_text(ChunkComponent const& c, int state) {
    auto const& x = c.values.rule.operands[c.component.states[state]];
    return c.component.flipped && x.shape.cols != one ? "T(" + x.name + ")" : x.name;
}

namespace {

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

} // namespace

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

} // namespace deltaloom::codegen
