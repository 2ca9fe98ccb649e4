// Shapes, merging and folding of the Builder; equality and print of what it builds.
#include "codegen/program/program.hpp"

#include <catch2/catch.hpp>

using namespace deltaloom::codegen;

namespace {

std::vector<std::string> const dims{"dk", "dv"};
auto const dk = Extent::dim(0), dv = Extent::dim(1), n = Extent::tokens(1), single = Extent::of(1);
Extents const one_by_one{single, single};

Span diagonal() {
    Span s;
    s.decaying = {0};
    s.reads = s.writes = {EventRows::Kind::tokens, {0}, {}};
    return s;
}

} // namespace

TEST_CASE("shapes follow the operands") {
    Builder b(dims);
    auto const K = b.input("k", {n, dk}), V = b.input("v", {n, dv}), beta = b.input("beta", {n, single});
    auto const row = b.input("row", {single, dk}), g = b.input("g", {n, single}, true);
    CHECK(b.shape(b.mul(beta, row)) == Extents{n, dk});
    CHECK(b.shape(b.add(K, beta)) == Extents{n, dk});
    CHECK(b.shape(b.matmul(b.transpose(K), V)) == Extents{dk, dv});
    CHECK(b.shape(b.sum(K, 0)) == Extents{single, dk});
    CHECK(b.shape(b.sum(K, 1)) == Extents{n, single});
    CHECK(b.shape(b.interleave({K, b.scale(2, K)})) == Extents{Extent::tokens(2), dk});
    CHECK(b.shape(b.pick(b.input("e", {Extent::tokens(6), dk}), 1, 3)) == Extents{Extent::tokens(2), dk});
    CHECK(b.shape(b.decay({g}, diagonal(), 1)) == Extents{n, n});
    CHECK(b.shape(b.gram(K, K, g, diagonal())) == Extents{n, n});
    auto const W = b.mask(diagonal());
    CHECK(b.shape(b.apply(W, V, g, diagonal())) == Extents{n, dv});
    CHECK(b.shape(b.applyt(W, V, g, diagonal())) == Extents{n, dv});
    CHECK(b.shape(b.spread(W, K, K, g, diagonal())) == Extents{n, single});
    CHECK(b.shape(b.solve(W, V)) == Extents{n, dv});
    CHECK(b.shape(b.csolve(W, beta, V, g, diagonal())) == Extents{n, dv});
    CHECK(b[b.transpose(g)].log);
    CHECK(b[b.hold(g, 1, 1)].log);
}

TEST_CASE("what does not fit says the shapes") {
    Builder b(dims);
    auto const K = b.input("k", {n, dk}), V = b.input("v", {n, dv}), g = b.input("g", {n, single}, true);
    CHECK_THROWS_WITH(b.add(K, V), "add does not fit: n x dk n x dv");
    CHECK_THROWS_WITH(b.matmul(K, V), "matmul does not fit: n x dk n x dv");
    CHECK_THROWS_WITH(b.mul(K, g), "mul does not fit: n x dk n x 1 log");
    CHECK_THROWS_WITH(b.addlog(g, K), "addlog does not fit: n x 1 log n x dk");
    CHECK_THROWS_WITH(b.interleave({K, V}), "interleave does not fit: n x dk n x dv");
    CHECK_THROWS_WITH(b.hold(K, 2, 0), "hold does not fit: n x dk");
    CHECK_THROWS_WITH(b.pick(K, 0, 2), "pick does not fit: n x dk");
    CHECK_THROWS_WITH(b.decay({K}, diagonal(), 1), "decay does not fit: n x dk");
    CHECK_THROWS_WITH(b.decay({g, g}, diagonal(), 1), "decay does not fit: n x 1 log n x 1 log");
    CHECK_THROWS_WITH(b.gram(K, K, V, diagonal()), "gram does not fit: n x dv");
    CHECK_THROWS_WITH(b.gram(K, V, g, diagonal()), "gram does not fit: n x dk n x dv n x 1 log");
    CHECK_THROWS_WITH(b.solve(K, V), "solve does not fit: n x dk n x dv");
    auto const W = b.input("W", {dk, dk});
    CHECK_THROWS_WITH(b.interleave({W, W}), "interleave does not fit: dk x dk dk x dk");
    auto const D = b.input("D", {n, n});
    CHECK_THROWS_WITH(b.apply(D, W, g, diagonal()), "apply does not fit: n x n dk x dk n x 1 log");
    CHECK_THROWS_WITH(b.applyt(D, W, g, diagonal()), "applyt does not fit: n x n dk x dk n x 1 log");
}

TEST_CASE("equal nodes merge and keep the first hint") {
    Builder b(dims);
    auto const K = b.input("k", {n, dk}), V = b.input("k2", {n, dk});
    auto const p = b.named(b.mul(K, V), "", "first");
    CHECK(b.named(b.mul(V, K), "kk", "second") == p);
    CHECK(b.named(b.mul(K, V), "other") == p);
    CHECK(b[p].hint == "kk");
    CHECK(b[p].note == "first");
    CHECK(b.matmul(K, b.transpose(V)) != b.matmul(V, b.transpose(K)));
    CHECK(b.sum(K, 0) != b.sum(K, 1));
    auto other = diagonal();
    other.masked = false;
    auto const g = b.input("g", {n, single}, true);
    CHECK(b.decay({g}, diagonal(), 1) == b.decay({g}, diagonal(), 1));
    CHECK(b.decay({g}, diagonal(), 1) != b.decay({g}, other, 1));
    Span first = diagonal(), second = diagonal();
    first.micro_steps = second.micro_steps = 2;
    second.decaying = {1};
    CHECK(b.decay({g}, first, 1) != b.decay({g}, second, 1));
    auto const M = b.input("M", {n, n});
    CHECK(b.solve(M, K) != b.solve(M, K, true));
    Builder again(dims, b.body);
    CHECK(again.mul(K, V) == p);
    CHECK(again.body.nodes.size() == b.body.nodes.size());
}

TEST_CASE("constants and trivial cases fold") {
    Builder b(dims);
    auto const K = b.input("k", {n, dk}), beta = b.input("beta", {n, single});
    auto const E = b.input("e", {Extent::tokens(2), dk}), g = b.input("g", {n, single}, true);
    auto const c = [&](Rational x, Extents s = one_by_one) { return b.constant(std::move(x), s); };
    SECTION("sums and products") {
        CHECK(b.add(c(0), K) == K);
        CHECK(b.add(K, c(0, {n, dk})) == K);
        CHECK(b.shape(b.add(c(0, {n, dk}), b.input("row", {single, dk}))) == Extents{n, dk});
        CHECK(b.mul(K, c(1, {n, dk})) == K);
        CHECK(b.mul(c(0), K) == c(0, {n, dk}));
        CHECK(b.add(c(2), c(3)) == c(5));
        CHECK(b.mul(c(2, {n, single}), c(3, {single, dk})) == c(6, {n, dk}));
        CHECK(b.scale(-1, b.scale(-1, K)) == K);
        CHECK(b.add(K, K) == b.scale(2, K));
        CHECK(b.map("neg", K) == b.scale(-1, K));
        CHECK(b.map("inv", c(4)) == c(Rational(1) / 4));
    }
    SECTION("what only repeats disappears in a sum or a product of the full shape") {
        auto const wide = b.mul(beta, c(1, {n, dk}));
        CHECK(b.shape(wide) == Extents{n, dk});
        CHECK(b.mul(K, wide) == b.mul(K, beta));
        CHECK(b.add(wide, K) == b.add(beta, K));
        auto const thrice = b.mul(beta, c(3, {n, dk}));
        CHECK(b.add(thrice, K) == b.add(b.scale(3, beta), K));
        CHECK(b.mul(thrice, K) == b.scale(3, b.mul(beta, K)));
        auto const column = b.input("column", {n, single});
        CHECK(b.shape(b.add(wide, column)) == Extents{n, dk});
        CHECK(b.shape(b.mul(wide, column)) == Extents{n, dk});
    }
    SECTION("matrices") {
        CHECK(b.transpose(b.transpose(K)) == K);
        CHECK(b.transpose(c(3, {n, dk})) == c(3, {dk, n}));
        CHECK(b.transpose(b.eye(dk)) == b.eye(dk));
        CHECK(b.sum(beta, 1) == beta);
        CHECK(b.sum(c(2, {Extent::of(3), single}), 0) == c(6));
        CHECK(b.matmul(K, b.eye(dk)) == K);
        CHECK(b.matmul(b.eye(dk), b.transpose(K)) == b.transpose(K));
        CHECK(b.matmul(K, c(0, {dk, dv})) == c(0, {n, dv}));
        CHECK(b.matmul(beta, b.input("r", {single, dv})) == b.mul(beta, b.input("r", {single, dv})));
        CHECK(b.eye(single) == c(1));
    }
    SECTION("derivatives") {
        CHECK(b.dmap("neg", K) == c(-1, {n, dk}));
        CHECK(b.dmap("exp", K) == b.map("exp", K));
        CHECK(b.vector_vjp("l2norm", K, c(0, {n, dk}), 1, 0) == c(0, {n, dk}));
    }
    SECTION("logs") {
        CHECK(b.addlog(g, b.logone({n, single})) == g);
        CHECK(b.unlog(b.logone({n, single})) == c(1, {n, single}));
        CHECK(b.unlog(b.aslog(K)) == b.map("exp", K));
    }
    SECTION("rows of tokens and events") {
        CHECK(b.interleave({K}) == K);
        CHECK(b.pick(K, 0, 1) == K);
        CHECK(b.pick(b.interleave({K, b.scale(2, K)}), 1, 2) == b.scale(2, K));
        CHECK(b.interleave({b.pick(E, 0, 2), b.pick(E, 1, 2)}) == E);
        CHECK(b.interleave({b.pick(E, 1, 2), b.pick(E, 0, 2)}) != E);
        CHECK(b.interleave({c(0, {n, dk}), c(0, {n, dk})}) == c(0, {Extent::tokens(2), dk}));
        CHECK(b.hold(c(1, {n, single}), 1, 1) == c(1, {n, single}));
        CHECK(b.hold(c(1, {n, single}), 1, 0) != c(1, {n, single}));
        CHECK(b.hold(b.logone({n, single}), 1, 1) == b.logone({n, single}));
        CHECK(b.hold(b.hold(K, 1, 0), 1, 0) == b.hold(K, 1, 0));
        CHECK(b.hold(b.hold(K, 1, 0), 1, 1) != b.hold(K, 1, 0));
        CHECK(b.shape(b.pick(b.interleave({E, b.scale(2, E)}), 0, 4)) == Extents{n, dk});
    }
    SECTION("what comes from the start needs no mask") {
        auto s = diagonal();
        s.writes = {EventRows::Kind::start, {}, {}};
        CHECK(b.mask(s) == c(1, {n, single}));
        s = diagonal();
        s.reads = {EventRows::Kind::end, {}, {}};
        CHECK(b.mask(s) == c(1, {single, n}));
        CHECK(b[b.mask(diagonal())].op == Op::decay);
    }
    SECTION("forms of nothing") {
        CHECK(b.gram(K, c(0, {n, dk}), g, diagonal()) == c(0, {n, n}));
        CHECK(b.apply(c(0, {n, n}), K, g, diagonal()) == c(0, {n, dk}));
        CHECK(b.applyt(c(0, {n, n}), K, g, diagonal()) == c(0, {n, dk}));
        CHECK(b.spread(c(0, {n, n}), K, K, g, diagonal()) == c(0, {n, single}));
    }
    SECTION("systems without coupling") {
        CHECK(b.solve(c(0, {n, n}), K) == K);
        CHECK(b.csolve(c(0, {n, n}), beta, K, g, diagonal()) == K);
    }
}

// One token of the delta rule over a chunk, the way that it reads.
static Body delta() {
    Builder b(dims);
    auto const K = b.input("k", {n, dk}), V = b.input("v", {n, dv}), beta = b.input("beta", {n, single});
    auto const g = b.input("g", {n, single}, true), S = b.input("S", {dv, dk});
    auto span = diagonal();
    auto const D = b.named(b.decay({g}, span, 1), "decay", "product of exp(g) between two tokens");
    auto const M = b.named(b.scale(-1, b.mul(beta, b.mul(D, b.matmul(K, b.transpose(K))))), "M");
    auto const u = b.named(b.solve(M, b.mul(beta, V)), "u", "u = (I - M)^-1 beta v");
    span.reads = {EventRows::Kind::end, {}, {}};
    auto const last = b.decay({g}, span, 1);
    b.body.results = {{"u", u}, {"S", b.add(S, b.matmul(b.transpose(b.mul(u, b.transpose(last))), K))}};
    return b.body;
}

TEST_CASE("a body prints one operation a line") {
    CHECK(print(delta(), dims) == R"(  k: n x dk = input
  v: n x dv = input
  beta: n x 1 = input
  g: n x 1 log = input
  S: dv x dk = input
  decay: n x n = decay(g; reads 0, writes 0)                      # product of exp(g) between two tokens
  %6: dk x n = transpose(k)
  %7: n x n = matmul(k, %6)
  %8: n x n = mul(decay, %7)
  %9: n x n = mul(beta, %8)
  M: n x n = mul(-1, %9)
  %12: n x dv = mul(beta, v)
  u: n x dv = solve(M, %12)                                       # u = (I - M)^-1 beta v
  %14: 1 x n = decay(g; reads end, writes 0)
  %15: n x 1 = transpose(%14)
  %16: n x dv = mul(u, %15)
  %17: dv x n = transpose(%16)
  %18: dv x dk = matmul(%17, k)
  %19: dv x dk = add(S, %18)
  -> u = u
  -> S = %19
)");
    CHECK(print(Extent::tokens(0), dims) == "0n");
    Builder b(dims);
    Span s;
    s.micro_steps = 2;
    s.decaying = {1};
    s.masked = false;
    s.reads = {EventRows::Kind::tokens, {0, 2}, {1, 0}};
    s.writes = {EventRows::Kind::decays, {}, {1}};
    std::vector<NodeId> A;
    for (auto const* name : {"a", "b", "c", "d"}) A.push_back(b.input(name, {n, single}));
    b.body.results = {{"D", b.decay(A, s, 2)}};
    CHECK_THAT(print(b.body, dims),
               Catch::Contains("= decay(a, b, c, d; reads 0:1 2:0, writes decays:1 of 2, decays at 1, all pairs)"));
}

TEST_CASE("equality of programs leaves names aside") {
    Program forward;
    forward.phases = {{Phase::Kind::scan_forward, "outputs and states", delta(), {"S"}}};
    auto other = forward;
    other.phases[0].body.nodes[5].hint = "D";
    other.phases[0].body.nodes[5].note.clear();
    CHECK(forward == other);
    other.phases[0].body.nodes[5].span.masked = false;
    CHECK_FALSE(forward == other);
    other = forward;
    other.split = true;
    CHECK_FALSE(forward == other);
    other = forward;
    other.phases[0].carries.clear();
    CHECK_FALSE(forward == other);
}

TEST_CASE("a backward keeps the inputs that nothing uses, and owes them zero") {
    Builder b(dims);
    auto const k = b.input("k", {Extent::tokens(1), Extent::dim(0)});
    b.input("unused", {Extent::tokens(1), Extent::dim(1)});
    b.body.results.push_back({"o", b.scale(2, k)});
    auto const both = differentiate(b.body, dims);
    auto const there = [&](std::string const& name) {
        return std::any_of(both.nodes.begin(), both.nodes.end(),
                           [&](Node const& node) { return node.op == Op::input && node.name == name; });
    };
    CHECK(there("k"));
    CHECK(there("unused"));
    REQUIRE(both.results.size() == 3); // o, d_k, d_unused
    auto const& zero = both.nodes[both.results[2].second];
    CHECK((zero.op == Op::constant && zero.number == 0 && zero.shape == b.shape(1)));
}

TEST_CASE("a backward starts with its forward and names cotangents after values") {
    auto const forward = delta();
    auto const both = differentiate(forward, dims);
    REQUIRE(both.nodes.size() > forward.nodes.size());
    for (std::size_t i = 0; i < forward.nodes.size(); ++i) {
        if (forward.nodes[i].op == Op::constant) break; // the dead ones are gone from here on
        CHECK(both.nodes[i] == forward.nodes[i]);
    }
    std::set<std::string> hints;
    for (auto const& node : both.nodes) hints.insert(node.hint);
    for (auto const* hint : {"d_u", "d_M", "d_decay"}) CHECK(hints.count(hint) == 1);
}
