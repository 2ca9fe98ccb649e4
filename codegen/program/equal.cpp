// Equality of nodes and programs: what they compute, not what they are called.
#include "codegen/program/program.hpp"

#include <tuple>

namespace deltaloom::codegen {

static auto computed(Node const& n) {
    return std::tie(n.op, n.args, n.shape, n.log, n.name, n.number, n.index, n.per, n.transposed, n.span, n.states);
}
bool operator==(Node const& a, Node const& b) { return computed(a) == computed(b); }

static bool equal(Phase const& a, Phase const& b) {
    return a.kind == b.kind && a.purpose == b.purpose && a.carries == b.carries && a.body == b.body;
}
bool Program::operator==(Program const& other) const {
    if (form != other.form || direction != other.direction || split != other.split) return false;
    if (phases.size() != other.phases.size()) return false;
    for (std::size_t i = 0; i < phases.size(); ++i)
        if (!equal(phases[i], other.phases[i])) return false;
    return true;
}

} // namespace deltaloom::codegen
