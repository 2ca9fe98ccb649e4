// Every row of the adjoint table alone, exactly, over the field. Along a random line the value is a polynomial of a
// degree that the degree table knows, so its derivative at 0 follows from values alone; rows with a map, and all others
// again, against dual numbers. The two references share nothing with reverse mode.
#include "codegen/program/interpret.hpp"
#include "codegen/program/program.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <functional>
#include <random>

using namespace deltaloom::codegen;
using deltaloom::runtime::field;
using dual = deltaloom::runtime::dual<field>;

namespace {

std::vector<std::string> const dims{"dk", "dv"};
auto const dk = Extent::dim(0), dv = Extent::dim(1), n = Extent::tokens(1), single = Extent::of(1);
Sizes const sizes{{3, 2}, 4, 3};

unsigned long seed() {
    auto const* given = std::getenv("DELTALOOM_SEED"); // DELTALOOM_SEED=... replays
    static unsigned long const chosen = given ? std::strtoul(given, nullptr, 10) : std::random_device{}();
    return chosen;
}

EventRows at(std::vector<int> position, std::vector<int> state = {}) {
    return {EventRows::Kind::tokens, std::move(position), std::move(state)};
}
EventRows row(EventRows::Kind kind, int state = 0) { return {kind, {}, {state}}; }
EventRows const start = row(EventRows::Kind::start), end = row(EventRows::Kind::end);

// Three micro-steps of which two decay; two reads and three writes a token.
Span mixed() {
    Span s;
    s.micro_steps = 3;
    s.decaying = {0, 2};
    s.reads = at({1, 3});
    s.writes = at({0, 1, 2});
    return s;
}
Span with(Span s, EventRows reads, EventRows writes, bool masked = true) {
    s.reads = std::move(reads);
    s.writes = std::move(writes);
    s.masked = masked;
    return s;
}

struct Case {
    std::string name;
    std::function<NodeId(Builder&)> make;
    bool polynomial = true;
};

NodeId rows(Builder& b, std::string name, Extent r, Extent c) { return b.input(std::move(name), {r, c}); }
NodeId log_rows(Builder& b, std::string name, Extent r, Extent c) { return b.input(std::move(name), {r, c}, true); }
Extent per(int k) { return Extent::tokens(k); }

std::vector<Case> plain_rows() {
    using B = Builder;
    return {
        {"add", [](B& b) { return b.add(rows(b, "a", n, dk), rows(b, "b", n, dk)); }},
        {"add, a row repeated", [](B& b) { return b.add(rows(b, "a", single, dk), rows(b, "b", n, dk)); }},
        {"add, a column and a row", [](B& b) { return b.add(rows(b, "a", n, single), rows(b, "b", single, dk)); }},
        {"add, twice the same",
         [](B& b) {
             auto a = rows(b, "a", n, dk);
             return b.add(a, a);
         }},
        {"mul", [](B& b) { return b.mul(rows(b, "a", n, dk), rows(b, "b", n, dk)); }},
        {"mul, a column repeated", [](B& b) { return b.mul(rows(b, "a", n, dk), rows(b, "b", n, single)); }},
        {"mul, a number repeated", [](B& b) { return b.mul(rows(b, "a", n, dk), rows(b, "b", single, single)); }},
        {"mul, outer", [](B& b) { return b.mul(rows(b, "a", n, single), rows(b, "b", single, dk)); }},
        {"mul, outer turned", [](B& b) { return b.mul(rows(b, "a", single, dv), rows(b, "b", dk, single)); }},
        {"mul, a square",
         [](B& b) {
             auto a = rows(b, "a", n, dk);
             return b.mul(a, a);
         }},
        {"scale", [](B& b) { return b.scale(Rational(-3) / 7, rows(b, "a", n, dk)); }},
        {"sum over rows", [](B& b) { return b.sum(rows(b, "a", n, dk), 0); }},
        {"sum over columns", [](B& b) { return b.sum(rows(b, "a", n, dk), 1); }},
        {"transpose", [](B& b) { return b.transpose(rows(b, "a", n, dk)); }},
        {"matmul", [](B& b) { return b.matmul(rows(b, "a", n, dk), rows(b, "b", dk, dv)); }},
        {"matmul, inner one", [](B& b) { return b.matmul(rows(b, "a", dv, single), rows(b, "b", single, dk)); }},
        {"hold", [](B& b) { return b.hold(rows(b, "a", per(2), dk), 2, 1); }},
        {"interleave",
         [](B& b) { return b.interleave({rows(b, "a", n, dk), rows(b, "b", n, dk), rows(b, "c", n, dk)}); }},
        {"interleave, one part twice",
         [](B& b) {
             auto a = rows(b, "a", n, dk);
             return b.interleave({a, rows(b, "b", n, dk), a});
         }},
        {"interleave, two rows a token",
         [](B& b) { return b.interleave({rows(b, "a", per(2), dk), rows(b, "b", per(2), dk)}); }},
        {"pick", [](B& b) { return b.pick(rows(b, "a", per(3), dk), 1, 3); }},
        {"solve", [](B& b) { return b.solve(rows(b, "M", per(2), per(2)), rows(b, "B", per(2), dv)); }},
        {"solve, transposed",
         [](B& b) { return b.solve(rows(b, "M", per(2), per(2)), rows(b, "B", per(2), dv), true); }},
        {"solve, a system of gram and mask",
         [](B& b) {
             auto s = with(mixed(), at({0, 0, 1}), at({0, 0, 1}));
             auto const R = rows(b, "R", per(3), dk), X = rows(b, "X", per(3), dk);
             auto const M =
                 b.add(b.gram(R, X, rows(b, "A", per(2), single), s), b.mul(b.mask(s), rows(b, "M", per(3), per(3))));
             return b.solve(b.mul(rows(b, "c", per(3), single), M), rows(b, "B", per(3), dv));
         }},
        {"solve, a gram that is not lower",
         [](B& b) {
             auto const R = rows(b, "R", per(2), dk), X = rows(b, "X", per(2), dk);
             auto const M = b.gram(R, X, rows(b, "A", per(2), single), with(mixed(), at({1, 2}), at({0, 1})));
             return b.solve(M, rows(b, "B", per(2), dv));
         }},
        {"solve, a gram of all pairs",
         [](B& b) {
             auto const R = rows(b, "R", per(2), dk), X = rows(b, "X", per(2), dk);
             auto const all = with(mixed(), at({0, 1}), at({0, 1}), false);
             return b.solve(b.gram(R, X, rows(b, "A", per(2), single), all), rows(b, "B", per(2), dv));
         }},
        {"solve, a product that is not lower",
         [](B& b) {
             return b.solve(b.mul(rows(b, "M", per(2), per(2)), rows(b, "N", per(2), per(2))),
                            rows(b, "B", per(2), dv));
         }},
        {"solve, a sum that is only partly lower",
         [](B& b) {
             auto const s = with(mixed(), at({0, 1}), at({0, 1}));
             return b.solve(b.add(b.mask(s), rows(b, "M", per(2), per(2))), rows(b, "B", per(2), dv));
         }},
        {"unlog", [](B& b) { return b.unlog(log_rows(b, "g", n, dk)); }},
        {"addlog", [](B& b) { return b.unlog(b.addlog(log_rows(b, "g", n, dk), log_rows(b, "h", n, single))); }},
        {"addlog, twice the same",
         [](B& b) {
             auto g = log_rows(b, "g", n, dk);
             return b.unlog(b.addlog(g, g));
         }},
        {"hold of a log", [](B& b) { return b.unlog(b.hold(log_rows(b, "g", n, dk), 1, 1)); }},
        {"interleave of logs",
         [](B& b) { return b.unlog(b.interleave({log_rows(b, "g", n, dk), log_rows(b, "h", n, dk)})); }},
        {"pick and transpose of a log",
         [](B& b) { return b.unlog(b.transpose(b.pick(log_rows(b, "g", per(2), dk), 1, 2))); }},
        {"a result that is an input", [](B& b) { return rows(b, "a", n, dk); }},
        {"a log result", [](B& b) { return b.addlog(log_rows(b, "g", n, dk), log_rows(b, "h", n, dk)); }, false},
    };
}

// Every operation between events over one kind of gate: linear or log, a column for each channel or one for all.
std::vector<Case> event_rows(bool log, bool channels) {
    auto const A = [=](Builder& b, Extent d) { return b.input("A", {per(2), channels ? d : single}, log); };
    auto const W = [](Builder& b) { return rows(b, "W", per(2), per(3)); };
    auto const R = [](Builder& b) { return rows(b, "R", per(2), dk); };
    auto const X = [](Builder& b) { return rows(b, "X", per(3), dk); };
    auto const own = with(mixed(), at({0, 1}), at({0, 1}));
    auto const system = [=](Extent c, bool transposed) {
        return [=](Builder& b) {
            return b.csolve(rows(b, "G", per(2), per(2)), rows(b, "c", per(2), c), rows(b, "B", per(2), dv), A(b, dv),
                            own, transposed);
        };
    };
    using B = Builder;
    std::vector<Case> cases{
        {"gram", [=](B& b) { return b.gram(R(b), X(b), A(b, dk), mixed()); }},
        {"gram, no mask",
         [=](B& b) { return b.gram(R(b), X(b), A(b, dk), with(mixed(), at({1, 3}), at({0, 1, 2}), false)); }},
        {"apply", [=](B& b) { return b.apply(W(b), X(b), A(b, dk), mixed()); }},
        {"apply from the start",
         [=](B& b) {
             return b.apply(rows(b, "W", per(2), single), rows(b, "X", single, dk), A(b, dk),
                            with(mixed(), at({1, 3}), start));
         }},
        {"apply of ones",
         [=](B& b) {
             return b.apply(b.constant(1, {per(2), single}), b.constant(1, {single, dk}), A(b, dk),
                            with(mixed(), at({1, 3}), start));
         }},
        {"applyt", [=](B& b) { return b.applyt(W(b), R(b), A(b, dk), mixed()); }},
        {"applyt to the end",
         [=](B& b) {
             return b.applyt(rows(b, "W", single, per(3)), rows(b, "R", single, dk), A(b, dk),
                             with(mixed(), end, at({0, 1, 2})));
         }},
        {"csolve", system(dv, false)},
        {"csolve, transposed", system(dv, true)},
        {"csolve, one weight a row", system(single, false)},
        {"csolve, transposed, one weight a row", system(single, true)},
    };
    if (!channels) {
        auto const decay = [=](Span const& s) { return [=](B& b) { return b.decay({A(b, single)}, s, 1); }; };
        cases.push_back({"decay", decay(mixed())});
        cases.push_back({"decay, no mask", decay(with(mixed(), at({0, 3}), at({0, 1, 2}), false))});
        cases.push_back({"decay from the start", decay(with(mixed(), at({0, 2}), start))});
        cases.push_back({"decay to the end", decay(with(mixed(), end, at({0, 1, 2})))});
        cases.push_back({"decay from start to end", decay(with(mixed(), end, start))});
        cases.push_back({"decay up to the decay rows", decay(with(mixed(), row(EventRows::Kind::decays), at({1})))});
        cases.push_back({"decay from the decay rows", decay(with(mixed(), at({1, 3}), row(EventRows::Kind::decays)))});
    }
    for (auto& c : cases) c.name += std::string(log ? ", log" : "") + (channels ? ", channels" : "");
    return cases;
}

std::vector<Case> coupled_rows() {
    auto const coupled = [](Span const& s) {
        return [=](Builder& b) {
            std::vector<NodeId> A;
            for (auto const* name : {"A11", "A12", "A21", "A22"}) A.push_back(rows(b, name, per(2), single));
            return b.decay(A, s, 2);
        };
    };
    return {
        {"coupled decay", coupled(with(mixed(), at({1, 3}, {0, 1}), at({0, 1, 2}, {1, 0, 1})))},
        {"coupled decay from the start", coupled(with(mixed(), at({1, 3}, {1, 0}), row(EventRows::Kind::start, 1)))},
        {"coupled decay to the end", coupled(with(mixed(), row(EventRows::Kind::end, 1), at({0, 2}, {0, 1})))},
        {"coupled decay from the decay rows",
         coupled(with(mixed(), at({1, 3}, {1, 0}), row(EventRows::Kind::decays, 1)))},
    };
}

std::vector<Case> map_rows() {
    std::vector<Case> cases;
    for (int f = 0; f < deltaloom::runtime::function_count; ++f) {
        std::string const name(text(deltaloom::runtime::function(f)));
        cases.push_back({name, [=](Builder& b) { return b.map(name, rows(b, "a", n, dk)); }, false});
    }
    for (std::string const name : {"l2norm", "sum_norm", "softmax"})
        for (int axis : {0, 1})
            cases.push_back(
                {name + (axis ? " of rows" : " of columns"),
                 [=](Builder& b) { return b.vector_map(name, rows(b, "a", n, dk), axis, Rational(1) / 1024); }, false});
    cases.push_back({"max", [](Builder& b) { return b.maximum(rows(b, "a", n, dk), rows(b, "b", n, dk)); }, false});
    cases.push_back({"max, a row repeated",
                     [](Builder& b) { return b.maximum(rows(b, "a", single, dk), rows(b, "b", n, dk)); }, false});
    cases.push_back({"aslog",
                     [](Builder& b) {
                         auto const g = b.aslog(rows(b, "a", n, single));
                         return b.unlog(b.addlog(g, log_rows(b, "h", n, dk)));
                     },
                     false});
    return cases;
}

std::vector<Case> all_rows() {
    auto cases = plain_rows();
    for (auto const& more : {event_rows(false, false), event_rows(false, true), event_rows(true, false),
                             event_rows(true, true), coupled_rows(), map_rows()})
        cases.insert(cases.end(), more.begin(), more.end());
    return cases;
}

struct Draw {
    std::mt19937_64 bits;
    field element() { return field::from_element(bits() >> 3); }
    Dense<field> matrix(Extents s, double zeros = 0) {
        Dense<field> m(sizes.of(s.rows), sizes.of(s.cols));
        for (auto& x : m.e) x = std::uniform_real_distribution<>()(bits) < zeros ? field(0.0) : element();
        return m;
    }
};

Dense<field> combine(Dense<field> a, field h, Dense<field> const& d) {
    for (std::size_t i = 0; i < a.e.size(); ++i) a.e[i] += h * d.e[i];
    return a;
}
Dense<field> entrywise(Dense<field> a, Dense<field> const& b) {
    for (std::size_t i = 0; i < a.e.size(); ++i) a.e[i] *= b.e[i];
    return a;
}
field inner(Dense<field> const& a, Dense<field> const& b) {
    field s(0.0);
    for (auto x : entrywise(a, b).e) s += x;
    return s;
}

// d/dh at 0 of the polynomial through (0, values[0]), (1, values[1]), ...
field derivative_at_zero(std::vector<field> const& values) {
    field total(0.0);
    auto const count = int(values.size());
    for (int k = 1; k < count; ++k) {
        field top(1.0), bottom(1.0);
        for (int j = 0; j < count; ++j) {
            if (j != 0 && j != k) top *= field(-double(j));
            if (j != k) bottom *= field(double(k - j));
        }
        total += top / bottom * (values[k] - values[0]);
    }
    return total;
}

struct Drawn {
    Body body, both;          // the row alone, and with its backward
    Environment<field> point; // every input, and d_y
    std::vector<Node> inputs; // of the row
};
Drawn drawn(Case const& c, Draw& draw, double zeros) {
    Drawn d;
    Builder b(dims);
    auto const out = c.make(b);
    b.body.results = {{"y", out}};
    d.body = b.body;
    d.both = differentiate(d.body, dims);
    for (auto const& node : d.body.nodes)
        if (node.op == Op::input) {
            d.inputs.push_back(node);
            d.point[node.name] = draw.matrix(node.shape, zeros);
        }
    d.point["d_y"] = draw.matrix(b.shape(out));
    return d;
}

} // namespace

TEST_CASE("each adjoint row alone, by interpolation along random lines") {
    INFO("DELTALOOM_SEED=" << seed());
    Draw draw{std::mt19937_64(seed())};
    for (auto const& c : all_rows())
        for (double zeros : {0.0, 0.4}) {
            if (!c.polynomial) continue;
            auto const d = drawn(c, draw, zeros);
            auto const gradients = interpret(d.both, d.point, sizes);
            for (auto const& input : d.inputs) {
                INFO(c.name << ", input " << input.name << ", zeros " << zeros);
                auto const step = draw.matrix(input.shape);
                // A step of the logarithm moves the element by E dg.
                auto const move = input.log ? entrywise(step, d.point.at(input.name)) : step;
                std::map<std::string, long> given;
                for (auto const& other : d.inputs) given[other.name] = other.name == input.name;
                auto const degree = degrees(d.body, given, sizes).at("y");
                std::vector<field> line;
                for (long h = 0; h <= degree; ++h) {
                    auto moved = d.point;
                    moved[input.name] = combine(moved[input.name], field(double(h)), move);
                    line.push_back(inner(interpret(d.body, moved, sizes).at("y"), d.point.at("d_y")));
                }
                CHECK(inner(gradients.at("d_" + input.name), step).element == derivative_at_zero(line).element);
            }
        }
}

TEST_CASE("each adjoint row alone, against dual numbers") {
    INFO("DELTALOOM_SEED=" << seed());
    Draw draw{std::mt19937_64(seed())};
    for (auto const& c : all_rows())
        for (double zeros : {0.0, 0.4}) {
            if (c.name == "inv" && zeros > 0) continue;
            auto const d = drawn(c, draw, zeros);
            auto const gradients = interpret(d.both, d.point, sizes);
            for (auto const& input : d.inputs) {
                INFO(c.name << ", input " << input.name << ", zeros " << zeros);
                auto const step = draw.matrix(input.shape);
                Environment<dual> moved;
                for (auto const& [name, at] : d.point) {
                    moved[name] = Dense<dual>(at.rows, at.cols);
                    for (std::size_t i = 0; i < at.e.size(); ++i)
                        moved[name].e[i] = {at.e[i], name == input.name ? step.e[i] : field(0.0)};
                }
                auto const y = interpret(d.body, moved, sizes).at("y");
                field want(0.0);
                for (std::size_t i = 0; i < y.e.size(); ++i) want += y.e[i].tangent * d.point.at("d_y").e[i];
                CHECK(inner(gradients.at("d_" + input.name), step).element == want.element);
            }
        }
}

TEST_CASE("a backward keeps the results, and owes zero to what reaches none") {
    Builder b(dims);
    auto const a = rows(b, "a", n, dk);
    rows(b, "unused", n, dv);
    b.body.results = {{"o", b.mul(a, a)}, {"p", a}};
    auto const both = differentiate(b.body, dims);
    std::vector<std::string> names;
    for (auto const& [name, i] : both.results) names.push_back(name);
    CHECK(names == std::vector<std::string>{"o", "p", "d_a", "d_unused"});
    Environment<field> at{
        {"a", {4, 3, field(5.0)}}, {"unused", {4, 2}}, {"d_o", {4, 3, field(1.0)}}, {"d_p", {4, 3, field(7.0)}}};
    auto const got = interpret(both, at, sizes);
    CHECK(got.at("d_a") == Dense<field>(4, 3, field(17.0)));
    CHECK(got.at("d_unused") == Dense<field>(4, 2));
    auto const less = pruned(both, {"d_a"});
    CHECK(less.results.size() == 1);
    for (auto const& node : less.nodes) CHECK(node.name != "unused");
}

TEST_CASE("what occurs in backwards only has no second derivative") {
    Builder b(dims);
    b.body.results = {{"o", b.map("tanh", rows(b, "a", n, dk))}};
    CHECK_THROWS_WITH(differentiate(differentiate(b.body, dims), dims), Catch::Contains("second derivative: dmap"));
}
