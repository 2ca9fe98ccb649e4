#pragma once
// A scheduled program: functions of loops, buffers and calls of named operations, one step before text. What the CPU
// target needs; how the same values grow to other targets is docs/decisions/0001-kernel-stage.md.
#include "codegen/program/program.hpp"

namespace deltaloom::codegen {

// An integer of the emitted text: "dk", "2 * n", "s.tokens - first". A schedule places integers, it never computes with
// them.
using Integer = std::string;

using BufferId = int; // index into Function::buffers
struct Buffer {
    std::string name;
    Integer rows, cols;
    bool operator==(Buffer const&) const = default;
};

// The value of one element of an `each`.
struct Scalar {
    enum class Kind {
        element, // buffer(row, col)
        number,  // a constant
        log_one, // the log value of the number 1
        add,     // two arguments, as subtract and multiply
        subtract,
        multiply,
        negate,
        call,   // function(arguments...)
        select, // arguments[0] where the index mask `function` holds ("e < i"), else arguments[1]: masks select, they
                // never multiply
    } kind = Kind::number;
    BufferId buffer = -1;
    Integer row, col;
    Rational number;
    std::string function;
    std::vector<Scalar> arguments;
    bool operator==(Scalar const&) const = default;
};

struct Argument {
    enum class Kind {
        buffer,
        turned,  // a vector seen the other way round: the same elements, rows and columns exchanged
        list,    // several buffers
        span,    // index into Kernel::spans
        integer, // or a word of the runtime: "s.operand[2]", "domain::log"
    } kind = Kind::integer;
    BufferId buffer = -1;
    std::vector<BufferId> list;
    int span = -1;
    Integer integer;
    bool operator==(Argument const&) const = default;
};

struct Loop {
    std::string variable;
    Integer first = "0", limit, step = "1"; // first <= variable < limit
    bool reverse = false;                   // from limit - 1 down to first
    bool operator==(Loop const&) const = default;
};

struct Statement {
    enum class Kind {
        define, // the integer `name` = value.integer
        take,   // buffer from the scratch
        alias,  // buffer in the place of `other`, of the same extents, which nobody reads any more
        view,   // buffer = the rows of `other` from row `row` on
        call,   // function(arguments...); an operation that writes names its result first
        each,   // buffer(row, col) = value, for all indices of `loops`
        loop,   // loops[0] around body
    } kind = Kind::call;
    std::string comment; // one line, the formula
    std::string name;    // of define and call
    Integer integer;     // of define
    BufferId buffer = -1, other = -1;
    Integer row, col;
    Scalar value;
    std::vector<Argument> arguments;
    std::vector<Loop> loops;
    std::vector<Statement> body;
    bool operator==(Statement const&) const = default;
};

// A template over the scalar. It gets the sequence, `integers`, the buffers `parameters` and the scratch, by value:
// what it takes is free again.
struct Function {
    std::string name, comment;
    std::vector<std::string> integers;
    std::vector<BufferId> parameters;
    std::vector<Buffer> buffers;
    std::vector<Statement> body;
    bool operator==(Function const&) const = default;
};

struct Kernel {
    std::string rule;
    Form form = Form::recurrent;
    Direction direction = Direction::forward;
    std::vector<std::string> dims;   // names of the extents, in the order of the rule's
    std::vector<Span> spans;         // what calls name
    std::vector<Function> functions; // the last one is the entry; the others are called by it
    std::optional<Form> shared; // the form whose kernel of the same direction holds the other functions that are called
    bool operator==(Kernel const&) const = default;
};

// The CPU's schedule of the Programs that it has kernels for: not of split ones, and parallel is chunked with one
// chunk.
Kernel schedule(TypedRule const&, Program const&);
bool has_kernel(Program const&);

std::string print(Kernel const&);

} // namespace deltaloom::codegen
