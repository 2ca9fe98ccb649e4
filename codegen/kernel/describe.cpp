#include "codegen/kernel/describe.hpp"

#include <fmt/format.h>

namespace deltaloom::codegen {

static std::string name(BlockWriter const& w, NodeId a) {
    auto const v = strip(w.body, a);
    return w.buffer[v.node] >= 0 ? w.function.buffers[w.buffer[v.node]].name : wish(w, v.node);
}

std::string wish(BlockWriter const& w, NodeId id) {
    auto const& n = w.body.nodes[id];
    if (!n.hint.empty()) return n.hint;
    if (n.op == Op::input) return n.name;
    if ((n.op == Op::matmul || n.op == Op::mul) && w.body.nodes[n.args[0]].op != Op::constant) {
        auto const text = name(w, n.args[0]) + "_" + name(w, n.args[1]);
        if (text.size() <= 12) return text;
        return n.op == Op::matmul ? "product" : "scaled";
    }
    switch (n.op) {
    case Op::constant: return n.number == 0 ? "zero" : n.number == 1 ? "ones" : "constant";
    case Op::eye: return "identity";
    case Op::logone: return "unit";
    case Op::sum: return "total";
    case Op::decay: return "D";
    case Op::gram: return "G";
    case Op::solve:
    case Op::csolve: return "U";
    case Op::interleave: return "rows";
    case Op::vector_map: return n.name + "_" + name(w, n.args[0]);
    case Op::spread: return "d_" + name(w, n.args[3]);
    case Op::input:
    case Op::add:
    case Op::mul:
    case Op::transpose:
    case Op::matmul:
    case Op::map:
    case Op::dmap:
    case Op::vector_vjp:
    case Op::unlog:
    case Op::aslog:
    case Op::addlog:
    case Op::hold:
    case Op::pick:
    case Op::apply:
    case Op::applyt: return "x";
    }
    return "x";
}

namespace {

enum Level { of_sum, of_product, of_factor };

// The mathematics of a value in terms of stored ones: a dot multiplies entry by entry, two names side by side are a
// matrix product.
std::string said(BlockWriter const& w, NodeId id, int outside, bool top = false) {
    auto const& n = w.body.nodes[id];
    if (!top && w.buffer[id] >= 0) return w.function.buffers[w.buffer[id]].name;
    auto const arg = [&](int i, int level = of_sum) { return said(w, n.args[i], level); };
    auto const wrapped = [&](std::string const& text, int own) { return own < outside ? "(" + text + ")" : text; };
    auto const called = [&](std::string const& function) {
        std::string text;
        for (std::size_t i = 0; i < n.args.size(); ++i) text += (i ? ", " : "") + arg(int(i));
        return fmt::format("{}({})", function, text);
    };
    switch (n.op) {
    case Op::constant: return print(n.number);
    case Op::eye: return "1";
    case Op::logone: return "log 1";
    case Op::input: return n.name;
    case Op::transpose: return arg(0, of_factor) + "^T";
    case Op::add: return wrapped(arg(0) + " + " + arg(1), of_sum);
    case Op::addlog: return wrapped(arg(0) + " + " + arg(1), of_sum);
    case Op::mul: {
        auto const& first = w.body.nodes[n.args[0]];
        if (first.op == Op::constant && first.number == 1) return said(w, n.args[1], outside);
        if (first.op == Op::constant && first.number == -1) return wrapped("-" + arg(1, of_factor), of_product);
        return wrapped(arg(0, of_product) + " . " + arg(1, of_factor), of_product);
    }
    case Op::matmul: return wrapped(arg(0, of_factor) + " " + arg(1, of_factor), of_product);
    case Op::sum: return fmt::format("sum over {} of {}", n.index == 0 ? "rows" : "columns", arg(0, of_factor));
    case Op::map: return called(n.name);
    case Op::dmap: return called(n.name + "'");
    case Op::vector_map: return called(n.name);
    case Op::vector_vjp: return called("the cotangent under " + n.name + " of ");
    case Op::unlog: return called("exp");
    case Op::aslog: return arg(0, outside);
    case Op::hold: return arg(0, outside);
    case Op::interleave: return called("the events of ");
    case Op::pick: return fmt::format("rows {}, {}, .. of {}", n.index, n.index + n.per, arg(0, of_factor));
    case Op::decay: return mask_of(n) == Mask::none ? "products of the decays between" : "mask";
    case Op::gram: return arg(0, of_factor) + " D " + arg(1, of_factor) + "^T";
    case Op::apply: return "sum over e of " + arg(0, of_factor) + "[i,e] D(e,i) . " + arg(1, of_factor) + "[e]";
    case Op::applyt: return "sum over i of " + arg(0, of_factor) + "[i,e] D(e,i) . " + arg(1, of_factor) + "[i]";
    case Op::spread:
        return "the gradient of the decays in sum of " + arg(0, of_factor) + " . " + arg(1, of_factor) + " D " +
               arg(2, of_factor) + "^T";
    case Op::solve:
        return fmt::format("(1 - {})^{} {}", arg(0, of_product), n.transposed ? "-T" : "-1", arg(1, of_factor));
    case Op::csolve: return n.transposed ? called("adjoint of the triangular systems ") : called("triangular systems ");
    }
    return "";
}

} // namespace

std::string formula(BlockWriter const& w, NodeId id) {
    auto const& n = w.body.nodes[id];
    if (!n.note.empty()) return n.note;
    auto const value = said(w, id, of_sum, true);
    auto const own = w.buffer[id] >= 0 ? w.function.buffers[w.buffer[id]].name + (w.turned[id] ? "^T = " : " = ") : "";
    return value.size() > 90 ? "" : own + value;
}

} // namespace deltaloom::codegen
