#include "codegen/emit/emit_cpp.hpp"

#include "codegen/kernel/names.hpp"
#include "codegen/kernel/print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace deltaloom::codegen {
namespace {

// A number of more than 53 bits is a sum of doubles, largest first.
std::string pieces(Rational rest) {
    std::vector<std::string> all;
    do {
        double const piece = nearest(rest);
        auto text = fmt::format("{}", piece);
        if (text.find_first_of(".e") == text.npos) text += ".0";
        all.push_back(std::move(text));
        rest -= exact(piece);
    } while (rest != 0);
    return fmt::format("{}", fmt::join(all, ", "));
}
std::string number(Rational const& c) {
    auto denominator = boost::multiprecision::denominator(c);
    while (denominator % 2 == 0) denominator /= 2;
    if (denominator == 1) return fmt::format("number<K>({})", pieces(c));
    return fmt::format("rational<K>({}, {})", pieces(Rational(boost::multiprecision::numerator(c))),
                       pieces(Rational(boost::multiprecision::denominator(c))));
}

// The spans that a function names, as tables.
struct Tables {
    std::vector<std::string> names; // of Kernel::spans
    std::string text;
};
std::string list(Tables& tables, Names& names, std::map<std::vector<int>, std::string>& lists,
                 std::vector<int> const& values) {
    if (values.empty()) return "{}";
    auto const [at, added] = lists.try_emplace(values, "");
    if (added) {
        at->second = names.fresh(fmt::format("at_{}", fmt::join(values, "_")));
        tables.text += fmt::format("static constexpr int {}[] = {{{}}};\n", at->second, fmt::join(values, ", "));
    }
    return fmt::format("{{{}, {}}}", at->second, values.size());
}
char const* kind(EventRows::Kind k) {
    switch (k) {
    case EventRows::Kind::start: return "event_rows::start";
    case EventRows::Kind::end: return "event_rows::end";
    case EventRows::Kind::tokens: return "event_rows::tokens";
    case EventRows::Kind::decays: return "event_rows::decays";
    }
    return "";
}
std::string wish(Span const& s) {
    using K = EventRows::Kind;
    if (s.writes.kind == K::start)
        return s.reads.kind == K::end      ? "whole_chunk"
               : s.reads.kind == K::decays ? "start_to_decays"
                                           : "start_to_reads";
    if (s.reads.kind == K::end) return s.writes.kind == K::decays ? "decays_to_end" : "writes_to_end";
    if (s.reads.kind == K::decays) return "writes_to_decays";
    return s.writes.kind == K::decays ? "decays_to_reads" : "writes_to_reads";
}
void spans_of(std::vector<Statement> const& body, std::set<int>& spans) {
    for (auto const& s : body) {
        for (auto const& a : s.arguments)
            if (a.kind == Argument::Kind::span) spans.insert(a.span);
        spans_of(s.body, spans);
    }
}
Tables tables_of(Kernel const& k, Function const& f) {
    Names names;
    for (auto const& d : k.dims) names.taken.insert(d);
    for (auto const& b : f.buffers) names.taken.insert(b.name);
    Tables tables{std::vector<std::string>(k.spans.size()), ""};
    std::map<std::vector<int>, std::string> lists;
    std::set<int> used;
    spans_of(f.body, used);
    for (int i : used) {
        auto const& s = k.spans[i];
        auto const rows = [&](EventRows const& r) {
            auto const position = list(tables, names, lists, r.position);
            return fmt::format("{{{}, {}, {}}}", kind(r.kind), position, list(tables, names, lists, r.state));
        };
        auto const decaying = list(tables, names, lists, s.decaying);
        auto const reads = rows(s.reads);
        auto const writes = rows(s.writes);
        tables.names[i] = names.fresh(wish(s));
        tables.text += fmt::format("// {}\nstatic constexpr span {}{{{}, {}, {}, {}, {}}};\n", print(s),
                                   tables.names[i], s.micro_steps, decaying, reads, writes, s.masked);
    }
    return tables;
}

struct Writer {
    Function const& f;
    std::vector<std::string> const& spans;
    std::string text = {};

    std::string const& name(BufferId b) const { return f.buffers[b].name; }
    std::string argument(Argument const& a) const {
        switch (a.kind) {
        case Argument::Kind::buffer: return name(a.buffer);
        case Argument::Kind::turned: return fmt::format("matrix<K>{{{0}.data, {0}.cols, {0}.rows}}", name(a.buffer));
        case Argument::Kind::list: {
            std::vector<std::string> names;
            for (BufferId b : a.list) names.push_back(name(b));
            return fmt::format("{{{}}}", fmt::join(names, ", "));
        }
        case Argument::Kind::span: return spans[a.span];
        case Argument::Kind::integer: return a.integer;
        }
        return "";
    }
    static std::string head(Loop const& l) {
        if (l.reverse)
            return l.first == "0" ? fmt::format("for (index {0} = {1}; {0}-- > 0;)", l.variable, l.limit)
                                  : fmt::format("for (index {0} = {2}; {0}-- > {1};)", l.variable, l.first, l.limit);
        auto const step = l.step == "1" ? "++" + l.variable : l.variable + " += " + l.step;
        return fmt::format("for (index {0} = {1}; {0} < {2}; {3})", l.variable, l.first, l.limit, step);
    }
    void write(std::vector<Statement> const& body) {
        for (auto const& s : body) {
            if (!s.comment.empty()) text += "\n// " + s.comment + "\n";
            std::vector<std::string> parts;
            switch (s.kind) {
            case Statement::Kind::define: text += fmt::format("index const {} = {};\n", s.name, s.integer); break;
            case Statement::Kind::take:
                text += fmt::format("auto const {} = room.matrix({}, {});\n", name(s.buffer), f.buffers[s.buffer].rows,
                                    f.buffers[s.buffer].cols);
                break;
            case Statement::Kind::alias:
                text += fmt::format("auto const {0} = {1}; // in place of {1}\n", name(s.buffer), name(s.other));
                break;
            case Statement::Kind::view:
                text += fmt::format("matrix<K> const {}{{{}.row({}), {}, {}}};\n", name(s.buffer), name(s.other), s.row,
                                    f.buffers[s.buffer].rows, f.buffers[s.buffer].cols);
                break;
            case Statement::Kind::call:
                for (auto const& a : s.arguments) parts.push_back(argument(a));
                text += fmt::format("{}({});\n", s.name, fmt::join(parts, ", "));
                break;
            case Statement::Kind::each:
                for (auto const& l : s.loops) text += head(l) + "\n";
                text += fmt::format("{}({}, {}) = {};\n", name(s.buffer), s.row, s.col, print(f, s.value, number));
                break;
            case Statement::Kind::loop:
                text += head(s.loops[0]) + " {\n";
                write(s.body);
                text += "}\n";
                break;
            }
        }
    }
};

std::string function_text(Kernel const& k, Function const& f) {
    auto const tables = tables_of(k, f);
    Writer w{f, tables.names};
    w.write(f.body);
    std::vector<std::string> parameters{"sequence const& s"};
    for (auto const& i : f.integers) parameters.push_back("index " + i);
    for (BufferId b : f.parameters) parameters.push_back("matrix<K> " + f.buffers[b].name);
    parameters.push_back(mentions(w.text, "room") ? "scratch<K> room" : "scratch<K>");
    return fmt::format("{}template<class K> void {}({}) {{\n{}{}{}}}\n",
                       f.comment.empty() ? "" : "// " + f.comment + "\n", f.name, fmt::join(parameters, ", "),
                       tables.text, definitions(k, {}, w.text), w.text);
}

} // namespace

std::string functions_text(Kernel const& k) {
    std::string text;
    for (auto const& f : k.functions) text += scratch_text(k, f) + "\n" + function_text(k, f) + "\n";
    return text;
}

} // namespace deltaloom::codegen
