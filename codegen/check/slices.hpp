#pragma once
// Parts of points and of answers: some tokens of one sequence as a point of its own, and back into the whole.
#include "codegen/check/subject.hpp"

namespace deltaloom::codegen {

// Tokens first .. first + count - 1 of a sequence, from the same initial state, as a batch of one.
Point slice(Subject const&, Point const&, int sequence, int first, int count);
CallTensors blank(Subject const&, Point const&); // zeros where a call gives something: outputs, states, gradients
// A slice's tensors into the whole's: its tokens, its states if asked, parameters added.
void put(Subject const&, Point const& whole, CallTensors& to, int sequence, int first, Point const& piece,
         CallTensors const& from, bool states);
// Only the numbers of operands that are kept; the others empty.
template<class F> CallTensors only(Subject const& s, CallTensors t, F keep) {
    for (OperandId id = 0; id < OperandId(t.values.size()); ++id)
        if (!keep(s.operand(id))) t.values[std::size_t(id)].clear();
    return t;
}
inline bool is_parameter(Operand const& o) { return o.role == Role::parameter; }

// Sets what arrives at some tokens to 0.
template<class F> void silence(Subject const& s, Point& p, F tokens) {
    for (OperandId id : s.facts.outputs) {
        auto const n = entries(s.rule, p.shape, id) * std::size_t(p.shape.operand_heads[std::size_t(id)]);
        for (int sequence = 0; sequence < p.sequences(); ++sequence)
            for (int t = 0; t < p.length(sequence); ++t)
                if (tokens(t))
                    std::fill_n(p.arriving.values[std::size_t(id)].begin() +
                                    std::ptrdiff_t(place(s.rule, p, id, sequence, t, 0)),
                                n, 0.0);
    }
}
void silence_states(Subject const&, Point&);
// States before the first token.
void zero_states(Subject const&, Point&);
void set_states(Subject const&, Point&, CallTensors const& forward);

// A sequence in consecutive pieces, the state carried forward and its gradient back, as one answer.
Answer in_pieces(Sheet&, Form, Point const&, std::vector<int> const& lengths, Manner const&);

} // namespace deltaloom::codegen
