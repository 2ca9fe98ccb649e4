#pragma once
// The bodies of forward and backward, for whoever needs them over another scalar than float or double.
#include "gemm.hpp"
#include "memory_layer.hpp"

namespace lm {

template<class K> Pass<K>::Pass(Model const& m, int s, int t, bool with_backward) : sequences(s), tokens(t) {
    auto const& shape = m.settings;
    std::size_t const rows = std::size_t(s) * std::size_t(t);
    std::vector<std::pair<K**, std::size_t>> wanted; // pointers to set, once the one allocation is made
    auto const want = [&](K*& to, int columns) { wanted.emplace_back(&to, rows * std::size_t(columns)); };
    layers.resize(std::size_t(shape.layers));
    for (auto& l : layers) {
        want(l.x, shape.width), want(l.normed1, shape.width), want(l.inverse1, 1), want(l.projected, m.projected);
        want(l.convolved, m.plan.vectors), want(l.vectors, m.plan.vectors), want(l.unit_inverse, m.plan.units);
        want(l.gates, m.plan.gates), want(l.read, m.value_width), want(l.read_inverse, shape.heads);
        want(l.mixed, m.value_width), want(l.middle, shape.width), want(l.normed2, shape.width), want(l.inverse2, 1);
        want(l.up, 2 * shape.hidden), want(l.hidden, shape.hidden);
    }
    want(x, shape.width), want(normed, shape.width), want(inverse, 1), want(logits, lm::bytes);
    if (with_backward) {
        want(d_x, shape.width), want(d_normed, shape.width), want(d_projected, m.projected);
        want(d_vectors, m.plan.vectors), want(d_gates, m.plan.gates), want(d_read, m.value_width);
        want(d_mixed, m.value_width), want(d_up, 2 * shape.hidden), want(d_hidden, shape.hidden);
    }
    std::size_t total = 0;
    for (auto const& [to, count] : wanted) total += (count + 15) / 16 * 16;
    memory_.resize(total);
    K* at = memory_.data();
    for (auto const& [to, count] : wanted) *to = at, at += (count + 15) / 16 * 16;
    learned.resize(std::size_t(m.plan.learned)), d_learned.resize(learned.size());
}

template<class K> K mapped(Map map, K raw) {
    switch (map) {
    case Map::sigmoid: return sigmoid(raw);
    case Map::minus_softplus: return -softplus(raw);
    case Map::unit:
    case Map::plain:
    case Map::none: break;
    }
    return raw;
}
// d(mapped)/d(raw), from the mapped value where that is enough.
template<class K> K map_slope(Map map, K value, K raw) {
    switch (map) {
    case Map::sigmoid: return value * (K(1.0) - value);
    case Map::minus_softplus: return -sigmoid(raw);
    case Map::unit:
    case Map::plain:
    case Map::none: break;
    }
    return K(1.0);
}

template<class K> void fill_learned(Model const& m, K const* raw, std::vector<K>& learned) {
    for (auto const& f : m.plan.fillings)
        for (int i = 0; f.learned && i < m.settings.heads * f.per_head(); ++i)
            learned[std::size_t(f.column + i)] = mapped(f.map, raw[f.column + i]);
}

template<class K>
void forward(Model const& m, K const* w, unsigned char const* tokens, K const* before, K* after, Pass<K>& p) {
    auto const& s = m.settings;
    int const rows = p.sequences * p.tokens, C = m.plan.vectors, G = m.plan.gates, P = m.projected, V = m.value_width;
    {
        Timed const timed(p.profile, Part::loss);
        for (int t = 0; t < rows; ++t)
            std::copy_n(w + m.offsets.embedding + std::size_t(tokens[t]) * std::size_t(s.width), s.width,
                        p.layers[0].x + std::size_t(t) * std::size_t(s.width));
    }
    for (int l = 0; l < s.layers; ++l) {
        auto& a = p.layers[std::size_t(l)];
        auto const& o = m.offsets.layers[std::size_t(l)];
        K* const next = l + 1 < s.layers ? p.layers[std::size_t(l) + 1].x : p.x;
        auto const tail = m.state.layers[std::size_t(l)].tail;
        {
            Timed const timed(p.profile, Part::norms);
            rms_norm(a.normed1, a.inverse1, a.x, w + o.norm1, rows, s.width);
        }
        {
            Timed const timed(p.profile, Part::products);
            project(a.projected, a.normed1, w + o.projection, rows, s.width, P);
        }
        {
            Timed const timed(p.profile, Part::convolution);
            convolution(a.convolved, a.projected, P, w + o.taps, before ? before + tail : nullptr, m.state.count,
                        p.sequences, p.tokens, C, s.taps);
            if (after)
                convolution_tail(after + tail, a.projected, P, before ? before + tail : nullptr, m.state.count,
                                 p.sequences, p.tokens, C, s.taps);
            for (std::size_t i = 0; i < std::size_t(rows) * std::size_t(C); ++i) a.vectors[i] = silu(a.convolved[i]);
            K* inverse = a.unit_inverse;
            for (auto const& f : m.plan.fillings) {
                if (f.map == Map::unit) {
                    unit(a.vectors + f.column, C, inverse, rows, s.heads * f.steps, f.n);
                    inverse += std::size_t(rows) * std::size_t(s.heads * f.steps);
                }
                if (f.learned || f.map == Map::unit || f.map == Map::plain) continue;
                for (int t = 0; t < rows; ++t)
                    for (int i = f.column; i < f.column + s.heads * f.per_head(); ++i)
                        a.gates[t * G + i] = mapped(f.map, a.projected[std::size_t(t) * P + C + i] + w[o.bias + i]);
            }
            fill_learned(m, w + o.learned, p.learned);
        }
        {
            Timed const timed(p.profile, Part::memory);
            run_memory<K>(m, l, p.sequences, p.tokens,
                          {.vectors = a.vectors,
                           .gates = a.gates,
                           .learned = p.learned.data(),
                           .read = a.read,
                           .before = before,
                           .after = after},
                          p.workspace, false);
        }
        {
            Timed const timed(p.profile, Part::norms);
            gated_norm(a.mixed, a.read_inverse, a.read, a.projected + C + G, P, w + o.head_norm, s.plain_read, rows,
                       s.heads, s.dv);
        }
        {
            Timed const timed(p.profile, Part::products);
            std::copy_n(a.x, rows * s.width, a.middle);
            project(a.middle, a.mixed, w + o.out, rows, V, s.width, true);
        }
        {
            Timed const timed(p.profile, Part::norms);
            rms_norm(a.normed2, a.inverse2, a.middle, w + o.norm2, rows, s.width);
        }
        {
            Timed const timed(p.profile, Part::products);
            project(a.up, a.normed2, w + o.up, rows, s.width, 2 * s.hidden);
        }
        {
            Timed const timed(p.profile, Part::maps);
            swiglu(a.hidden, a.up, rows, s.hidden);
        }
        {
            Timed const timed(p.profile, Part::products);
            std::copy_n(a.middle, rows * s.width, next);
            project(next, a.hidden, w + o.down, rows, s.hidden, s.width, true);
        }
    }
    {
        Timed const timed(p.profile, Part::norms);
        rms_norm(p.normed, p.inverse, p.x, w + m.offsets.norm, rows, s.width);
    }
    Timed const timed(p.profile, Part::products);
    project(p.logits, p.normed, w + m.offsets.head, rows, s.width, lm::bytes);
}

template<class K>
void backward(Model const& m, K const* w, unsigned char const* tokens, unsigned char const* targets, K const* before,
              K weight, Pass<K>& p, K* g) {
    auto const& s = m.settings;
    int const rows = p.sequences * p.tokens, C = m.plan.vectors, G = m.plan.gates, P = m.projected, V = m.value_width;
    {
        Timed const timed(p.profile, Part::loss);
        cross_entropy_backward(p.logits, targets, rows, lm::bytes, weight);
    }
    {
        Timed const timed(p.profile, Part::products);
        project_backward(p.d_normed, g + m.offsets.head, p.logits, p.normed, w + m.offsets.head, rows, s.width,
                         lm::bytes);
    }
    std::fill_n(p.d_x, rows * s.width, K(0.0));
    {
        Timed const timed(p.profile, Part::norms);
        rms_norm_backward(p.d_x, g + m.offsets.norm, p.d_normed, p.x, p.inverse, w + m.offsets.norm, rows, s.width);
    }
    for (int l = s.layers - 1; l >= 0; --l) {
        auto& a = p.layers[std::size_t(l)];
        auto const& o = m.offsets.layers[std::size_t(l)];
        auto const tail = m.state.layers[std::size_t(l)].tail;
        {
            Timed const timed(p.profile, Part::products);
            project_backward(p.d_hidden, g + o.down, p.d_x, a.hidden, w + o.down, rows, s.hidden, s.width);
        }
        {
            Timed const timed(p.profile, Part::maps);
            swiglu_backward(p.d_up, p.d_hidden, a.up, rows, s.hidden);
        }
        {
            Timed const timed(p.profile, Part::products);
            project_backward(p.d_normed, g + o.up, p.d_up, a.normed2, w + o.up, rows, s.width, 2 * s.hidden);
        }
        {
            Timed const timed(p.profile, Part::norms);
            rms_norm_backward(p.d_x, g + o.norm2, p.d_normed, a.middle, a.inverse2, w + o.norm2, rows, s.width);
        }
        {
            Timed const timed(p.profile, Part::products);
            project_backward(p.d_mixed, g + o.out, p.d_x, a.mixed, w + o.out, rows, V, s.width);
        }
        {
            Timed const timed(p.profile, Part::norms);
            gated_norm_backward(p.d_read, p.d_projected + C + G, g + o.head_norm, p.d_mixed, a.read, a.read_inverse,
                                a.projected + C + G, P, w + o.head_norm, s.plain_read, rows, s.heads, s.dv);
        }
        {
            Timed const timed(p.profile, Part::memory);
            fill_learned(m, w + o.learned, p.learned);
            run_memory<K>(m, l, p.sequences, p.tokens,
                          {a.vectors, a.gates, p.learned.data(), a.read, p.d_vectors, p.d_gates, p.d_learned.data(),
                           p.d_read, before},
                          p.workspace, true);
        }
        {
            Timed const timed(p.profile, Part::convolution);
            K const* inverse = a.unit_inverse;
            for (auto const& f : m.plan.fillings) {
                int const count = s.heads * f.per_head();
                if (f.map == Map::unit) {
                    unit_backward(p.d_vectors + f.column, a.vectors + f.column, C, inverse, rows, s.heads * f.steps,
                                  f.n);
                    inverse += std::size_t(rows) * std::size_t(s.heads * f.steps);
                } else if (f.learned) {
                    for (int i = f.column; i < f.column + count; ++i)
                        g[o.learned + i] +=
                            p.d_learned[std::size_t(i)] * map_slope(f.map, p.learned[std::size_t(i)], w[o.learned + i]);
                } else if (f.map != Map::plain) {
                    for (int t = 0; t < rows; ++t)
                        for (int i = f.column; i < f.column + count; ++i) {
                            std::size_t const at = std::size_t(t) * P + C + i;
                            p.d_projected[at] = p.d_gates[t * G + i] *
                                                map_slope(f.map, a.gates[t * G + i], a.projected[at] + w[o.bias + i]);
                            g[o.bias + i] += p.d_projected[at];
                        }
                }
            }
            for (std::size_t i = 0; i < std::size_t(rows) * std::size_t(C); ++i)
                p.d_vectors[i] *= silu_slope(a.convolved[i]);
            convolution_backward(p.d_projected, g + o.taps, p.d_vectors, a.projected, P, w + o.taps,
                                 before ? before + tail : nullptr, m.state.count, p.sequences, p.tokens, C, s.taps);
        }
        {
            Timed const timed(p.profile, Part::products);
            project_backward(p.d_normed, g + o.projection, p.d_projected, a.normed1, w + o.projection, rows, s.width,
                             P);
        }
        {
            Timed const timed(p.profile, Part::norms);
            rms_norm_backward(p.d_x, g + o.norm1, p.d_normed, a.x, a.inverse1, w + o.norm1, rows, s.width);
        }
    }
    Timed const timed(p.profile, Part::loss);
    for (int t = 0; t < rows; ++t) {
        K* const to = g + m.offsets.embedding + std::size_t(tokens[t]) * std::size_t(s.width);
        for (int i = 0; i < s.width; ++i) to[i] += p.d_x[std::size_t(t) * std::size_t(s.width) + i];
    }
}

} // namespace lm
