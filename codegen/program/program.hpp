#pragma once
// A form of a rule as ordered phases over chunks. The body of a phase is matrix SSA (body.hpp).
#include "codegen/program/body.hpp"
#include "codegen/rule/recurrence.hpp"

namespace deltaloom::codegen {

enum class Form { step, recurrent, chunked, parallel, summary };
enum class Direction { forward, backward };
char const* name(Form);
char const* name(Direction);

struct Phase {
    enum class Kind { each, scan_forward, scan_reverse } kind = Kind::scan_forward;
    std::string purpose;              // "outputs and states", "states before every chunk", "gradients"
    Body body;                        // of one chunk (of one token for step and recurrent)
    std::vector<std::string> carries; // results that the next chunk takes as inputs: "S"; in reverse "d_S"
};
// A phase takes operands, and results of earlier phases for the same chunk. What several phases give under one name
// ("d_k") adds up; so do the cotangents of parameters over chunks.
struct Program {
    Form form = Form::recurrent;
    Direction direction = Direction::forward;
    bool split = false; // chunked: the solve prepared for all chunks at once, before the scan
    std::vector<Phase> phases;
    bool operator==(Program const&) const;
};
std::string print(TypedRule const&, Program const&);

// One step, straight from the tree; every rule has it. Its inputs are shaped like the operands: a column d x 1, a
// scalar 1 x 1, a matrix r x c.
Body lower_step(TypedRule const&);
// One chunk from the recurrence. padded: rows of tokens from `valid` on repeat the last token and are neutralised
// (hold).
Body lower_chunk(TypedRule const&, Recurrence const&, bool padded = false);
// The same with the solve split from the state: prepare (no state in it) and the rest, which takes prepare's results
// "S.u", "S.w" as inputs. nullopt: nothing to solve, or the system depends on a state, or there is one per value
// channel.
struct SplitBody {
    Body prepare, scan;
};
std::optional<SplitBody> lower_split(TypedRule const&, Recurrence const&);
// A segment as an affine map of each of its states, S' = S right + plus or S' = left S + plus, taken through one chunk:
// inputs and results "S.right" (or "S.left") and "S.plus"; a segment starts with the identity. The reason where a state
// has no such map.
std::variant<Body, Reason> lower_summary(TypedRule const&, Recurrence const&);

// Reverse mode: the given body with its backward appended: inputs "d_" + result for every result; results "d_" + input
// for every input.
Body differentiate(Body const&, std::vector<std::string> const& dims);
// What reaches the given results only.
Body pruned(Body const&, std::vector<std::string> const& results);

// Every form and direction that the rule has.
struct Derived {
    TypedRule rule;
    std::optional<Recurrence> recurrence;
    std::optional<Reason> missing; // why there is no chunked form (and no parallel one)
    std::optional<Reason> no_summary;
    std::vector<Program> programs;
};
Derived derive(TypedRule);

// For every state the dimension that the factor of a segment's map is over; empty where the rule has no summary.
std::vector<DimId> factor_dims(Derived const&);

} // namespace deltaloom::codegen
