// Declarations, as trees that the fuzzer's bytes choose, through check, normalise, lower and differentiate: a rule is
// refused with a reason, or every form and direction that is derived equals it over the field. The order of a sum or of
// an entrywise product does not change the recurrence.
#include "codegen/check/program_level.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

using namespace deltaloom::codegen;

namespace {

struct Bytes {
    std::uint8_t const* at;
    std::size_t left;
    int below(int n) {
        if (!left) return 0;
        --left;
        return *at++ % n;
    }
    bool rarely() { return below(64) == 63; }
};

using Extent = std::string; // empty: 1
struct Shape {              // rows x columns
    Extent rows, cols;
    friend bool operator==(Shape const&, Shape const&) = default;
    Shape turned() const { return {cols, rows}; }
    bool scalar() const { return rows.empty() && cols.empty(); }
    bool matrix() const { return !rows.empty() && !cols.empty(); }
};

struct Known {
    char const* name;
    Role role;
    Domain domain;
    std::vector<std::string> dims;
};
// Inside a repeat other inputs and gates are taken, with a step axis.
std::vector<Known> const known{
    {"S", Role::state, Domain::real, {"dv", "dk"}},
    {"M", Role::state, Domain::real, {"dv", "dk"}},
    {"Q", Role::state, Domain::real, {"dk", "dk"}},
    {"z", Role::state, Domain::real, {"dk"}},
    {"zv", Role::state, Domain::real, {"dv"}},
    {"k", Role::input, Domain::real, {"dk"}},
    {"q", Role::input, Domain::real, {"dk"}},
    {"e", Role::input, Domain::real, {"dk"}},
    {"v", Role::input, Domain::real, {"dv"}},
    {"x", Role::input, Domain::real, {"dv"}},
    {"beta", Role::input, Domain::real, {}},
    {"eta", Role::input, Domain::real, {}},
    {"B", Role::input, Domain::real, {"dv", "dk"}},
    {"alpha", Role::gate, Domain::linear, {}},
    {"a", Role::gate, Domain::linear, {"dk"}},
    {"g", Role::gate, Domain::log, {}},
    {"h", Role::gate, Domain::log, {}},
    {"w", Role::gate, Domain::log, {"dk"}},
    {"wv", Role::gate, Domain::log, {"dv"}},
    {"c", Role::parameter, Domain::real, {}},
    {"u", Role::parameter, Domain::real, {"dk"}},
    {"la", Role::parameter, Domain::log, {}},
    {"W", Role::parameter, Domain::real, {"dk", "dk"}},
};
// What is read of a state, and beside it.
std::vector<Known> const results{
    {"oS", Role::output, Domain::real, {"dv"}},  {"oM", Role::output, Domain::real, {"dv"}},
    {"oQ", Role::output, Domain::real, {"dk"}},  {"oz", Role::output, Domain::real, {"dk"}},
    {"ozv", Role::output, Domain::real, {"dv"}}, {"s", Role::output, Domain::real, {}},
    {"y", Role::output, Domain::real, {"dk"}}};
constexpr int state_count = 5;
char const* const maps[] = {"exp", "log", "abs", "neg", "sqrt", "tanh", "sigmoid", "softplus", "relu", "elu1", "silu"};

Shape shape_of(std::vector<std::string> const& dims) {
    return {dims.empty() ? "" : dims[0], dims.size() < 2 ? "" : dims[1]};
}
bool varies(Role r) { return r == Role::input || r == Role::gate; }

struct Maker {
    Bytes in;
    Declaration rule{};
    int steps = 0; // of the repeat at work
    unsigned column = 1;
    bool chosen[state_count] = {}; // the rule's states

    Location here() { return {"rule", 1, column++, 1}; }
    Tree node(TreeKind kind, std::string head, std::vector<Tree> arguments = {}) {
        Tree t;
        t.kind = kind, t.head = std::move(head), t.arguments = std::move(arguments), t.where = here();
        return t;
    }
    Tree call(std::string f, Tree x) { return node(TreeKind::call, std::move(f), {std::move(x)}); }
    Tree binary(char const* op, Tree a, Tree b) { return node(TreeKind::binary, op, {std::move(a), std::move(b)}); }
    Tree number(double value, bool integer) {
        Tree t = node(TreeKind::number, "");
        t.number = value, t.integer = integer;
        return t;
    }
    Tree some_number() {
        int const n = in.below(10);
        return n < 6 ? number(n - 2, true) : number(std::ldexp(n, n - 9), false);
    }
    Tree operand(Known const& o) {
        bool const inside = steps && varies(o.role);
        std::string const called = std::string(o.name) + (inside ? "_r" + std::to_string(steps) : "");
        auto& all = rule.operands;
        auto found = std::find_if(all.begin(), all.end(), [&](auto const& d) { return d.name == called; });
        if (found == all.end())
            found = all.insert(all.end(), {called, "::fuzz::" + called, o.role, o.domain, o.dims, here()});
        Tree t = node(TreeKind::operand, called);
        t.operand = int(found - all.begin());
        return t;
    }
    template<class Wanted> std::optional<Tree> one_of(Wanted wanted) {
        std::vector<Known const*> fit;
        for (std::size_t i = 0; i < known.size(); ++i)
            if ((i >= state_count || chosen[i]) && wanted(known[i])) fit.push_back(&known[i]);
        if (fit.empty()) return std::nullopt;
        return operand(*fit[std::size_t(in.below(int(fit.size())))]);
    }
    Extent some_extent() { return std::array<char const*, 3>{"dk", "dv", ""}[std::size_t(in.below(3))]; }
    Shape some_shape() {
        Extent const rows = some_extent();
        return {rows, some_extent()};
    }

    Tree log_gate(Shape f, int depth) {
        auto const gate = [&](auto const& o) { return o.domain == Domain::log && shape_of(o.dims) == f; };
        auto leaf = one_of(gate);
        if (!leaf) return number(1, true); // there is none of that shape: refused
        if (depth <= 0) return *leaf;
        switch (in.below(6)) {
        case 0: return binary("*", number(1 + in.below(3), true), *leaf);
        case 1: return binary("+", *leaf, log_gate(f, depth - 1));
        default: return *leaf;
        }
    }
    Tree leaf(Shape f) {
        bool const turn = f.rows.empty() && !f.cols.empty();
        Shape const lies = turn ? f.turned() : f;
        auto found = one_of([&](auto const& o) { return o.domain != Domain::log && shape_of(o.dims) == lies; });
        if (!found && f.matrix()) { // dk x dv, or dv x dv: an outer product
            Tree column = leaf({f.rows, ""});
            return binary("*", std::move(column), leaf({"", f.cols}));
        }
        return turn ? call("T", *found) : *found;
    }
    Tree product(Shape f, int depth) {
        Extent const inner = some_extent();
        Tree left = made({f.rows, inner}, depth - 1);
        return binary("*", std::move(left), made({inner, f.cols}, depth - 1));
    }
    Tree features(Tree x) {
        int const nu = in.below(4); // 0: of the others
        if (nu == 0 && in.below(2)) return node(TreeKind::call, "random_features", {std::move(x), leaf({"dk", "dk"})});
        Tree t = call(nu ? "dpfp" : "taylor2", std::move(x));
        t.count = nu;
        return t;
    }
    Tree factor(int depth) { return in.below(3) ? made({}, depth - 1) : some_number(); }
    Tree made(Shape f, int depth) {
        if (in.rarely()) f = some_shape();
        if (depth <= 0 || !in.left) return leaf(f);
        switch (in.below(f.matrix() ? 12 : 18)) {
        case 0:
        case 1: return leaf(f);
        case 2:
        case 3: {
            Tree a = made(f, depth - 1);
            return binary(in.below(2) ? "+" : "-", std::move(a), made(f, depth - 1));
        }
        case 4: return node(TreeKind::unary, "-", {made(f, depth - 1)});
        case 5: {
            Tree s = factor(depth);
            return binary("*", std::move(s), made(f, depth - 1));
        }
        case 6:
        case 7:
        case 8: return product(f, depth);
        case 9: return call("T", made(f.turned(), depth - 1));
        case 10:
            if (f.matrix() && f.rows == f.cols) return call("diag", made({f.rows, ""}, depth - 1));
            if (f.matrix()) { // a decay of the columns, or of the rows
                Tree m = made(f, depth - 1);
                if (in.below(2)) return binary("*", std::move(m), call("diag", made({f.cols, ""}, depth - 1)));
                return binary("*", call("diag", made({f.rows, ""}, depth - 1)), std::move(m));
            }
            return call("exp", log_gate(f, 2));
        case 11: {
            Tree a = made(f, depth - 1);
            if (in.below(3) == 0) return binary("/", std::move(a), factor(depth));
            if (!f.scalar()) return binary("%", std::move(a), made(f, depth - 1));
            return a;
        }
        case 12: return call(maps[in.below(11)], made(f, depth - 1));
        case 13: {
            Tree a = made(f, depth - 1), b = in.below(2) ? number(in.below(3), true) : made(f, depth - 1);
            return node(TreeKind::call, in.below(2) ? "max" : "min", {std::move(a), std::move(b)});
        }
        case 14:
            if (auto const x = one_of(
                    [&](auto const& o) { return varies(o.role) && o.domain != Domain::log && shape_of(o.dims) == f; }))
                return call("previous", *x);
            return leaf(f);
        case 15:
            if (f.scalar() && in.below(12) == 0) return call("sum", features(made({some_extent(), ""}, 1)));
            if (f.scalar()) return call(in.below(2) ? "sum" : "norm", made({some_extent(), ""}, depth - 1));
            if (int const which = in.below(3); which < 2)
                return node(TreeKind::call, which ? "l2norm" : "sum_norm",
                            {made(f, depth - 1), number(which ? 1e-6 : 0.5, false)});
            return call("softmax", made(f, depth - 1));
        case 16:
            if (f.scalar()) {
                Extent const d = in.below(2) ? "dk" : "dv";
                Tree a = made({d, ""}, depth - 1);
                return node(TreeKind::call, "dot", {std::move(a), made({d, ""}, depth - 1)});
            }
            return leaf(f);
        default: { // 1 - x, x + 0.5
            Tree n = some_number();
            return binary(in.below(2) ? "-" : "+", std::move(n), made(f, depth - 1));
        }
        }
    }
    // An update of the class, most of the time: decays, an erase, a write.
    Tree update(Tree const& target, Shape f, int depth) {
        if (in.below(3) == 0) return made(f, depth);
        Tree kept = target;
        switch (in.below(5)) {
        case 0: kept = binary("*", made({}, 1), std::move(kept)); break;
        case 1: kept = binary("*", call("exp", log_gate({}, 2)), std::move(kept)); break;
        case 2:
            if (f.matrix()) kept = binary("*", std::move(kept), call("diag", made({f.cols, ""}, 1)));
            break;
        case 3:
            if (f.matrix())
                kept = binary("*", call("diag", made({f.rows, ""}, 1)), std::move(kept));
            else
                kept = binary("%", made(f, 1), std::move(kept));
            break;
        }
        if (f.matrix() && in.below(3)) {
            bool const left = in.below(4) == 0;
            Shape const key = left ? Shape{f.rows, ""} : Shape{f.cols, ""};
            Tree read = left ? binary("*", call("T", kept), made(key, 1)) : binary("*", kept, made(key, 1));
            Tree coefficient = made({}, 1);
            Tree const written = made(key, 1);
            read = binary("*", std::move(coefficient), std::move(read));
            Tree erase = left ? binary("*", written, call("T", std::move(read)))
                              : binary("*", std::move(read), call("T", written));
            kept = binary("-", std::move(kept), std::move(erase));
        }
        if (in.below(5) == 0) return kept;
        Tree write = made(f.matrix() ? Shape{f.rows, ""} : f, f.matrix() ? depth - 2 : depth - 1);
        if (f.matrix()) write = binary("*", std::move(write), made({"", f.cols}, depth - 2));
        return binary("+", std::move(kept), std::move(write));
    }
    void state_statement(std::vector<Tree>& to, int which, int depth) {
        Known const& o = known[std::size_t(which)];
        Tree target = operand(o);
        Tree value = update(target, shape_of(o.dims), depth);
        to.push_back(node(TreeKind::statement, "<<=", {std::move(target), std::move(value)}));
    }
    // What is read of state `which`; beyond the states, anything.
    void output_statement(int which) {
        Known const& o = results[std::size_t(which)];
        Shape const f = shape_of(o.dims);
        Tree target = operand(o);
        std::optional<Tree> value;
        if (which < state_count) {
            Tree state = operand(known[std::size_t(which)]);
            value = which < 3 ? binary("*", std::move(state), made({"dk", ""}, 2)) : std::move(state);
            if (in.below(4) == 0) value = binary("%", std::move(*value), made(f, 2));
            if (in.below(4) == 0) value = binary("+", std::move(*value), made(f, 3));
            if (in.below(8) == 0) value = binary("/", std::move(*value), made({}, 3));
        } else
            value = made(f, 4);
        rule.statements.push_back(node(TreeKind::statement, "<<=", {std::move(target), std::move(*value)}));
    }
    Declaration make() {
        rule.name = "fuzzed";
        rule.where = rule.label = here();
        std::vector<int> states{in.below(state_count)};
        if (in.below(3) == 0) states.push_back((states[0] + 1 + in.below(state_count - 1)) % state_count);
        for (int s : states) chosen[s] = true;
        if (in.below(8) == 0) output_statement(state_count + in.below(2));
        std::vector<int> updates = states;
        if (in.below(2)) updates.push_back(states[0]);
        for (int which : updates) {
            if (in.below(5) == 0) {
                steps = 2 + in.below(2);
                Tree repeat = node(TreeKind::repeat, "repeat");
                repeat.count = steps;
                state_statement(repeat.arguments, which, 3);
                if (in.below(3) == 0) state_statement(repeat.arguments, states[0], 2);
                steps = 0;
                rule.statements.push_back(std::move(repeat));
            } else
                state_statement(rule.statements, which, 4);
        }
        for (int s : states) output_statement(s);
        return std::move(rule);
    }
};

// Arguments of sums and of entrywise products the other way round, where `in` says so.
void shuffle(Tree& t, Bytes& in) {
    for (auto& a : t.arguments) shuffle(a, in);
    bool const commutes = t.kind == TreeKind::binary && (t.head == "+" || t.head == "%");
    if (commutes && in.below(2)) std::swap(t.arguments[0], t.arguments[1]);
}

[[noreturn]] void found(Declaration const& rule, std::string const& what) {
    std::fprintf(stderr, "%s\n%s\n%s\n", what.c_str(), equation(rule).c_str(), print(rule).c_str());
    std::abort();
}

void reasons(Declaration const& rule, std::vector<Diagnostic> const& all) {
    if (all.empty()) found(rule, "refused without a reason");
    for (auto const& d : all)
        if (d.text.empty() || !d.where.line) found(rule, "a reason without words or without a place");
}

// 0: of interest to the corpus.
int judge(Declaration const& rule, Bytes rest) {
    auto checked = check(rule);
    if (auto const* faults = std::get_if<std::vector<Diagnostic>>(&checked)) {
        reasons(rule, *faults);
        return -1;
    }
    Derived const derived = derive(std::get<TypedRule>(std::move(checked)));
    if (!derived.recurrence && (!derived.missing || derived.missing->text.empty() || !derived.missing->where.line))
        found(rule, "no recurrence, and no reason");
    for (auto const& r : check_program(rule, derived, {.seed = 1 + std::uint64_t(rest.below(256)), .trials = 1})) {
        if (!r.pass)
            found(rule, std::string(name(r.form)) + " " + name(r.direction) + " " + r.name +
                            " T=" + std::to_string(r.tokens) + " chunk " + std::to_string(r.chunk) + " " + r.index +
                            ": " + r.got + ", not " + r.want);
        if (*r.bound_log2 > -40) found(rule, "the bound is 2^" + std::to_string(*r.bound_log2));
    }
    Declaration other = rule;
    for (auto& s : other.statements) shuffle(s, rest);
    auto again = check(other);
    if (!std::holds_alternative<TypedRule>(again)) found(other, "refused in another order only");
    auto const typed = std::get<TypedRule>(std::move(again));
    auto const twin = normalise(typed);
    auto const* recurrence = std::get_if<Recurrence>(&twin);
    if ((recurrence != nullptr) != derived.recurrence.has_value()) found(other, "a recurrence in one order only");
    if (recurrence && print(typed, *recurrence) != print(derived.rule, *derived.recurrence))
        found(other, "another recurrence in another order:\n" + print(derived.rule, *derived.recurrence) + "\n" +
                         print(typed, *recurrence));
    return 0;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    Maker maker{{data, size}};
    Declaration const rule = maker.make();
    try {
        return judge(rule, maker.in);
    } catch (std::exception const& e) {
        found(rule, std::string("an exception: ") + e.what());
    }
}
