// What forward and backward over one long sequence keep in memory: the forward keeps its inputs and the initial state
// only; the backward recomputes states, one per segment of chunks and those of one segment at a time.
#include <backward_rules/gated_delta.hpp>
#include <cmath>
#include <cstdio>
#include <vector>

int main() {
    using namespace backward_rules;
    constexpr int T = 4096, d = 128;
    std::vector<float> q(T * d), k(T * d), v(T * d), o(T * d), d_q(T * d), d_k(T * d), d_v(T * d), d_o(T * d, 1.0f);
    std::vector<float> beta(T, 0.5f), alpha(T, 0.99f), d_beta(T), d_alpha(T);
    for (int i = 0; i < T * d; ++i)
        q[std::size_t(i)] = k[std::size_t(i)] = std::sin(0.1f * float(i)) / std::sqrt(d / 2.0f),
        v[std::size_t(i)] = std::cos(0.37f * float(i));

    gated_delta::arguments a{.tokens = T, .dv = d, .dk = d};
    auto const rows = [](std::vector<float>& x) { return deltaloom::tensor(x.data(), T, 1, {d}); };
    auto const numbers = [](std::vector<float>& x) { return deltaloom::tensor(x.data(), T, 1); };
    a.q = rows(q), a.k = rows(k), a.v = rows(v), a.o = rows(o), a.beta = numbers(beta), a.alpha = numbers(alpha);
    auto const forward_bytes = gated_delta::workspace_size(a);
    gated_delta::forward(a);
    a.d_q = rows(d_q), a.d_k = rows(d_k), a.d_v = rows(d_v), a.d_o = rows(d_o), a.d_beta = numbers(d_beta),
    a.d_alpha = numbers(d_alpha);
    auto const backward_bytes = gated_delta::workspace_size(a, true);
    gated_delta::backward(a);

    double norm = 0;
    for (float x : d_k) norm += double(x) * x;
    double const mb = 1024.0 * 1024.0, input_bytes = 4.0 * (3.0 * T * d + 2.0 * T), output_bytes = 4.0 * T * d;
    std::printf("gated_delta, one head, T = %d, dk = dv = %d, float32; |d_k| = %.4g\n", T, d, std::sqrt(norm));
    std::printf("  inputs                        %8.2f MB\n  outputs                       %8.2f MB\n",
                input_bytes / mb, output_bytes / mb);
    std::printf("  gradients                     %8.2f MB (and the incoming one, %.2f MB)\n", input_bytes / mb,
                output_bytes / mb);
    std::printf("  workspace of the forward      %8.2f MB\n  workspace of the backward     %8.2f MB\n",
                double(forward_bytes) / mb, double(backward_bytes) / mb);
    std::printf("  a state per token would be    %8.2f MB, one per chunk of 16 %.2f MB\n", 4.0 * T * d * d / mb,
                4.0 * T * d * d / 16 / mb);
    return norm > 0 && std::isfinite(norm) ? 0 : 1;
}
