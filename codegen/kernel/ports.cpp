#include "codegen/kernel/ports.hpp"

#include <cassert>
#include <fmt/format.h>

namespace deltaloom::codegen {

static char const* word(Port::Map m) {
    switch (m) {
    case Port::Map::none: return "";
    case Port::Map::right: return ".right";
    case Port::Map::left: return ".left";
    case Port::Map::plus: return ".plus";
    }
    return "";
}

static Port plain(TypedRule const& rule, std::string const& name) {
    for (OperandId i = 0; i < OperandId(rule.operands.size()); ++i) {
        auto const& o = rule.operands[i];
        if (o.steps == 0 && o.name == name) return {i, -1, false};
        for (int j = 0; j < o.steps; ++j)
            if (name == fmt::format("{}.{}", o.name, j)) return {i, j, false};
        if (o.role != Role::state || name.rfind(o.name + ".", 0) != 0) continue;
        for (auto map : {Port::Map::right, Port::Map::left, Port::Map::plus})
            if (Port const p{i, -1, false, map}; name == port_name(rule, p)) return p;
    }
    return {};
}

Port port(TypedRule const& rule, std::string const& name, bool cotangents) {
    auto p = plain(rule, name);
    if (p.operand < 0 && cotangents && name.rfind("d_", 0) == 0) {
        p = plain(rule, name.substr(2));
        p.cotangent = true;
    }
    assert(p.operand >= 0);
    return p;
}
std::string port_name(TypedRule const& rule, Port p) {
    auto const& name = rule.operands[p.operand].name;
    return (p.cotangent ? "d_" : "") + name + (p.step >= 0 ? "_" + std::to_string(p.step) : "") + word(p.map);
}

std::string strided_text(Port p) {
    auto text = fmt::format("s.{}[{}]", p.cotangent ? "gradient" : "operand", p.operand);
    if (p.step >= 0) text += fmt::format(".step({})", p.step);
    return text;
}
std::string map_text(TypedRule const& rule, Port p) {
    return fmt::format("s.map[{}]", 2 * state_index(rule, p.operand) + (p.map == Port::Map::plus));
}
int state_index(TypedRule const& rule, OperandId state) {
    int index = 0;
    for (OperandId i = 0; i < state; ++i) index += rule.operands[i].role == Role::state;
    return index;
}

} // namespace deltaloom::codegen
