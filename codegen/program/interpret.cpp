#include "codegen/program/interpret.hpp"
#include "codegen/program/interpret_decays.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace deltaloom::codegen {

int Sizes::of(Extent e) const {
    switch (e.kind) {
    case Extent::Kind::constant: return e.value;
    case Extent::Kind::dim: return dims.at(e.value);
    case Extent::Kind::tokens: return tokens * e.value;
    }
    return 0;
}

namespace {

using runtime::dual;
using runtime::field;

template<class K> struct number_as;
template<> struct number_as<double> {
    static double of(Rational const& r) { return nearest(r); }
};
template<> struct number_as<float> {
    static float of(Rational const& r) { return float(nearest(r)); }
};
template<> struct number_as<field> {
    static field of(Rational const& r) {
        auto const element = [](boost::multiprecision::cpp_int const& x) {
            boost::multiprecision::cpp_int const rest = abs(x) % field::prime;
            auto const e = field::from_element(rest.convert_to<std::uint64_t>());
            return x < 0 ? -e : e;
        };
        return element(numerator(r)) / element(denominator(r));
    }
};
template<> struct number_as<dual<field>> {
    static dual<field> of(Rational const& r) { return {number_as<field>::of(r), field(0.0)}; }
};

template<class K> using Arguments = std::vector<Dense<K> const*>;

// f(a, b) with an extent of 1 of either repeated.
template<class K, class F> Dense<K> entrywise(Dense<K> const& a, Dense<K> const& b, F f) {
    Dense<K> y(a.rows == 1 ? b.rows : a.rows, a.cols == 1 ? b.cols : a.cols);
    for (int i = 0; i < y.rows; ++i)
        for (int j = 0; j < y.cols; ++j)
            y(i, j) = f(a(a.rows == 1 ? 0 : i, a.cols == 1 ? 0 : j), b(b.rows == 1 ? 0 : i, b.cols == 1 ? 0 : j));
    return y;
}
template<class K, class F> Dense<K> entrywise(Dense<K> const& a, F f) {
    auto y = a;
    for (auto& x : y.e) x = f(x);
    return y;
}
template<class K> Dense<K> add(Dense<K> const& a, Dense<K> const& b) {
    return entrywise(a, b, [](K x, K y) { return x + y; });
}
template<class K> Dense<K> mul(Dense<K> const& a, Dense<K> const& b) {
    return entrywise(a, b, [](K x, K y) { return x * y; });
}

template<class K> Dense<K> eye(int n) {
    Dense<K> y(n, n);
    for (int i = 0; i < n; ++i) y(i, i) = K(1.0);
    return y;
}
template<class K> Dense<K> transpose(Dense<K> const& a) {
    Dense<K> y(a.cols, a.rows);
    for (int i = 0; i < a.rows; ++i)
        for (int j = 0; j < a.cols; ++j) y(j, i) = a(i, j);
    return y;
}
template<class K> Dense<K> sum(Dense<K> const& a, int axis) {
    Dense<K> y(axis == 0 ? 1 : a.rows, axis == 0 ? a.cols : 1);
    for (int i = 0; i < a.rows; ++i)
        for (int j = 0; j < a.cols; ++j) y(axis == 0 ? 0 : i, axis == 0 ? j : 0) += a(i, j);
    return y;
}
template<class K> Dense<K> matmul(Dense<K> const& a, Dense<K> const& b) {
    Dense<K> y(a.rows, b.cols);
    for (int i = 0; i < a.rows; ++i)
        for (int k = 0; k < a.cols; ++k)
            for (int j = 0; j < b.cols; ++j) y(i, j) += a(i, k) * b(k, j);
    return y;
}

// ---- maps ---------------------------------------------------------------------------------------------------------

runtime::function function_of(Node const& n) {
    if (auto const f = runtime::function_named(n.name)) return *f;
    throw std::logic_error("no function is called " + n.name);
}
template<class K> Dense<K> map(Node const& n, Arguments<K> const& a) {
    if (a.size() == 2) return entrywise(*a[0], *a[1], [](K x, K y) { return runtime::larger(x, y); });
    return entrywise(*a[0], [f = function_of(n)](K x) { return runtime::map_value(f, x); });
}
template<class K> Dense<K> dmap(Node const& n, Arguments<K> const& a) {
    if (a.size() == 1) return entrywise(*a[0], [f = function_of(n)](K x) { return runtime::map_derivative(f, x); });
    return entrywise(*a[0], *a[1], [first = n.index == 0](K x, K y) {
        auto const along = runtime::is_larger(x, y);
        return first ? along : K(1.0) - along;
    });
}

// l2norm: x / sqrt(sum x^2 + eps), sum_norm: x / (sum x + eps), softmax: e^x / sum e^x, all along one axis; here rows
// are vectors.
template<class K> Dense<K> vector_map_rows(std::string const& f, Dense<K> const& x, K eps) {
    using runtime::map_value, runtime::function;
    auto y = x;
    for (int i = 0; i < x.rows; ++i) {
        K total(0.0);
        if (f == "softmax") {
            K shift(0.0); // of floats: the largest entry, so that nothing overflows
            if constexpr (std::is_floating_point_v<K>)
                for (int j = 0; j < x.cols; ++j) shift = j == 0 ? x(i, j) : std::max(shift, x(i, j));
            for (int j = 0; j < x.cols; ++j) y(i, j) = map_value(function::exp, x(i, j) - shift);
            for (int j = 0; j < x.cols; ++j) total += y(i, j);
        } else if (f == "sum_norm") {
            for (int j = 0; j < x.cols; ++j) total += x(i, j);
            total += eps;
        } else if (f == "l2norm") {
            for (int j = 0; j < x.cols; ++j) total += x(i, j) * x(i, j);
            total = map_value(function::sqrt, total + eps);
        } else {
            throw std::logic_error("no vector map is called " + f);
        }
        auto const scale = map_value(function::inv, total);
        for (int j = 0; j < x.cols; ++j) y(i, j) = y(i, j) * scale;
    }
    return y;
}
// The cotangent of x for that of the value, y.
template<class K> Dense<K> vector_vjp_rows(std::string const& f, Dense<K> const& x, Dense<K> const& y, K eps) {
    using runtime::map_value, runtime::map_derivative, runtime::function;
    Dense<K> d(x.rows, x.cols);
    auto const p = f == "softmax" ? vector_map_rows(f, x, eps) : x;
    for (int i = 0; i < x.rows; ++i) {
        K along(0.0), total(eps); // along: <value direction, y>
        for (int j = 0; j < x.cols; ++j) {
            along += p(i, j) * y(i, j);
            total += f == "l2norm" ? x(i, j) * x(i, j) : x(i, j);
        }
        for (int j = 0; j < x.cols; ++j) {
            if (f == "softmax") {
                d(i, j) = p(i, j) * (y(i, j) - along);
            } else if (f == "sum_norm") {
                d(i, j) = y(i, j) * map_value(function::inv, total) + along * map_derivative(function::inv, total);
            } else if (f == "l2norm") {
                auto const root = map_value(function::sqrt, total);
                auto const slope = map_derivative(function::inv, root) * map_derivative(function::sqrt, total);
                d(i, j) = y(i, j) * map_value(function::inv, root) + along * slope * (x(i, j) + x(i, j));
            } else {
                throw std::logic_error("no vector map is called " + f);
            }
        }
    }
    return d;
}

// dpfp: nu blocks r % roll(r, j) of r = (relu(x), relu(-x)); taylor2: 1, x, x x^T / sqrt 2. Rows are vectors.
template<class K> struct Halves { // r of one row, and of its cotangent what x gets
    Dense<K> const& x;
    int row;
    int size() const { return 2 * x.cols; }
    K at(int i) const {
        int const d = x.cols;
        return runtime::map_value(runtime::function::relu, i < d ? x(row, i) : -x(row, i - d));
    }
    void give(Dense<K>& to, int i, K y) const {
        int const d = x.cols;
        K const entry = i < d ? x(row, i) : -x(row, i - d);
        K const slope = y * runtime::map_derivative(runtime::function::relu, entry);
        to(row, i % d) += i < d ? slope : -slope;
    }
};
template<class K> Dense<K> feature_rows(std::string const& f, int nu, Dense<K> const& x) {
    int const d = x.cols;
    Dense<K> y(x.rows, f == "dpfp" ? 2 * nu * d : 1 + d + d * d);
    for (int row = 0; row < x.rows; ++row) {
        if (f == "dpfp") {
            Halves<K> const r{x, row};
            for (int c = 0; c < y.cols; ++c) {
                int const i = c % r.size(), j = 1 + c / r.size();
                y(row, c) = r.at(i) * r.at(((i - j) % r.size() + r.size()) % r.size());
            }
            continue;
        }
        y(row, 0) = K(1.0);
        for (int i = 0; i < d; ++i) y(row, 1 + i) = x(row, i);
        for (int c = 0; c < d * d; ++c)
            y(row, 1 + d + c) = K(std::numbers::sqrt2 / 2) * (x(row, c / d) * x(row, c % d));
    }
    return y;
}
template<class K> Dense<K> feature_vjp_rows(std::string const& f, Dense<K> const& x, Dense<K> const& y) {
    int const d = x.cols;
    Dense<K> to(x.rows, d);
    for (int row = 0; row < x.rows; ++row) {
        if (f == "dpfp") {
            Halves<K> const r{x, row};
            for (int c = 0; c < y.cols; ++c) {
                int const i = c % r.size(), j = 1 + c / r.size();
                int const other = ((i - j) % r.size() + r.size()) % r.size();
                r.give(to, i, y(row, c) * r.at(other)), r.give(to, other, y(row, c) * r.at(i));
            }
            continue;
        }
        for (int i = 0; i < d; ++i) to(row, i) += y(row, 1 + i);
        for (int c = 0; c < d * d; ++c) {
            K const share = K(std::numbers::sqrt2 / 2) * y(row, 1 + d + c);
            to(row, c / d) += share * x(row, c % d), to(row, c % d) += share * x(row, c / d);
        }
    }
    return to;
}

template<class K> Dense<K> vector_map(Node const& n, Dense<K> const& x) {
    if (maps_features(n.name)) {
        int const nu = n.number.convert_to<int>();
        return n.index == 1 ? feature_rows(n.name, nu, x) : transpose(feature_rows(n.name, nu, transpose(x)));
    }
    auto const eps = number_as<K>::of(n.number);
    return n.index == 1 ? vector_map_rows(n.name, x, eps) : transpose(vector_map_rows(n.name, transpose(x), eps));
}
template<class K> Dense<K> vector_vjp(Node const& n, Dense<K> const& x, Dense<K> const& given) {
    if (maps_features(n.name))
        return n.index == 1 ? feature_vjp_rows(n.name, x, given)
                            : transpose(feature_vjp_rows(n.name, transpose(x), transpose(given)));
    auto const eps = number_as<K>::of(n.number);
    auto const y = mul(Dense<K>(x.rows, x.cols, K(1.0)), given);
    return n.index == 1 ? vector_vjp_rows(n.name, x, y, eps)
                        : transpose(vector_vjp_rows(n.name, transpose(x), transpose(y), eps));
}

// ---- rows of tokens and of events -----------------------------------------------------------------------------------

template<class K> Dense<K> hold(Node const& n, Dense<K> const& a, Sizes const& sizes) {
    auto y = a;
    auto const fill = n.log ? runtime::log_one<K>() : number_as<K>::of(n.number);
    for (int i = std::min(sizes.valid * n.per, a.rows); i < a.rows; ++i)
        for (int j = 0; j < a.cols; ++j) y(i, j) = fill;
    return y;
}
template<class K> Dense<K> interleave(Arguments<K> const& parts) {
    auto const m = int(parts.size());
    Dense<K> y(parts[0]->rows * m, parts[0]->cols);
    for (int i = 0; i < y.rows; ++i)
        for (int j = 0; j < y.cols; ++j) y(i, j) = (*parts[i % m])(i / m, j);
    return y;
}
template<class K> Dense<K> pick(Node const& n, Dense<K> const& a) {
    Dense<K> y(a.rows / n.per, a.cols);
    for (int i = 0; i < y.rows; ++i)
        for (int j = 0; j < y.cols; ++j) y(i, j) = a(i * n.per + n.index, j);
    return y;
}

// Only what is strictly below the diagonal of M is read.
template<class K> Dense<K> solve(Dense<K> const& M, Dense<K> const& B, bool transposed) {
    auto U = B;
    for (int step = 0; step < B.rows; ++step) {
        int const row = transposed ? B.rows - 1 - step : step;
        for (int other = transposed ? row + 1 : 0; other < (transposed ? B.rows : row); ++other)
            for (int j = 0; j < B.cols; ++j) U(row, j) += (transposed ? M(other, row) : M(row, other)) * U(other, j);
    }
    return U;
}

// ---- the table
// --------------------------------------------------------------------------------------------------------

template<class K>
Dense<K> value(Body const& body, Node const& n, Arguments<K> const& a, Environment<K> const& inputs,
               Sizes const& sizes) {
    int const rows = sizes.of(n.shape.rows), cols = sizes.of(n.shape.cols);
    switch (n.op) {
    case Op::input: {
        auto const given = inputs.find(n.name);
        if (given == inputs.end()) throw std::logic_error("input " + n.name + " is not given");
        if (given->second.rows != rows || given->second.cols != cols)
            throw std::logic_error("input " + n.name + " has another shape");
        return given->second;
    }
    case Op::constant: return Dense<K>(rows, cols, number_as<K>::of(n.number));
    case Op::eye: return eye<K>(rows);
    case Op::logone: return Dense<K>(rows, cols, runtime::log_one<K>());
    case Op::add: return add(*a[0], *a[1]);
    case Op::mul: return mul(*a[0], *a[1]);
    case Op::sum: return sum(*a[0], n.index);
    case Op::transpose: return transpose(*a[0]);
    case Op::matmul: return matmul(*a[0], *a[1]);
    case Op::map: return map(n, a);
    case Op::dmap: return dmap(n, a);
    case Op::vector_map: return vector_map(n, *a[0]);
    case Op::vector_vjp: return vector_vjp(n, *a[0], *a[1]);
    case Op::unlog: return entrywise(*a[0], [](K g) { return runtime::unlog(g); });
    case Op::aslog: return entrywise(*a[0], [](K x) { return runtime::aslog(x); });
    case Op::addlog: return entrywise(*a[0], *a[1], [](K g, K h) { return runtime::addlog(g, h); });
    case Op::hold: return hold(n, *a[0], sizes);
    case Op::interleave: return interleave(a);
    case Op::pick: return pick(n, *a[0]);
    case Op::decay:
    case Op::gram:
    case Op::apply:
    case Op::applyt:
    case Op::spread:
    case Op::csolve: return between_events(n, a, body.nodes[n.args.back()].log, sizes);
    case Op::solve: return solve(*a[0], *a[1], n.transposed);
    }
    return {};
}

} // namespace

template<class K> Environment<K> interpret(Body const& body, Environment<K> const& inputs, Sizes const& sizes) {
    std::vector<int> uses(body.nodes.size()); // by what reaches a result
    for (auto const& [name, i] : body.results) ++uses[i];
    for (std::size_t i = body.nodes.size(); i-- > 0;)
        if (uses[i])
            for (NodeId a : body.nodes[i].args) ++uses[a];
    std::vector<Dense<K>> values(body.nodes.size());
    for (std::size_t i = 0; i < body.nodes.size(); ++i) {
        if (!uses[i]) continue;
        Arguments<K> arguments;
        for (NodeId a : body.nodes[i].args) arguments.push_back(&values[a]);
        values[i] = value(body, body.nodes[i], arguments, inputs, sizes);
        for (NodeId a : body.nodes[i].args)
            if (--uses[a] == 0) values[a] = {};
    }
    Environment<K> results;
    for (auto const& [name, i] : body.results) results[name] = values[i];
    return results;
}

template Environment<field> interpret(Body const&, Environment<field> const&, Sizes const&);
template Environment<double> interpret(Body const&, Environment<double> const&, Sizes const&);
template Environment<float> interpret(Body const&, Environment<float> const&, Sizes const&);
template Environment<dual<field>> interpret(Body const&, Environment<dual<field>> const&, Sizes const&);

} // namespace deltaloom::codegen
