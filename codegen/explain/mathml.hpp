#pragma once
// MathML, element by element. A text of it is always one element, so that it can be the base of a script.
#include <string>
#include <vector>

namespace deltaloom::codegen::mathml {

std::string escaped(std::string const& text); // plain words for XML
std::string element(std::string const& tag, std::string const& inside);
std::string identifier(std::string const& name); // "beta" is the letter, "log_a" a word
std::string digits(std::string const& text);
std::string sign(std::string const& text); // an operator
std::string row(std::vector<std::string> const& parts);
std::string fenced(char const* open, std::string const& inside, char const* close);
std::string joined(std::vector<std::string> const& parts, std::string const& between);
std::string multiplication(); // between factors that stand side by side
std::string application();    // between a function and its parentheses

} // namespace deltaloom::codegen::mathml
