// Explanations as one page: XHTML that is well-formed XML, formulas as MathML, nothing fetched from anywhere.
#include "codegen/explain/explain.hpp"
#include "codegen/explain/mathml.hpp"

#include <fmt/format.h>

namespace deltaloom::codegen {
namespace {

using mathml::element;

constexpr char const* style = R"(
:root { color-scheme: light dark; --ink: #1d2330; --paper: #fdfdfb; --faint: #5b6475; --line: #d5d9e0; --box: #f2f3f6; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ee; --paper: #15181f; --faint: #a2abbb; --line: #394150; --box: #1f242e; }
}
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
h1, h2, h3 { line-height: 1.2; }
h2 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; }
h3 { margin-top: 2rem; }
pre, .scroll { overflow-x: auto; }
pre { background: var(--box); padding: .75rem; white-space: pre-wrap; }
table { border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid var(--line); }
.numbers td { text-align: right; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--faint); padding-bottom: .25rem; }
.words { color: var(--faint); margin: .75rem 0 0; }
.scroll > math { display: inline-block; margin: .4rem 1.5rem; }
a { color: inherit; }
)";

std::string tag(std::string const& name, std::string const& attributes, std::string const& inside) {
    return "<" + name + " " + attributes + ">" + inside + "</" + name + ">\n";
}
std::string paragraph(std::string const& words) { return element("p", mathml::escaped(words)) + "\n"; }

std::string math(Formula const& f) { return tag("math", "xmlns=\"http://www.w3.org/1998/Math/MathML\"", f.mathml); }
std::string displayed(Equation const& e) {
    auto const all = mathml::row({e.left.mathml, mathml::sign(e.relation == "<-" ? "\u2190" : "="), e.right.mathml});
    auto const formula = tag("math", "xmlns=\"http://www.w3.org/1998/Math/MathML\" displaystyle=\"true\"", all);
    return tag("div", "class=\"scroll\"", formula);
}

// Words come before theirs.
std::string equations(std::vector<Equation> const& all) {
    std::string out;
    for (auto const& e : all) {
        if (!e.comment.empty()) out += tag("p", "class=\"words\"", mathml::escaped(e.comment) + ":");
        out += displayed(e);
    }
    return out;
}

struct Table {
    std::string caption;
    std::vector<std::string> columns; // plain words
    std::string kind = "";            // "numbers"
    std::string body = "";

    // The first cell heads the row. Cells are markup.
    void row(std::vector<std::string> const& cells) {
        std::string line;
        for (auto const& cell : cells)
            line += &cell == &cells.front() ? "<th scope=\"row\">" + cell + "</th>" : element("td", cell);
        body += element("tr", line) + "\n";
    }
    std::string text() const {
        std::string head;
        for (auto const& c : columns) head += "<th scope=\"col\">" + mathml::escaped(c) + "</th>";
        auto const inside = (caption.empty() ? "" : element("caption", mathml::escaped(caption)) + "\n") +
                            element("thead", element("tr", head)) + "\n" + element("tbody", "\n" + body) + "\n";
        auto const table = kind.empty() ? element("table", inside) : tag("table", "class=\"" + kind + "\"", inside);
        return tag("div", "class=\"scroll\"", table);
    }
};

std::string meanings(std::string const& caption, std::vector<Meaning> const& all) {
    if (all.empty()) return "";
    Table table{caption, {"symbol", "meaning"}};
    for (auto const& m : all) table.row({math(m.what), mathml::escaped(m.words)});
    return table.text();
}

std::string operands(std::vector<ExplainedOperand> const& all) {
    Table table{"", {"operand", "role", "shape", "domain"}};
    for (auto const& o : all)
        table.row({math(o.what), o.role, mathml::escaped(o.shape),
                   o.domain.empty() ? std::string("any finite number") : mathml::escaped(o.domain)});
    return table.text();
}

std::string costs(ExplainedCosts const& all) {
    Table table{"Of one token and one head: " + all.sizes,
                {"form", "operations", "bytes in, out", "bytes of states"},
                "numbers"};
    auto const number = [](double x) { return fmt::format("{:.0f}", x); };
    for (auto const& c : all.rows)
        table.row({c.form + " " + c.direction, number(c.operations), number(c.token_bytes), number(c.state_bytes)});
    table.row({"floor forward", number(all.floor_operations), number(all.floor_forward), "0"});
    table.row({"floor backward", "", number(all.floor_backward), "0"});
    std::string states;
    for (auto const& [name, bytes] : all.states)
        states += fmt::format("{}the state {}: {:.0f} bytes", states.empty() ? "" : "; ", name, bytes);
    return table.text() +
           paragraph("The floor: decays, reads and writes of the state by the bare recurrence; every input and output "
                     "once, in the backward their gradients too, the state never.") +
           (states.empty() ? "" : paragraph(states + "."));
}

std::string growth(ExplainedGrowths const& all) {
    Table table{all.sizes, {"keys", "state", "over half", "solve", "digits, step", "digits, chunked"}, "numbers"};
    for (auto const& g : all.rows)
        table.row({mathml::escaped(g.keys), fmt::format("{:.2g}", g.state), fmt::format("{:.2g}", g.over_half),
                   all.chunked ? fmt::format("{:.2g}", g.solve) : "", fmt::format("{:.1f}", g.digits_step),
                   all.chunked ? fmt::format("{:.1f}", g.digits_chunked) : ""});
    return table.text() + paragraph(growth_words) +
           (all.advice.empty() ? "" : paragraph("Where it grows without bound: " + all.advice + "."));
}

std::string missing(MissingForm const& m) {
    auto text = "No " + m.forms + ": " + m.reason;
    if (m.where.known())
        text += fmt::format(" ({}{}:{}:{})", m.operation.empty() ? "" : "the operator " + m.operation + " at ",
                            m.where.file, m.where.line, m.where.column);
    return paragraph(text + ".");
}

// `level` of its heading, those of its parts are one lower.
std::string section(Explanation const& x, int level) {
    auto const heading = [level](int below, std::string const& words) {
        return element(fmt::format("h{}", level + below), mathml::escaped(words)) + "\n";
    };
    auto out = heading(0, x.name);
    out += element("pre", element("code", mathml::escaped(x.line))) + "\n";
    auto const part = [&](char const* words, std::string const& inside) {
        if (!inside.empty()) out += heading(1, words) + inside;
    };
    part("Operands", operands(x.operands));
    part("The line, as mathematics", equations(x.statements));
    if (!x.recurrence.empty()) {
        part("The canonical recurrence: one token, in order",
             equations(x.recurrence) + meanings("What each memory is", x.components));
        std::string chunk;
        for (auto const& c : x.chunks) {
            if (x.chunks.size() > 1) chunk += heading(2, "The memory " + c.states);
            chunk += meanings("", c.meanings) + equations(c.definitions) + equations(c.equations);
        }
        part("The chunk: many tokens at once", chunk + equations(x.outputs));
    }
    std::string forms;
    for (auto const& f : x.forms) forms += (forms.empty() ? "" : ", ") + f;
    forms = paragraph(forms + ".");
    for (auto const& m : x.missing) forms += missing(m);
    if (x.recurrence.empty()) forms += paragraph("Step and recurrent compute the line above as it stands.");
    part("Forms", forms);
    part("Costs", costs(x.costs));
    if (x.growth) part("Growth, and what float32 keeps of it", growth(*x.growth));
    return tag("section", "id=\"" + mathml::escaped(x.name) + "\"", "\n" + out);
}

} // namespace

std::string html(std::vector<Explanation> const& all) {
    auto const title = all.size() == 1 ? all[0].name + ", explained" : "Rules, explained";
    std::string links, sections;
    for (auto const& x : all) {
        links += element("li", fmt::format("<a href=\"#{0}\">{0}</a>", mathml::escaped(x.name))) + "\n";
        sections += section(x, all.size() > 1 ? 2 : 1);
    }
    auto const top = element("h1", title) + "\n" + tag("nav", "aria-label=\"Rules\"", element("ul", "\n" + links));
    return fmt::format(R"(<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>{0}</title>
<style>{1}</style>
</head>
<body>
{2}<main>
{3}</main>
</body>
</html>
)",
                       mathml::escaped(title), style, all.size() > 1 ? top : "", sections);
}

} // namespace deltaloom::codegen
