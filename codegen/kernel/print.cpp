#include "codegen/kernel/print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deltaloom::codegen {
namespace {

enum Precedence { sum_level, product_level, factor_level };

std::string entry(Function const& f, Scalar const& s, std::string (*number)(Rational const&), int outside) {
    auto const inner = [&](int i, int level) { return entry(f, s.arguments[i], number, level); };
    auto const wrapped = [&](std::string const& text, int own) { return own < outside ? "(" + text + ")" : text; };
    switch (s.kind) {
    case Scalar::Kind::element: return fmt::format("{}({}, {})", f.buffers[s.buffer].name, s.row, s.col);
    case Scalar::Kind::number: return number(s.number);
    case Scalar::Kind::log_one: return "log_one<K>()";
    case Scalar::Kind::add: return wrapped(inner(0, sum_level) + " + " + inner(1, sum_level), sum_level);
    case Scalar::Kind::subtract: return wrapped(inner(0, sum_level) + " - " + inner(1, product_level), sum_level);
    case Scalar::Kind::multiply:
        return wrapped(inner(0, product_level) + " * " + inner(1, factor_level), product_level);
    case Scalar::Kind::negate: return wrapped("-" + inner(0, factor_level), product_level);
    case Scalar::Kind::call: {
        std::vector<std::string> arguments;
        for (std::size_t i = 0; i < s.arguments.size(); ++i) arguments.push_back(inner(int(i), sum_level));
        return fmt::format("{}({})", s.function, fmt::join(arguments, ", "));
    }
    case Scalar::Kind::select:
        return fmt::format("({} ? {} : {})", s.function, inner(0, sum_level), inner(1, sum_level));
    }
    return "";
}

std::string print(Function const& f, Argument const& a) {
    switch (a.kind) {
    case Argument::Kind::buffer: return f.buffers[a.buffer].name;
    case Argument::Kind::turned: return f.buffers[a.buffer].name + "^T";
    case Argument::Kind::list: {
        std::vector<std::string> names;
        for (BufferId b : a.list) names.push_back(f.buffers[b].name);
        return fmt::format("{{{}}}", fmt::join(names, ", "));
    }
    case Argument::Kind::span: return fmt::format("span {}", a.span);
    case Argument::Kind::integer: return a.integer;
    }
    return "";
}
std::string print(Loop const& l) {
    auto text = fmt::format("{} = {} .. {}", l.variable, l.first, l.limit);
    if (l.step != "1") text += " by " + l.step;
    return l.reverse ? text + " in reverse" : text;
}

void print(std::string& text, Function const& f, std::vector<Statement> const& body, int depth) {
    std::string const indent(2 * depth, ' ');
    for (auto const& s : body) {
        if (!s.comment.empty()) text += indent + "# " + s.comment + "\n";
        text += indent;
        auto const extents = [&] {
            return fmt::format("{}: {} x {}", f.buffers[s.buffer].name, f.buffers[s.buffer].rows,
                               f.buffers[s.buffer].cols);
        };
        std::vector<std::string> parts;
        switch (s.kind) {
        case Statement::Kind::define: text += s.name + " = " + s.integer + "\n"; break;
        case Statement::Kind::take: text += extents() + "\n"; break;
        case Statement::Kind::alias: text += extents() + " in place of " + f.buffers[s.other].name + "\n"; break;
        case Statement::Kind::view:
            text += extents() + " of " + f.buffers[s.other].name + " from row " + s.row + "\n";
            break;
        case Statement::Kind::call:
            for (auto const& a : s.arguments) parts.push_back(print(f, a));
            text += fmt::format("{}({})\n", s.name, fmt::join(parts, ", "));
            break;
        case Statement::Kind::each:
            for (auto const& l : s.loops) parts.push_back(fmt::format("{} < {}", l.variable, l.limit));
            text += fmt::format("each {}: {}({}, {}) = {}\n", fmt::join(parts, ", "), f.buffers[s.buffer].name, s.row,
                                s.col, print(f, s.value, [](Rational const& c) { return codegen::print(c); }));
            break;
        case Statement::Kind::loop:
            text += "for " + print(s.loops[0]) + "\n";
            print(text, f, s.body, depth + 1);
            break;
        }
    }
}

} // namespace

std::string print(Function const& f, Scalar const& s, std::string (*number)(Rational const&)) {
    return entry(f, s, number, sum_level);
}

std::string print(EventRows const& rows) {
    auto const state = [&](std::size_t i) { return rows.state.empty() ? "" : ":" + std::to_string(rows.state[i]); };
    switch (rows.kind) {
    case EventRows::Kind::start: return "start" + state(0);
    case EventRows::Kind::end: return "end" + state(0);
    case EventRows::Kind::decays: return "decays" + state(0);
    case EventRows::Kind::tokens: break;
    }
    std::vector<std::string> all;
    for (std::size_t i = 0; i < rows.position.size(); ++i) all.push_back(std::to_string(rows.position[i]) + state(i));
    return fmt::format("{}", fmt::join(all, " "));
}
std::string print(Span const& s) {
    auto text = fmt::format("reads at {}, writes at {}", print(s.reads), print(s.writes));
    if (s.micro_steps != 1) text += fmt::format(" of {} micro-steps", s.micro_steps);
    text += s.decaying.empty() ? ", no decays" : fmt::format(", decays at {}", fmt::join(s.decaying, " "));
    return s.masked ? text : text + ", all pairs";
}

std::string print(Kernel const& k) {
    auto text = fmt::format("{}, {} {}\n", k.rule, name(k.form), name(k.direction));
    for (std::size_t i = 0; i < k.spans.size(); ++i) text += fmt::format("span {}: {}\n", i, print(k.spans[i]));
    if (k.shared) text += fmt::format("functions of {} {}\n", name(*k.shared), name(k.direction));
    for (auto const& f : k.functions) {
        std::vector<std::string> parameters = f.integers;
        for (BufferId b : f.parameters)
            parameters.push_back(fmt::format("{}: {} x {}", f.buffers[b].name, f.buffers[b].rows, f.buffers[b].cols));
        text += fmt::format("\n{}({})\n", f.name, fmt::join(parameters, ", "));
        print(text, f, f.body, 1);
    }
    return text;
}

} // namespace deltaloom::codegen
