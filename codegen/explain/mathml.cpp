#include "codegen/explain/mathml.hpp"

#include <string_view>

namespace deltaloom::codegen::mathml {
namespace {

// Each name between blanks, its letter behind it.
constexpr std::string_view letters =
    " alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ "
    "mu μ nu ν xi ξ pi π rho ρ sigma σ tau τ chi χ psi ψ omega ω upsilon υ phi φ omicron ο ";

} // namespace

std::string escaped(std::string const& text) {
    std::string out;
    for (char const c : text) switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        default: out += c;
        }
    return out;
}

std::string element(std::string const& tag, std::string const& inside) {
    return "<" + tag + ">" + inside + "</" + tag + ">";
}
std::string identifier(std::string const& name) {
    auto const at = letters.find(" " + name + " ");
    if (name.size() == 1 || at == letters.npos) return element("mi", escaped(name));
    auto const letter = at + name.size() + 2;
    return element("mi", std::string(letters.substr(letter, letters.find(' ', letter) - letter)));
}
std::string digits(std::string const& text) { return element("mn", escaped(text)); }
std::string sign(std::string const& text) { return element("mo", escaped(text)); }

std::string row(std::vector<std::string> const& parts) {
    if (parts.size() == 1) return parts[0];
    std::string inside;
    for (auto const& p : parts) inside += p;
    return element("mrow", inside);
}
std::string fenced(char const* open, std::string const& inside, char const* close) {
    return row({sign(open), inside, sign(close)});
}
std::string joined(std::vector<std::string> const& parts, std::string const& between) {
    std::vector<std::string> all;
    for (auto const& p : parts) {
        if (!all.empty()) all.push_back(between);
        all.push_back(p);
    }
    return row(all);
}
std::string multiplication() { return "<mo lspace=\"0.08em\" rspace=\"0.08em\">\u2062</mo>"; }
std::string application() { return "<mo>\u2061</mo>"; }

} // namespace deltaloom::codegen::mathml
