#include "codegen/rule/dimension.hpp"
#include "codegen/rule/typing.hpp"
#include "codegen/rule/uses.hpp"
#include "codegen/rule/words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <tuple>

namespace deltaloom::codegen {

namespace {

constexpr std::size_t most_dimensions = 8; // of dl_call::dim

bool identifier(std::string const& s) {
    auto const letter = [](unsigned char c) { return std::isalpha(c) || c == '_'; };
    if (s.empty() || !letter(static_cast<unsigned char>(s[0]))) return false;
    return std::all_of(s.begin(), s.end(), [&](unsigned char c) { return letter(c) || std::isdigit(c); });
}

Diagnostic error(Location where, std::string text, std::vector<Diagnostic> notes = {}) {
    return {Severity::error, std::move(text), std::move(where), std::move(notes)};
}

// "::mine::e_name" as the user wrote it: "::mine::e"
std::string spelled(DeclaredOperand const& o) {
    std::string const suffix = o.name + "_name";
    if (o.tag.size() < suffix.size() || o.tag.compare(o.tag.size() - suffix.size(), suffix.size(), suffix) != 0)
        return o.tag;
    return o.tag.substr(0, o.tag.size() - 5);
}

void check_name(Declaration const& d, std::vector<Diagnostic>& out) {
    Location const& where = d.label.known() ? d.label : d.where;
    if (!identifier(d.name))
        out.push_back(error(where, "the rule's name \"" + d.name +
                                       "\" is no identifier: use letters, digits and _, not a digit first"));
    else if (keyword(d.name)) // a kernel's namespace is named after the rule
        out.push_back(error(where, "the rule's name \"" + d.name + "\" is a keyword of C++: choose another name"));
    else if (auto const why = taken_name(d.name); !why.empty())
        out.push_back(error(where, "the rule's name \"" + d.name + "\" " + why + ": choose another name"));
}

void check_operand_names(TypedRule const& rule, Declaration const& d, std::vector<Diagnostic>& out) {
    for (std::size_t i = 0; i < rule.operands.size(); ++i) {
        auto const& o = rule.operands[i];
        bool const hidden = o.previous_of >= 0;
        for (std::size_t j = 0; j < i; ++j) {
            if (rule.operands[j].name != o.name) continue;
            if (hidden)
                out.push_back(error(o.where,
                                    "previous(" + rule.operands[o.previous_of].name + ") keeps a state " + o.name +
                                        ", and an operand is already called so: rename it",
                                    {{Severity::note, "the operand", rule.operands[j].where, {}}}));
            else
                out.push_back(error(o.where,
                                    "two operands are called " + o.name + ": " + spelled(d.operands[j]) + " and " +
                                        spelled(d.operands[i]) + "; names are unique within a rule, rename one",
                                    {{Severity::note, "the other one", rule.operands[j].where, {}}}));
        }
        for (auto const& other : rule.operands)
            if (o.name == "d_" + other.name)
                out.push_back(error(o.where,
                                    "an operand is called " + o.name + ", which names the gradient of " + other.name +
                                        ": rename it",
                                    {{Severity::note, "the operand " + other.name, other.where, {}}}));
        if (std::find(rule.dims.begin(), rule.dims.end(), o.name) != rule.dims.end())
            out.push_back(error(o.where, "an operand and a dimension are both called " + o.name +
                                             ": names are unique within a rule, rename one"));
    }
}

std::string domain_fault(DeclaredOperand const& o) {
    bool const real = o.domain == Domain::real;
    std::size_t const most = o.role == Role::output ? 1 : 2;
    if (!identifier(o.name)) return "an operand's name has to be an identifier";
    if (o.dims.size() > most) return o.name + " has more than " + std::to_string(most) + " dimensions";
    switch (o.role) {
    case Role::gate: return real ? "the gate " + o.name + " has to be log or linear" : "";
    case Role::state:
        return o.dims.empty() ? "the state " + o.name + " needs one or two dimensions"
               : real         ? ""
                              : "the state " + o.name + " has a domain; only gates and parameters do";
    case Role::input:
    case Role::output: return real ? "" : o.name + " has a domain; only gates and parameters do";
    case Role::parameter: return "";
    }
    return "";
}

void resolve_operands(TypedRule& rule, Declaration const& d, Uses const& u, std::vector<Diagnostic>& out) {
    for (auto const& o : d.operands) {
        if (auto text = domain_fault(o); !text.empty()) out.push_back(error(o.where, text));
        Operand resolved;
        resolved.name = o.name;
        resolved.tag = o.tag;
        resolved.role = o.role;
        resolved.domain = o.domain;
        resolved.where = o.where;
        std::vector<DimId> ids;
        for (auto const& dim : o.dims) ids.push_back(dimension(rule.dims, dim));
        if (!ids.empty()) resolved.shape.rows = ids[0];
        if (ids.size() > 1) resolved.shape.cols = ids[1];
        rule.operands.push_back(std::move(resolved));
    }
    for (auto const& use : u.uses)
        if (rule.operands[use.operand].per_token() && !rule.operands[use.operand].steps)
            rule.operands[use.operand].steps = use.repeat;
}

struct Statements {
    Declaration const& declaration;
    TypedRule& rule;
    std::vector<Diagnostic>& out;
    std::vector<Diagnostic> again{}; // of the later copies of a repeat: what the first said already
    std::map<OperandId, OperandId> hidden{};
    int written = 0;

    void add(Tree const& tree, int index, int step, int repeat) {
        Typing t{declaration, rule, step ? again : out, step, repeat, std::move(hidden)};
        ExprId const value = type(t, tree.arguments[1]);
        hidden = std::move(t.hidden);
        if (value < 0) return;
        OperandId const target = tree.arguments[0].operand;
        Shape const want = rule.operands[target].shape, have = rule.nodes[value].shape;
        if (rule.nodes[value].log)
            t.out.push_back(error(tree.where, "a log gate is used outside exp: write exp(...) of the right side"));
        else if (want != have)
            t.out.push_back(error(tree.where, rule.operands[target].name + " is " + print(rule, want) +
                                                  ", its right side is " + print(rule, have)));
        rule.statements.push_back({target, value, index, step, tree.where});
    }

    void add_all() {
        for (auto const& tree : declaration.statements) {
            if (tree.kind == TreeKind::statement) {
                add(tree, written++, 0, 0);
                continue;
            }
            for (int step = 0; step < tree.count; ++step)
                for (std::size_t i = 0; i < tree.arguments.size(); ++i)
                    add(tree.arguments[i], written + static_cast<int>(i), step, tree.count);
            written += static_cast<int>(tree.arguments.size());
        }
        // the token before, kept for the next token
        for (OperandId s = static_cast<int>(declaration.operands.size()); s < static_cast<int>(rule.operands.size());
             ++s) {
            auto const [input, where] = std::pair{rule.operands[s].previous_of, rule.operands[s].where};
            ExprId const value = operand_node(rule, input, 0, where, rule.operands[input].name);
            rule.statements.push_back({s, value, written++, 0, where});
        }
    }
};

} // namespace

std::variant<TypedRule, std::vector<Diagnostic>> check(Declaration const& d) {
    std::vector<Diagnostic> out;
    check_name(d, out);
    Uses const uses = uses_of(d, out);
    if (uses.statements.empty() && !out.empty()) return out;

    TypedRule rule;
    rule.name = d.name;
    rule.qualified = d.qualified;
    rule.where = d.where;
    resolve_operands(rule, d, uses, out);
    Statements{d, rule, out}.add_all();
    check_operand_names(rule, d, out);
    if (rule.dims.size() > most_dimensions)
        out.push_back(error(d.where, "the rule has " + std::to_string(rule.dims.size()) + " dimensions: at most " +
                                         std::to_string(most_dimensions) +
                                         " are allowed, a call has no room for more"));
    check_roles(d, uses, out);
    if (out.empty()) {
        rule.equation = equation(d);
        return rule;
    }
    std::sort(out.begin(), out.end(), [](Diagnostic const& a, Diagnostic const& b) {
        return std::tie(a.where.line, a.where.column, a.text) < std::tie(b.where.line, b.where.column, b.text);
    });
    return out;
}

std::vector<Diagnostic> check_names(std::vector<Declaration> const& all) {
    std::vector<Diagnostic> out;
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            if (all[i].name != all[j].name) continue;
            auto const where = [](Declaration const& d) { return d.label.known() ? d.label : d.where; };
            out.push_back(error(where(all[i]), "two rules are called \"" + all[i].name + "\": rename one",
                                {{Severity::note, "the name is already used here", where(all[j]), {}}}));
            break;
        }
    return out;
}

} // namespace deltaloom::codegen
