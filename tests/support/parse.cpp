#include "tests/support/parse.hpp"

#include <cctype>
#include <cmath>
#include <map>
#include <stdexcept>

namespace deltaloom::test {
namespace {

using namespace codegen;

struct Token {
    std::string text; // empty at the end
    unsigned column = 1;
};

[[noreturn]] void fail(Token const& at, std::string const& what) {
    throw std::invalid_argument("column " + std::to_string(at.column) + ": " + what + ", found '" + at.text + "'");
}

bool starts_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

std::size_t name_end(std::string const& s, std::size_t i) {
    while (i < s.size() && continues_name(s[i])) {
        while (i < s.size() && continues_name(s[i])) ++i;
        if (s.compare(i, 2, "::") == 0 && i + 2 < s.size() && starts_name(s[i + 2])) i += 2;
    }
    return i;
}

std::size_t number_end(std::string const& s, std::size_t i) {
    while (i < s.size() && (digit(s[i]) || s[i] == '.')) ++i;
    if (i < s.size() && (s[i] == 'e' || s[i] == 'E')) {
        ++i;
        if (i < s.size() && (s[i] == '+' || s[i] == '-')) ++i;
        while (i < s.size() && digit(s[i])) ++i;
    }
    return i;
}

std::vector<Token> tokens_of(std::string const& s) {
    std::vector<Token> out;
    for (std::size_t i = 0; i < s.size();) {
        if (std::isspace(static_cast<unsigned char>(s[i]))) {
            ++i;
            continue;
        }
        std::size_t end = i + 1;
        if (starts_name(s[i]))
            end = name_end(s, i);
        else if (digit(s[i]) || (s[i] == '.' && i + 1 < s.size() && digit(s[i + 1])))
            end = number_end(s, i);
        else if (s.compare(i, 3, "<<=") == 0)
            end = i + 3;
        out.push_back({s.substr(i, end - i), static_cast<unsigned>(i + 1)});
        i = end;
    }
    out.push_back({"", static_cast<unsigned>(s.size() + 1)});
    return out;
}

struct Parser {
    std::vector<Token> tokens;
    std::size_t next = 0;
    std::map<std::string, DeclaredOperand> known; // by the name as written
    Declaration out;

    Token const& peek() const { return tokens[next]; }
    bool at(std::string const& text) const { return peek().text == text; }
    bool at_name() const { return !peek().text.empty() && starts_name(peek().text[0]); }
    Token take() { return tokens[next + 1 < tokens.size() ? next++ : next]; }
    bool skip(std::string const& text) {
        bool const here = at(text);
        if (here) take();
        return here;
    }
    Token expect(std::string const& text) {
        if (!at(text)) fail(peek(), "'" + text + "' is needed");
        return take();
    }
    static Location where(Token const& t) { return {"rule", 1, t.column, static_cast<unsigned>(t.text.size())}; }

    void declare(std::string const& written, Role role, Domain domain, std::vector<std::string> dims,
                 std::string const& space) {
        auto const part = written.rfind("::");
        std::string const name = part == std::string::npos ? written : written.substr(part + 2);
        known[written] = {name, space + written + "_name", role, domain, std::move(dims), {}};
    }
    void declare_known();
    void declare_more(std::string const& text);

    Tree operand();
    Tree primary();
    Tree call(Token const& name);
    Tree product();
    Tree sum();
    Tree binary(Token const& op, Tree a, Tree b);
    Tree statement();
    std::vector<Tree> statements(std::string const& end);
};

void Parser::declare_known() {
    std::string const space = "::deltaloom::dsl::";
    declare("S", Role::state, Domain::real, {"dv", "dk"}, space);
    declare("z", Role::state, Domain::real, {"dk"}, space);
    declare("q", Role::input, Domain::real, {"dk"}, space);
    declare("k", Role::input, Domain::real, {"dk"}, space);
    declare("v", Role::input, Domain::real, {"dv"}, space);
    declare("beta", Role::input, Domain::real, {}, space);
    declare("alpha", Role::gate, Domain::linear, {}, space);
    declare("g", Role::gate, Domain::log, {}, space);
    declare("o", Role::output, Domain::real, {"dv"}, space);
}

void Parser::declare_more(std::string const& text) {
    static std::map<std::string, Role> const roles{{"INPUT", Role::input},
                                                   {"GATE", Role::gate},
                                                   {"STATE", Role::state},
                                                   {"PARAMETER", Role::parameter},
                                                   {"OUTPUT", Role::output}};
    Parser p;
    p.tokens = tokens_of(text);
    while (!p.at("")) {
        if (p.skip(";")) continue;
        Token const macro = p.take();
        p.expect("(");
        Token const name = p.take();
        std::vector<std::string> rest;
        while (p.skip(",")) rest.push_back(p.take().text);
        p.expect(")");
        if (macro.text == "DIM") continue;
        if (!roles.count(macro.text)) fail(macro, "INPUT, GATE, STATE, PARAMETER, OUTPUT or DIM is needed");
        Domain domain = Domain::real;
        if (!rest.empty() && (rest[0] == "log" || rest[0] == "linear")) {
            domain = rest[0] == "log" ? Domain::log : Domain::linear;
            rest.erase(rest.begin());
        }
        declare(name.text, roles.at(macro.text), domain, rest, "::test::");
    }
}

Tree leaf(TreeKind kind, std::string head, Location where) {
    Tree t;
    t.kind = kind;
    t.head = std::move(head);
    t.where = std::move(where);
    return t;
}

Tree number(double value, bool integer, Location where) {
    Tree t = leaf(TreeKind::number, "", std::move(where));
    t.number = value;
    t.integer = integer;
    return t;
}

Tree Parser::operand() {
    Token const name = take();
    auto const found = known.find(name.text);
    if (found == known.end()) fail(name, "an operand is needed");
    Tree t = leaf(TreeKind::operand, found->second.name, where(name));
    for (std::size_t i = 0; i < out.operands.size(); ++i)
        if (out.operands[i].tag == found->second.tag) t.operand = static_cast<int>(i);
    if (t.operand < 0) {
        t.operand = static_cast<int>(out.operands.size());
        out.operands.push_back(found->second);
        out.operands.back().where = t.where;
    }
    return t;
}

Tree Parser::call(Token const& name) {
    Tree t = leaf(TreeKind::call, name.text, where(name));
    if (skip("<")) {
        t.count = std::stoi(take().text);
        expect(">");
    }
    expect("(");
    if (!at(")")) do
            t.arguments.push_back(sum());
        while (skip(","));
    expect(")");
    if ((t.head == "l2norm" || t.head == "sum_norm") && t.arguments.size() == 1)
        t.arguments.push_back(number(t.head == "l2norm" ? 1e-6 : 0.0, false, t.where));
    return t;
}

Tree Parser::primary() {
    if (at("-")) {
        Token const minus = take();
        Tree inner = primary();
        if (inner.kind == TreeKind::number) return number(-inner.number, inner.integer, where(minus));
        Tree t = leaf(TreeKind::unary, "-", where(minus));
        t.arguments.push_back(std::move(inner));
        return t;
    }
    if (skip("(")) {
        Tree inner = sum();
        expect(")");
        return inner;
    }
    if (at_name()) {
        std::string const& after = tokens[next + 1].text;
        return after == "(" || after == "<" ? call(take()) : operand();
    }
    if (peek().text.empty() || !(digit(peek().text[0]) || peek().text[0] == '.'))
        fail(peek(), "an expression is needed");
    Token const t = take();
    return number(std::stod(t.text), t.text.find_first_of(".eE") == std::string::npos, where(t));
}

double folded(char op, double a, double b, bool integers) {
    switch (op) {
    case '+': return a + b;
    case '-': return a - b;
    case '*': return a * b;
    case '/': return integers ? std::trunc(a / b) : a / b;
    default: throw std::invalid_argument("% of two numbers");
    }
}

Tree Parser::binary(Token const& op, Tree a, Tree b) {
    if (a.kind == TreeKind::number && b.kind == TreeKind::number) {
        bool const integers = a.integer && b.integer;
        return number(folded(op.text[0], a.number, b.number, integers), integers, a.where);
    }
    Tree t = leaf(TreeKind::binary, op.text, where(op));
    t.arguments.push_back(std::move(a));
    t.arguments.push_back(std::move(b));
    return t;
}

Tree Parser::product() {
    Tree a = primary();
    while (at("*") || at("/") || at("%")) {
        Token const op = take();
        a = binary(op, std::move(a), primary());
    }
    return a;
}

Tree Parser::sum() {
    Tree a = product();
    while (at("+") || at("-")) {
        Token const op = take();
        a = binary(op, std::move(a), product());
    }
    return a;
}

Tree Parser::statement() {
    if (at("repeat")) {
        Tree t = leaf(TreeKind::repeat, "repeat", where(take()));
        expect("<");
        t.count = std::stoi(take().text);
        expect(">");
        expect("(");
        t.arguments = statements(")");
        expect(")");
        return t;
    }
    Tree target = operand();
    Token const op = expect("<<=");
    Tree t = leaf(TreeKind::statement, "<<=", where(op));
    t.arguments.push_back(std::move(target));
    t.arguments.push_back(sum());
    return t;
}

std::vector<Tree> Parser::statements(std::string const& end) {
    std::vector<Tree> all;
    if (!at(end)) do
            all.push_back(statement());
        while (skip(","));
    if (!at(end)) fail(peek(), "',' or the end is needed");
    return all;
}

} // namespace

Declaration parse_rule(std::string name, std::string const& text, std::string const& operands) {
    Parser p;
    p.declare_known();
    p.declare_more(operands);
    p.tokens = tokens_of(text);
    p.out.where = p.out.label = {"rule", 1, 1, 1};
    p.out.qualified = "::test::" + name;
    p.out.name = std::move(name);
    p.out.statements = p.statements("");
    return std::move(p.out);
}

} // namespace deltaloom::test
