#include "codegen/read/declaration.hpp"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

namespace deltaloom::codegen {

namespace {

std::string_view word(Role role) {
    switch (role) {
    case Role::state: return "state";
    case Role::input: return "input";
    case Role::gate: return "gate";
    case Role::parameter: return "parameter";
    case Role::output: return "output";
    }
    return "";
}

std::string_view word(Domain domain) {
    switch (domain) {
    case Domain::real: return "";
    case Domain::linear: return " linear";
    case Domain::log: return " log";
    }
    return "";
}

// The shortest decimal that reads back as the same number of the same kind: `2` was an integer, `2.0` was not.
std::string spelled(double number, bool integer) {
    char buffer[512];
    if (integer)
        return {buffer, std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::fixed, 0).ptr};
    std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, number).ptr);
    if (!std::isfinite(number)) return text;
    auto const exponent = text.find('e');
    if (exponent == text.npos) return text.find('.') == text.npos ? text + ".0" : text;
    auto const digits = exponent + 2; // to_chars writes a sign and at least two digits
    return text.erase(digits, text.find_first_not_of('0', digits) - digits);
}

std::string node(Declaration const& rule, Tree const& tree) {
    switch (tree.kind) {
    case TreeKind::number: return spelled(tree.number, tree.integer);
    case TreeKind::operand: {
        auto const& operand = rule.operands[std::size_t(tree.operand)];
        std::string text =
            "(" + std::string(word(operand.role)) + " " + operand.name + std::string(word(operand.domain));
        for (auto const& dim : operand.dims) text += " " + dim;
        return text + ")";
    }
    case TreeKind::binary:
    case TreeKind::unary:
    case TreeKind::call:
    case TreeKind::statement:
    case TreeKind::repeat: break;
    }
    auto text = fmt::format("({}", tree.head);
    if (tree.count != 0) text += " " + std::to_string(tree.count);
    for (auto const& argument : tree.arguments) text += " " + node(rule, argument);
    return text + ")";
}

// How tightly the outermost operation of a text binds in C++; what binds less than its surroundings needs parentheses.
enum Binding { statement_binding, sum_binding, product_binding, prefix_binding, closed_binding };

Binding binding(Tree const& tree) {
    switch (tree.kind) {
    case TreeKind::statement: return statement_binding;
    case TreeKind::binary: return tree.head == "+" || tree.head == "-" ? sum_binding : product_binding;
    case TreeKind::unary: return prefix_binding;
    case TreeKind::number: return std::signbit(tree.number) ? prefix_binding : closed_binding;
    case TreeKind::operand:
    case TreeKind::call:
    case TreeKind::repeat: return closed_binding;
    }
    return closed_binding;
}

std::string line(Tree const& tree, Binding at_least = statement_binding);

std::string list(std::vector<Tree> const& trees) {
    std::string text;
    for (auto const& tree : trees) text += (text.empty() ? "" : ", ") + line(tree);
    return text;
}

std::string line(Tree const& tree, Binding at_least) {
    auto const own = binding(tree);
    if (own < at_least) return fmt::format("({})", line(tree));
    switch (tree.kind) {
    case TreeKind::operand: return tree.head;
    case TreeKind::number: return spelled(tree.number, tree.integer);
    case TreeKind::unary: return tree.head + line(tree.arguments[0], closed_binding);
    case TreeKind::binary: // all group to the left: the right side must bind more tightly
        return line(tree.arguments[0], own) + " " + tree.head + " " + line(tree.arguments[1], Binding(own + 1));
    case TreeKind::statement: return line(tree.arguments[0]) + " <<= " + line(tree.arguments[1]);
    case TreeKind::call:
    case TreeKind::repeat: break;
    }
    auto const count = tree.count != 0 ? fmt::format("<{}>", tree.count) : "";
    return fmt::format("{}{}({})", tree.head, count, list(tree.arguments));
}

} // namespace

std::string print(Declaration const& rule) {
    auto text = fmt::format("(rule \"{}\"", rule.name);
    for (auto const& statement : rule.statements) text += "\n  " + node(rule, statement);
    return text + ")\n";
}

std::string equation(Declaration const& rule) { return list(rule.statements); }

} // namespace deltaloom::codegen
