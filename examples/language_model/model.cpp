#include "model.hpp"

#include <cmath>
#include <fmt/format.h>
#include <random>

namespace lm {
namespace {

Offsets lay_out(Settings const& s, Plan const& plan, int projected, int value_width) {
    Offsets o{};
    auto const block = [&](std::string name, std::size_t count, bool decays) {
        o.blocks.push_back({std::move(name), o.count, count, decays});
        o.count += count;
        return o.blocks.back().offset;
    };
    auto const matrix = [&](std::string const& name, int rows, int columns) {
        return block(name, std::size_t(rows) * std::size_t(columns), true);
    };
    auto const vector = [&](std::string const& name, int n) { return block(name, std::size_t(n), false); };
    o.embedding = matrix("embedding", bytes, s.width);
    for (int l = 0; l < s.layers; ++l) {
        auto const name = [l](char const* what) { return fmt::format("layer {} {}", l, what); };
        LayerOffsets layer{};
        layer.norm1 = vector(name("norm before the memory"), s.width);
        layer.projection = matrix(name("projection"), s.width, projected);
        layer.bias = vector(name("bias of the gates"), plan.gates);
        layer.taps = vector(name("convolution"), s.taps * plan.vectors);
        layer.learned = vector(name("parameters of the rule"), plan.learned);
        layer.head_norm = vector(name("norm of the heads"), s.dv);
        layer.out = matrix(name("output of the memory"), value_width, s.width);
        layer.norm2 = vector(name("norm before the MLP"), s.width);
        layer.up = matrix(name("MLP up"), s.width, 2 * s.hidden);
        layer.down = matrix(name("MLP down"), s.hidden, s.width);
        o.layers.push_back(layer);
    }
    o.norm = vector("last norm", s.width);
    o.head = matrix("head", s.width, bytes);
    return o;
}

StateOffsets lay_out_state(Settings const& s, Plan const& plan) {
    StateOffsets o;
    for (int l = 0; l < s.layers; ++l) {
        StateOffsets::Layer layer{o.count, {}};
        o.count += std::size_t((s.taps - 1) * plan.vectors);
        for (auto const& state : plan.states) {
            layer.states.push_back(o.count);
            o.count += std::size_t(s.heads) * state.entries;
        }
        o.layers.push_back(layer);
    }
    return o;
}

// Normal numbers that depend on the seed and a name only, so that rules with an operand in common start alike.
struct Normal {
    std::mt19937_64 generator;
    Normal(std::uint64_t seed, std::string const& name) {
        std::seed_seq words{std::uint32_t(seed), std::uint32_t(seed >> 32), [&] {
                                std::uint32_t h = 2166136261u;
                                for (unsigned char c : name) h = (h ^ c) * 16777619u;
                                return h;
                            }()};
        generator.seed(words);
    }
    // Box and Muller: the same numbers with every standard library.
    float operator()() {
        auto const uniform = [this] { return (double(generator() >> 11) + 0.5) * 0x1p-53; };
        double const radius = std::sqrt(-2 * std::log(uniform()));
        return float(radius * std::cos(2 * M_PI * uniform()));
    }
};

// Of head h of `heads`: gates that keep between 8 and 512 tokens, strengths between 1/2 and 1/8.
float first_gate(Filling const& f, bool gate, int h, int heads) {
    double const at = heads > 1 ? double(h) / (heads - 1) : 0.5, tokens = 8 * std::pow(64.0, at);
    switch (f.map) {
    case Map::sigmoid: return float(gate ? std::log(tokens - 1) : -2 * at);
    case Map::minus_softplus: return float(std::log(std::expm1(1 / tokens)));
    case Map::unit:
    case Map::plain:
    case Map::none: break;
    }
    return 0;
}

} // namespace

Model::Model(Settings const& s, RuleCalls const& c)
    : settings(s),
      calls(c),
      plan(lm::plan(*c.rule, s)),
      value_width(s.heads * s.dv) {
    projected = plan.vectors + plan.gates + value_width;
    offsets = lay_out(s, plan, projected, value_width);
    state = lay_out_state(s, plan);
}

std::vector<float> Model::initial_parameters() const {
    auto const& s = settings;
    std::vector<float> all(offsets.count);
    auto const fill = [&](std::size_t at, std::size_t rows, std::size_t row, std::size_t columns, double deviation,
                          std::string const& name, double mean = 0) {
        Normal normal(s.seed, name);
        for (std::size_t i = 0; i < rows; ++i)
            for (std::size_t j = 0; j < columns; ++j)
                all[at + i * row + j] = float(mean + deviation * double(normal()));
    };
    auto const dense = [&](std::size_t at, int rows, int columns, double deviation, std::string const& name) {
        fill(at, std::size_t(rows), std::size_t(columns), std::size_t(columns), deviation, name);
    };
    auto const ones = [&](std::size_t at, int n) { std::fill_n(all.begin() + std::ptrdiff_t(at), n, 1.0f); };
    double const residual = 1 / std::sqrt(2.0 * s.layers);
    dense(offsets.embedding, bytes, s.width, 0.3, "embedding");
    for (int l = 0; l < s.layers; ++l) {
        auto const& o = offsets.layers[std::size_t(l)];
        auto const name = [l](std::string const& what) { return fmt::format("{} {}", l, what); };
        ones(o.norm1, s.width), ones(o.norm2, s.width), ones(o.head_norm, s.dv);
        auto const columns = [&](int first, int count, double deviation, std::string const& what) {
            fill(o.projection + std::size_t(first), std::size_t(s.width), std::size_t(projected), std::size_t(count),
                 deviation / std::sqrt(double(s.width)), name(what));
        };
        for (auto const& f : plan.fillings) {
            int const count = s.heads * f.per_head();
            bool const gate = plan.rule->operands[f.operand].kind != DL_INPUT;
            if (f.learned) {
                fill(o.learned + std::size_t(f.column), 1, 0, std::size_t(count), 0.5, name(f.name));
                for (int h = 0; h < s.heads && f.map != Map::none; ++h)
                    std::fill_n(all.begin() + std::ptrdiff_t(o.learned) + f.column + h * f.per_head(), f.per_head(),
                                first_gate(f, gate, h, s.heads));
            } else if (f.map == Map::unit || f.map == Map::plain) {
                columns(f.column, count, 1, f.name);
                for (int j = 0; j < s.taps; ++j)
                    fill(o.taps + std::size_t(j * plan.vectors + f.column), 1, 0, std::size_t(count), 0.25,
                         name(fmt::format("{} tap {}", f.name, j)), j == 0 ? 0.5 : 0);
            } else {
                columns(plan.vectors + f.column, count, 0.5, f.name);
                for (int h = 0; h < s.heads; ++h)
                    std::fill_n(all.begin() + std::ptrdiff_t(o.bias) + f.column + h * f.per_head(), f.per_head(),
                                first_gate(f, gate, h, s.heads));
            }
        }
        columns(plan.vectors + plan.gates, value_width, 1, "output gate");
        dense(o.out, value_width, s.width, residual / std::sqrt(double(value_width)), name("out"));
        dense(o.up, s.width, 2 * s.hidden, 1 / std::sqrt(double(s.width)), name("up"));
        dense(o.down, s.hidden, s.width, residual / std::sqrt(double(s.hidden)), name("down"));
    }
    ones(offsets.norm, s.width);
    dense(offsets.head, s.width, bytes, 0.2 / std::sqrt(double(s.width)), "head");
    return all;
}

} // namespace lm
