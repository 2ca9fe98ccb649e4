#include "codegen/read/clang_tree.hpp"

#include "codegen/read/clang_types.hpp"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>

namespace deltaloom::codegen {

namespace {

using namespace clang;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;

// What a user sees of an expression: without casts, parentheses and the constructors around it.
Expr const* peel(Expr const* e) {
    for (Expr const* before = nullptr; before != e;) {
        before = e;
        e = e->IgnoreUnlessSpelledInSource();
        if (auto const* c = dyn_cast<CXXConstructExpr>(e); c && c->getNumArgs() == 1) e = c->getArg(0);
        if (auto const* l = dyn_cast<InitListExpr>(e); l && l->getNumInits() == 1) e = l->getInit(0);
        if (auto const* c = dyn_cast<ExplicitCastExpr>(e)) e = c->getSubExpr();
    }
    return e;
}

// ---- numbers: the only doubles in a rule's value are its literals, in the order of the tree ----

void doubles(APValue const& value, std::vector<double>& out) {
    if (value.isFloat()) out.push_back(value.getFloat().convertToDouble());
    if (!value.isStruct()) return;
    for (unsigned i = 0; i < value.getStructNumBases(); ++i) doubles(value.getStructBase(i), out);
    for (unsigned i = 0; i < value.getStructNumFields(); ++i) doubles(value.getStructField(i), out);
}

void set_numbers(Tree& tree, std::vector<double> const& values, std::size_t& next) {
    if (tree.kind == TreeKind::number && next++ < values.size()) tree.number = values[next - 1];
    for (auto& argument : tree.arguments) set_numbers(argument, values, next);
}

// The characters of the first array in the value: a rule's name.
std::string characters(APValue const& value) {
    if (value.isStruct() && value.getStructNumFields() > 0) return characters(value.getStructField(0));
    std::string text;
    if (!value.isArray()) return text;
    for (unsigned i = 0; i < value.getArraySize(); ++i) {
        auto const& c = i < value.getArrayInitializedElts() ? value.getArrayInitializedElt(i) : value.getArrayFiller();
        if (!c.isInt() || c.getInt().isZero()) break;
        text += char(c.getInt().getExtValue());
    }
    return text;
}

// ---- locations ----

void fill(Tree& tree, Location const& where) {
    tree.where = where;
    for (auto& argument : tree.arguments) fill(argument, where);
}

SourceLocation callee_name(CallExpr const& call) {
    auto const* callee = call.getCallee()->IgnoreParenImpCasts();
    if (auto const* o = dyn_cast<CXXOperatorCallExpr>(&call)) {
        if (o->getOperator() != OO_Call) return o->getOperatorLoc();
        callee = peel(o->getArg(0)); // of a lambda or function object: its name
    }
    if (auto const* d = dyn_cast<DeclRefExpr>(callee)) return d->getLocation();
    if (auto const* m = dyn_cast<MemberExpr>(callee)) return m->getMemberLoc();
    return call.getBeginLoc();
}

Location place_of(Expr const* e, Places const& places) {
    if (auto const* d = dyn_cast<DeclRefExpr>(e)) return places.token(d->getLocation());
    if (auto const* m = dyn_cast<MemberExpr>(e)) return places.token(m->getMemberLoc());
    if (auto const* c = dyn_cast<CallExpr>(e)) return places.token(callee_name(*c));
    return places.range(e->getSourceRange());
}

// Is this the call that made the node: one of the language, with one argument for each of the node's.
bool makes(CallExpr const& call, llvm::StringRef head, std::size_t arguments) {
    auto const* function = call.getDirectCallee();
    if (!function || call.getNumArgs() != arguments || !of_the_language(*function)) return false;
    if (auto const* o = dyn_cast<CXXOperatorCallExpr>(&call)) return getOperatorSpelling(o->getOperator()) == head;
    return function->getIdentifier() && function->getName() == head;
}

// Lays the initialiser over the tree, through named sub-expressions; inside a user's function it stops at the call.
void attach(Tree& tree, Expr const* written, Places const& places) {
    auto const* e = peel(written);
    if (auto const* variable = named_variable(e); variable && variable->getAnyInitializer() && !tree.arguments.empty())
        return attach(tree, variable->getAnyInitializer(), places);
    auto const* call = dyn_cast<CallExpr>(e);
    if (!call || !makes(*call, tree.head, tree.arguments.size())) return fill(tree, place_of(e, places));
    tree.where = place_of(e, places);
    for (unsigned i = 0; i < call->getNumArgs(); ++i) {
        if (isa<CXXDefaultArgExpr>(call->getArg(i)))
            fill(tree.arguments[i], tree.where);
        else
            attach(tree.arguments[i], call->getArg(i), places);
    }
}

void attach(Declaration& rule, Expr const* written, Places const& places) {
    auto const* e = peel(written);
    if (auto const* variable = named_variable(e); variable && variable->getAnyInitializer())
        return attach(rule, variable->getAnyInitializer(), places);
    rule.label = place_of(e, places);
    auto const* call = dyn_cast<CallExpr>(e);
    if (!call || !makes(*call, "rule", rule.statements.size() + 1)) {
        for (auto& statement : rule.statements) fill(statement, rule.label);
        if (call)
            for (auto const* argument : call->arguments())
                if (isa<StringLiteral>(peel(argument))) {
                    rule.label = place_of(peel(argument), places);
                    break;
                }
        return;
    }
    rule.label = place_of(peel(call->getArg(0)), places);
    for (unsigned i = 1; i < call->getNumArgs(); ++i) attach(rule.statements[i - 1], call->getArg(i), places);
}

void first_uses(Declaration& rule, Tree const& tree) {
    if (tree.kind == TreeKind::operand) {
        auto& where = rule.operands[std::size_t(tree.operand)].where;
        if (!where.known()) where = tree.where;
    }
    for (auto const& argument : tree.arguments) first_uses(rule, argument);
}

} // namespace

VarDecl const* named_variable(Expr const* written) {
    auto const* e = peel(written);
    if (auto const* d = dyn_cast<DeclRefExpr>(e)) return dyn_cast<VarDecl>(d->getDecl());
    if (auto const* m = dyn_cast<MemberExpr>(e)) return dyn_cast<VarDecl>(m->getMemberDecl());
    return nullptr;
}

Declaration declaration_of(VarDecl const& variable, Places const& places, std::vector<Diagnostic>& diagnostics) {
    Declaration rule;
    rule.where = places.token(variable.getLocation());
    rule.qualified = qualified_name(variable);
    auto const* value = variable.evaluateValue();
    if (!value || !value->isStruct()) {
        diagnostics.push_back({Severity::error, "the value of this rule is not known at compile time", rule.where, {}});
        return rule;
    }
    rule.name = characters(*value) + instance_suffix(variable);
    auto const problem = build_trees(variable.getType(), rule);
    std::vector<double> numbers;
    doubles(*value, numbers);
    std::size_t next = 0;
    for (auto& statement : rule.statements) set_numbers(statement, numbers, next);
    attach(rule, variable.getAnyInitializer(), places);
    for (auto const& statement : rule.statements) first_uses(rule, statement);
    if (!problem.empty())
        diagnostics.push_back({Severity::error, problem, rule.where, {}});
    else if (next != numbers.size())
        diagnostics.push_back(
            {Severity::error, "the numbers of this rule do not line up with its tree", rule.where, {}});
    return rule;
}

} // namespace deltaloom::codegen
