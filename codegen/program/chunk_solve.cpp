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

} // namespace deltaloom::codegen
