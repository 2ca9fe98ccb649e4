#pragma once
// Where the rows of an event matrix stand, for a chunk of a given number of tokens.
#include "codegen/program/body.hpp"

#include <optional>

namespace deltaloom::codegen {

struct EventRow {
    std::optional<int> position; // none for decay rows, which are never masked
    int decay = 0; // the decay rows between a write and a read are those r with write.decay < r < read.decay
    int state = 0;
};
std::vector<EventRow> reads_of(Span const&, int tokens);
std::vector<EventRow> writes_of(Span const&, int tokens);

// The write reaches the read: it comes before it, or the mask does not apply to them.
bool reaches(Span const&, EventRow const& write, EventRow const& read);

} // namespace deltaloom::codegen
