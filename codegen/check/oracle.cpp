#include "codegen/check/oracle.hpp"

#include <stdexcept>

namespace deltaloom::codegen {
namespace {

namespace rt = deltaloom::runtime;

// A value of the tree: a number, which has no shape of its own, or a matrix.
template<class K> struct Worth {
    bool is_number = false, log = false;
    double number = 0;
    Dense<K> matrix;
};

template<class K, class F> Dense<K> each(Dense<K> a, F f) {
    for (auto& x : a.e) x = f(x);
    return a;
}
template<class K, class F> Dense<K> both(Dense<K> a, Dense<K> const& b, F f) {
    if (a.rows != b.rows || a.cols != b.cols) throw std::logic_error("shapes differ");
    for (std::size_t i = 0; i < a.e.size(); ++i) a.e[i] = f(a.e[i], b.e[i]);
    return a;
}
template<class K> Dense<K> turned(Dense<K> const& a) {
    Dense<K> r(a.cols, a.rows);
    for (int i = 0; i < a.rows; ++i)
        for (int j = 0; j < a.cols; ++j) r(j, i) = a(i, j);
    return r;
}
template<class K> Dense<K> product(Dense<K> const& a, Dense<K> const& b) {
    if (a.rows == 1 && a.cols == 1) return each(b, [&](K x) { return a.e[0] * x; });
    if (b.rows == 1 && b.cols == 1) return each(a, [&](K x) { return x * b.e[0]; });
    if (a.cols != b.rows) throw std::logic_error("inner dimensions differ");
    Dense<K> r(a.rows, b.cols);
    for (int i = 0; i < a.rows; ++i)
        for (int k = 0; k < a.cols; ++k)
            for (int j = 0; j < b.cols; ++j) r(i, j) += a(i, k) * b(k, j);
    return r;
}
template<class K> K total(Dense<K> const& a) {
    K s(0.0);
    for (K const& x : a.e) s += x;
    return s;
}
template<class K> K total_of_squares(Dense<K> const& a) {
    K s(0.0);
    for (K const& x : a.e) s += x * x;
    return s;
}
template<class K> Dense<K> divided(Dense<K> const& a, K by) {
    K const factor = rt::map_inv(by);
    return each(a, [&](K x) { return x * factor; });
}
// The largest entry as a constant, to shift by; a ring without order has none and needs none.
template<class K> K peak(Dense<K> const& a) {
    K top = a.e.empty() ? K(0.0) : a.e[0];
    if constexpr (rt::is_float<K>) {
        for (K x : a.e) top = x > top ? x : top;
        return top;
    } else if constexpr (std::is_same_v<K, rt::dual<double>>) {
        for (K x : a.e) top.value = x.value > top.value ? x.value : top.value;
        return K(top.value);
    } else
        return K(0.0);
}
template<class K> Dense<K> softmax(Dense<K> const& a) {
    K const top = peak(a);
    Dense<K> const weights = each(a, [&](K x) { return rt::map_exp(x - top); });
    return divided(weights, total(weights));
}

// Feature maps, by their formulas (language.md): of a column one of another length.
template<class K> Dense<K> dpfp(Dense<K> const& x, int nu) {
    std::vector<K> r;
    for (int sign : {1, -1})
        for (K const& e : x.e) r.push_back(rt::map_relu(K(double(sign)) * e));
    Dense<K> y(nu * int(r.size()), 1);
    for (std::size_t j = 1, at = 0; at < y.e.size(); ++j)
        for (std::size_t i = 0; i < r.size(); ++i) y.e[at++] = r[i] * r[(i + r.size() * j - j) % r.size()];
    return y;
}
template<class K> Dense<K> taylor2(Dense<K> const& x) {
    Dense<K> y(1, 1, K(1.0));
    y.e.insert(y.e.end(), x.e.begin(), x.e.end());
    for (K const& a : x.e)
        for (K const& b : x.e) y.e.push_back(K(0.70710678118654752440) * a * b);
    y.rows = int(y.e.size());
    return y;
}
template<class K> Dense<K> random_features(Dense<K> const& x, Dense<K> const& W) {
    K const shift = K(0.5) * total_of_squares(x);
    auto const powers = each(product(W, x), [&](K y) { return rt::map_exp(y - shift); });
    return divided(powers, rt::map_sqrt(K(double(W.rows))));
}

template<class K> struct Token {
    Declaration const& rule;
    std::vector<std::vector<Dense<K>>> values; // [operand][step]
    std::vector<Dense<K>> before;              // [operand]: of previous(x)
    int step = 0;

    Worth<K> operand(Tree const& t) const {
        auto const& steps = values[t.operand];
        return {false, rule.operands[t.operand].domain == Domain::log, 0, steps.size() > 1 ? steps[step] : steps[0]};
    }
    static Worth<K> real(Dense<K> m) { return {false, false, 0, std::move(m)}; }
    // A number beside a matrix stands for every entry.
    static Dense<K> like(Worth<K> const& x, Worth<K> const& other) {
        if (!x.is_number) return x.matrix;
        return Dense<K>(other.matrix.rows, other.matrix.cols, K(x.number));
    }

    Worth<K> binary(char op, Worth<K> a, Worth<K> b) const {
        if (a.is_number && b.is_number) throw std::logic_error("two numbers");
        bool const log = a.log || b.log;
        switch (op) {
        case '+':
            if (log) return {false, true, 0, both(a.matrix, b.matrix, [](K x, K y) { return rt::addlog(x, y); })};
            return real(both(like(a, b), like(b, a), [](K x, K y) { return x + y; }));
        case '-': return real(both(like(a, b), like(b, a), [](K x, K y) { return x - y; }));
        case '%': return real(both(a.matrix, b.matrix, [](K x, K y) { return x * y; }));
        case '/':
            if (b.is_number) return real(each(a.matrix, [&](K x) { return x / K(b.number); }));
            return real(divided(like(a, b), b.matrix.e[0]));
        default: break;
        }
        if (log) {
            int const times = int(a.is_number ? a.number : b.number);
            return {false, true, 0, each(a.is_number ? b.matrix : a.matrix, [&](K x) {
                        K all = rt::log_one<K>();
                        for (int i = 0; i < times; ++i) all = rt::addlog(all, x);
                        return all;
                    })};
        }
        if (a.is_number) return real(each(b.matrix, [&](K x) { return K(a.number) * x; }));
        if (b.is_number) return real(each(a.matrix, [&](K x) { return K(b.number) * x; }));
        return real(product(a.matrix, b.matrix));
    }

    Worth<K> call(Tree const& t) const {
        std::string const& f = t.head;
        if (f == "previous") return real(before[t.arguments[0].operand]);
        Worth<K> const a = value(t.arguments[0]);
        if (f == "T") return {false, a.log, 0, turned(a.matrix)};
        if (f == "exp" && a.log) return real(each(a.matrix, [](K x) { return rt::unlog(x); }));
        if (f == "diag") {
            Dense<K> r(a.matrix.rows, a.matrix.rows);
            for (int i = 0; i < a.matrix.rows; ++i) r(i, i) = a.matrix(i, 0);
            return real(std::move(r));
        }
        if (f == "sum") return real(Dense<K>(1, 1, total(a.matrix)));
        if (f == "norm") return real(Dense<K>(1, 1, rt::map_sqrt(total_of_squares(a.matrix))));
        if (f == "softmax") return real(softmax(a.matrix));
        if (f == "l2norm" || f == "sum_norm") {
            K const eps(t.arguments.size() > 1 ? t.arguments[1].number : 0.0);
            if (f == "sum_norm") return real(divided(a.matrix, total(a.matrix) + eps));
            return real(divided(a.matrix, rt::map_sqrt(total_of_squares(a.matrix) + eps)));
        }
        if (f == "dpfp") return real(dpfp(a.matrix, t.count));
        if (f == "taylor2") return real(taylor2(a.matrix));
        if (t.arguments.size() == 2) {
            Worth<K> const b = value(t.arguments[1]);
            if (f == "random_features") return real(random_features(a.matrix, b.matrix));
            if (f == "dot") return real(product(turned(a.matrix), b.matrix));
            if (f == "max") return real(both(like(a, b), like(b, a), [](K x, K y) { return rt::larger(x, y); }));
            if (f == "min") return real(both(like(a, b), like(b, a), [](K x, K y) { return -rt::larger(-x, -y); }));
        }
        if (auto const map = rt::function_named(f))
            return real(each(a.matrix, [&](K x) { return rt::map_value(*map, x); }));
        throw std::logic_error("no function is called " + f);
    }

    Worth<K> value(Tree const& t) const {
        switch (t.kind) {
        case TreeKind::operand: return operand(t);
        case TreeKind::number: return {true, false, t.number, {}};
        case TreeKind::unary: return real(each(value(t.arguments[0]).matrix, [](K x) { return -x; }));
        case TreeKind::binary: {
            Worth<K> a = value(t.arguments[0]);
            return binary(t.head[0], std::move(a), value(t.arguments[1]));
        }
        case TreeKind::call: return call(t);
        case TreeKind::statement:
        case TreeKind::repeat: break;
        }
        throw std::logic_error("a statement inside an expression");
    }

    void execute(Tree const& t) {
        if (t.kind == TreeKind::repeat)
            for (step = 0; step < t.count; ++step)
                for (auto const& s : t.arguments) execute_one(s);
        else
            step = 0, execute_one(t);
    }
    void execute_one(Tree const& t) {
        Worth<K> const right = value(t.arguments[1]);
        values[t.arguments[0].operand] = {right.matrix};
    }
};

} // namespace

template<class K> OracleRun<K> run(Declaration const& rule, OracleData<K> const& data) {
    int const count = int(rule.operands.size());
    auto const use = uses(rule);
    Token<K> token{rule, std::vector<std::vector<Dense<K>>>(count), std::vector<Dense<K>>(count)};
    for (int i = 0; i < count; ++i) {
        DeclaredOperand const& o = rule.operands[i];
        if (o.role == Role::parameter) token.values[i] = {data.parameters.at(o.name)};
        if (o.role == Role::state) token.values[i] = {data.states.at(o.name)};
        if (use[i].previous) token.before[i] = data.states.at(o.name + "_previous");
    }
    OracleRun<K> result;
    for (int t = 0; t < data.length; ++t) {
        for (int i = 0; i < count; ++i)
            if (rule.operands[i].role == Role::input || rule.operands[i].role == Role::gate)
                token.values[i] = data.tokens.at(rule.operands[i].name)[t];
        for (auto const& s : rule.statements) token.execute(s);
        auto& outputs = result.outputs.emplace_back();
        for (int i = 0; i < count; ++i) {
            if (rule.operands[i].role == Role::output) outputs[rule.operands[i].name] = token.values[i][0];
            if (use[i].previous) token.before[i] = token.values[i][0];
        }
    }
    for (int i = 0; i < count; ++i) {
        if (rule.operands[i].role == Role::state) result.states[rule.operands[i].name] = token.values[i][0];
        if (use[i].previous) result.states[rule.operands[i].name + "_previous"] = token.before[i];
    }
    return result;
}

template OracleRun<double> run(Declaration const&, OracleData<double> const&);
template OracleRun<runtime::field> run(Declaration const&, OracleData<runtime::field> const&);
template OracleRun<runtime::dual<double>> run(Declaration const&, OracleData<runtime::dual<double>> const&);
template OracleRun<runtime::dual<runtime::field>> run(Declaration const&,
                                                      OracleData<runtime::dual<runtime::field>> const&);

} // namespace deltaloom::codegen
