#include "codegen/explain/formula.hpp"

#include "codegen/explain/mathml.hpp"

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
               std::string const& mathml, Binding binding) {
    if (parts.empty()) return number(1);
    if (parts.size() == 1) return parts[0];
    Formula all{"", "", "", binding};
    std::vector<std::string> elements;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        auto const part = within(parts[i], at_least);
        all.text += (i ? text : "") + part.text;
        all.latex += (i ? latex : "") + part.latex;
        elements.push_back(part.mathml);
    }
    all.mathml = mathml::joined(elements, mathml);
    return all;
}

std::string scripted(char const* kind, Formula const& base, std::string const& script) {
    return mathml::element(kind, base.mathml + script);
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
    auto const mathml = mathml::identifier(name);
    if (name.size() == 1) return {name, name, mathml};
    if (greek.find(" " + name + " ") != greek.npos) return {name, "\\" + name, mathml};
    return {name, "\\operatorname{" + escaped(name) + "}", mathml};
}

Formula function(std::string const& name) {
    bool const known = name == "exp" || name == "max" || name == "tanh";
    return {name, known ? "\\" + name : "\\operatorname{" + escaped(name) + "}", mathml::element("mi", name)};
}

Formula function(std::string const& name, Formula const& parameter) {
    auto const plain = function(name);
    return {name + "<" + parameter.text + ">", plain.latex + "_{" + parameter.latex + "}",
            scripted("msub", plain, parameter.mathml)};
}

Formula word(std::string const& text) { return {text, "\\mathrm{" + text + "}", mathml::element("mi", text)}; }

Formula before_all(Formula const& state) {
    return {state.text + "0", "{" + state.latex + "}_{0}", scripted("msub", state, mathml::digits("0"))};
}
Formula after_all(Formula const& state) {
    return {state.text + "'", "{" + state.latex + "}'", scripted("msup", state, mathml::sign("\u2032"))};
}
Formula stepped(Formula const& f, int step) {
    auto const n = std::to_string(step);
    return {f.text + "." + n, f.latex + "^{(" + n + ")}",
            scripted("msup", f, mathml::fenced("(", mathml::digits(n), ")"))};
}

Formula number(Rational const& value) {
    auto const text = print(value);
    auto const binding = value < 0 ? Binding::sum : Binding::closed;
    bool const minus = text.front() == '-';
    auto const digits = text.substr(minus ? 1 : 0);
    auto latex = digits, element = mathml::digits(digits);
    if (auto const slash = digits.find('/'); slash != digits.npos) {
        auto const above = digits.substr(0, slash), below = digits.substr(slash + 1);
        latex = "\\tfrac{" + above + "}{" + below + "}";
        element = mathml::element("mfrac", mathml::digits(above) + mathml::digits(below));
    } else if (auto const e = digits.find('e'); e != digits.npos) {
        bool const plain = digits.substr(0, e) == "1";
        auto const exponent = std::stoi(digits.substr(e + 1));
        latex = (plain ? "" : digits.substr(0, e) + " \\cdot ") + "10^{" + std::to_string(exponent) + "}";
        auto const script = mathml::digits(std::to_string(std::abs(exponent)));
        element = mathml::element("msup", mathml::digits("10") +
                                              (exponent < 0 ? mathml::row({mathml::sign("\u2212"), script}) : script));
        if (!plain) element = mathml::row({mathml::digits(digits.substr(0, e)), mathml::sign("\u22c5"), element});
    }
    if (minus) element = mathml::row({mathml::sign("\u2212"), element});
    return {text, (minus ? "-" : "") + latex, element,
            text.find('/') == text.npos ? binding : std::min(binding, Binding::product)};
}

Formula listed(std::vector<Formula> const& parts, char const* between) {
    Formula all;
    std::vector<std::string> elements;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        all.text += (i ? between : "") + parts[i].text;
        all.latex += (i ? ", " : "") + parts[i].latex;
        elements.push_back(parts[i].mathml);
    }
    all.mathml = mathml::joined(elements, mathml::sign(","));
    return all;
}

Formula within(Formula const& f, Binding at_least) {
    if (f.binding >= at_least) return f;
    return {"(" + f.text + ")", "\\left(" + f.latex + "\\right)", mathml::fenced("(", f.mathml, ")")};
}

Formula marked(Formula const& f, std::string const& which) {
    if (which.empty()) return f;
    auto const mark = symbol(which);
    return {f.text + "_" + which, base(f.latex) + "^{" + mark.latex + "}", scripted("msup", f, mark.mathml)};
}

Formula indexed(Formula const& f, std::vector<Formula> const& by) {
    if (by.empty()) return f;
    auto const index = listed(by, ",");
    auto const inside = within(f, Binding::closed);
    return {inside.text + "[" + index.text + "]", base(inside.latex) + "_{" + index.latex + "}",
            scripted("msub", inside, index.mathml)};
}

Formula call(Formula const& function, std::vector<Formula> const& arguments) {
    auto const inside = listed(arguments);
    return {function.text + "(" + inside.text + ")", function.latex + "\\left(" + inside.latex + "\\right)",
            mathml::row({function.mathml, mathml::application(), mathml::fenced("(", inside.mathml, ")")})};
}
Formula call(Formula const& function, Formula const& argument, Formula const& parameter) {
    auto const inside = mathml::row({argument.mathml, mathml::sign(";"), parameter.mathml});
    return {function.text + "(" + argument.text + "; " + parameter.text + ")",
            function.latex + "\\left(" + argument.latex + "; " + parameter.latex + "\\right)",
            mathml::row({function.mathml, mathml::application(), mathml::fenced("(", inside, ")")})};
}
Formula root(Formula const& f) {
    return {"sqrt(" + f.text + ")", "\\sqrt{" + f.latex + "}", mathml::element("msqrt", f.mathml)};
}

Formula sum(std::vector<Signed> const& terms) {
    if (terms.empty()) return number(0);
    if (terms.size() == 1 && !terms[0].minus) return terms[0].formula;
    Formula all{"", "", "", Binding::sum};
    std::vector<std::string> elements;
    for (auto const& [minus, term] : terms) {
        auto const part = within(term, minus ? Binding::entrywise : Binding::sum);
        std::string const sign = all.text.empty() ? (minus ? "-" : "") : (minus ? " - " : " + ");
        all.text += sign + part.text;
        all.latex += sign + part.latex;
        if (!sign.empty()) elements.push_back(mathml::sign(minus ? "\u2212" : "+"));
        elements.push_back(part.mathml);
    }
    all.mathml = mathml::row(elements);
    return all;
}

Formula product(std::vector<Formula> const& factors) {
    return joined(factors, Binding::product, " ", " ", mathml::multiplication(), Binding::product);
}

Formula entrywise(std::vector<Formula> const& factors) {
    return joined(factors, Binding::product, " . ", " \\odot ", mathml::sign("\u2299"), Binding::entrywise);
}

Formula over(Formula const& above, Formula const& below) {
    return {within(above, Binding::product).text + " / " + within(below, Binding::closed).text,
            "\\frac{" + above.latex + "}{" + below.latex + "}", mathml::element("mfrac", above.mathml + below.mathml),
            Binding::product};
}

Formula power(Formula const& f, int exponent) {
    if (exponent == 1) return f;
    auto const inside = within(f, Binding::closed);
    auto const n = std::to_string(exponent);
    return {inside.text + "^" + n, base(inside.latex) + "^{" + n + "}",
            scripted("msup", inside, number(exponent).mathml), Binding::product};
}

Formula transposed(Formula const& f) {
    auto const inside = within(f, Binding::closed);
    return {inside.text + "^T", base(inside.latex) + "^{\\top}", scripted("msup", inside, mathml::sign("\u22a4"))};
}

Formula diagonal(Formula const& f) { return call(function("diag"), {f}); }
Formula inner(Formula const& a, Formula const& b) {
    return {"<" + a.text + ", " + b.text + ">", "\\left\\langle " + a.latex + ", " + b.latex + "\\right\\rangle",
            mathml::fenced("\u27e8", mathml::row({a.mathml, mathml::sign(","), b.mathml}), "\u27e9")};
}
Formula absolute(Formula const& f) {
    return {"|" + f.text + "|", "\\left|" + f.latex + "\\right|", mathml::fenced("|", f.mathml, "|")};
}
Formula inverse(Formula const& f) { return power(f, -1); }

Formula rows_of(std::vector<std::vector<Formula>> const& rows) {
    Formula all{"[", "\\begin{pmatrix}", ""};
    std::string table;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        all.text += i ? "; " : "";
        all.latex += i ? " \\\\ " : " ";
        std::string line;
        for (std::size_t j = 0; j < rows[i].size(); ++j) {
            all.text += (j ? ", " : "") + rows[i][j].text;
            all.latex += (j ? " & " : "") + rows[i][j].latex;
            line += mathml::element("mtd", rows[i][j].mathml);
        }
        table += mathml::element("mtr", line);
    }
    return {all.text + "]", all.latex + " \\end{pmatrix}", mathml::fenced("(", mathml::element("mtable", table), ")")};
}

namespace {

Formula over_range(char const* text, char const* latex, char const* mathml, Formula const& range,
                   Formula const& inside) {
    auto const large = mathml::element("munder", mathml::sign(mathml) + range.mathml);
    return {std::string(text) + "(" + range.text + ") " + inside.text,
            std::string("\\") + latex + "_{" + range.latex + "} " + inside.latex, mathml::row({large, inside.mathml}),
            Binding::entrywise};
}

} // namespace

Formula sum_over(Formula const& range, Formula const& f) {
    return over_range("sum", "sum", "\u2211", range, within(f, Binding::entrywise));
}
Formula product_over(Formula const& range, Formula const& f) {
    auto all = over_range("product", "prod", "\u220f", range, within(f, Binding::product));
    all.binding = Binding::product;
    return all;
}

Formula chain(std::vector<Formula> const& of, std::vector<std::string> const& relations) {
    Formula all = of.at(0);
    std::vector<std::string> elements{all.mathml};
    for (std::size_t i = 1; i < of.size(); ++i) {
        bool const less = relations[i - 1] == "<";
        all.text += " " + relations[i - 1] + " " + of[i].text;
        all.latex += (less ? " < " : " \\le ") + of[i].latex;
        elements.push_back(mathml::sign(less ? "<" : "\u2264"));
        elements.push_back(of[i].mathml);
    }
    return {all.text, all.latex, mathml::row(elements), Binding::sum};
}

} // namespace deltaloom::codegen
