#pragma once
// The model's layers that are not products: forward and, below each, its backward by hand. Matrices are row-major, one
// row a token. A backward adds to the gradients of parameters; what it does to those of activations is said there.
#include "functions.hpp"

#include <algorithm>
#include <cstddef>

namespace lm {

inline constexpr double norm_epsilon = 1e-6;
// What a memory reads that has little in it is small, and should stay small; its norm only keeps large reads in bounds.
inline constexpr double read_epsilon = 1.0;

template<class K> K inverse_rms(K const* x, int n, double epsilon) {
    return K(1.0) / root(sum<K>(n, [x](int i) { return x[i] * x[i]; }) * K(1.0 / n) + K(epsilon));
}

// y = w . x r with r = (mean x^2 + eps)^-1/2 over each row of n; r is kept.
template<class K> void rms_norm(K* y, K* inverse, K const* x, K const* w, int rows, int n) {
    for (int t = 0; t < rows; ++t, x += n, y += n) {
        K const r = inverse[t] = inverse_rms(x, n, norm_epsilon);
        for (int i = 0; i < n; ++i) y[i] = x[i] * r * w[i];
    }
}
// d_x += r (w . d_y - x r^2 / n <w . d_y, x>)
template<class K>
void rms_norm_backward(K* d_x, K* d_w, K const* d_y, K const* x, K const* inverse, K const* w, int rows, int n) {
    for (int t = 0; t < rows; ++t, x += n, d_x += n, d_y += n) {
        K const r = inverse[t];
        K const along = sum<K>(n, [=](int i) { return w[i] * d_y[i] * x[i]; }) * r * r * K(1.0 / n);
        for (int i = 0; i < n; ++i) {
            d_w[i] += d_y[i] * x[i] * r;
            d_x[i] += r * (w[i] * d_y[i] - x[i] * along);
        }
    }
}

// y = (w . x r) . silu(gate), r over each head's n entries, or 1 where the read is `plain`; w is shared by the heads;
// rows of gate are gate_row long.
template<class K>
void gated_norm(K* y, K* inverse, K const* x, K const* gate, int gate_row, K const* w, bool plain, int rows, int heads,
                int n) {
    for (int t = 0; t < rows; ++t, gate += gate_row)
        for (int h = 0; h < heads; ++h, x += n, y += n) {
            K const r = inverse[t * heads + h] = plain ? K(1.0) : inverse_rms(x, n, read_epsilon);
            for (int i = 0; i < n; ++i) y[i] = x[i] * r * w[i] * silu(gate[h * n + i]);
        }
}
// Sets d_x and d_gate.
template<class K>
void gated_norm_backward(K* d_x, K* d_gate, K* d_w, K const* d_y, K const* x, K const* inverse, K const* gate,
                         int gate_row, K const* w, bool plain, int rows, int heads, int n) {
    for (int t = 0; t < rows; ++t, gate += gate_row, d_gate += gate_row)
        for (int h = 0; h < heads; ++h, x += n, d_x += n, d_y += n) {
            K const r = inverse[t * heads + h];
            K const* const g = gate + h * n;
            K* const d_g = d_gate + h * n;
            for (int i = 0; i < n; ++i) {
                d_g[i] = d_y[i] * x[i] * r * w[i] * silu_slope(g[i]);
                d_x[i] = d_y[i] * silu(g[i]); // of the normed vector, for now
                d_w[i] += d_x[i] * x[i] * r;
            }
            K const along =
                plain ? K(0.0) : sum<K>(n, [=](int i) { return w[i] * d_x[i] * x[i]; }) * r * r * K(1.0 / n);
            for (int i = 0; i < n; ++i) d_x[i] = r * (w[i] * d_x[i] - x[i] * along);
        }
}

// y[t] = sum_j taps[j] . x[t - j] per channel and sequence; before its first token a sequence has its tail (taps - 1
// rows, the newest last), or zeros where `tail` is null. Rows of x are x_row long; tails are tail_row apart.
template<class K>
void convolution(K* y, K const* x, int x_row, K const* taps, K const* tail, std::size_t tail_row, int sequences,
                 int tokens, int channels, int count) {
    for (int s = 0; s < sequences; ++s)
        for (int t = 0; t < tokens; ++t, y += channels) {
            std::fill(y, y + channels, K(0.0));
            for (int j = 0; j < count; ++j) {
                K const* from = nullptr;
                if (t >= j)
                    from = x + (std::size_t(s) * tokens + t - j) * x_row;
                else if (tail)
                    from = tail + s * tail_row + (count - 1 + t - j) * channels;
                else
                    continue;
                for (int c = 0; c < channels; ++c) y[c] += taps[j * channels + c] * from[c];
            }
        }
}
// Sets d_x; a tail gets no gradient: what came before a segment is given.
template<class K>
void convolution_backward(K* d_x, K* d_taps, K const* d_y, K const* x, int x_row, K const* taps, K const* tail,
                          std::size_t tail_row, int sequences, int tokens, int channels, int count) {
    for (int s = 0; s < sequences; ++s)
        for (int t = 0; t < tokens; ++t) {
            std::size_t const row = std::size_t(s) * tokens + t;
            K* const to = d_x + row * x_row;
            std::fill(to, to + channels, K(0.0));
            for (int j = 0; j < count; ++j) {
                K const* from = nullptr;
                if (t + j < tokens)
                    for (int c = 0; c < channels; ++c) to[c] += taps[j * channels + c] * d_y[(row + j) * channels + c];
                if (t >= j)
                    from = x + (row - j) * x_row;
                else if (tail)
                    from = tail + s * tail_row + (count - 1 + t - j) * channels;
                else
                    continue;
                for (int c = 0; c < channels; ++c) d_taps[j * channels + c] += d_y[row * channels + c] * from[c];
            }
        }
}
// What the next segment's convolution must know: the last rows of tail and x together. `tail` may be `next`.
template<class K>
void convolution_tail(K* next, K const* x, int x_row, K const* tail, std::size_t tail_row, int sequences, int tokens,
                      int channels, int count) {
    for (int s = 0; s < sequences; ++s)
        for (int i = 0; i < count - 1; ++i) { // row i of the tail is token tokens - (count - 1) + i
            int const t = tokens - (count - 1) + i;
            K* const to = next + s * tail_row + i * channels;
            if (t >= 0)
                std::copy_n(x + (std::size_t(s) * tokens + t) * x_row, channels, to);
            else if (tail)
                std::copy_n(tail + s * tail_row + (count - 1 + t) * channels, channels, to);
            else
                std::fill_n(to, channels, K(0.0));
        }
}

// Every vector of n entries that starts at x, x + n, ... in each row becomes x r, r = (|x|^2 + eps)^-1/2, which is
// kept.
template<class K> void unit(K* x, int row, K* inverse, int rows, int vectors, int n) {
    for (int t = 0; t < rows; ++t, x += row)
        for (int v = 0; v < vectors; ++v) {
            K* const y = x + v * n;
            K const r = *inverse++ = K(1.0) / root(sum<K>(n, [y](int i) { return y[i] * y[i]; }) + K(norm_epsilon));
            for (int i = 0; i < n; ++i) y[i] = y[i] * r;
        }
}
// From y, the unit vectors: d becomes r (d - y <y, d>).
template<class K> void unit_backward(K* d, K const* y, int row, K const* inverse, int rows, int vectors, int n) {
    for (int t = 0; t < rows; ++t, d += row, y += row)
        for (int v = 0; v < vectors; ++v) {
            K* const dv = d + v * n;
            K const* const yv = y + v * n;
            K const r = *inverse++, along = sum<K>(n, [=](int i) { return yv[i] * dv[i]; });
            for (int i = 0; i < n; ++i) dv[i] = r * (dv[i] - yv[i] * along);
        }
}

// h = silu(a) . b, where a row of `up` is a then b.
template<class K> void swiglu(K* h, K const* up, int rows, int n) {
    for (int t = 0; t < rows; ++t, h += n, up += 2 * n)
        for (int i = 0; i < n; ++i) h[i] = silu(up[i]) * up[n + i];
}
template<class K> void swiglu_backward(K* d_up, K const* d_h, K const* up, int rows, int n) {
    for (int t = 0; t < rows; ++t, d_h += n, up += 2 * n, d_up += 2 * n)
        for (int i = 0; i < n; ++i) {
            d_up[i] = d_h[i] * up[n + i] * silu_slope(up[i]);
            d_up[n + i] = d_h[i] * silu(up[i]);
        }
}

// Sum over the rows of -log softmax(x)[target], in nats.
template<class K> K cross_entropy(K const* x, unsigned char const* target, int rows, int n) {
    K total(0.0);
    for (int t = 0; t < rows; ++t, x += n) {
        K largest = x[0];
        for (int i = 1; i < n; ++i) largest = value_of(x[i]) > value_of(largest) ? x[i] : largest;
        total += logarithm(sum<K>(n, [=](int i) { return exponential(x[i] - largest); })) + largest - x[target[t]];
    }
    return total;
}
// x becomes the gradient of weight * cross_entropy: weight (softmax(x) - [i = target]).
template<class K> void cross_entropy_backward(K* x, unsigned char const* target, int rows, int n, K weight) {
    for (int t = 0; t < rows; ++t, x += n) {
        K const largest = *std::max_element(x, x + n);
        for (int i = 0; i < n; ++i) x[i] = exponential(x[i] - largest);
        K const scale = weight / sum<K>(n, [x](int i) { return x[i]; });
        for (int i = 0; i < n; ++i) x[i] *= scale;
        x[target[t]] -= weight;
    }
}

} // namespace lm
