#pragma once
// Which values of a body get a buffer of their own, and which are computed where they are used.
#include "codegen/program/body.hpp"

namespace deltaloom::codegen {

// A node without the transposes in front of it.
struct View {
    NodeId node = -1;
    bool turned = false;
};
View strip(Body const&, NodeId);

// A decay without rows over one read and one write per token: 1 at or below the diagonal, or strictly below it.
enum class Mask { none, below, up_to_diagonal };
Mask mask_of(Node const&);

bool entrywise(Op);               // computed from the same entry of its arguments
bool free_of_charge(Node const&); // constants, identities, masks: written where they are used

bool sums_rows(Node const&); // computed entry by entry too: row after row is added

// The terms of a sum: inner sums of the same extents that have no buffer are taken apart.
struct Fusion {
    std::vector<char> reached;  // by the results
    std::vector<char> stored;   // has a buffer
    std::vector<char> absorbed; // a product that is added into the buffer of the sum it is a term of
};
std::vector<View> terms(Body const&, Fusion const&, View);

// Which values' buffers hold their transpose: what is carried as a transpose, and a product of two transposes, A^T B^T
// = (B A)^T.
std::vector<char> stored_turned(Body const&, std::vector<NodeId> const& carried);

// A value is stored where it is a result, where an operation reads it, where it is used twice, and where a loop over
// more entries than it has would repeat a function call. `accumulated` results are added into a buffer that is there
// already.
Fusion fuse(Body const&, std::vector<NodeId> const& results, std::vector<NodeId> const& accumulated,
            std::vector<char> const& turned);

// One row or one column: it and its transpose are the same memory.
bool vector(Extents const&);

} // namespace deltaloom::codegen
