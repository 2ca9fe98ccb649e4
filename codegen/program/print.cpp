// Bodies and programs as text, one operation a line: name: shape = operation(arguments; what else it needs)   formula
#include "codegen/program/program.hpp"

#include <fmt/format.h>

#include <set>

namespace deltaloom::codegen {

char const* name(Op op) {
    switch (op) {
    case Op::input: return "input";
    case Op::constant: return "constant";
    case Op::eye: return "eye";
    case Op::logone: return "logone";
    case Op::add: return "add";
    case Op::mul: return "mul";
    case Op::sum: return "sum";
    case Op::transpose: return "transpose";
    case Op::matmul: return "matmul";
    case Op::map: return "map";
    case Op::dmap: return "dmap";
    case Op::vector_map: return "vector_map";
    case Op::vector_vjp: return "vector_vjp";
    case Op::unlog: return "unlog";
    case Op::aslog: return "aslog";
    case Op::addlog: return "addlog";
    case Op::hold: return "hold";
    case Op::interleave: return "interleave";
    case Op::pick: return "pick";
    case Op::decay: return "decay";
    case Op::gram: return "gram";
    case Op::apply: return "apply";
    case Op::applyt: return "applyt";
    case Op::spread: return "spread";
    case Op::solve: return "solve";
    case Op::csolve: return "csolve";
    }
    return "";
}
char const* name(Form form) {
    switch (form) {
    case Form::step: return "step";
    case Form::recurrent: return "recurrent";
    case Form::chunked: return "chunked";
    case Form::parallel: return "parallel";
    case Form::summary: return "summary";
    }
    return "";
}
char const* name(Direction direction) {
    switch (direction) {
    case Direction::forward: return "forward";
    case Direction::backward: return "backward";
    }
    return "";
}
static char const* name(Phase::Kind kind) {
    switch (kind) {
    case Phase::Kind::each: return "each chunk";
    case Phase::Kind::scan_forward: return "chunks in order";
    case Phase::Kind::scan_reverse: return "chunks in reverse";
    }
    return "";
}

std::string print(Extent e, std::vector<std::string> const& dims) {
    switch (e.kind) {
    case Extent::Kind::constant: return std::to_string(e.value);
    case Extent::Kind::dim: return dims.at(e.value);
    case Extent::Kind::tokens: return e.value == 0 ? "0n" : e.value == 1 ? "n" : std::to_string(e.value) + "n";
    }
    return "";
}
static std::string print(Extents s, std::vector<std::string> const& dims) {
    return print(s.rows, dims) + " x " + print(s.cols, dims);
}

static std::string print(EventRows const& rows) {
    auto const state = [&](std::size_t i) { return rows.state.empty() ? "" : ":" + std::to_string(rows.state[i]); };
    switch (rows.kind) {
    case EventRows::Kind::start: return "start" + state(0);
    case EventRows::Kind::end: return "end" + state(0);
    case EventRows::Kind::decays: return "decays" + state(0);
    case EventRows::Kind::tokens: break;
    }
    std::string text;
    for (std::size_t i = 0; i < rows.position.size(); ++i)
        text += (i ? " " : "") + std::to_string(rows.position[i]) + state(i);
    return text;
}
static std::string print(Span const& s) {
    std::string text = fmt::format("reads {}, writes {}", print(s.reads), print(s.writes));
    if (s.micro_steps != 1) text += fmt::format(" of {}", s.micro_steps);
    if (s.decaying.empty())
        text += ", no decays";
    else if (int(s.decaying.size()) != s.micro_steps)
        text += fmt::format(", decays at {}", fmt::join(s.decaying, " "));
    if (!s.masked) text += ", all pairs";
    return text;
}

// What an operation needs beside its arguments.
static std::string details(Node const& n) {
    switch (n.op) {
    case Op::input:
    case Op::constant:
    case Op::eye:
    case Op::logone:
    case Op::add:
    case Op::mul:
    case Op::transpose:
    case Op::matmul:
    case Op::map:
    case Op::unlog:
    case Op::aslog:
    case Op::addlog:
    case Op::interleave: return "";
    case Op::dmap: return n.args.size() == 2 ? "; argument " + std::to_string(n.index) : "";
    case Op::sum: return n.index == 0 ? "; rows" : "; columns";
    case Op::vector_map:
    case Op::vector_vjp: {
        auto const axis = n.index == 0 ? "rows" : "columns";
        if (!maps_features(n.name)) return fmt::format("; {}, eps {}", axis, print(n.number));
        return fmt::format("; {}", axis) + (n.number == 0 ? "" : ", nu " + print(n.number));
    }
    case Op::hold: return n.log ? "; one" : "; " + print(n.number);
    case Op::pick: return fmt::format("; {} of {}", n.index, n.per);
    case Op::decay:
    case Op::gram:
    case Op::apply:
    case Op::applyt:
    case Op::spread: return "; " + print(n.span);
    case Op::solve: return n.transposed ? "; transposed" : "";
    case Op::csolve: return "; " + print(n.span) + (n.transposed ? ", transposed" : "");
    }
    return "";
}
static std::string operation(Node const& n) {
    if (n.op == Op::map || n.op == Op::vector_map) return n.name;
    if (n.op == Op::dmap) return n.name + "'";
    if (n.op == Op::vector_vjp) return n.name + "_vjp";
    if (n.op == Op::decay && n.span.decaying.empty() && n.states == 1) return "mask";
    return name(n.op);
}

std::string print(Body const& body, std::vector<std::string> const& dims) {
    std::set<NodeId> shown; // constants stand where they are used
    for (auto const& [result, i] : body.results) shown.insert(i);
    std::vector<std::string> label;
    std::set<std::string> taken;
    std::string text;
    for (NodeId i = 0; i < NodeId(body.nodes.size()); ++i) {
        auto const& n = body.nodes[i];
        if (n.op == Op::constant && !shown.count(i)) {
            label.push_back(print(n.number) +
                            (n.shape.rows.is_one() && n.shape.cols.is_one() ? "" : "[" + print(n.shape, dims) + "]"));
            continue;
        }
        auto const wish = n.op == Op::input ? n.name : n.hint;
        label.push_back(!wish.empty() && taken.insert(wish).second ? wish : fmt::format("{}%{}", wish, i));
        std::vector<std::string> args;
        for (NodeId a : n.args) args.push_back(label[a]);
        auto const value = n.op == Op::input ? "input"
                           : n.op == Op::constant
                               ? print(n.number)
                               : fmt::format("{}({}{})", operation(n), fmt::join(args, ", "), details(n));
        auto const line =
            fmt::format("  {}: {}{} = {}", label.back(), print(n.shape, dims), n.log ? " log" : "", value);
        text += n.note.empty() ? line + "\n" : fmt::format("{:<64}  # {}\n", line, n.note);
    }
    for (auto const& [result, i] : body.results) text += fmt::format("  -> {} = {}\n", result, label[i]);
    return text;
}

std::string print(TypedRule const& rule, Program const& program) {
    auto text = fmt::format("{}, {} {}{}\n", rule.name, name(program.form), name(program.direction),
                            program.split ? ", split" : "");
    for (auto const& phase : program.phases) {
        text += fmt::format("{}: {}", name(phase.kind), phase.purpose);
        if (!phase.carries.empty()) text += fmt::format("; carries {}", fmt::join(phase.carries, ", "));
        text += "\n" + print(phase.body, rule.dims);
    }
    return text;
}

} // namespace deltaloom::codegen
