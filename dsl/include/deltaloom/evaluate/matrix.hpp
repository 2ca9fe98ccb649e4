#pragma once
// Values: matrices with extents in the type (mat) or at run time (dynamic_matrix), over any scalar K. What follows
// works on both: a matrix has rows(), cols(), (i, j) and its elements `e`, row by row.
#include <cstddef>
#include <deltaloom/runtime/scalar/scalar.hpp>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace deltaloom::oracle {

template<class K, int R, int C> struct mat {
    using scalar = K;
    K e[R * C]{};
    static constexpr int rows() { return R; }
    static constexpr int cols() { return C; }
    constexpr K& operator()(int i, int j) { return e[i * C + j]; }
    constexpr K const& operator()(int i, int j) const { return e[i * C + j]; }
    friend constexpr bool operator==(mat const&, mat const&) = default;
};

template<class K> struct dynamic_matrix {
    using scalar = K;
    int height = 0, width = 0;
    std::vector<K> e;
    dynamic_matrix() = default;
    dynamic_matrix(int rows, int cols) : height(rows), width(cols), e(std::size_t(rows) * std::size_t(cols)) {}
    dynamic_matrix(int rows, int cols, std::vector<K> elements) : height(rows), width(cols), e(std::move(elements)) {
        if (e.size() != std::size_t(rows) * std::size_t(cols))
            throw std::invalid_argument(std::to_string(e.size()) + " elements for a matrix of " + std::to_string(rows) +
                                        " x " + std::to_string(cols));
    }
    int rows() const { return height; }
    int cols() const { return width; }
    K& operator()(int i, int j) { return e[std::size_t(i) * std::size_t(width) + std::size_t(j)]; }
    K const& operator()(int i, int j) const { return e[std::size_t(i) * std::size_t(width) + std::size_t(j)]; }
    friend bool operator==(dynamic_matrix const&, dynamic_matrix const&) = default;
};

template<class M> using scalar_of = typename M::scalar;

// Zeros of the extents that an operation gives. Extents that do not meet: an error of the compiler or an exception.
template<class K, int R, int C> constexpr mat<K, C, R> blank_transpose(mat<K, R, C> const&) { return {}; }
template<class K, int R> constexpr mat<K, R, R> blank_diagonal(mat<K, R, 1> const&) { return {}; }
template<class K, int R, int M, int N, int C>
constexpr mat<K, R, C> blank_product(mat<K, R, M> const&, mat<K, N, C> const&) {
    static_assert(M == N, "the extents bound to the operands do not meet");
    return {};
}
template<class K, int R, int C> constexpr mat<K, 1, 1> blank_scalar(mat<K, R, C> const&) { return {}; }
template<class K, int R, int C> constexpr void same_extents(mat<K, R, C> const&, mat<K, R, C> const&) {}

// A column of the extent  constant + linear d + square d d  for one of d.
template<int Linear, int Constant = 0, int Square = 0, class K, int R>
constexpr mat<K, Constant + Linear * R + Square * R * R, 1> blank_column(mat<K, R, 1> const&) {
    return {};
}

inline void need_extents(bool fit) {
    if (!fit) throw std::invalid_argument("the extents bound to the operands do not meet");
}
template<class K> dynamic_matrix<K> blank_transpose(dynamic_matrix<K> const& a) { return {a.cols(), a.rows()}; }
template<class K> dynamic_matrix<K> blank_diagonal(dynamic_matrix<K> const& a) { return {a.rows(), a.rows()}; }
template<class K> dynamic_matrix<K> blank_product(dynamic_matrix<K> const& a, dynamic_matrix<K> const& b) {
    need_extents(a.cols() == b.rows());
    return {a.rows(), b.cols()};
}
template<int Linear, int Constant = 0, int Square = 0, class K>
dynamic_matrix<K> blank_column(dynamic_matrix<K> const& a) {
    return {Constant + Linear * a.rows() + Square * a.rows() * a.rows(), 1};
}
template<class K> dynamic_matrix<K> blank_scalar(dynamic_matrix<K> const&) { return {1, 1}; }
template<class K> void same_extents(dynamic_matrix<K> const& a, dynamic_matrix<K> const& b) {
    need_extents(a.rows() == b.rows() && a.cols() == b.cols());
}

// f of every element; f of every pair of elements.
template<class M, class F> constexpr M each(M a, F f) {
    for (auto& x : a.e) x = f(x);
    return a;
}
template<class M, class F> constexpr M both(M a, M const& b, F f) {
    same_extents(a, b);
    auto y = std::begin(b.e);
    for (auto& x : a.e) x = f(x, *y++);
    return a;
}
// f of a number and every element.
template<class M, class F> constexpr M with_number(M const& a, double n, F f) {
    return each(a, [c = scalar_of<M>(n), f](auto x) { return f(x, c); });
}
template<class M, class F> constexpr M with_number(double n, M const& a, F f) {
    return each(a, [c = scalar_of<M>(n), f](auto x) { return f(c, x); });
}
template<class M> constexpr auto transpose(M const& a) {
    auto r = blank_transpose(a);
    for (int i = 0; i < a.rows(); ++i)
        for (int j = 0; j < a.cols(); ++j) r(j, i) = a(i, j);
    return r;
}
template<class M> constexpr auto diagonal(M const& a) {
    auto r = blank_diagonal(a);
    for (int i = 0; i < a.rows(); ++i) r(i, i) = a(i, 0);
    return r;
}
template<class A, class B> constexpr auto product(A const& a, B const& b) {
    auto r = blank_product(a, b);
    for (int i = 0; i < a.rows(); ++i)
        for (int m = 0; m < a.cols(); ++m)
            for (int j = 0; j < b.cols(); ++j) r(i, j) = r(i, j) + a(i, m) * b(m, j);
    return r;
}
template<class M> constexpr M scaled(M const& a, scalar_of<M> s) {
    return each(a, [s](auto x) { return s * x; });
}
template<class M> constexpr scalar_of<M> total(M const& a) {
    scalar_of<M> sum{};
    for (auto const& x : a.e) sum = sum + x;
    return sum;
}
template<class M> constexpr auto scalar_matrix(M const& like, scalar_of<M> s) {
    auto r = blank_scalar(like);
    r(0, 0) = s;
    return r;
}

} // namespace deltaloom::oracle
