#include "codegen/explain/formula.hpp"

#include <string_view>

namespace deltaloom::codegen {
namespace {

// Each between blanks.
constexpr std::string_view greek = " alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho "
                                   "sigma tau upsilon phi chi psi omega ";

// TeX takes one subscript and one superscript of a symbol.
std::string base(std::string const& latex) {
    return latex.find_first_of("_^'") == latex.npos ? latex : "{" + latex + "}";
}

Formula joined(std::vector<Formula> const& parts, Binding at_least, char const* text, char const* latex,
               Binding binding) {
    if (parts.empty()) return number(1);
    if (parts.size() == 1) return parts[0];
    Formula all{"", "", binding};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        auto const part = within(parts[i], at_least);
        all.text += (i ? text : "") + part.text;
        all.latex += (i ? latex : "") + part.latex;
    }
    return all;
}

} // namespace

std::string escaped(std::string const& text) {
    std::string out;
    for (char const c : text) switch (c) {
        case '_':
        case '&':
        case '%':
        case '#':
        case '$':
        case '{':
        case '}': out += std::string("\\") + c; break;
        case '\\': out += "\\textbackslash{}"; break;
        case '^': out += "\\textasciicircum{}"; break;
        case '~': out += "\\textasciitilde{}"; break;
        case '|': out += "\\textbar{}"; break;
        case '<': out += "\\textless{}"; break;
        case '>': out += "\\textgreater{}"; break;
        default: out += c;
        }
    return out;
}

Formula symbol(std::string const& name) {
    if (name.size() == 1) return {name, name};
    if (greek.find(" " + name + " ") != greek.npos) return {name, "\\" + name};
    return {name, "\\operatorname{" + escaped(name) + "}"};
}

Formula number(Rational const& value) {
    auto const text = print(value);
    auto const binding = value < 0 ? Binding::sum : Binding::closed;
    bool const minus = text.front() == '-';
    auto const digits = text.substr(minus ? 1 : 0);
    auto latex = digits;
    if (auto const slash = digits.find('/'); slash != digits.npos)
        latex = "\\tfrac{" + digits.substr(0, slash) + "}{" + digits.substr(slash + 1) + "}";
    else if (auto const e = digits.find('e'); e != digits.npos)
        latex = (digits.substr(0, e) == "1" ? "" : digits.substr(0, e) + " \\cdot ") + "10^{" +
                std::to_string(std::stoi(digits.substr(e + 1))) + "}";
    return {text, (minus ? "-" : "") + latex,
            text.find('/') == text.npos ? binding : std::min(binding, Binding::product)};
}

Formula listed(std::vector<Formula> const& parts, char const* between) {
    Formula all;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        all.text += (i ? between : "") + parts[i].text;
        all.latex += (i ? ", " : "") + parts[i].latex;
    }
    return all;
}

Formula within(Formula const& f, Binding at_least) {
    if (f.binding >= at_least) return f;
    return {"(" + f.text + ")", "\\left(" + f.latex + "\\right)"};
}

Formula marked(Formula const& f, std::string const& which) {
    if (which.empty()) return f;
    return {f.text + "_" + which, base(f.latex) + "^{" + symbol(which).latex + "}"};
}

Formula indexed(Formula const& f, std::vector<Formula> const& by) {
    if (by.empty()) return f;
    auto const index = listed(by, ",");
    auto const inside = within(f, Binding::closed);
    return {inside.text + "[" + index.text + "]", base(inside.latex) + "_{" + index.latex + "}"};
}

Formula call(Formula const& function, std::vector<Formula> const& arguments) {
    auto const inside = listed(arguments);
    return {function.text + "(" + inside.text + ")", function.latex + "\\left(" + inside.latex + "\\right)"};
}

Formula sum(std::vector<Signed> const& terms) {
    if (terms.empty()) return number(0);
    if (terms.size() == 1 && !terms[0].minus) return terms[0].formula;
    Formula all{"", "", Binding::sum};
    for (auto const& [minus, term] : terms) {
        auto const part = within(term, minus ? Binding::entrywise : Binding::sum);
        std::string const sign = all.text.empty() ? (minus ? "-" : "") : (minus ? " - " : " + ");
        all.text += sign + part.text;
        all.latex += sign + part.latex;
    }
    return all;
}

Formula product(std::vector<Formula> const& factors) {
    return joined(factors, Binding::product, " ", " ", Binding::product);
}

Formula entrywise(std::vector<Formula> const& factors) {
    return joined(factors, Binding::product, " . ", " \\odot ", Binding::entrywise);
}

Formula over(Formula const& above, Formula const& below) {
    return {within(above, Binding::product).text + " / " + within(below, Binding::closed).text,
            "\\frac{" + above.latex + "}{" + below.latex + "}", Binding::product};
}

Formula power(Formula const& f, int exponent) {
    if (exponent == 1) return f;
    auto const inside = within(f, Binding::closed);
    auto const n = std::to_string(exponent);
    return {inside.text + "^" + n, base(inside.latex) + "^{" + n + "}", Binding::product};
}

Formula transposed(Formula const& f) {
    auto const inside = within(f, Binding::closed);
    return {inside.text + "^T", base(inside.latex) + "^{\\top}"};
}

Formula diagonal(Formula const& f) { return call({"diag", "\\operatorname{diag}"}, {f}); }
Formula inner(Formula const& a, Formula const& b) {
    return {"<" + a.text + ", " + b.text + ">", "\\left\\langle " + a.latex + ", " + b.latex + "\\right\\rangle"};
}
Formula absolute(Formula const& f) { return {"|" + f.text + "|", "\\left|" + f.latex + "\\right|"}; }
Formula inverse(Formula const& f) { return power(f, -1); }

Formula rows_of(std::vector<std::vector<Formula>> const& rows) {
    Formula all{"[", "\\begin{pmatrix}"};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        all.text += i ? "; " : "";
        all.latex += i ? " \\\\ " : " ";
        for (std::size_t j = 0; j < rows[i].size(); ++j) {
            all.text += (j ? ", " : "") + rows[i][j].text;
            all.latex += (j ? " & " : "") + rows[i][j].latex;
        }
    }
    return {all.text + "]", all.latex + " \\end{pmatrix}"};
}

Formula sum_over(Formula const& range, Formula const& f) {
    auto const inside = within(f, Binding::entrywise);
    return {"sum(" + range.text + ") " + inside.text, "\\sum_{" + range.latex + "} " + inside.latex,
            Binding::entrywise};
}
Formula product_over(Formula const& range, Formula const& f) {
    auto const inside = within(f, Binding::product);
    return {"product(" + range.text + ") " + inside.text, "\\prod_{" + range.latex + "} " + inside.latex,
            Binding::product};
}

Formula chain(std::vector<Formula> const& of, std::vector<std::string> const& relations) {
    Formula all = of.at(0);
    for (std::size_t i = 1; i < of.size(); ++i) {
        all.text += " " + relations[i - 1] + " " + of[i].text;
        all.latex += (relations[i - 1] == "<" ? " < " : " \\le ") + of[i].latex;
    }
    return {all.text, all.latex, Binding::sum};
}

} // namespace deltaloom::codegen
