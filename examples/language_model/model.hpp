#pragma once
// The model: bytes -> embedding -> layers -> norm -> logits of the next byte. A layer is
//
//     x1 = norm(x);  p = x1 W        the projections of every operand of the rule, and of the output gate
//     vectors = silu(conv(p)), keys of unit length;  gates through their maps
//     o  = the memory: the generated kernels
//     x  = x + (norm(o) . silu(gate)) W_out
//     x  = x + (silu(a) . b) W_down,   (a, b) = norm(x) W_up
//
// Everything is a template over the scalar: float trains, double and dual numbers test. Rows are tokens, sequence after
// sequence.
#include "fill.hpp"
#include "rule_library.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <memory>

namespace lm {

inline constexpr int bytes = 256;

// Where everything lies in the one vector of parameters (and of gradients, and of the optimiser's moments).
struct Block {
    std::string name;
    std::size_t offset, count;
    bool decays; // matrices: weight decay pulls them to zero
};
struct LayerOffsets {
    std::size_t norm1, projection, bias, taps, learned, head_norm, out, norm2, up, down;
};
struct Offsets {
    std::size_t embedding, norm, head, count;
    std::vector<LayerOffsets> layers;
    std::vector<Block> blocks;
};
// Where everything lies in the state of one sequence: per layer the tail of the convolution, then the rule's states.
struct StateOffsets {
    struct Layer {
        std::size_t tail;
        std::vector<std::size_t> states;
    };
    std::vector<Layer> layers;
    std::size_t count = 0; // of one sequence
};

struct Model {
    Settings settings;
    RuleCalls calls;
    Plan plan;
    Offsets offsets;
    StateOffsets state;
    int projected, value_width; // columns of p; heads * dv

    Model(Settings const&, RuleCalls const&);
    // First values: the same for every scalar, and for every rule with the same operands.
    std::vector<float> initial_parameters() const;
};

// Seconds of a step's parts.
enum class Part { products, memory, convolution, norms, maps, loss, count };
inline constexpr char const* part_names[] = {
    "matrix products", "memory layer (generated)", "convolution, silu, unit", "norms and gate",
    "MLP's silu",      "embedding, loss"};
struct Profile {
    std::array<double, int(Part::count)> seconds{};
};
struct Timed {
    double& to;
    std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
    Timed(Profile& p, Part part) : to(p.seconds[std::size_t(part)]) {}
    Timed(Timed const&) = delete;
    ~Timed() { to += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); }
};

// What a forward keeps for the backward, and the rooms that the backward works in, for one call of `sequences` x
// `tokens`.
template<class K> struct Pass {
    struct Layer {
        K *x, *normed1, *inverse1, *projected, *convolved, *vectors, *unit_inverse, *gates, *read, *read_inverse,
            *mixed, *middle, *normed2, *inverse2, *up, *hidden;
    };
    int sequences, tokens;
    std::vector<Layer> layers;
    K *x, *normed, *inverse, *logits;                                                           // after the last layer
    K *d_x, *d_normed, *d_projected, *d_vectors, *d_gates, *d_read, *d_mixed, *d_up, *d_hidden; // backward
    std::vector<K> learned, d_learned; // a layer's parameters of the rule, through their maps
    std::vector<std::byte> workspace;  // of the kernels
    Profile profile;

    Pass(Model const&, int sequences, int tokens, bool backward);
    std::size_t bytes() const { return memory_.size() * sizeof(K) + workspace.size(); }

private:
    std::vector<K> memory_;
};

// Logits of every token into pass.logits. `before` and `after`: states of the sequences (Model::state, one after
// another), or null: zeros, not wanted; they may be the same.
template<class K>
void forward(Model const&, K const* parameters, unsigned char const* tokens, K const* before, K* after, Pass<K>&);
// After forward on the same tokens, with the `before` it had: adds the gradient of weight * sum of the cross entropies.
// Uses up pass.logits. The state before is given: it gets no gradient.
template<class K>
void backward(Model const&, K const* parameters, unsigned char const* tokens, unsigned char const* targets,
              K const* before, K weight, Pass<K>&, K* gradient);

} // namespace lm
