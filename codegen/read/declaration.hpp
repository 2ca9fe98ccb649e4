#pragma once
// The declaration as the user wrote it: what the reader hands over. Plain values, printable, comparable; no Clang
// types.
#include "codegen/location.hpp"

#include <string>
#include <vector>

namespace deltaloom::codegen {

enum class Role { state, input, gate, parameter, output };
enum class Domain {
    real,
    linear,
    log
}; // real: inputs, states, outputs and plain parameters; linear and log: gates, log parameters

struct DeclaredOperand {
    std::string name; // "beta"
    std::string tag;  // "::fresh::beta_name": what tells two operands of one name apart
    Role role = Role::input;
    Domain domain = Domain::real;
    std::vector<std::string> dims; // "dk", "dv", ...; empty: a scalar
    Location where;                // of its first use in the rule
    friend bool operator==(DeclaredOperand const&, DeclaredOperand const&) = default;
};

enum class TreeKind { operand, number, binary, unary, call, statement, repeat };

// One node of the tree. `head`: for operand its name; for binary one of + - * / %; for unary "-"; for call the
// function's name
// ("T", "diag", "exp", "l2norm", "previous", ...); for statement "<<="; for repeat "repeat".
struct Tree {
    TreeKind kind = TreeKind::number;
    std::string head;
    int operand = -1;            // index into Declaration::operands
    double number = 0;           // of a number
    bool integer = false;        // the number was written as an integer
    int count = 0;               // n of repeat<n>, nu of dpfp<nu>
    std::vector<Tree> arguments; // in source order; l2norm and sum_norm carry eps as a second argument, a number
    Location where; // an operator's own token, a function's name, an operand's use, a number's first character
    friend bool operator==(Tree const&, Tree const&) = default;
};

struct Declaration {
    std::string name;      // the rule's label: "my_rule"; an instance of a variable template has its arguments appended
    std::string qualified; // "::mine::my_rule" or "::mine::product<3>": how C++ names it; empty if no other file can
                           // (function-local)
    Location where;        // of the variable
    Location label;        // of the string in rule("...")
    std::vector<DeclaredOperand> operands; // in the order of first use: the order of the ABI
    std::vector<Tree> statements;          // each a statement or a repeat of statements
    friend bool operator==(Declaration const&, Declaration const&) = default;
};

// One rule as an S-expression with operands, dimensions, domains and numbers, without locations: `(rule "my_rule" (<<=
// (state S dv dk) ...`.
std::string print(Declaration const&);
// The declaration as one line of mathematics in the language's own spelling: "S <<= S + v * T(k), o <<= S * q".
std::string equation(Declaration const&);

} // namespace deltaloom::codegen
