#pragma once
// A rule as the compiler has it, printed as the reader prints what it read: `print(Declaration)` of codegen/read. A
// walk over the YAP nodes and Hana tuples of the object itself; it shares no code with the reader.
#include <boost/hana/for_each.hpp>
#include <boost/yap/algorithm.hpp>
#include <boost/yap/print.hpp>
#include <charconv>
#include <deltaloom/dsl.hpp>
#include <iostream>
#include <string>

namespace deltaloom::test {
namespace yap = boost::yap;
namespace hana = boost::hana;

inline std::string role_word(ast::role::state) { return "state"; }
inline std::string role_word(ast::role::input) { return "input"; }
inline std::string role_word(ast::role::gate) { return "gate"; }
inline std::string role_word(ast::role::parameter) { return "parameter"; }
inline std::string role_word(ast::role::linear_parameter) { return "parameter"; }
inline std::string role_word(ast::role::output) { return "output"; }

template<class Role> std::string domain_word(Role) { return ""; }
inline std::string domain_word(ast::role::gate) { return " linear"; }
inline std::string domain_word(ast::role::linear_parameter) { return " linear"; }

template<class D> std::string dim_words(D) { return D::text; }
template<int N, class D> std::string dim_words(ast::dpfp_dim<N, D>) {
    return "dpfp_dim<" + std::to_string(N) + ", " + dim_words(D{}) + ">";
}
template<class D> std::string dim_words(ast::taylor2_dim<D>) { return "taylor2_dim<" + dim_words(D{}) + ">"; }

template<class Role> std::string shape_words(Role r, ast::shape::scalar) { return domain_word(r); }
template<class Role, class D> std::string shape_words(Role r, ast::shape::vector<D>) {
    return domain_word(r) + " " + dim_words(D{});
}
template<class Role, class R, class C> std::string shape_words(Role r, ast::shape::matrix<R, C>) {
    return domain_word(r) + " " + dim_words(R{}) + " " + dim_words(C{});
}
template<class Role, class Shape> std::string shape_words(Role, ast::shape::log<Shape>) {
    return " log" + shape_words(0, Shape{});
}

template<class Name, class Role, class Shape> std::string leaf(ast::operand<Name, Role, Shape> const&) {
    return "(" + role_word(Role{}) + " " + Name::text + shape_words(Role{}, Shape{}) + ")";
}
template<class Shape> std::string leaf(ast::literal<Shape> const& number) {
    char text[64];
    if (std::is_same_v<Shape, ast::shape::integer>) return std::to_string((long long)number.value);
    auto const end = std::to_chars(text, text + sizeof text, number.value).ptr;
    std::string const shortest(text, end);
    auto const exponent = shortest.find('e');
    if (exponent != shortest.npos) // 1e-06 is said 1e-6
        return shortest.substr(0, exponent + 2) + std::to_string(std::stoi(shortest.substr(exponent + 2)));
    return shortest.find('.') == shortest.npos ? shortest + ".0" : shortest;
}

template<class Name> std::string function_words(ast::function<Name> const&) {
    if constexpr (requires { Name::count; })
        return Name::text + (" " + std::to_string(Name::count));
    else
        return Name::text;
}

template<class Node> std::string words(Node const& node) {
    if constexpr (Node::kind == yap::expr_kind::terminal)
        return leaf(yap::value(node));
    else {
        std::string text;
        if constexpr (Node::kind != yap::expr_kind::call) text = yap::op_string(Node::kind);
        hana::for_each(node.elements, [&](auto const& element) {
            using Element = std::decay_t<decltype(element)>;
            if constexpr (Element::kind == yap::expr_kind::terminal) {
                if constexpr (requires { function_words(yap::value(element)); })
                    text = function_words(yap::value(element));
                else
                    text += " " + leaf(yap::value(element));
            } else
                text += " " + words(element);
        });
        return "(" + text + ")";
    }
}

template<class Rule> void print(Rule const& rule, std::string const& suffix = "") {
    std::cout << "(rule \"" << rule.name.text << suffix << '"';
    hana::for_each(rule.statements, [](auto const& statement) { std::cout << "\n  " << words(statement); });
    std::cout << ")\n";
}

} // namespace deltaloom::test
