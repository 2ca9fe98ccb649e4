#pragma once
// The canonical recurrence of a rule (design section 3), or the reason why it has none.
//
// A component holds states that read or add each other, in one orientation (Sigma = S, or S^T for the left form and for
// vector states, which are 1 x d). Each statement on one of its states is a micro-step
//     Sigma_target <- sum_b mix_b diag(value_decay) Sigma_b diag(key_decay) + sum_w ( direct_w + sum_i coefficient_wi *
//     (Sigma_b(wi) key_wi) ) key_w^T
// with all reads of the states before the statement. Components come in order: a later one uses values of an earlier
// one as if they were inputs.
#include "codegen/rule/value.hpp"

namespace deltaloom::codegen {

struct Read {
    int state = 0;     // index into Component::states
    Value coefficient; // scalar, or over the rows
    Value key;         // over the columns
};
struct Write {
    Value key;    // over the columns
    Value direct; // over the rows
    std::vector<Read> reads;
};
struct MicroStep {
    int target = 0;                        // index into Component::states
    int statement = 0;                     // index into TypedRule::statements
    std::vector<std::optional<Value>> mix; // one scalar per state of the component; absent: zero
    std::optional<Value> key_decay;        // over the columns; absent: one
    std::optional<Value> value_decay;      // over the rows; absent: one
    std::vector<Write> writes;
};
struct Component {
    std::vector<OperandId> states;
    bool flipped = false;       // Sigma is the transpose of the state as declared
    DimId row = one, col = one; // of Sigma
    std::vector<MicroStep> micro;
    std::vector<std::vector<int>>
        after; // per state: micro-step positions after its 0th, 1st, ... update in the token; after[s][0] = 0
    bool channel_solve =
        false; // value-channel decay or row coefficients under right reads: one triangular system per value channel
};
struct OutputValue {
    OperandId output = -1;
    Value value;
};

struct Recurrence {
    std::vector<Component> components;
    std::vector<OutputValue> outputs;
};
// Equal recurrences print equal bytes: no source path, location or operand order.
std::string print(TypedRule const&, Recurrence const&);

// Pure: the recurrence, or the reason (with the caret of the operator to blame) why there is no chunked form.
std::variant<Recurrence, Reason> normalise(TypedRule const&);

// The whole token as one polynomial map of the state before it, as canonical text; nullopt when it leaves the class.
std::optional<std::string> token_map(TypedRule const&);

} // namespace deltaloom::codegen
