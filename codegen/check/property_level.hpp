#pragma once
// Level `property`: what must hold between two calls of the production kernels, whatever the rule; what a property is
// about is found in the rule's structure, and asked of the declaration, never known by a name.
#include "codegen/check/subject.hpp"

namespace deltaloom::codegen {

std::vector<Row> properties();
// Parts of it: of calls (layouts, threads, memory), of what tensors lie in (scalars, states kept on the way), of
// sequences (splits, packing), of the rule's line (gates, heads).
std::vector<Row> call_properties();
std::vector<Row> storage_properties();
std::vector<Row> sequence_properties();
std::vector<Row> rule_properties();

void gate_at_one(Sheet&, std::vector<OperandId> const& gates);
void split_in(Sheet&, std::vector<std::vector<int>> const& splits, int chunk);
void packed_as(Sheet&, std::vector<std::int64_t> const& offsets);
// Bits of all manners as of the first.
void same_bits(Sheet&, Form, Point const&, std::vector<Manner> const&);

// Every slot of an answer's snapshots is the state that the line has after tokens_of(sequence, slot) tokens; `before`
// and `after` stand around the slot's number in what is told.
void snapshots_of_the_line(Sheet&, Form, Point const&, int chunk, Answer const&, int slots,
                           std::function<int(int sequence, int slot)> const& tokens_of, char const* before,
                           char const* after);

inline constexpr double float_budget = 2e-5; // of level float

} // namespace deltaloom::codegen
