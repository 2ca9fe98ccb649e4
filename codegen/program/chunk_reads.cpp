// What follows from the pseudo-values: read-outs, the state after.
#include "codegen/program/chunk_factors.hpp"

#include <algorithm>

namespace deltaloom::codegen {
namespace {

std::string text(ChunkComponent const& c, Monomial const& m, DimId dim) {
    Value v{{dim, one}, false, {}};
    v.terms.push_back({{}, m, {}, {}, 1, {}});
    return print(c.values.rule, v);
}

std::string weight_of(Builder const& b, NodeId scores) { return b[scores].hint.empty() ? "scores" : b[scores].hint; }

std::string read_decay(ChunkComponent const& c, EventRows const& reads) {
    if (!c.scalar) return "";
    return reads.position == c.events.position ? "decay[i,e] " : "read_decay[i,e] ";
}

EventRows tokens_at(int position, int state) { return {EventRows::Kind::tokens, {position}, {state}}; }

// Sigma q per token.
NodeId right(ChunkComponent const& c, Monomial const& q, int position, int state) {
    auto& b = c.values.b;
    auto const rows = tokens_at(position, state);
    auto const Q = c.values.whole(c.values.product(q, c.component.col), col_extent(c));
    auto const name = text(c, q, c.component.col);
    auto const before = from_state(c, Q, rows, name, "from_state");
    if (!c.writes()) return before;
    auto const scores = gram(c, Q, rows, name, bool(c.value));
    label(b, scores, "scores",
          "scores[i,e] = " + read_decay(c, rows) + "<" + at(name, "i") + ", " + at(c.key_text, "e") +
              ">, 0 unless e is before i");
    auto const inside = collect(c, c.value, scores, c.U, rows);
    auto const read = read_text(c, state, false, name);
    label(b, inside, "from_chunk",
          "from_chunk[i] = sum_e " + weight_of(b, scores) + "[i,e]" + (c.value ? " D(e,i)" : "") +
              (writes_text(c).empty() ? "" : " " + writes_text(c)));
    return label(b, b.add(before, inside), "read",
                 read + ": from the state before the chunk and from the chunk's own writes");
}

// Sigma^T q per token; q = nullptr: Sigma has one row, and is wanted itself.
NodeId left(ChunkComponent const& c, Monomial const* q, int position, int state) {
    auto& b = c.values.b;
    auto const rows = tokens_at(position, state);
    auto const Q = q ? c.values.whole(c.values.product(*q, c.component.row), row_extent(c)) : -1;
    auto const name = q ? text(c, *q, c.component.row) : "";
    auto const decayed = q ? scaled(c, channels_from_start(c, c.value, rows, row_extent(c)), Q) : -1;
    NodeId before = -1;
    for (int k = 0; k < static_cast<int>(c.start.size()); ++k) {
        auto const read = q ? b.matmul(decayed, c.start[k]) : c.start[k];
        if (q) label(b, read, "from_state", "from_state[i] = " + read_text(c, k, true, at(name, "i")));
        auto const term = scaled(c, between(c, rows, start_row(k)), read);
        before = before < 0 ? term : b.add(before, term);
    }
    before = c.values.whole(scaled(c, channels_from_start(c, c.key, rows, col_extent(c)), before), col_extent(c));
    if (!c.writes()) return before;
    auto const weights = q ? weigh(c, c.value, Q, c.U, rows) : b.transpose(c.U);
    auto const scores = b.mul(between(c, rows, c.events), weights);
    label(b, scores, "scores",
          "scores[i,e] = " + read_decay(c, rows) +
              (q ? "<" + at(name, "i") + ", " + writes_text(c) + ">" : writes_text(c)) + ", 0 unless e is before i");
    auto const inside = collect(c, c.key, scores, c.X, rows);
    label(b, inside, "from_chunk",
          "from_chunk[i] = sum_e " + weight_of(b, scores) + "[i,e] " + (c.key ? "D(e,i) " : "") + at(c.key_text, "e"));
    return label(b, b.add(before, inside), "read",
                 read_text(c, state, true, name) + ": from the state before the chunk and from the chunk's own writes");
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
    case Atom::Kind::vector_map: break;
    }
    return -1;
}

namespace {

// phi(e,end) D(e,end) . X, events x col.
NodeId keys_at_end(ChunkComponent const& c, int state) {
    auto& b = c.values.b;
    auto const X = scaled(c, channels_to_end(c, c.key, col_extent(c)), c.X);
    auto const phi = between(c, end_row(state), c.events);
    auto const node = phi < 0 ? X : b.mul(b.transpose(phi), X);
    if (node == c.X) return node;
    return label(b, node, "keys_at_end", "keys_at_end[e] = D(e,end) " + at(c.key_text, "e"));
}

// U with its value-channel decays to the end, events x row.
NodeId values_at_end(ChunkComponent const& c, NodeId U) {
    if (!c.value) return U;
    return label(c.values.b, scaled(c, channels_to_end(c, c.value, row_extent(c)), U), "u_at_end",
                 "u_at_end[e] = D(e,end) " + writes_text(c));
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
    auto const name = state_name(c, state);
    std::string keys, values;
    if (c.writes()) {
        auto const X = keys_at_end(c, state), U = values_at_end(c, c.U);
        keys = X == c.X ? at(c.key_text, "e") : "keys_at_end[e]";
        values = U == c.U ? writes_text(c) : "u_at_end[e]";
        auto const product = c.component.flipped ? b.matmul(b.transpose(X), U) : b.matmul(b.transpose(U), X);
        after = b.add(after, product);
    }
    auto const transposed = values.empty() ? "" : " T(" + values + ")";
    auto const outer = c.component.flipped ? keys + transposed : values + " T(" + keys + ")";
    auto const written = c.writes() ? " + sum_e " + outer : "";
    bool const decays = c.scalar || c.key || c.value; // of coupled states: and mixed
    return label(b, after, name, name + " after the chunk = " + name + (decays ? ", decayed," : "") + written);
}

} // namespace deltaloom::codegen
