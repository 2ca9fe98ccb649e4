// The triangular system of a component: its pseudo-values U, from the state before the chunk or split from it.
#include "codegen/program/chunk_factors.hpp"

namespace deltaloom::codegen {
namespace {

// M = sum over slots of c . G; -1: nothing is read.
NodeId system(ChunkComponent const& c) {
    auto& b = c.values.b;
    NodeId M = -1;
    for (auto const& slot : c.reads) {
        auto const term = b.mul(slot.coefficient, gram(c, slot.keys, slot.rows, slot.text, false));
        M = M < 0 ? term : b.add(M, term);
    }
    if (M < 0) return M;
    std::string note = "M[i,e] = ";
    for (auto const& slot : c.reads) {
        auto const product = c.key ? "<" + at(slot.text, "i") + ", D(e,i) " + at(c.key_text, "e") + ">"
                                   : "<" + at(slot.text, "i") + ", " + at(c.key_text, "e") + ">";
        note += (&slot == &c.reads.front() ? "" : " + ") + times(slot.coefficient_text) +
                (c.scalar ? "decay[i,e] " : "") + product;
    }
    return label(b, M, "M", note + ", 0 unless e is before i");
}

} // namespace

NodeId pseudo_values(ChunkComponent const& c) {
    auto& b = c.values.b;
    if (!c.writes()) return -1;
    auto rhs = c.P;
    std::string note = "rhs = " + c.direct_text;
    for (auto const& slot : c.reads) {
        rhs = b.add(rhs, b.mul(slot.coefficient, from_state(c, slot.keys, slot.rows, slot.text, "reads")));
        std::string reads;
        for (std::size_t k = 0; k < c.start.size(); ++k) {
            auto const of = c.start.size() == 1 ? "" : "_" + state_name(c, static_cast<int>(k));
            reads += (k ? " + " : "") + (c.scalar ? "from_start" + of + " " : "") + "reads" + of;
        }
        if (c.start.size() > 1) reads = "(" + reads + ")";
        note += " + " + times(slot.coefficient_text) + (c.value ? "value_from_start . " : "") + reads;
    }
    if (c.reads.empty()) return label(b, rhs, "u", "u = " + c.direct_text);
    label(b, rhs, "rhs", note);
    if (!c.per_channel) return label(b, b.solve(system(c), rhs), "u", "u = (I - M)^-1 rhs");
    auto const& slot = c.reads[0];
    auto const G = gram(c, slot.keys, slot.rows, slot.text, true);
    auto const A = c.value.rows[0];
    auto const U = b.csolve(G, slot.coefficient, rhs, A, c.value.span(slot.rows, c.events));
    auto const sum =
        "sum_e " + (b[G].hint.empty() ? "gram" : b[G].hint) + "[i,e] " + (c.value ? "D(e,i) " : "") + "u[e]";
    return label(b, U, "u",
                 "u[i] = rhs[i] + " + times(slot.coefficient_text) + sum + ": a triangular system per value channel");
}

SplitValues split_values(ChunkComponent const& c) {
    auto& b = c.values.b;
    if (!c.writes()) return {};
    auto const M = system(c);
    if (M < 0) return {c.P, -1};
    NodeId read = -1;
    std::string note = "erase = ";
    for (auto const& slot : c.reads) {
        note += (read < 0 ? "" : " + ") + times(slot.coefficient_text) + (c.scalar ? "from_start " : "") +
                (c.key ? "key_from_start . " : "") + slot.text;
        auto const R = scaled(c, channels_from_start(c, c.key, slot.rows, col_extent(c)), slot.keys);
        auto const term = b.mul(slot.coefficient, scaled(c, between(c, slot.rows, start_row(0)), R));
        read = read < 0 ? term : b.add(read, term);
    }
    label(b, read, "erase", note);
    return {label(b, b.solve(M, c.P), "u", "u = (I - M)^-1 " + times(c.direct_text)),
            label(b, b.solve(M, read), "w", "w = (I - M)^-1 erase")};
}

NodeId joined(ChunkComponent const& c, SplitValues s) {
    auto& b = c.values.b;
    if (s.w < 0) return s.u;
    auto const read =
        label(b, b.matmul(s.w, b.transpose(c.start[0])), "reads", "reads[i] = " + read_text(c, 0, false, "w[i]"));
    if (s.u < 0) return read;
    return label(b, b.add(s.u, read), "u", "u + reads: the pseudo-values, now that the state is known");
}

} // namespace deltaloom::codegen
