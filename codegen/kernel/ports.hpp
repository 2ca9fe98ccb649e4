#pragma once
// What the names of a body's inputs and results stand for: "k.1", "S", "d_o", "S.right".
#include "codegen/program/program.hpp"

namespace deltaloom::codegen {

struct Port {
    OperandId operand = -1;
    int step = -1; // of an operand with a step axis
    bool cotangent = false;
    enum class Map { none, right, left, plus } map = Map::none; // of a state: a part of the affine map of a segment
};
// `cotangents`: the body is a backward, whose names of operands may have "d_" in front.
Port port(TypedRule const&, std::string const& name, bool cotangents);
std::string port_name(TypedRule const&, Port);

// Parameters and states come as matrices; everything else is loaded token by token or chunk by chunk.
inline bool given(TypedRule const& rule, Port p) {
    return rule.operands[p.operand].role == Role::parameter || rule.operands[p.operand].role == Role::state;
}
// "s.operand[2]", "s.gradient[2].step(1)"
std::string strided_text(Port);
int state_index(TypedRule const&, OperandId);
std::string map_text(TypedRule const&, Port); // "s.map[0]": factor and plus of each state in turn

} // namespace deltaloom::codegen
