// The normal form on random rules: the same maths written differently prints the same bytes; with one input negated the
// map of a token stays the same exactly when direct evaluation over the field does.
#include "codegen/check/data.hpp"
#include "codegen/rule/recurrence.hpp"
#include "tests/support/random_rules.hpp"

#include <catch2/catch.hpp>

using namespace deltaloom::codegen;
using deltaloom::test::random_declarations;

namespace {

struct Rows { // of an expression, by names of dimensions; "" is 1
    std::string rows, cols;
    bool number = false, log = false;
    bool scalar() const { return rows.empty() && cols.empty(); }
};

Rows rows_of(Declaration const& d, Tree const& t) {
    if (t.kind == TreeKind::number) return {"", "", true, false};
    if (t.kind == TreeKind::operand) {
        auto const& o = d.operands[t.operand];
        return {o.dims.empty() ? "" : o.dims[0], o.dims.size() < 2 ? "" : o.dims[1], false, o.domain == Domain::log};
    }
    Rows a = rows_of(d, t.arguments[0]);
    Rows const b = t.arguments.size() > 1 ? rows_of(d, t.arguments[1]) : Rows{};
    if (t.kind == TreeKind::binary) {
        if (t.head == "*" && !a.scalar() && !b.scalar()) return {a.rows, b.cols, false, false};
        return a.number || (t.head == "*" && a.scalar()) ? Rows{b.rows, b.cols, false, b.log} : a;
    }
    if (t.kind == TreeKind::unary) return a;
    if (t.head == "T") return {a.cols, a.rows, false, a.log};
    if (t.head == "diag") return {a.rows, a.rows, false, false};
    if (t.head == "dot" || t.head == "norm" || t.head == "sum") return {};
    if (t.head == "max" || t.head == "min") return a.number ? b : a;
    return {a.rows, a.cols, false, t.head == "exp" ? false : a.log};
}

Tree node(TreeKind kind, std::string head, std::vector<Tree> arguments) {
    Tree t;
    t.kind = kind;
    t.head = std::move(head);
    t.arguments = std::move(arguments);
    return t;
}
Tree binary(std::string head, Tree a, Tree b) {
    return node(TreeKind::binary, std::move(head), {std::move(a), std::move(b)});
}
Tree T(Tree a) { return node(TreeKind::call, "T", {std::move(a)}); }
Tree minus(Tree a) { return node(TreeKind::unary, "-", {std::move(a)}); }
Tree number(double x) {
    Tree t;
    t.number = x;
    t.integer = x == static_cast<int>(x);
    return t;
}
bool is_sum(Tree const& t) {
    return t.kind == TreeKind::binary && (t.head == "+" || t.head == "-") && t.arguments[0].kind != TreeKind::number &&
           t.arguments[1].kind != TreeKind::number;
}

// The same product, written differently.
Tree rewritten_product(Declaration const& d, Tree const& t, Draw& draw) {
    Tree const &a = t.arguments[0], &b = t.arguments[1];
    if (is_sum(b) && draw.chance(0.7))
        return binary(b.head, binary("*", a, b.arguments[0]), binary("*", a, b.arguments[1]));
    if (is_sum(a) && draw.chance(0.7))
        return binary(a.head, binary("*", a.arguments[0], b), binary("*", a.arguments[1], b));
    Rows const left = rows_of(d, a), right = rows_of(d, b);
    if (left.scalar() || right.scalar()) return binary("*", b, a);
    return T(binary("*", T(b), T(a)));
}

Tree rewritten(Declaration const& d, Tree t, Draw& draw) {
    if (t.kind == TreeKind::operand || t.kind == TreeKind::number || t.head == "previous") return t;
    if (rows_of(d, t).log) return t.head == "+" && draw.chance(0.5) ? binary("+", t.arguments[1], t.arguments[0]) : t;
    for (auto& a : t.arguments) a = rewritten(d, a, draw);
    if (draw.chance(0.3)) return t;
    if (draw.chance(0.15)) return binary("-", binary("*", number(3), t), binary("*", t, number(2)));
    if (draw.chance(0.15)) return T(T(t));
    if (draw.chance(0.1)) return binary("*", number(2), binary("/", t, number(2)));
    if (t.kind == TreeKind::call && t.head == "dot")
        return draw.chance(0.5) ? binary("*", T(t.arguments[0]), t.arguments[1])
                                : node(TreeKind::call, "sum", {binary("%", t.arguments[1], t.arguments[0])});
    if (t.kind != TreeKind::binary) return t;
    if (t.head == "+" || t.head == "%") return binary(t.head, t.arguments[1], t.arguments[0]);
    if (t.head == "-") return minus(binary("-", t.arguments[1], t.arguments[0]));
    if (t.head == "/") return binary("*", t.arguments[0], binary("/", number(1), t.arguments[1]));
    return rewritten_product(d, t, draw);
}

// One use of an input, negated.
bool negate_one(Declaration const& d, Tree& t, Draw& draw) {
    if (t.kind == TreeKind::operand) {
        bool const input = d.operands[t.operand].role == Role::input;
        if (!input || !draw.chance(0.3)) return false;
        t = minus(t);
        return true;
    }
    if (t.head == "previous") return false;
    for (auto& a : t.arguments)
        if (negate_one(d, a, draw)) return true;
    return false;
}

template<class F> void each_statement(Declaration& d, F f) {
    for (auto& s : d.statements) {
        if (s.kind != TreeKind::repeat) f(s.arguments[1]);
        if (s.kind == TreeKind::repeat)
            for (auto& inner : s.arguments) f(inner.arguments[1]);
    }
}

TypedRule typed(Declaration const& d) {
    auto result = check(d);
    if (auto* all = std::get_if<1>(&result)) FAIL(d.name << ": " << (*all)[0].text);
    return std::get<0>(std::move(result));
}

std::string canonical(TypedRule const& rule) {
    auto const result = normalise(rule);
    if (auto const* r = std::get_if<0>(&result)) return print(rule, *r);
    return "none";
}

using K = deltaloom::runtime::field;

// The outputs and the state of a random sequence, and whether they are the same.
bool same_values(Declaration const& a, Declaration const& b, Draw& draw) {
    int extent = 2;
    auto const dims = filled_dims(dimensions(a), [&](std::string const&) { return extent++; });
    auto const data = draw_field(a, dims, 2, 0, draw);
    auto const x = run(a, data), y = run(b, data);
    return x.outputs == y.outputs && x.states == y.states;
}

} // namespace

TEST_CASE("rules written differently print the same bytes") {
    std::uint64_t const seed = 31;
    int recurrences = 0;
    auto const rules = random_declarations(seed, 300, false);
    for (std::size_t i = 0; i < rules.size(); ++i) {
        Draw draw(seed, i);
        Declaration again = rules[i];
        each_statement(again, [&](Tree& value) { value = rewritten(again, value, draw); });
        INFO("seed " << seed << " rule " << i << "\n" << equation(rules[i]) << "\n" << equation(again));
        REQUIRE(same_values(rules[i], again, draw));
        auto const a = typed(rules[i]), b = typed(again);
        auto const text = canonical(a);
        CHECK(text == canonical(b));
        CHECK(token_map(a) == token_map(b));
        recurrences += text != "none";
    }
    CHECK(recurrences > 200);
}

TEST_CASE("one sign apart") {
    std::uint64_t const seed = 32;
    int apart = 0;
    auto const rules = random_declarations(seed, 300, true);
    for (std::size_t i = 0; i < rules.size(); ++i) {
        Draw draw(seed, i);
        Declaration odd = rules[i];
        bool hit = false;
        each_statement(odd, [&](Tree& value) { hit = hit || negate_one(odd, value, draw); });
        INFO("seed " << seed << " rule " << i << "\n" << equation(rules[i]) << "\n" << equation(odd));
        bool const same = same_values(rules[i], odd, draw); // a sign may cancel, as in k k^T
        auto const a = typed(rules[i]), b = typed(odd);
        REQUIRE(token_map(a).has_value());
        CHECK((token_map(a) == token_map(b)) == same);
        if (!same) CHECK(canonical(a) != canonical(b));
        apart += !same;
    }
    CHECK(apart > 150);
}
