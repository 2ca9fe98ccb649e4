#include "codegen/program/chunk_values.hpp"
#include "codegen/program/operands.hpp"

#include <algorithm>

namespace deltaloom::codegen {

bool is_one(Value const& v) {
    if (v.terms.size() != 1) return false;
    auto const& t = v.terms[0];
    return t.coefficient == 1 && t.scalar.empty() && t.rows.empty() && t.cols.empty() &&
           t.matrix.kind == MatrixFactor::Kind::none;
}

Monomial without(Monomial const& m, Atom const* atom) {
    Monomial rest;
    for (auto const& f : m)
        if (f.atom.get() != atom) rest.push_back(f);
    return rest;
}

OperandId state_read(Atom const& a) {
    switch (a.kind) {
    case Atom::Kind::vector_state:
    case Atom::Kind::read:
    case Atom::Kind::form: return a.operand;
    case Atom::Kind::dot:
        for (auto const& [z, power] : a.left) {
            if (power != 1 || z->kind != Atom::Kind::vector_state) continue;
            bool const once = std::none_of(a.left.begin(), a.left.end(), [&](Factor const& f) {
                return f.atom != z && states_in(*f.atom).contains(z->operand);
            });
            if (once) return z->operand;
        }
        return -1;
    case Atom::Kind::operand:
    case Atom::Kind::exp_log:
    case Atom::Kind::map:
    case Atom::Kind::vector_map: break;
    }
    return -1;
}

NodeId ChunkValues::operand(OperandId id, int step) { return chunk_input(b, rule.operands[id], step); }

NodeId ChunkValues::whole(NodeId x, Extent cols) {
    Extents const s{Extent::tokens(1), cols};
    if (b.shape(x) == s) return x;
    return b[x].log ? b.addlog(x, b.logone(s)) : b.mul(x, b.constant(1, s));
}

NodeId ChunkValues::rows(Value const& v) { return whole(value(v), Extent::dim(vector_dim(v.shape))); }

NodeId ChunkValues::neutral(NodeId x, Rational fill) { return padded ? b.hold(x, 1, std::move(fill)) : x; }

NodeId ChunkValues::atom(Atom const& a) {
    if (auto const s = state_read(a); s >= 0 && rule.operands[s].role == Role::state) {
        if (auto const known = reads.find(a.key); known != reads.end()) return known->second;
        auto const node = read_out(a);
        reads.emplace(a.key, node);
        return node;
    }
    auto const argument = [&](int i) { return value(a.arguments[i]); };
    auto const named = [&](NodeId node, std::string const& function) {
        auto const of = print(rule, a.arguments[0]);
        bool const word = of.size() <= 8 && std::all_of(of.begin(), of.end(),
                                                        [](unsigned char c) { return std::isalnum(c) || c == '_'; });
        return b.named(node, word ? function + "_" + of : function);
    };
    switch (a.kind) {
    case Atom::Kind::operand: {
        auto const x = operand(a.operand, a.step);
        return rule.operands[a.operand].per_token() ? x : b.transpose(x);
    }
    case Atom::Kind::exp_log: return named(b.unlog(argument(0)), "exp");
    case Atom::Kind::map:
        if (a.arguments.size() == 2) return b.maximum(argument(0), argument(1));
        return named(b.map(a.function, argument(0)), a.function);
    case Atom::Kind::vector_map:
        return named(b.vector_map(a.function, argument(0), 1, a.eps, Extent::dim(a.dim)), a.function);
    case Atom::Kind::dot: return b.sum(product(a.left, a.dim), 1);
    case Atom::Kind::read: { // of a dense parameter W: the rows of (W y)^T = y^T W^T
        auto const shape = rule.operands[a.operand].shape;
        auto const y = product(a.left, a.transposed ? shape.rows : shape.cols), W = operand(a.operand, a.step);
        return b.matmul(y, a.transposed ? W : b.transpose(W));
    }
    case Atom::Kind::vector_state:
    case Atom::Kind::form: break;
    }
    return -1;
}

NodeId ChunkValues::product(Monomial const& m, DimId dim) {
    auto x = b.constant(1, {Extent::of(1), Extent::dim(dim)});
    for (auto const& [atom_ref, power] : m) {
        auto const f = power < 0 ? b.map("inv", atom(*atom_ref)) : atom(*atom_ref);
        for (int i = 0; i < std::abs(power); ++i) x = b.mul(x, f);
    }
    return x;
}

// A sum of multiples of log gates, each term a single operand.
NodeId ChunkValues::log_value(Value const& v) {
    NodeId sum = b.logone({Extent::of(1), Extent::dim(vector_dim(v.shape))});
    for (auto const& t : v.terms)
        for (auto const* part : {&t.scalar, &t.rows, &t.cols})
            for (auto const& f : *part)
                for (long i = 0; i < t.coefficient.convert_to<long>(); ++i) sum = b.addlog(sum, atom(*f.atom));
    return sum;
}

NodeId ChunkValues::value(Value const& v) {
    if (v.log) return log_value(v);
    auto const dim = vector_dim(v.shape);
    auto sum = b.constant(0, {Extent::of(1), Extent::dim(dim)});
    for (auto const& t : v.terms) {
        auto channels = t.rows;
        channels.insert(channels.end(), t.cols.begin(), t.cols.end());
        sum = b.add(sum, b.mul(b.scale(t.coefficient, product(t.scalar, one)), product(channels, dim)));
    }
    return sum;
}

NodeId ChunkValues::decay(Value const& v) {
    auto const dim = vector_dim(v.shape);
    auto const exponential = [](Factor const& f) {
        bool const exp =
            f.atom->kind == Atom::Kind::exp_log || (f.atom->kind == Atom::Kind::map && f.atom->function == "exp");
        return exp && f.power > 0;
    };
    if (v.terms.size() != 1 || v.terms[0].coefficient != 1) return rows(v);
    Monomial all;
    for (auto const* part : {&v.terms[0].scalar, &v.terms[0].rows, &v.terms[0].cols})
        all.insert(all.end(), part->begin(), part->end());
    if (all.empty() || !std::all_of(all.begin(), all.end(), exponential)) return rows(v);
    auto sum = b.logone({Extent::of(1), Extent::dim(dim)});
    for (auto const& f : all) {
        auto const x = value(f.atom->arguments[0]);
        auto const log = f.atom->kind == Atom::Kind::exp_log ? x : b.aslog(x);
        for (int i = 0; i < f.power; ++i) sum = b.addlog(sum, log);
    }
    return whole(sum, Extent::dim(dim));
}

} // namespace deltaloom::codegen
