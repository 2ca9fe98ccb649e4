// An explanation for a terminal.
#include "codegen/explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace deltaloom::codegen {
namespace {

// Words after a hanging indent, at most 100 columns.
std::string wrapped(std::string const& words, std::size_t indent) {
    std::string out, line;
    std::size_t at = 0;
    while (at < words.size()) {
        auto const space = std::min(words.find(' ', at), words.size());
        auto const word = words.substr(at, space - at);
        if (!line.empty() && indent + line.size() + 1 + word.size() > 100) {
            out += (out.empty() ? "" : std::string(indent, ' ')) + line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
        at = space + 1;
    }
    return out + (out.empty() ? "" : std::string(indent, ' ')) + line + "\n";
}

std::string heading(std::string const& words) { return "\n" + words + "\n"; }

std::string table(std::vector<Meaning> const& meanings) {
    std::size_t width = 0;
    for (auto const& m : meanings) width = std::max(width, m.what.text.size());
    std::string out;
    for (auto const& m : meanings)
        out += fmt::format("    {:<{}}  {}", m.what.text, width, wrapped(m.words, width + 6));
    return out;
}

std::string lines(std::vector<Equation> const& equations) {
    std::string out;
    for (auto const& e : equations) {
        out += "    " + text(e) + "\n";
        if (!e.comment.empty()) out += "        " + wrapped(e.comment, 8);
    }
    return out;
}

std::string size_text(double bytes) {
    if (bytes >= 1024 * 1024) return fmt::format("{:.4g} MiB", bytes / (1024 * 1024));
    return bytes >= 1024 ? fmt::format("{:.4g} KiB", bytes / 1024) : fmt::format("{:.0f} B", bytes);
}

std::string costs_text(ExplainedCosts const& costs) {
    auto out = heading(fmt::format("What a token of one head costs ({})", costs.sizes));
    auto const row = [&](std::string const& what, double operations, double token, double state) {
        out += fmt::format("    {:<22}{:>14.0f}{:>18.0f}{:>18.0f}\n", what, operations, token, state);
    };
    out += fmt::format("    {:<22}{:>14}{:>18}{:>18}\n", "", "operations", "bytes in, out", "bytes of states");
    for (auto const& c : costs.rows) row(c.form + " " + c.direction, c.operations, c.token_bytes, c.state_bytes);
    row("floor forward", costs.floor_operations, costs.floor_forward, 0);
    out += fmt::format("    {:<22}{:>14}{:>18.0f}{:>18}\n", "floor backward", "", costs.floor_backward, 0);
    out += "    " + wrapped("The floor: decays, reads and writes of the state by the bare recurrence; every input and "
                            "output once, in the backward "
                            "their gradients too, the state never. Parameters are not counted.",
                            4);
    if (std::any_of(costs.rows.begin(), costs.rows.end(), [](auto const& c) { return c.form == "summary"; }))
        out += "    " + wrapped("Summary: what a segment pays besides its chunks, so that segments run side by side: "
                                "forward its affine map of the state, which a backward needs too; backward what its "
                                "outputs owe to the state before it.",
                                4);
    for (auto const& m : costs.maps)
        out += "    " + wrapped(fmt::format("{}: {:.0f} features in {:.0f} operations, in the kernel's own memory and "
                                            "once a chunk; a tensor of them would be {} a token, to write and to read",
                                            m.what.text, m.features, m.operations, size_text(m.bytes)),
                                4);
    for (auto const& [name, bytes] : costs.states) out += fmt::format("    the state {}: {}\n", name, size_text(bytes));
    return out;
}

std::string growth_text(ExplainedGrowths const& growth) {
    auto out = heading(fmt::format("Growth, and what float32 keeps of it ({})", growth.sizes));
    out += fmt::format("    {:<28}{:>10}{:>12}{:>10}{:>14}{:>14}\n", "", "state", "over half", "solve", "digits, step",
                       "chunked");
    auto const chunked = [&](std::string const& text) { return growth.chunked ? text : std::string(); };
    for (auto const& g : growth.rows)
        out += fmt::format("    {:<28}{:>10.2g}{:>12.2g}{:>10}{:>14.1f}{:>14}\n", g.keys, g.state, g.over_half,
                           chunked(fmt::format("{:.2g}", g.solve)), g.digits_step,
                           chunked(fmt::format("{:.1f}", g.digits_chunked)));
    out += "    " + wrapped(growth_words, 4);
    if (!growth.advice.empty()) out += "    " + wrapped("Where it grows without bound: " + growth.advice + ".", 4);
    return out;
}

std::string join(std::vector<std::string> const& words) {
    std::string out;
    for (auto const& w : words) out += (out.empty() ? "" : ", ") + w;
    return out;
}

} // namespace

std::string text(Equation const& e) { return e.left.text + " " + e.relation + " " + e.right.text; }

std::string text(Explanation const& x) {
    auto out = x.name + "\n    " + x.line + "\n";
    if (x.where.known()) out += fmt::format("    {}:{}\n", x.where.file, x.where.line);
    std::vector<Meaning> operands;
    for (auto const& o : x.operands) operands.push_back({o.what, text(o)});
    out += heading("Operands") + table(operands);
    out += heading("The line, as mathematics (a . b: entry by entry)") + lines(x.statements);
    if (!x.recurrence.empty()) {
        out +=
            heading("The canonical recurrence: one token, in order") + lines(x.recurrence) + "\n" + table(x.components);
        out += heading("The chunk: many tokens at once (k[e]: the row of k at the token of e)");
        for (auto const& c : x.chunks) {
            if (x.chunks.size() > 1) out += (&c == &x.chunks.front() ? "  " : "\n  ") + c.states + "\n";
            out += table(c.meanings);
            if (!c.definitions.empty()) out += "\n" + lines(c.definitions);
            out += "\n" + lines(c.equations);
        }
        if (!x.outputs.empty()) out += "\n" + lines(x.outputs);
    }
    out += heading("Forms") + "    " + join(x.forms) + "\n";
    for (auto const& m : x.missing) {
        out += "    no " + m.forms + ": " + wrapped(m.reason, 4);
        if (m.where.known())
            out += fmt::format("        {}{}:{}:{}\n",
                               m.operation.empty() ? "at " : "the operator " + m.operation + " at ", m.where.file,
                               m.where.line, m.where.column);
        if (x.recurrence.empty()) out += "        step and recurrent compute the line above as it stands\n";
    }
    out += costs_text(x.costs);
    return x.growth ? out + growth_text(*x.growth) : out;
}

} // namespace deltaloom::codegen
