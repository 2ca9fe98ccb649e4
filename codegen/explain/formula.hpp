#pragma once
// A formula as plain text, as LaTeX and as MathML, built together so that the three cannot say different things.
#include "codegen/rule/rational.hpp"

#include <string>
#include <vector>

namespace deltaloom::codegen {

enum class Binding { sum, entrywise, product, closed }; // how tightly the outermost operation binds

struct Formula {
    std::string text, latex, mathml; // mathml: one element
    Binding binding = Binding::closed;
};
struct Signed {
    bool minus = false;
    Formula formula;
};

Formula symbol(std::string const& name);   // "beta", "\beta"; "log_a", "\operatorname{log\_a}"
Formula function(std::string const& name); // "exp", "\exp"; "sigmoid", "\operatorname{sigmoid}"
Formula function(std::string const& name, Formula const& parameter); // "dpfp<2>", "\operatorname{dpfp}_{2}"
Formula word(std::string const& text);                               // "end", "\mathrm{end}"
Formula number(Rational const&);
Formula before_all(Formula const& state);                        // S0
Formula after_all(Formula const& state);                         // S'
Formula stepped(Formula const&, int step);                       // k.1: of one of several steps
Formula marked(Formula const&, std::string const& which);        // U of z: "U_z", "U^{z}"
Formula indexed(Formula const&, std::vector<Formula> const& by); // "M[i,e]", "M_{i,e}"; by nothing: itself
Formula listed(std::vector<Formula> const&, char const* between = ", ");
Formula call(Formula const& function, std::vector<Formula> const& arguments);
Formula call(Formula const& function, Formula const& argument, Formula const& parameter); // "l2norm(k; 1e-6)"
Formula root(Formula const&);
Formula within(Formula const&, Binding at_least); // in parentheses where it binds less

Formula sum(std::vector<Signed> const&);        // "0" of nothing
Formula product(std::vector<Formula> const&);   // "1" of nothing
Formula entrywise(std::vector<Formula> const&); // "a . b"; "1" of nothing
Formula over(Formula const&, Formula const&);   // "a / b"
Formula power(Formula const&, int);
Formula transposed(Formula const&);
Formula diagonal(Formula const&);
Formula inner(Formula const&, Formula const&); // "<a, b>"
Formula absolute(Formula const&);
Formula inverse(Formula const&);                           // of a matrix, or entrywise
Formula rows_of(std::vector<std::vector<Formula>> const&); // a small matrix, entry by entry
// "sum(e < i) ..." and "product(e < s < i) ..."; the range is a formula.
Formula sum_over(Formula const& range, Formula const&);
Formula product_over(Formula const& range, Formula const&);
// "e < i" from {e, i} and {"<"}; relations "<" and "<=".
Formula chain(std::vector<Formula> const& of, std::vector<std::string> const& relations);

std::string escaped(std::string const& text); // plain words for LaTeX

} // namespace deltaloom::codegen
