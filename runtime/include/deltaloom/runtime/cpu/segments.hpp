#pragma once
// Form summary: one head of one sequence in segments of whole chunks that run side by side. `chunked` runs a segment, a
// segment's map S' = S A + B (or A S + B) is what lets it begin before those in front of it have ended.
//
//   map        A and B of every segment but the last                                           side by side
//   states     the state before every segment, from the initial one on                         in turn
//   forward    every segment from its state                                                    side by side
//
// A backward does map and states too, and then
//
//   owed       G, what the outputs of every segment but the first owe to the state before it   side by side
//   gradients  what arrives at every segment's end: dS = dS' A^T + G, from the last one back   in turn
//   backward   every segment, from its state and with what arrives at its end                  side by side
//
// All arithmetic is the kernels'; what one stage leaves for the next lies in `memory`. Nothing depends on who runs what
// when, so the bits do not depend on threads; the length of a segment is fixed by the chunk's, so they do not depend on
// the tokens after it either.
#include <deltaloom/runtime/cpu/kernels.hpp>
#include <deltaloom/runtime/isa.hpp>

namespace deltaloom::runtime {
inline namespace DELTALOOM_HOST {

// Chunks of a segment.
inline constexpr index chunks_per_segment = 16;

struct segment_kernels {
    kernel map, states, owed, gradients, forward, backward;

    static segment_kernels of(kernel_table const& table, int scalar) {
        auto const& forms = table.of[scalar];
        return {forms[3][0], table.apply[scalar][0], forms[3][1], table.apply[scalar][1], forms[2][0], forms[2][1]};
    }
    index scratch(sequence const& s, bool both) const {
        index most = 0;
        for (kernel const* k :
             {&map, &states, &forward, both ? &owed : nullptr, both ? &gradients : nullptr, both ? &backward : nullptr})
            if (index const own = k ? k->scratch(s) : 0; own > most) most = own;
        return most;
    }
};

struct segment_state { // its extents as a matrix, and that of A
    index rows = 1, cols = 1, width = 1;
};

enum class segment_stage { map, states, forward, owed, gradients, backward };
inline constexpr segment_stage forward_stages[] = {segment_stage::map, segment_stage::states, segment_stage::forward};
inline constexpr segment_stage backward_stages[] = {segment_stage::map, segment_stage::states, segment_stage::owed,
                                                    segment_stage::gradients, segment_stage::backward};
constexpr bool side_by_side(segment_stage s) { return s != segment_stage::states && s != segment_stage::gradients; }

struct segments {
    sequence whole;
    index operands = 0, states = 0; // of the rule
    segment_state const* state = nullptr;
    index length = 1;         // tokens of a segment; of the last one: what is left
    std::uint32_t scalar = 0; // that of the kernels
    bool both = false;        // a backward
    char* memory = nullptr;   // `elements` of that scalar

    static index count_of(index tokens, index length) { return tokens > length ? (tokens + length - 1) / length : 1; }
    index count() const { return count_of(whole.tokens, length); }
    // `entries`, `factors`: elements of all states, of all A.
    static index elements(index count, index entries, index factors, bool both) {
        return count * entries * (both ? 2 : 1) + (count - 1) * factors;
    }
    static index table_size(index operands, index states) { return 2 * operands + 6 * states; }

    // Segment i, of a stage that is side by side. `table`: table_size of them, `room`: the kernels' scratch.
    void run(segment_stage stage, index i, segment_kernels const& kernels, strided* table, void* room) const {
        index const last = count() - 1;
        piece p(*this, table);
        switch (stage) {
        case segment_stage::map:
            if (i == last) return;
            p.at(i);
            for (index k = 0; k < states; ++k) p.map[2 * k] = factor(i, k), p.map[2 * k + 1] = before(i + 1, k);
            return kernels.map.run(p.s, room);
        case segment_stage::states: // into the kernels' own scalar first: a forward over no tokens
            for (index k = 0; k < states; ++k) p.state_in[k] = whole.state_in[k], p.state_out[k] = before(0, k);
            kernels.forward.run(p.s, room);
            for (index k = 0; both && k < states; ++k)
                p.state_in[k] = whole.state_out_gradient[k], p.state_out[k] = after_gradient(last, k);
            if (both) kernels.forward.run(p.s, room);
            for (index j = 0; j < last; ++j) {
                for (index k = 0; k < states; ++k)
                    p.state_in[k] = before(j, k), p.state_out[k] = before(j + 1, k), p.map[2 * k] = factor(j, k),
                    p.map[2 * k + 1] = before(j + 1, k);
                kernels.states.run(p.s, room);
            }
            return;
        case segment_stage::forward:
            p.at(i);
            for (index k = 0; k < states; ++k)
                p.state_in[k] = before(i, k), p.state_out[k] = i == last ? whole.state_out[k] : strided{};
            return kernels.forward.run(p.s, room);
        case segment_stage::owed:
            if (i == 0) return;
            p.at(i);
            for (index k = 0; k < states; ++k)
                p.state_in[k] = before(i, k), p.state_in_gradient[k] = after_gradient(i - 1, k),
                p.state_out_gradient[k] = i == last ? after_gradient(last, k) : strided{};
            return kernels.owed.run(p.s, room);
        case segment_stage::gradients: // the last one's has gone through its chunks
            for (index j = last - 1; j > 0; --j) {
                for (index k = 0; k < states; ++k)
                    p.state_out_gradient[k] = after_gradient(j, k), p.state_in_gradient[k] = after_gradient(j - 1, k),
                    p.map[2 * k] = factor(j, k), p.map[2 * k + 1] = after_gradient(j - 1, k);
                kernels.gradients.run(p.s, room);
            }
            return;
        case segment_stage::backward:
            p.at(i);
            for (index k = 0; k < states; ++k)
                p.state_in[k] = before(i, k), p.state_out_gradient[k] = after_gradient(i, k),
                p.state_in_gradient[k] = i == 0 ? whole.state_in_gradient[k] : strided{};
            return kernels.backward.run(p.s, room);
        }
    }

private:
    // A sequence of no tokens whose states are absent, until told otherwise.
    struct piece {
        segments const& all;
        sequence s;
        strided *operand, *gradient, *state_in, *state_out, *state_in_gradient, *state_out_gradient, *map;
        piece(segments const& a, strided* table)
            : all(a),
              s(a.whole),
              operand(table),
              gradient(operand + a.operands),
              state_in(gradient + a.operands),
              state_out(state_in + a.states),
              state_in_gradient(state_out + a.states),
              state_out_gradient(state_in_gradient + a.states),
              map(state_out_gradient + a.states) {
            for (index k = 0; k < table_size(a.operands, a.states); ++k) table[k] = {};
            s.tokens = 0;
            s.operand = operand, s.gradient = gradient, s.map = map;
            s.state_in = state_in, s.state_out = state_out;
            s.state_in_gradient = state_in_gradient, s.state_out_gradient = state_out_gradient;
        }
        void at(index i) { // the tokens of segment i
            index const first = i * all.length, left = all.whole.tokens - first;
            s.tokens = left < all.length ? left : all.length;
            for (index o = 0; o < all.operands; ++o) {
                operand[o] = from(all.whole.operand[o], first);
                gradient[o] = from(all.whole.gradient[o], first);
            }
        }
        static strided from(strided x, index token) {
            if (x.data) x.data = static_cast<char*>(x.data) + token * x.token * element_bytes(x.scalar);
            return x;
        }
    };

    index entries() const {
        index n = 0;
        for (index k = 0; k < states; ++k) n += state[k].rows * state[k].cols;
        return n;
    }
    index factors() const {
        index n = 0;
        for (index k = 0; k < states; ++k) n += state[k].width * state[k].width;
        return n;
    }
    strided matrix(index element, index cols) const {
        strided x;
        x.data = memory + element * element_bytes(scalar);
        x.scalar = scalar;
        x.axis[0] = cols, x.axis[1] = 1;
        return x;
    }
    strided state_at(index slot, index k) const {
        index element = slot * entries();
        for (index j = 0; j < k; ++j) element += state[j].rows * state[j].cols;
        return matrix(element, state[k].cols);
    }
    strided before(index i, index k) const { return state_at(i, k); } // before it is known: B of segment i - 1
    strided after_gradient(index i, index k) const { return state_at(count() + i, k); } // before that: G of i + 1
    strided factor(index i, index k) const {
        index element = count() * entries() * (both ? 2 : 1) + i * factors();
        for (index j = 0; j < k; ++j) element += state[j].width * state[j].width;
        return matrix(element, state[k].width);
    }
};

} // namespace DELTALOOM_HOST
} // namespace deltaloom::runtime
