#pragma once
// How the model gives a rule what it asks for, whatever rule it is. A generated library describes its operands (kind,
// domain, axes); this is the convention by which each gets its values:
//
//     input [dk]              a key: projection, short convolution, silu, unit length (q, k, erase keys)
//     input [any other]       a value: projection, short convolution, silu
//     input []                a strength: sigmoid of a projection, in (0, 1)
//     linear gate [] or [d]   sigmoid of a projection, in (0, 1)
//     log gate [] or [d]      -softplus of a projection, in (-inf, 0)
//     parameter [...]         learned, per head; through the map of its domain if it is a gate's
//
// A leading axis of micro-steps (repeat) makes as many of them. What a rule asks for beyond this is refused by name.
#include "settings.hpp"

#include <cstddef>
#include <deltaloom/runtime/abi/deltaloom.h>
#include <string>
#include <vector>

namespace lm {

enum class Map { unit, plain, sigmoid, minus_softplus, none };

struct Filling {
    std::uint32_t operand;
    std::string name;
    Map map;
    bool learned;          // per head, not per token
    int steps, n;          // micro-steps (1: no such axis) of n entries each
    int column;            // where it starts among the vectors, gates or learned values of a layer
    std::vector<int> axes; // extents as the ABI has them
    int per_head() const { return steps * n; }
};
struct StateShape {
    std::string name;
    std::vector<int> axes;
    std::size_t entries; // of one head
};
struct Plan {
    dl_rule const* rule;
    std::vector<Filling> fillings;
    std::vector<StateShape> states;
    std::vector<int> dim; // extents in the order of the rule's dimensions
    std::uint32_t output;
    int vectors = 0, gates = 0, learned = 0, units = 0; // columns; `units`: unit vectors of a token
};

// Throws Refusal where the model cannot fill an operand.
Plan plan(dl_rule const&, Settings const&);

} // namespace lm
