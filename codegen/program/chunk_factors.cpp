#include "codegen/program/chunk_factors.hpp"

#include <algorithm>

namespace deltaloom::codegen {

using Kind = EventRows::Kind;

NodeId label(Builder& b, NodeId node, std::string hint, std::string note) {
    if (b[node].op == Op::input || b[node].op == Op::constant) return node;
    return b.named(node, std::move(hint), std::move(note));
}

// ---- decays ---------------------------------------------------------------------------------------------------

namespace {

// Where the products of a decay end: at the writes, at the read-outs, at the chunk's end.
struct Ends {
    std::string prefix, upto;
};
Ends ends(ChunkComponent const& c, EventRows const& reads) {
    if (reads.kind == Kind::end) return {"whole_", "over the chunk"};
    if (reads.position == c.events.position) return {"", "before write i"};
    return {"read_", "up to token i's read"};
}

std::string side(ChunkComponent const& c, DecayTrack const& track) { return &track == &c.key ? "key_" : "value_"; }

// The state that all these rows stand for; empty if they differ, or if there is but one.
std::string state_of(ChunkComponent const& c, EventRows const& rows) {
    if (c.component.states.size() == 1) return "";
    for (int const s : rows.state)
        if (s != rows.state[0]) return "";
    return state_name(c, rows.state[0]);
}

// What a decay is the product of; of coupled states, which entry of the product.
std::string factors_text(ChunkComponent const& c, std::string const& to, std::string const& from) {
    if (c.component.states.size() == 1) return "product of " + c.scalar.factor + " ";
    return "entry [" + (to.empty() ? "state of i" : to) + ", " + (from.empty() ? "state of e" : from) +
           "] of the product of the transitions ";
}

} // namespace

NodeId between(ChunkComponent const& c, EventRows reads, EventRows writes) {
    auto& b = c.values.b;
    bool const from_start = writes.kind == Kind::start, to_end = reads.kind == Kind::end;
    auto const [prefix, upto] = ends(c, reads);
    auto const to = state_of(c, reads), from = state_of(c, writes);
    auto const span = c.scalar.span(std::move(reads), std::move(writes));
    if (!c.scalar && c.component.states.size() == 1) {
        if (from_start || to_end) return -1;
        return label(b, b.mask(span), "earlier", "earlier[i,e] = 1 where write e is before i, else 0");
    }
    auto const node = b.decay(c.scalar.rows, span, static_cast<int>(c.component.states.size()));
    auto const product = factors_text(c, to, from);
    auto const named = [&](std::string hint, std::string const& of, char const* indices, std::string const& where) {
        if (!of.empty()) hint += "_" + of;
        return label(b, node, hint, hint + indices + " = " + product + where);
    };
    if (from_start && to_end) return named("whole_decay", to.empty() ? "" : to + "_" + from, "", upto);
    if (from_start) return named(prefix + "from_start", from, "[i]", upto);
    if (to_end) return named("to_end", to, "[e]", "after write e");
    return named(prefix + "decay", "", "[i,e]", "after write e, " + upto + "; 0 unless e is before i");
}

NodeId channels_from_start(ChunkComponent const& c, DecayTrack const& track, EventRows const& reads, Extent width) {
    if (!track) return -1;
    auto& b = c.values.b;
    bool const whole = reads.kind == Kind::end;
    auto const rows = whole ? Extent::of(1) : Extent::tokens(static_cast<int>(reads.position.size()));
    auto const node = b.apply(b.constant(1, {rows, Extent::of(1)}), b.constant(1, {Extent::of(1), width}),
                              track.rows[0], track.span(reads, start_row(0)));
    auto const [prefix, upto] = ends(c, reads);
    auto const name = side(c, track) + (whole ? "whole_decay" : prefix + "from_start");
    return label(b, node, name, name + (whole ? "[j]" : "[i,j]") + " = product of " + track.factor + " " + upto);
}

NodeId channels_to_end(ChunkComponent const& c, DecayTrack const& track, Extent width) {
    if (!track) return -1;
    auto& b = c.values.b;
    auto const events = Extent::tokens(static_cast<int>(c.events.position.size()));
    auto const node = b.applyt(b.constant(1, {Extent::of(1), events}), b.constant(1, {Extent::of(1), width}),
                               track.rows[0], track.span(end_row(0), c.events));
    auto const name = side(c, track) + "to_end";
    return label(b, node, name, name + "[e,j] = product of " + track.factor + " after write e");
}

// ---- names ----------------------------------------------------------------------------------------------------

namespace {

bool plain(std::string const& text) {
    return std::all_of(text.begin(), text.end(),
                       [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; });
}

// Whether one pair of parentheses holds it all.
bool enclosed(std::string const& text) {
    int open = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (open == 0) return i + 1 == text.size() && i > 0;
    }
    return false;
}

std::string factor_text(std::string const& text) { return plain(text) || enclosed(text) ? text : "(" + text + ")"; }

// "k" of the value k or -k, empty of anything longer.
std::string short_name(std::string const& text) {
    auto const word = text.substr(0, 1) == "-" ? text.substr(1) : text;
    return word.size() <= 8 && plain(word) ? word : "";
}

// "kk" of <k, k>.
std::string joined_name(std::string const& left, std::string const& right) {
    auto const a = short_name(left), b = short_name(right);
    if (a.empty() || b.empty() || b == "keys") return "gram";
    return a.size() + b.size() <= 3 ? a + b : a + "_" + b;
}

} // namespace

std::string state_name(ChunkComponent const& c, int state) {
    return c.values.rule.operands[c.component.states[state]].name;
}

std::string at(std::string const& text, char const* row) { return factor_text(text) + "[" + row + "]"; }

std::string times(std::string const& factor) {
    if (factor == "1") return "";
    return factor_text(factor) + " ";
}

std::string writes_text(ChunkComponent const& c) {
    auto const& b = c.values.b;
    if (b[c.U].op == Op::constant) return "";
    if (b[c.U].op == Op::input && c.reads.empty()) return at(c.direct_text, "e");
    return c.reads.empty() && c.direct_text == "direct" ? "direct[e]" : "u[e]";
}

std::string read_text(ChunkComponent const& c, int state, bool transposed, std::string const& argument) {
    auto const& x = c.values.rule.operands[c.component.states[state]];
    if (x.shape.cols == one) return argument.empty() ? x.name : "dot(" + x.name + ", " + argument + ")";
    return (transposed == c.component.flipped ? x.name : "T(" + x.name + ")") + " " + argument;
}

// ---- Gram matrices, and reads of the state before the chunk -----------------------------------------------------

NodeId weigh(ChunkComponent const& c, DecayTrack const& track, NodeId Q, NodeId Y, EventRows const& reads) {
    auto& b = c.values.b;
    if (track) return b.gram(Q, Y, track.rows[0], track.span(reads, c.events));
    return b.matmul(Q, b.transpose(Y));
}

NodeId collect(ChunkComponent const& c, DecayTrack const& track, NodeId W, NodeId Y, EventRows const& reads) {
    auto& b = c.values.b;
    return track ? b.apply(W, Y, track.rows[0], track.span(reads, c.events)) : b.matmul(W, Y);
}

NodeId gram(ChunkComponent const& c, NodeId R, EventRows const& reads, std::string const& text, bool masked) {
    auto& b = c.values.b;
    auto const hint = joined_name(text, c.key_text);
    auto const product = "<" + at(text, "i") + ", " + (c.key ? "D(e,i) " : "") + at(c.key_text, "e") + ">";
    auto const weights = label(b, weigh(c, c.key, R, c.X, reads), hint, hint + "[i,e] = " + product);
    bool const undecayed = !c.scalar && c.component.states.size() == 1;
    if (undecayed && (masked || c.key)) return weights;
    return b.mul(between(c, reads, c.events), weights);
}

NodeId from_state(ChunkComponent const& c, NodeId R, EventRows const& reads, std::string const& text,
                  std::string const& hint) {
    auto& b = c.values.b;
    auto const decayed = scaled(c, channels_from_start(c, c.key, reads, col_extent(c)), R);
    auto const argument =
        c.key ? "(" + at(text, "i") + " . key_" + ends(c, reads).prefix + "from_start[i])" : at(text, "i");
    NodeId sum = -1;
    for (int k = 0; k < static_cast<int>(c.start.size()); ++k) {
        auto const name = c.start.size() == 1 ? hint : hint + "_" + state_name(c, k);
        auto const read = b.matmul(decayed, b.transpose(c.start[k]));
        label(b, read, name, name + "[i] = " + read_text(c, k, false, argument));
        auto const term = scaled(c, between(c, reads, start_row(k)), read);
        sum = sum < 0 ? term : b.add(sum, term);
    }
    return scaled(c, channels_from_start(c, c.value, reads, row_extent(c)), sum);
}

} // namespace deltaloom::codegen
