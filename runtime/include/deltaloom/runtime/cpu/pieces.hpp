#pragma once
// One head of one sequence as several runs of its kernel, where the states between them are asked for or given. States
// pass from run to run in the scalar that the kernel computes in: through the caller's snapshots where they hold that,
// else beside them, and each is rounded into its slot once. So chunk by chunk the bits are those of one run.
#include <deltaloom/runtime/cpu/tensors.hpp>
#include <deltaloom/runtime/ops/storage.hpp>

namespace deltaloom::runtime {
inline namespace DELTALOOM_HOST {

// What a sequence's tables point to, one after the other: per operand, then per state.
struct head_tables {
    strided *operand, *gradient;
    strided *state_in, *state_out, *in_gradient, *out_gradient; // of the whole sequence
    strided *snapshot, *carry;                                  // snapshot: `token` leads from slot to slot
    strided* piece;                                             // four tables of states: those of one piece

    static index size(dl_rule const& r, index states) { return 2 * index(r.operand_count) + 10 * states; }
    head_tables(strided* table, dl_rule const& r, index states) {
        operand = table, gradient = operand + r.operand_count;
        state_in = gradient + r.operand_count, state_out = state_in + states, in_gradient = state_out + states,
        out_gradient = in_gradient + states, snapshot = out_gradient + states, carry = snapshot + states;
        piece = carry + states;
    }
};

inline strided moved(strided s, index elements) {
    if (s.data) s.data = static_cast<char*>(s.data) + elements * element_bytes(s.scalar);
    return s;
}
inline strided slot(strided const& snapshots, index i) { return moved(snapshots, i * snapshots.token); }

// A state of the given extents; zeros where `from` is absent.
inline void copy_state(strided const& from, strided const& to, index const* n) {
    auto const each = [&](auto read) {
        as_stored<double>(to.data, to.scalar, [&]<class Stored>(Stored* data) {
            for (index i = 0; i < n[0]; ++i)
                for (index j = 0; j < n[1]; ++j)
                    for (index k = 0; k < n[2]; ++k)
                        data[i * to.axis[0] + j * to.axis[1] + k * to.axis[2]] =
                            narrowed<Stored>(read(i * from.axis[0] + j * from.axis[1] + k * from.axis[2]));
        });
    };
    if (!to.data) return;
    if (!from.data) return each([](index) { return 0.0; });
    as_stored<double>(from.data, from.scalar,
                      [&](auto const* data) { each([&](index at) { return widened<double>(data[at]); }); });
}

class pieces {
public:
    pieces(dl_rule const& rule, dl_call const& call, kernel run, sequence whole, head_tables const& tables,
           index states, void* room)
        : rule_(rule),
          call_(call),
          run_(run),
          s_(whole),
          t_(tables),
          states_(states),
          room_(room),
          tokens_(whole.tokens) {
        strided* const mine = t_.piece;
        s_.state_in = in_ = mine, s_.state_out = out_ = mine + states;
        s_.state_in_gradient = d_in_ = mine + 2 * states, s_.state_out_gradient = d_out_ = mine + 3 * states;
    }
    // Snapshots of the last n states: slot j is the state after all tokens but the last j. Slots from before the first
    // token hold the initial state.
    void last_states(index n) {
        index const stepped = n < tokens_ ? n : tokens_;
        for (index j = stepped; j < n; ++j)
            copy_states([&](index i) { return t_.state_in[i]; }, [&](index i) { return slot(t_.snapshot[i], j); });
        index first = 0;
        for (index j = stepped; j-- > 0;) {
            index const end = tokens_ - j;
            run(first, end - first, [&](index i) {
                in_[i] = first == 0 ? t_.state_in[i] : passes(i) ? slot(t_.snapshot[i], j + 1) : t_.carry[i];
                out_[i] = passes(i) ? slot(t_.snapshot[i], j) : t_.carry[i];
            });
            copy_states([&](index i) { return t_.carry[i]; }, [&](index i) { return beside(i, j); });
            first = end;
        }
        finish(tokens_ > 0, 0);
    }
    // Forward: slot c gets the state before chunk c.
    void write_chunk_states() {
        index const chunks = count();
        if (chunks)
            copy_states([&](index i) { return t_.state_in[i]; }, [&](index i) { return slot(t_.snapshot[i], 0); });
        for (index c = 0; c < chunks; ++c) {
            bool const last = c + 1 == chunks;
            run(c * s_.chunk, length(c), [&](index i) {
                in_[i] = c == 0 ? t_.state_in[i] : passes(i) ? slot(t_.snapshot[i], c) : t_.carry[i];
                out_[i] = !last && passes(i) ? slot(t_.snapshot[i], c + 1) : t_.carry[i];
            });
            if (!last) copy_states([&](index i) { return t_.carry[i]; }, [&](index i) { return beside(i, c + 1); });
        }
        finish(chunks > 0, -1);
    }
    // Backward: the state before each chunk is given, so that none is computed again.
    void read_chunk_states() {
        index const chunks = count();
        for (index c = chunks; c-- > 0;) {
            run(c * s_.chunk, length(c), [&](index i) {
                in_[i] = slot(t_.snapshot[i], c), out_[i] = {};
                d_out_[i] = c + 1 == chunks ? t_.out_gradient[i] : t_.carry[i];
                d_in_[i] = c == 0 ? t_.in_gradient[i] : t_.carry[i];
            });
            for (std::uint32_t i = 0; i < rule_.operand_count; ++i) // a parameter's gradient adds up over the chunks
                if (rule_.operands[i].varies == DL_PER_HEAD && rule_.operands[i].kind != DL_OUTPUT)
                    t_.gradient[i].accumulate = true;
        }
        if (!chunks)
            run(0, 0, [&](index i) {
                in_[i] = t_.state_in[i], out_[i] = {}, d_in_[i] = t_.in_gradient[i], d_out_[i] = t_.out_gradient[i];
            });
    }

private:
    dl_rule const& rule_;
    dl_call const& call_;
    kernel run_;
    sequence s_;
    head_tables const& t_;
    index states_;
    void* room_;
    index tokens_, at_ = 0;
    strided *in_, *out_, *d_in_, *d_out_;

    index count() const { return tokens_ / s_.chunk + (tokens_ % s_.chunk != 0); }
    // The state passes through the caller's slots.
    bool passes(index i) const { return t_.snapshot[i].data && t_.snapshot[i].scalar == t_.carry[i].scalar; }
    // A slot that the carried state is rounded into; absent where it passes through it.
    strided beside(index i, index j) const { return passes(i) ? strided{} : slot(t_.snapshot[i], j); }
    // The final state, from slot `newest` (-1: it is in none) or as it was carried; where nothing ran, the initial one.
    void finish(bool ran, index newest) {
        copy_states(
            [&](index i) {
                return !ran ? t_.state_in[i] : newest >= 0 && passes(i) ? slot(t_.snapshot[i], newest) : t_.carry[i];
            },
            [&](index i) { return t_.state_out[i]; });
    }
    index length(index c) const { return tokens_ - c * s_.chunk < s_.chunk ? tokens_ - c * s_.chunk : s_.chunk; }

    template<class Set> void run(index first, index n, Set set) {
        for (std::uint32_t i = 0; i < rule_.operand_count; ++i)
            if (rule_.operands[i].varies == DL_PER_TOKEN)
                for (strided* x : {&t_.operand[i], &t_.gradient[i]}) *x = moved(*x, (first - at_) * x->token);
        at_ = first;
        for (index i = 0; i < states_; ++i) set(i);
        s_.tokens = n;
        run_.run(s_, room_);
    }
    template<class From, class To> void copy_states(From from, To to) {
        index state = 0;
        for (std::uint32_t i = 0; i < rule_.operand_count; ++i) {
            dl_operand const& o = rule_.operands[i];
            if (o.kind != DL_STATE) continue;
            index n[3] = {1, 1, 1};
            for (int a = 0; a < int(o.rank) && a < 3; ++a) n[a] = extent(rule_, call_, o.dims[a]);
            copy_state(from(state), to(state), n);
            ++state;
        }
    }
};

} // namespace DELTALOOM_HOST
} // namespace deltaloom::runtime
