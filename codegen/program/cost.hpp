#pragma once
// What a body does: operations and the numbers it touches, at given sizes. An operation is an addition, a
// multiplication or a map of one entry. Parameters, which stay where they are from token to token, are not counted.
#include "codegen/program/interpret.hpp"

namespace deltaloom::codegen {

struct Cost {
    double operations = 0; // of everything the results need
    double inputs = 0;     // entries of per-token inputs that are read
    double outputs = 0;    // entries of per-token results
    double states = 0;     // entries of states and their cotangents, read and written
};
Cost cost(Body const&, TypedRule const&, Sizes const&);

} // namespace deltaloom::codegen
