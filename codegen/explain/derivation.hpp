#pragma once
// The parts of an explanation.
#include "codegen/explain/explain.hpp"
#include "codegen/explain/value_formula.hpp"

namespace deltaloom::codegen {

// The statements as written; what a long one says several times comes before it under a name.
std::vector<Equation> statement_lines(TypedRule const&);

// The canonical statements in the order of the token, and what each component is.
std::vector<Equation> recurrence_lines(TypedRule const&, Recurrence const&);
std::vector<Meaning> component_lines(TypedRule const&, Recurrence const&);

struct ChunkLines {
    std::vector<ExplainedChunk> chunks;
    std::vector<Equation> outputs;
};
ChunkLines chunk_lines(TypedRule const&, Recurrence const&);

ExplainedCosts explained_costs(Derived const&, ExplainSizes const&);

} // namespace deltaloom::codegen
