// The degree rule of every operation, for the Schwartz-Zippel bound: the formal total degree of a value's entries.
#include "codegen/program/events.hpp"
#include "codegen/program/interpret.hpp"

#include <algorithm>
#include <stdexcept>

namespace deltaloom::codegen {

// No proof is wanted of values beyond; what is computed from values up to here stays far below 2^63.
static constexpr long largest = 1L << 40;

// The longest product of decay rows between a write and a read.
static long longest(Span const& span, Sizes const& sizes) {
    long most = 0;
    auto const writes = writes_of(span, sizes.tokens);
    for (auto const& read : reads_of(span, sizes.tokens))
        for (auto const& write : writes)
            if (reaches(span, write, read)) most = std::max<long>(most, read.decay - write.decay - 1);
    return most;
}

// The scale of a vector map is a fresh variable, and so is each exponential; sqrt' another, (1/x)' the square of one.
static long vector_degree(std::string const& f, long x) {
    if (f == "dpfp") return 2; // of two values of relu
    if (f == "taylor2") return 2 * x;
    return f == "softmax" ? 2 : x + 1;
}
static long vjp_degree(std::string const& f, long x, long y) {
    if (f == "dpfp") return y + 2;
    if (f == "taylor2") return y + x;
    if (f == "softmax") return y + 4;
    if (f == "sum_norm") return y + x + 2;
    return y + 2 * x + 3;
}

static long degree(Node const& n, std::vector<long> const& a, std::map<std::string, long> const& inputs,
                   Sizes const& sizes) {
    auto const steps = std::max<long>(sizes.of(n.shape.rows) - 1, 0);
    switch (n.op) {
    case Op::input: {
        auto const given = inputs.find(n.name);
        if (given == inputs.end()) throw std::logic_error("the degree of input " + n.name + " is not given");
        return given->second;
    }
    case Op::constant:
    case Op::eye:
    case Op::logone: return 0;
    case Op::add:
    case Op::interleave: return *std::max_element(a.begin(), a.end());
    case Op::mul:
    case Op::matmul:
    case Op::addlog: return a[0] + a[1];
    case Op::sum:
    case Op::transpose:
    case Op::unlog:
    case Op::hold:
    case Op::pick: return a[0];
    case Op::map: return a.size() == 2 ? std::max(a[1], 1L) : 1; // larger(a, b) is b and a fresh variable
    case Op::dmap:
    case Op::aslog: return 1;
    case Op::vector_map: return vector_degree(n.name, a[0]);
    case Op::vector_vjp: return vjp_degree(n.name, a[0], a[1]);
    case Op::decay: return longest(n.span, sizes) * *std::max_element(a.begin(), a.end());
    case Op::gram:
    case Op::apply:
    case Op::applyt: return a[0] + a[1] + longest(n.span, sizes) * a[2];
    case Op::spread: return a[0] + a[1] + a[2] + std::max(longest(n.span, sizes) - 1, 0L) * a[3];
    case Op::solve: return a[1] + steps * a[0];
    case Op::csolve: return a[2] + steps * (a[0] + a[1] + longest(n.span, sizes) * a[3]);
    }
    return 0;
}

std::map<std::string, long> degrees(Body const& body, std::map<std::string, long> const& inputs, Sizes const& sizes) {
    std::vector<bool> live(body.nodes.size());
    for (auto const& [name, i] : body.results) live[i] = true;
    for (std::size_t i = body.nodes.size(); i-- > 0;)
        if (live[i])
            for (NodeId a : body.nodes[i].args) live[a] = true;
    std::vector<long> of(body.nodes.size());
    for (std::size_t i = 0; i < body.nodes.size(); ++i) {
        if (!live[i]) continue;
        std::vector<long> arguments;
        for (NodeId a : body.nodes[i].args) arguments.push_back(of[a]);
        of[i] = std::min(degree(body.nodes[i], arguments, inputs, sizes), largest);
    }
    std::map<std::string, long> results;
    for (auto const& [name, i] : body.results) results[name] = of[i];
    return results;
}

} // namespace deltaloom::codegen
