#include "codegen/rule/typing.hpp"

#include "codegen/rule/dimension.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace deltaloom::codegen {
namespace {

constexpr ExprId poison = -1;
constexpr std::array<std::string_view, 11> maps{"exp",     "log",      "abs",  "neg",  "sqrt", "tanh",
                                                "sigmoid", "softplus", "relu", "elu1", "silu"};
constexpr std::array<std::string_view, 3> vector_maps{"l2norm", "sum_norm", "softmax"};

template<class Names> bool among(Names const& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

ExprId refuse(Typing& t, Location where, std::string text) {
    t.out.push_back({Severity::error, std::move(text), std::move(where), {}});
    return poison;
}

ExprId make(Typing& t, Tree const& at, ExprKind kind, Shape shape, std::vector<ExprId> arguments,
            std::string function = "") {
    ExprNode n;
    n.kind = kind;
    n.shape = shape;
    n.log = kind == ExprKind::add_log || kind == ExprKind::multiple_log;
    n.arguments = std::move(arguments);
    n.function = std::move(function);
    n.where = at.where;
    n.head = at.head;
    return add_node(t.rule, std::move(n));
}

ExprId make_number(Typing& t, Tree const& at, Shape shape) {
    ExprNode n;
    n.kind = ExprKind::number;
    n.shape = shape;
    n.number = exact(at.number);
    n.where = at.where;
    return add_node(t.rule, std::move(n));
}

ExprId negate(Typing& t, Tree const& at, ExprId x) { return make(t, at, ExprKind::negate, t.rule.nodes[x].shape, {x}); }

bool is_number(Tree const& tree) { return tree.kind == TreeKind::number; }

// The first log gate under the tree, for a message.
std::string gate_in(Typing const& t, Tree const& tree) {
    if (tree.kind == TreeKind::operand) return t.rule.operands[tree.operand].name;
    for (auto const& a : tree.arguments)
        if (auto name = gate_in(t, a); !name.empty()) return name;
    return "";
}

ExprId refuse_log(Typing& t, Tree const& at, Tree const& log) {
    std::string const g = gate_in(t, log);
    return refuse(t, at.where,
                  "the log gate " + g + " is used outside exp: write exp(" + g +
                      "); inside exp a log gate stands alone, in a sum of log gates, or times a whole number of at "
                      "least 1");
}

bool finite(Typing& t, Tree const& at) {
    if (std::isfinite(at.number)) return true;
    refuse(t, at.where, "a number that is not finite: use a finite constant");
    return false;
}

// a number beside x: a scalar, or the number in every entry of a vector
ExprId number_beside(Typing& t, Tree const& number, ExprId x, bool matrices) {
    Shape const s = t.rule.nodes[x].shape;
    if (!finite(t, number)) return poison;
    if (!s.scalar() && !s.vector() && !matrices)
        return refuse(t, number.where,
                      "a number is added to a " + print(t.rule, s) +
                          " matrix: a number may be added to a scalar or to every element of a vector");
    return make_number(t, number, s);
}

ExprId type_sum(Typing& t, Tree const& at, Tree const& left, Tree const& right) {
    ExprId a = poison, b = poison;
    if (!is_number(left)) a = type(t, left);
    if (!is_number(right)) b = type(t, right);
    if ((!is_number(left) && a == poison) || (!is_number(right) && b == poison)) return poison;
    for (auto [id, tree] : {std::pair{a, &left}, {b, &right}}) {
        ExprId const other = id == a ? b : a;
        bool const both = at.head == "+" && other != poison && t.rule.nodes[other].log;
        if (id != poison && t.rule.nodes[id].log && !both) return refuse_log(t, at, *tree);
    }
    if (a == poison && b == poison) {
        if (!finite(t, left) || !finite(t, right)) return poison;
        a = make_number(t, left, {});
    }
    if (a == poison) a = number_beside(t, left, b, false);
    if (b == poison && a != poison) b = number_beside(t, right, a, false);
    if (a == poison || b == poison) return poison;
    Shape const s = t.rule.nodes[a].shape, u = t.rule.nodes[b].shape;
    if (s != u)
        return refuse(t, at.where,
                      "'" + at.head + "' of " + print(t.rule, s) + " and " + print(t.rule, u) +
                          ": both sides need one shape" +
                          (s.rows == u.cols && s.cols == u.rows ? "; transpose one side with T" : ""));
    if (t.rule.nodes[a].log) return make(t, at, ExprKind::add_log, s, {a, b});
    if (at.head == "-") b = negate(t, at, b);
    return make(t, at, ExprKind::add, s, {a, b});
}

ExprId scaled(Typing& t, Tree const& at, ExprId scalar, ExprId x) {
    return make(t, at, ExprKind::scale, t.rule.nodes[x].shape, {scalar, x});
}

// A * B by shapes
ExprId multiplied(Typing& t, Tree const& at, ExprId a, ExprId b) {
    Shape const s = t.rule.nodes[a].shape, u = t.rule.nodes[b].shape;
    if (s.scalar()) return scaled(t, at, a, b);
    if (u.scalar()) return scaled(t, at, b, a);
    if (s.cols != u.rows)
        return refuse(t, at.where,
                      "'" + at.head + "' of " + print(t.rule, s) + " and " + print(t.rule, u) +
                          ": the inner dimensions do not meet; transpose one side with T");
    return make(t, at, ExprKind::matmul, {s.rows, u.cols}, {a, b});
}

ExprId type_multiple(Typing& t, Tree const& at, Tree const& number, Tree const& gate, ExprId x) {
    if (!number.integer || !(number.number >= 1) || number.number > 1000)
        return refuse(t, at.where,
                      "a log gate times an integer below 1 or another number (" + print(exact(number.number)) + " * " +
                          gate_in(t, gate) +
                          "): a log gate may be multiplied by a whole number from 1 to 1000, "
                          "written as an integer");
    ExprId const node = make(t, at, ExprKind::multiple_log, t.rule.nodes[x].shape, {x});
    t.rule.nodes[node].number = exact(number.number);
    return node;
}

ExprId type_product(Typing& t, Tree const& at, Tree const& left, Tree const& right) {
    for (auto const* side : {&left, &right})
        if (is_number(*side) && !finite(t, *side)) return poison;
    ExprId const a = type(t, left), b = type(t, right);
    if (a == poison || b == poison) return poison;
    if (t.rule.nodes[a].log || t.rule.nodes[b].log) {
        if (is_number(left)) return type_multiple(t, at, left, right, b);
        if (is_number(right)) return type_multiple(t, at, right, left, a);
        return refuse_log(t, at, t.rule.nodes[a].log ? left : right);
    }
    return multiplied(t, at, a, b);
}

ExprId type_quotient(Typing& t, Tree const& at, Tree const& left, Tree const& right) {
    ExprId const a = type(t, left), b = type(t, right);
    if (a == poison || b == poison) return poison;
    if (t.rule.nodes[a].log || t.rule.nodes[b].log) return refuse_log(t, at, t.rule.nodes[a].log ? left : right);
    if (is_number(right) && right.number == 0) return refuse(t, at.where, "a division by 0: use another number");
    Shape const u = t.rule.nodes[b].shape;
    if (!u.scalar())
        return refuse(t, at.where,
                      "a division by " + print(t.rule, u) + ": the divisor has to be a scalar or a number");
    return scaled(t, at, make(t, at, ExprKind::map, u, {b}, "inv"), a);
}

ExprId hadamard(Typing& t, Tree const& at, ExprId a, ExprId b) {
    Shape const s = t.rule.nodes[a].shape;
    return s.scalar() ? scaled(t, at, a, b) : make(t, at, ExprKind::hadamard, s, {a, b});
}

ExprId type_hadamard(Typing& t, Tree const& at, Tree const& left, Tree const& right) {
    ExprId const a = type(t, left), b = type(t, right);
    if (a == poison || b == poison) return poison;
    if (t.rule.nodes[a].log || t.rule.nodes[b].log) return refuse_log(t, at, t.rule.nodes[a].log ? left : right);
    Shape const s = t.rule.nodes[a].shape, u = t.rule.nodes[b].shape;
    if (s != u)
        return refuse(t, at.where,
                      "'%' of " + print(t.rule, s) + " and " + print(t.rule, u) + ": both sides need one shape");
    return hadamard(t, at, a, b);
}

ExprId type_maximum(Typing& t, Tree const& at) {
    Tree const &left = at.arguments[0], &right = at.arguments[1];
    if (is_number(left) && is_number(right)) return refuse(t, at.where, at.head + " of two numbers");
    ExprId a = is_number(left) ? poison : type(t, left), b = is_number(right) ? poison : type(t, right);
    if (a == poison && !is_number(left)) return poison;
    if (b == poison && !is_number(right)) return poison;
    for (ExprId const x : {a, b})
        if (x != poison && t.rule.nodes[x].log) return refuse_log(t, at, x == a ? left : right);
    if (a == poison) a = number_beside(t, left, b, true);
    if (b == poison) b = number_beside(t, right, a, true);
    if (a == poison || b == poison) return poison;
    Shape const s = t.rule.nodes[a].shape, u = t.rule.nodes[b].shape;
    if (s != u)
        return refuse(t, at.where,
                      at.head + " of " + print(t.rule, s) + " and " + print(t.rule, u) +
                          ": both need one shape, or one is a number");
    if (at.head == "max") return make(t, at, ExprKind::maximum, s, {a, b});
    return negate(t, at, make(t, at, ExprKind::maximum, s, {negate(t, at, a), negate(t, at, b)}));
}

ExprId type_previous(Typing& t, Tree const& at) {
    Tree const& x = at.arguments[0];
    if (x.kind != TreeKind::operand || !t.rule.operands[x.operand].per_token() ||
        t.rule.operands[x.operand].domain == Domain::log)
        return refuse(t, at.where, "previous takes an input or a linear gate, by name");
    if (t.repeat)
        return refuse(t, at.where, "previous inside a repeat: it holds the value of the token before; use it outside");
    auto found = t.hidden.find(x.operand);
    if (found == t.hidden.end()) {
        Operand state;
        state.name = t.rule.operands[x.operand].name + "_previous";
        state.tag = t.rule.operands[x.operand].tag + "::previous";
        state.role = Role::state;
        state.shape = t.rule.operands[x.operand].shape;
        state.previous_of = x.operand;
        state.where = at.where;
        t.rule.operands.push_back(state);
        found = t.hidden.emplace(x.operand, static_cast<OperandId>(t.rule.operands.size()) - 1).first;
    }
    return operand_node(t.rule, found->second, 0, at.where, at.head);
}

ExprId type_vector_map(Typing& t, Tree const& at, ExprId x) {
    Shape const s = t.rule.nodes[x].shape;
    if (!s.vector())
        return refuse(t, at.where, at.head + " of " + print(t.rule, s) + ": it takes a vector, a column or a row");
    Rational eps = at.head == "l2norm" ? exact(1e-6) : Rational(0);
    if (at.arguments.size() == 2) {
        Tree const& e = at.arguments[1];
        if (!is_number(e) || !std::isfinite(e.number) || e.number < 0)
            return refuse(t, e.where, "the eps of " + at.head + " has to be a number of at least 0");
        eps = exact(e.number);
    }
    ExprId const node = make(t, at, ExprKind::vector_map, s, {x}, at.head);
    t.rule.nodes[node].number = eps;
    return node;
}

bool column(Shape s) { return s.rows != one && s.cols == one; }

// dpfp<nu>(x) and taylor2(x): vector maps, to another dimension.
ExprId type_feature_map(Typing& t, Tree const& at, ExprId x) {
    Shape const s = t.rule.nodes[x].shape;
    if (!column(s)) return refuse(t, at.where, at.head + " of " + print(t.rule, s) + ": it takes a column");
    if (at.head == "dpfp" && at.count < 1) return refuse(t, at.where, "dpfp<nu> needs nu of at least 1");
    auto const name = mapped_name(at.head, at.count, t.rule.dims[s.rows]);
    ExprId const node = make(t, at, ExprKind::vector_map, {dimension(t.rule.dims, *name), one}, {x}, at.head);
    t.rule.nodes[node].number = at.count;
    return node;
}

// random_features(x, W) = exp(W x - |x|^2 / 2) / sqrt(r), r the rows of W, in the operations that there are.
ExprId type_random_features(Typing& t, Tree const& at) {
    ExprId const x = type(t, at.arguments[0]), W = type(t, at.arguments[1]);
    if (x == poison || W == poison) return poison;
    if (t.rule.nodes[x].log || t.rule.nodes[W].log) return refuse_log(t, at, at.arguments[t.rule.nodes[x].log ? 0 : 1]);
    Shape const s = t.rule.nodes[x].shape, u = t.rule.nodes[W].shape;
    if (!column(s) || u.rows == one || u.cols != s.rows)
        return refuse(t, at.where,
                      at.head + " of " + print(t.rule, s) + " and " + print(t.rule, u) +
                          ": it takes a column and a matrix of as many columns as that has entries");
    Shape const features{u.rows, one};
    auto const constant = [&](double value, Shape shape) {
        ExprId const node = make(t, at, ExprKind::number, shape, {});
        t.rule.nodes[node].number = exact(value);
        return node;
    };
    ExprId const square = make(t, at, ExprKind::matmul, {}, {make(t, at, ExprKind::transpose, {one, s.rows}, {x}), x});
    ExprId const half = scaled(t, at, constant(0.5, {}), square);
    ExprId const below = negate(t, at, scaled(t, at, half, constant(1, features)));
    ExprId const exponent =
        make(t, at, ExprKind::add, features, {make(t, at, ExprKind::matmul, features, {W, x}), below});
    ExprId const count = make(t, at, ExprKind::sum, {}, {constant(1, features)});
    ExprId const root = make(t, at, ExprKind::map, {}, {count}, "sqrt");
    return scaled(t, at, make(t, at, ExprKind::map, {}, {root}, "inv"),
                  make(t, at, ExprKind::map, features, {exponent}, "exp"));
}

ExprId type_norm(Typing& t, Tree const& at, ExprId x) {
    ExprId const squares = make(t, at, ExprKind::sum, {}, {hadamard(t, at, x, x)});
    return make(t, at, ExprKind::map, {}, {squares}, "sqrt");
}

ExprId type_dot(Typing& t, Tree const& at) {
    ExprId const a = type(t, at.arguments[0]), b = type(t, at.arguments[1]);
    if (a == poison || b == poison) return poison;
    if (t.rule.nodes[a].log || t.rule.nodes[b].log) return refuse_log(t, at, at.arguments[t.rule.nodes[a].log ? 0 : 1]);
    Shape const s = t.rule.nodes[a].shape, u = t.rule.nodes[b].shape;
    if (s != u || s.cols != one || s.rows == one)
        return refuse(t, at.where,
                      "dot of " + print(t.rule, s) + " and " + print(t.rule, u) +
                          ": it takes two columns of one shape");
    ExprId const row = make(t, at, ExprKind::transpose, {s.cols, s.rows}, {a});
    return make(t, at, ExprKind::matmul, {}, {row, b});
}

bool count_is(Typing& t, Tree const& at, std::size_t from, std::size_t to) {
    if (at.arguments.size() >= from && at.arguments.size() <= to) return true;
    refuse(t, at.where,
           at.head + " takes " + std::to_string(from) + (to > from ? " or " + std::to_string(to) : "") +
               (to == 1 ? " argument" : " arguments") + ", not " + std::to_string(at.arguments.size()));
    return false;
}

ExprId type_call(Typing& t, Tree const& at) {
    bool const features = at.head == "dpfp" || at.head == "taylor2";
    bool const two = at.head == "max" || at.head == "min" || at.head == "dot" || at.head == "random_features";
    bool const with_eps = at.head == "l2norm" || at.head == "sum_norm";
    bool const known = two || among(maps, at.head) || among(vector_maps, at.head) || features || at.head == "T" ||
                       at.head == "diag" || at.head == "norm" || at.head == "sum" || at.head == "previous";
    if (!known) return refuse(t, at.where, at.head + " is no function of the language");
    if (!count_is(t, at, two ? 2 : 1, two || with_eps ? 2 : 1)) return poison;
    if (at.head == "previous") return type_previous(t, at);
    if (at.head == "dot") return type_dot(t, at);
    if (at.head == "random_features") return type_random_features(t, at);
    if (two) return type_maximum(t, at);

    ExprId const x = type(t, at.arguments[0]);
    if (x == poison) return poison;
    Shape const s = t.rule.nodes[x].shape;
    if (t.rule.nodes[x].log) {
        if (at.head == "exp") return make(t, at, ExprKind::exp_log, s, {x});
        return refuse_log(t, at, at.arguments[0]);
    }
    if (at.head == "neg") return negate(t, at, x);
    if (among(maps, at.head)) return make(t, at, ExprKind::map, s, {x}, at.head);
    if (among(vector_maps, at.head)) return type_vector_map(t, at, x);
    if (features) return type_feature_map(t, at, x);
    if (at.head == "T") return make(t, at, ExprKind::transpose, {s.cols, s.rows}, {x});
    if (at.head == "sum") return make(t, at, ExprKind::sum, {}, {x});
    if (at.head == "norm") return type_norm(t, at, x);
    if (s.cols != one || s.rows == one)
        return refuse(t, at.where, "diag of " + print(t.rule, s) + ": it takes a column");
    return make(t, at, ExprKind::diag, {s.rows, s.rows}, {x});
}

} // namespace

std::string print(TypedRule const& rule, Shape s) {
    auto const extent = [&](DimId d) { return d == one ? std::string("1") : rule.dims[d]; };
    return s.scalar() ? "a scalar" : extent(s.rows) + " x " + extent(s.cols);
}

ExprId add_node(TypedRule& rule, ExprNode node) {
    rule.nodes.push_back(std::move(node));
    return static_cast<ExprId>(rule.nodes.size()) - 1;
}

ExprId operand_node(TypedRule& rule, OperandId operand, int step, Location where, std::string head) {
    Operand const& o = rule.operands[operand];
    ExprNode n;
    n.kind = ExprKind::operand;
    n.shape = o.shape;
    n.log = o.domain == Domain::log;
    n.operand = operand;
    n.step = o.steps ? step : 0;
    n.where = std::move(where);
    n.head = std::move(head);
    return add_node(rule, std::move(n));
}

ExprId type(Typing& t, Tree const& tree) {
    switch (tree.kind) {
    case TreeKind::operand: return operand_node(t.rule, tree.operand, t.step, tree.where, tree.head);
    case TreeKind::number: return finite(t, tree) ? make_number(t, tree, {}) : poison;
    case TreeKind::call: return type_call(t, tree);
    case TreeKind::unary: {
        if (!count_is(t, tree, 1, 1)) return poison;
        ExprId const x = type(t, tree.arguments[0]);
        if (x == poison) return poison;
        return t.rule.nodes[x].log ? refuse_log(t, tree, tree.arguments[0]) : negate(t, tree, x);
    }
    case TreeKind::binary: {
        if (!count_is(t, tree, 2, 2)) return poison;
        Tree const &a = tree.arguments[0], &b = tree.arguments[1];
        if (tree.head == "*") return type_product(t, tree, a, b);
        if (tree.head == "/") return type_quotient(t, tree, a, b);
        if (tree.head == "%") return type_hadamard(t, tree, a, b);
        if (tree.head == "+" || tree.head == "-") return type_sum(t, tree, a, b);
        return refuse(t, tree.where, "'" + tree.head + "' is no operator of the language");
    }
    case TreeKind::statement:
    case TreeKind::repeat: break;
    }
    return refuse(t, tree.where, "a statement inside an expression");
}

} // namespace deltaloom::codegen
