#pragma once
// Matrix-level SSA. One table row per operation: shape (builder), value (interpret), adjoint (differentiate), degree
// (degree). Extents are symbolic, so one Body serves every chunk size, tail and head size; no layouts, no tiles.
//
//   input constant eye logone                matrices; `log` nodes are typed log-domain decays
//   add mul                                  entrywise, an extent of 1 broadcasts
//   sum(axis) transpose matmul
//   map(f) dmap(f)                           entrywise f and f'; f = "max" takes two arguments, dmap then names which
//   in `index` vector_map(f, axis, eps) vector_vjp      l2norm, sum_norm, softmax along an axis, and the feature maps
//   dpfp (nu instead of eps) and taylor2, whose result has another extent there; vjp(x, y): the cotangent of x under y
//   unlog aslog addlog                       log -> real, real -> log, product of decays hold(x;
//   per, fill)                       rows of tokens from `valid` on replaced: the padding of a short chunk interleave(m
//   parts) pick(j, m)           rows t*m+j <-> part j, row t: events of a chunk in order decay(A...; span) D[i,e] =
//   (product of the rows A_s strictly between e and i)[state_i, state_e], 0 unless e is before i gram(R, X, A; span)
//   G[i,e] = sum_j R[i,j] D_j(e,i) X[e,j] apply(W, X, A; span) applyt(W, R, A)     Y[i,j] = sum_e W[i,e] D_j(e,i)
//   X[e,j]       Y[e,j] = sum_i W[i,e] D_j(e,i) R[i,j] spread(W, R, X, A; span)                 d/dA[s,j] of sum W[i,e]
//   R[i,j] X[e,j] D_j(e,i): the fourth partial derivative of that form solve(M, B; transposed)                  (I -
//   M)^-1 B or (I - M)^-T B, M strictly lower csolve(G, c, B, A; span, transposed)     U = B + c . apply(G, U, A), or Z
//   = B + applyt(G, c . Z, A): a triangular system per value channel
#include "codegen/rule/typed_rule.hpp"

#include <map>

namespace deltaloom::codegen {

// constant, or dim, or tokens * per (+ nothing): `per` rows for each token of the chunk.
struct Extent {
    enum class Kind { constant, dim, tokens } kind = Kind::constant;
    int value = 1; // the constant, the DimId, or `per` (may be 0)
    friend bool operator==(Extent const&, Extent const&) = default;
    static Extent of(int c) { return {Kind::constant, c}; }
    static Extent dim(DimId d) { return d == one ? of(1) : Extent{Kind::dim, d}; }
    static Extent tokens(int per) { return {Kind::tokens, per}; }
    bool is_one() const { return kind == Kind::constant && value == 1; }
};
struct Extents {
    Extent rows, cols;
    friend bool operator==(Extents const&, Extents const&) = default;
};

// Where the rows of an event matrix stand. A chunk of n tokens has positions 0 .. n*m: token * m + micro-step; n*m is
// its end.
struct EventRows {
    enum class Kind {
        start,
        end,
        tokens,
        decays
    } kind = Kind::tokens;     // start: one row at -1; end: one row at n*m; decays: one row per decay row
    std::vector<int> position; // of tokens: micro-step position of each of the rows of a token, 0 .. m
    std::vector<int>
        state; // which state of n coupled ones: one entry per row of a token (one entry for the other kinds); empty: 0
    friend bool operator==(EventRows const&, EventRows const&) = default;
};
struct Span {
    int micro_steps = 1;       // m
    std::vector<int> decaying; // the micro-steps that have a decay row, ascending: n * decaying.size() rows in all
    EventRows reads, writes;
    bool masked = true; // 0 unless the write's position is before the read's (never for `decays` rows)
    friend bool operator==(Span const&, Span const&) = default;
};

// How many rows an event matrix of a span has.
Extent extent(Span const&, EventRows const&);

enum class Op {
    input,
    constant,
    eye,
    logone,
    add,
    mul,
    sum,
    transpose,
    matmul,
    map,
    dmap,
    vector_map,
    vector_vjp,
    unlog,
    aslog,
    addlog,
    hold,
    interleave,
    pick,
    decay,
    gram,
    apply,
    applyt,
    spread,
    solve,
    csolve,
};

using NodeId = int;
struct Node {
    Op op = Op::constant;
    std::vector<NodeId> args;
    Extents shape;
    bool log = false;
    std::string name; // of an input (see Body); of map, dmap, vector_map, vector_vjp: the function
    Rational number;  // constant; hold's fill; eps, nu
    int index = 0; // sum: axis (0: over rows, 1: over columns); vector_map: axis; dmap of max: which argument; pick: j
    int per = 0;   // interleave, pick: m; hold: rows per token
    bool transposed = false; // solve, csolve
    Span span;
    int states = 1; // decay: n of n x n transitions; args are then A_11, A_12, .. A_nn
    // For the reader of the emitted text, not part of equality:
    std::string hint; // a good name for the value: "u", "reads", "decay"
    std::string note; // the formula it computes: "U = (I - c G)^-1 (P + c R S0^T)"
};

// Inputs are named after the operand: "k", "k.1" for micro-step 1 of a repeat, "S"; cotangents "d_o", "d_S". Per-token
// operands are n x extent (a scalar n x 1); parameters extent x 1; matrix states rows x cols; vector states d x 1. A
// per-token dense matrix occurs in step bodies only.
struct Body {
    std::vector<Node> nodes;                             // arguments before uses
    std::vector<std::pair<std::string, NodeId>> results; // "o", "S" (state after); of a backward: "d_k", "d_S" (before)
    bool operator==(Body const&) const = default;        // hint and note aside, see Node's own operator
};
bool operator==(Node const&, Node const&);
bool maps_features(std::string const& vector_map); // does it change the extent?
char const* name(Op);
std::string print(Extent, std::vector<std::string> const& dims); // "3", "dk", "n", "2n"
std::string print(Body const&, std::vector<std::string> const& dims);

class Builder {
public:
    explicit Builder(std::vector<std::string> dims) : dims_(std::move(dims)) {}
    Builder(std::vector<std::string> dims, Body); // goes on after a body that a Builder made; its nodes keep their ids
    Body body;
    NodeId input(std::string name, Extents, bool log = false);
    NodeId constant(Rational, Extents);
    NodeId eye(Extent);
    NodeId logone(Extents);
    NodeId add(NodeId, NodeId);
    NodeId mul(NodeId, NodeId);
    NodeId scale(Rational, NodeId);
    NodeId sum(NodeId, int axis);
    NodeId transpose(NodeId);
    NodeId matmul(NodeId, NodeId); // an inner extent of 1 is a broadcast mul
    NodeId map(std::string, NodeId);
    NodeId maximum(NodeId, NodeId);
    NodeId dmap(std::string, NodeId);
    NodeId dmaximum(NodeId, NodeId, int argument);
    NodeId vector_map(std::string, NodeId, int axis, Rational eps, Extent size); // size: of the result along the axis
    NodeId vector_vjp(std::string, NodeId x, NodeId y, int axis, Rational eps);
    NodeId unlog(NodeId);
    NodeId aslog(NodeId);
    NodeId addlog(NodeId, NodeId);
    NodeId hold(NodeId, int per, Rational fill);
    NodeId interleave(std::vector<NodeId>);
    NodeId pick(NodeId, int j, int m);
    NodeId decay(std::vector<NodeId> transitions, Span, int states);
    NodeId mask(Span); // 1 where the write is before the read: a decay without rows
    NodeId gram(NodeId R, NodeId X, NodeId A, Span);
    NodeId apply(NodeId W, NodeId X, NodeId A, Span);
    NodeId applyt(NodeId W, NodeId R, NodeId A, Span);
    NodeId spread(NodeId W, NodeId R, NodeId X, NodeId A, Span);
    NodeId solve(NodeId M, NodeId B, bool transposed = false);
    NodeId csolve(NodeId G, NodeId c, NodeId B, NodeId A, Span, bool transposed = false);
    NodeId named(NodeId, std::string hint, std::string note = ""); // sets hint and note where they are empty

    Extents const& shape(NodeId i) const { return body.nodes[i].shape; }
    Node const& operator[](NodeId i) const { return body.nodes[i]; }

private:
    std::vector<std::string> dims_;
    std::map<std::string, NodeId> known_; // equal nodes merge
    NodeId node(Node);
    Extents broadcast(char const* what, NodeId, NodeId) const;
    Extents columns_of(char const* what, Extents events, NodeId A, Extent channels, Span const&) const;
    [[noreturn]] void refuse(std::string const& what, std::vector<NodeId> const&) const;
    bool constant_is(NodeId i, int c) const { return body.nodes[i].op == Op::constant && body.nodes[i].number == c; }
};

} // namespace deltaloom::codegen
