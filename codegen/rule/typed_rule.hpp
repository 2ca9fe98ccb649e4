#pragma once
// The checked rule: names resolved, shapes typed, sugar gone (repeat, previous, dot, neg, min, norm, division,
// random_features).
// Statements in order, once per token.
#include "codegen/read/declaration.hpp"
#include "codegen/rule/rational.hpp"

#include <optional>
#include <variant>

namespace deltaloom::codegen {

using DimId = int;               // index into TypedRule::dims
inline constexpr DimId one = -1; // the extent 1

struct Shape { // of a value at one token: rows x columns
    DimId rows = one, cols = one;
    friend bool operator==(Shape const&, Shape const&) = default;
    bool scalar() const { return rows == one && cols == one; }
    bool vector() const { return (rows == one) != (cols == one); }
};

using OperandId = int; // index into TypedRule::operands
struct Operand {
    std::string name, tag;
    Role role = Role::input;
    Domain domain = Domain::real;
    Shape shape;
    int steps = 0; // > 0: an input used inside repeat<steps>; its step axis comes before the other trailing axes
    OperandId previous_of = -1; // a hidden state that holds this input of the token before
    Location where;
    bool per_token() const { return role == Role::input || role == Role::gate; }
    friend bool operator==(Operand const&, Operand const&) = default;
};

enum class ExprKind {
    operand, // input, gate, parameter or state (at this point of the token); `step` for an operand with steps
    number,  // `number` in every entry of `shape`
    add,     // one shape
    negate,
    scale,    // arguments[0] is a scalar, arguments[1] anything
    hadamard, // one shape, not scalars
    matmul,   // inner dimensions meet; outer and inner products too
    transpose,
    diag, // of a column
    map,  // elementwise `function` (one of the table of runtime/scalar: exp log abs neg sqrt tanh sigmoid softplus relu
          // elu1 silu inv)
    maximum,      // elementwise, two arguments of one shape; min(a, b) = -max(-a, -b)
    vector_map,   // of a vector: l2norm, sum_norm, softmax, with eps in `number`; of a column, to another dimension:
                  // dpfp, with nu in `number`, and taylor2
    sum,          // of all entries: a scalar; norm(x) = sqrt(sum(x % x))
    exp_log,      // log domain -> linear
    add_log,      // of log gates, one shape
    multiple_log, // of a log gate, times the integer in `number`, at least 1
};

using ExprId = int; // index into TypedRule::nodes
struct ExprNode {
    ExprKind kind = ExprKind::number;
    Shape shape;
    bool log = false;
    OperandId operand = -1;
    int step = 0;
    Rational number;
    std::string function;
    std::vector<ExprId> arguments;
    Location where;
    std::string head; // what the user wrote there ("*", "tanh", "max", "norm"), for messages
    friend bool operator==(ExprNode const&, ExprNode const&) = default;
};

struct TypedStatement {
    OperandId target = -1; // a state or an output
    ExprId value = -1;
    int written = 0; // index of the statement as written; copies of a repeated statement share it
    int step = 0;    // which micro-step of a repeat
    Location where;  // of `<<=`
    friend bool operator==(TypedStatement const&, TypedStatement const&) = default;
};

struct TypedRule {
    std::string name, qualified, equation;
    Location where;
    std::vector<std::string> dims; // in the order of first use
    std::vector<Operand> operands; // in the order of first use; hidden states (`previous`) last
    std::vector<ExprNode> nodes;
    std::vector<TypedStatement> statements;
    friend bool operator==(TypedRule const&, TypedRule const&) = default;

    std::vector<OperandId> with_role(Role) const; // Role::input gives gates too
};

// The rule, or every reason why it is none (language.md, "What is refused"; all of them, not only the first).
std::variant<TypedRule, std::vector<Diagnostic>> check(Declaration const&);
// Several rules of one header: two rules of one name. (A name that is no identifier is refused by check.)
std::vector<Diagnostic> check_names(std::vector<Declaration> const&);

std::string print(TypedRule const&);

// How a vector map is written: "l2norm", "dpfp<2>"; and whether an eps belongs to it.
std::string vector_map_name(std::string const& function, Rational const& number);
bool has_eps(std::string const& function);
// Of the node that random_features(x, W) is typed as: x and W.
struct RandomFeatures {
    ExprId of, weights;
};
std::optional<RandomFeatures> random_features(TypedRule const&, ExprId);

} // namespace deltaloom::codegen
