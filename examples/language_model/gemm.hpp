#pragma once
// Matrix products of the model's own layers: OpenBLAS for float and double, plain loops for any other scalar.
#include <cblas.h>
#include <cstddef>
#include <type_traits>

namespace lm {

enum class As { is, transposed };

// c (m x n) = a b, or c + a b; every matrix row-major, with the length of its rows.
template<class K>
void multiply(As ta, As tb, int m, int n, int k, K const* a, int lda, K const* b, int ldb, K* c, int ldc, bool add) {
    auto const flag = [](As as) { return as == As::transposed ? CblasTrans : CblasNoTrans; };
    if constexpr (std::is_same_v<K, float>) {
        cblas_sgemm(CblasRowMajor, flag(ta), flag(tb), m, n, k, 1, a, lda, b, ldb, add ? 1 : 0, c, ldc);
    } else if constexpr (std::is_same_v<K, double>) {
        cblas_dgemm(CblasRowMajor, flag(ta), flag(tb), m, n, k, 1, a, lda, b, ldb, add ? 1 : 0, c, ldc);
    } else {
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j) {
                K sum = add ? c[i * ldc + j] : K(0.0);
                for (int x = 0; x < k; ++x)
                    sum += a[ta == As::is ? i * lda + x : x * lda + i] * b[tb == As::is ? x * ldb + j : j * ldb + x];
                c[i * ldc + j] = sum;
            }
    }
}

// y = x W with W as [in, out], all dense.
template<class K> void project(K* y, K const* x, K const* w, int rows, int in, int out, bool add = false) {
    multiply(As::is, As::is, rows, out, in, x, in, w, out, y, out, add);
}
// d_x = d_y W^T (or +=), d_W += x^T d_y.
template<class K>
void project_backward(K* d_x, K* d_w, K const* d_y, K const* x, K const* w, int rows, int in, int out,
                      bool add = false) {
    multiply(As::is, As::transposed, rows, in, out, d_y, out, w, out, d_x, in, add);
    multiply(As::transposed, As::is, in, out, rows, x, in, d_y, out, d_w, out, true);
}

} // namespace lm
