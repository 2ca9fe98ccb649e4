// The one way to write a scalar that is a sum over products of vectors and reads.
#include "codegen/rule/algebra.hpp"

#include <algorithm>

namespace deltaloom::codegen {
namespace {

bool opens(Factor const& f) { return f.atom->kind == Atom::Kind::read && f.power > 0; }

int matrices(Monomial const& m) {
    int n = 0;
    for (auto const& f : m)
        if (opens(f)) n += f.power * (1 + matrices(f.atom->left));
    return n;
}

int depth(Monomial const& m) {
    int deepest = 0;
    for (auto const& f : m)
        if (opens(f)) deepest = std::max(deepest, 1 + depth(f.atom->left));
    return deepest;
}

// The same sum seen from the other end of the read `through`, and the read that leads back.
std::pair<Summed, AtomRef> across(At const& at, Summed const& from, AtomRef const& through) {
    Shape const s = at.rule.operands[through->operand].shape;
    Atom back = *through;
    back.transposed = !through->transposed;
    back.dim = through->transposed ? s.rows : s.cols;
    back.left = without(from.product, through);
    AtomRef const ref = made(at, std::move(back));
    return {{ref->dim, times(through->left, monomial(ref))}, ref};
}

void visit(At const& at, Summed const& node, std::string const& back, std::vector<Summed>& out) {
    out.push_back(node);
    for (auto const& f : node.product) {
        if (!opens(f) || f.atom->key == back) continue;
        auto const [next, ref] = across(at, node, f.atom);
        visit(at, next, ref->key, out);
    }
}

AtomRef dot(At const& at, Summed const& s) {
    Atom a;
    a.kind = Atom::Kind::dot;
    a.dim = s.dim;
    a.left = s.product;
    return made(at, std::move(a));
}

AtomRef opened(Monomial const& m) { return std::find_if(m.begin(), m.end(), opens)->atom; }

AtomRef form(At const& at, Summed const& s) {
    AtomRef const read = opened(s.product);
    Monomial rest = without(s.product, read);
    Atom a;
    a.kind = Atom::Kind::form;
    a.operand = read->operand;
    a.version = read->version;
    a.left = read->transposed ? rest : read->left;
    a.right = read->transposed ? read->left : without(s.product, read);
    return made(at, std::move(a));
}

} // namespace

Monomial contract(At const& at, Summed const& s) {
    if (s.dim == one) return s.product;
    int const n = matrices(s.product);
    if (n == 0) return monomial(dot(at, s));
    if (n == 1 && at.rule.operands[opened(s.product)->operand].role == Role::state) return monomial(form(at, s));
    std::vector<Summed> all;
    visit(at, s, "", all);
    auto const rank = [&](Summed const& x) {
        return std::pair(depth(x.product), at.rule.dims[x.dim] + key(x.product));
    };
    return monomial(dot(at, *std::min_element(all.begin(), all.end(),
                                              [&](Summed const& a, Summed const& b) { return rank(a) < rank(b); })));
}

std::vector<Summed> rootings(At const& at, Atom const& scalar) {
    std::vector<Summed> all;
    if (scalar.kind == Atom::Kind::dot) visit(at, {scalar.dim, scalar.left}, "", all);
    if (scalar.kind != Atom::Kind::form) return all;
    Atom read;
    read.kind = Atom::Kind::read;
    read.operand = scalar.operand;
    read.version = scalar.version;
    read.dim = at.rule.operands[scalar.operand].shape.rows;
    read.left = scalar.left;
    visit(at, {read.dim, times(scalar.right, monomial(made(at, std::move(read))))}, "", all);
    return all;
}

} // namespace deltaloom::codegen
