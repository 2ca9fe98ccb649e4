// An explanation as a fragment of a LaTeX document; it needs amsmath.
#include "codegen/explain/explain.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace deltaloom::codegen {
namespace {

std::string line(Equation const& e) {
    return e.left.latex + (e.relation == "<-" ? " &\\leftarrow " : " &= ") + e.right.latex;
}

// Equations without words stand together; words come before theirs.
std::string aligned(std::vector<Equation> const& equations) {
    std::string out;
    bool open = false;
    for (auto const& e : equations) {
        if (!e.comment.empty()) {
            if (open) out += "\n\\end{align*}\n";
            open = false;
            out += "\\noindent " + escaped(e.comment) + ":\n";
        }
        out += open ? " \\\\\n" : "\\begin{align*}\n";
        out += "  " + line(e);
        open = true;
    }
    return open ? out + "\n\\end{align*}\n" : out;
}

std::string described(std::vector<Meaning> const& meanings) {
    if (meanings.empty()) return "";
    std::string out = "\\begin{description}\n";
    for (auto const& m : meanings) out += "  \\item[$" + m.what.latex + "$] " + escaped(m.words) + "\n";
    return out + "\\end{description}\n";
}

std::string part(std::string const& words) { return "\n\\paragraph{" + escaped(words) + "}\n"; }

std::string costs_latex(ExplainedCosts const& costs) {
    auto out = part(fmt::format("What a token of one head costs ({})", costs.sizes));
    out += "\\begin{center}\n\\begin{tabular}{lrrr}\n  & operations & bytes in, out & bytes of states \\\\ \\hline\n";
    for (auto const& c : costs.rows)
        out += fmt::format("  {} {} & {:.0f} & {:.0f} & {:.0f} \\\\\n", c.form, c.direction, c.operations,
                           c.token_bytes, c.state_bytes);
    out += fmt::format("  \\hline\n  floor forward & {:.0f} & {:.0f} & 0 \\\\\n", costs.floor_operations,
                       costs.floor_forward);
    out +=
        fmt::format("  floor backward & & {:.0f} & 0 \\\\\n\\end{{tabular}}\n\\end{{center}}\n", costs.floor_backward);
    if (std::any_of(costs.rows.begin(), costs.rows.end(), [](auto const& c) { return c.form == "summary"; }))
        out += "Summary: what a segment pays besides its chunks, so that segments run side by side.\n";
    for (auto const& m : costs.maps)
        out += fmt::format("${}$: {:.0f} features in {:.0f} operations, once a chunk; a tensor of them would be {:.0f} "
                           "bytes a token.\n",
                           m.what.latex, m.features, m.operations, m.bytes);
    for (auto const& [name, bytes] : costs.states)
        out += fmt::format("The state ${}$: {:.0f} bytes.\n", symbol(name).latex, bytes);
    return out;
}

std::string growth_latex(ExplainedGrowths const& growth) {
    auto out = part(fmt::format("Growth, and what float32 keeps of it ({})", growth.sizes));
    out += "\\begin{center}\n\\begin{tabular}{lrrrrr}\n  & state & over half & solve & digits, step & chunked \\\\ "
           "\\hline\n";
    for (auto const& g : growth.rows) {
        auto const solve = growth.chunked ? fmt::format("{:.2g}", g.solve) : "";
        auto const digits = growth.chunked ? fmt::format("{:.1f}", g.digits_chunked) : "";
        out += fmt::format("  {} & {:.2g} & {:.2g} & {} & {:.1f} & {} \\\\\n", escaped(g.keys), g.state, g.over_half,
                           solve, g.digits_step, digits);
    }
    out += "\\end{tabular}\n\\end{center}\n" + escaped(growth_words) + "\n";
    return growth.advice.empty() ? out : out + "Where it grows without bound: " + escaped(growth.advice) + ".\n";
}

} // namespace

std::string latex(Explanation const& x) {
    auto out = "% needs \\usepackage{amsmath}\n\\subsection*{" + escaped(x.name) + "}\n";
    out += "\\begin{verbatim}\n" + x.line + "\n\\end{verbatim}\n";
    std::vector<Meaning> operands;
    for (auto const& o : x.operands) operands.push_back({o.what, text(o)});
    out += described(operands);
    out += part("The line, as mathematics.") + aligned(x.statements);
    if (!x.recurrence.empty()) {
        out += part("The canonical recurrence: one token, in order.") + aligned(x.recurrence) + described(x.components);
        out += part("The chunk: many tokens at once.");
        for (auto const& c : x.chunks) out += described(c.meanings) + aligned(c.definitions) + aligned(c.equations);
        out += aligned(x.outputs);
    }
    out += part("Forms.");
    for (auto const& f : x.forms) out += (&f == &x.forms.front() ? "" : ", ") + f;
    out += ".\n";
    for (auto const& m : x.missing) {
        out += "No " + m.forms + ": " + escaped(m.reason);
        if (m.where.known()) out += escaped(fmt::format(" ({}:{}:{})", m.where.file, m.where.line, m.where.column));
        out += ".\n";
    }
    out += costs_latex(x.costs);
    return x.growth ? out + growth_latex(*x.growth) : out;
}

} // namespace deltaloom::codegen
