#include "codegen/check/without_gate.hpp"

#include <stdexcept>

namespace deltaloom::codegen {
namespace {

bool is_one(Tree const& t) { return t.kind == TreeKind::number && t.number == 1; }
bool is_gate(Tree const& t, int gate) { return t.kind == TreeKind::operand && t.operand == gate; }

Tree one_of(Tree const& like) {
    Tree t;
    t.kind = TreeKind::number, t.number = 1, t.where = like.where;
    return t;
}

// The tree with the gate at one; a log gate at zero: gone from sums, and 1 for its exp. False: it stands elsewhere.
bool cut(Tree& t, int gate, bool log) {
    if (is_gate(t, gate)) {
        if (log) return false;
        t = one_of(t);
        return true;
    }
    if (t.kind == TreeKind::call && t.head == "exp" && log) {
        Tree& a = t.arguments[0];
        Tree const* inner = &a; // a multiple of the gate is zero, too
        while (inner->kind == TreeKind::binary && inner->head == "*")
            inner = &inner->arguments[inner->arguments[0].kind == TreeKind::number ? 1 : 0];
        if (is_gate(*inner, gate)) {
            t = one_of(t);
            return true;
        }
        if (a.kind == TreeKind::binary && a.head == "+")
            for (std::size_t i : {0u, 1u})
                if (is_gate(a.arguments[i], gate)) {
                    Tree other = a.arguments[1 - i];
                    a = std::move(other);
                    return true;
                }
    }
    for (Tree& a : t.arguments)
        if (!cut(a, gate, log)) return false;
    if (t.kind == TreeKind::call && (t.head == "diag" || t.head == "T") && is_one(t.arguments[0])) {
        Tree one = t.arguments[0];
        t = std::move(one);
    }
    if (t.kind == TreeKind::binary && (t.head == "*" || t.head == "%"))
        for (std::size_t i : {0u, 1u})
            if (is_one(t.arguments[i])) {
                Tree other = t.arguments[1 - i];
                t = std::move(other);
                break;
            }
    return true;
}

} // namespace

std::optional<Declaration> without_gate(Declaration d, std::string const& name) {
    int gate = -1;
    for (std::size_t i = 0; i < d.operands.size(); ++i)
        if (d.operands[i].name == name) gate = int(i);
    if (gate < 0) return std::nullopt;
    bool const log = d.operands[std::size_t(gate)].domain == Domain::log;
    for (Tree& statement : d.statements)
        if (!cut(statement, gate, log)) return std::nullopt;
    return d;
}

std::unique_ptr<Reference> reference_without(Subject const& s, Declaration const& d, Point const& p) {
    try {
        return std::make_unique<Reference>(
            s.compiled, p, [&d](OracleData<runtime::dual<double>> const& data) { return run(d, data); });
    } catch (std::logic_error const&) { // a number where a matrix has to be
        return nullptr;
    }
}

} // namespace deltaloom::codegen
