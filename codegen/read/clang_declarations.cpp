// Which variables of a parsed header are its rules, and each of them as a Declaration: its type is the tree, its value
// holds the numbers, its initialiser the places.
#include "codegen/read/clang_declarations.hpp"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/StringExtras.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace deltaloom::codegen {

namespace {

using namespace clang;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;
namespace fs = std::filesystem;

// ---- types: trees, operands, shapes and names; nothing here looks at how the user wrote it ----

ClassTemplateSpecializationDecl const* instance(QualType type) {
    return dyn_cast_or_null<ClassTemplateSpecializationDecl>(
        type.getCanonicalType().getNonReferenceType()->getAsCXXRecordDecl());
}

bool is_in(Decl const& declaration, llvm::StringRef inner) {
    auto const* space = dyn_cast<NamespaceDecl>(declaration.getDeclContext()->getEnclosingNamespaceContext());
    while (space && space->isInline()) space = dyn_cast_or_null<NamespaceDecl>(space->getParent());
    if (!space || space->getName() != inner) return false;
    auto const* outer = dyn_cast<NamespaceDecl>(space->getParent());
    return outer && outer->getName() == "deltaloom" && outer->getParent()->isTranslationUnit();
}

std::string label(QualType);

std::string printed(TemplateArgument const& argument) {
    if (argument.getKind() == TemplateArgument::Integral) return llvm::toString(argument.getAsIntegral(), 10);
    return argument.getKind() == TemplateArgument::Type ? label(argument.getAsType()) : "?";
}

// What a name tag or a dimension is called: its `text`, else its name; template arguments follow: dpfp_dim<2, dk>.
std::string label(QualType type) {
    auto const* record = type->getAsCXXRecordDecl();
    if (!record) return type.getAsString();
    std::string name = record->getNameAsString();
    auto const* pattern = dyn_cast_or_null<CXXRecordDecl>(
        record->getTemplateInstantiationPattern()); // an instance gets its initialisers late
    for (auto const* member : (pattern ? pattern : record)->decls()) {
        auto const* text = dyn_cast<VarDecl>(member);
        if (!text || text->getName() != "text" || !text->getAnyInitializer()) continue;
        if (auto const* s = dyn_cast<StringLiteral>(text->getAnyInitializer()->IgnoreParenImpCasts()))
            name = s->getString().str();
    }
    if (auto const* s = dyn_cast<ClassTemplateSpecializationDecl>(record)) {
        std::string arguments;
        for (auto const& argument : s->getTemplateArgs().asArray())
            arguments += (arguments.empty() ? "" : ", ") + printed(argument);
        name += "<" + arguments + ">";
    }
    return name;
}

std::string enumerator(TemplateArgument const& argument) {
    if (argument.getKind() == TemplateArgument::Integral)
        if (auto const* e = argument.getIntegralType()->getAs<EnumType>())
            for (auto const* c : e->getDecl()->enumerators())
                if (c->getInitVal() == argument.getAsIntegral()) return c->getNameAsString();
    return "";
}

// "::mine::e_name"; template arguments included. Empty where no other file can name it: in a function, private, in a
// class without a name.
std::string qualified_name(NamedDecl const& declaration) {
    auto const& context = declaration.getASTContext();
    PrintingPolicy policy(context.getLangOpts());
    policy.SuppressTagKeyword = true;
    policy.FullyQualifiedName = true;
    policy.SuppressDefaultTemplateArgs = false;
    auto const with_arguments = [&](NamedDecl const& named) {
        auto name = named.getNameAsString();
        auto const* of_class = dyn_cast<ClassTemplateSpecializationDecl>(&named);
        auto const* of_variable = dyn_cast<VarTemplateSpecializationDecl>(&named);
        if (!of_class && !of_variable) return name;
        llvm::raw_string_ostream out(name);
        printTemplateArgumentList(
            out, (of_class ? of_class->getTemplateArgs() : of_variable->getTemplateArgs()).asArray(), policy);
        return name;
    };
    if (declaration.getAccess() == AS_private || declaration.getAccess() == AS_protected) return "";
    std::string name = "::" + with_arguments(declaration);
    for (auto const* around = declaration.getDeclContext(); !around->isTranslationUnit();
         around = around->getParent()) {
        if (isa<LinkageSpecDecl>(around)) continue;
        auto const* named = dyn_cast<NamedDecl>(around);
        auto const* space = dyn_cast<NamespaceDecl>(around);
        if (space && space->isAnonymousNamespace())
            continue; // whoever includes the header names what is in it without it
        if (!named || (!space && !isa<CXXRecordDecl>(around)) || named->getName().empty()) return "";
        if (named->getAccess() == AS_private || named->getAccess() == AS_protected) return "";
        name = "::" + with_arguments(*named) + name;
    }
    return name;
}

struct Operation {
    std::string_view kind, head; // what YAP calls it, what the user writes
    TreeKind tree;
};
constexpr Operation operations[]{
    {"multiplies", "*", TreeKind::binary},
    {"plus", "+", TreeKind::binary},
    {"minus", "-", TreeKind::binary},
    {"divides", "/", TreeKind::binary},
    {"modulus", "%", TreeKind::binary},
    {"negate", "-", TreeKind::unary},
    {"shift_left_assign", "<<=", TreeKind::statement},
};

struct Trees {
    Declaration& rule;
    std::string problem;
    std::map<std::string, QualType>
        dims; // a dimension is known by its name: two types of one name cannot be told apart

    void fail(std::string text) {
        if (problem.empty()) problem = std::move(text);
    }

    std::string dim(QualType type) {
        auto name = label(type);
        auto const [known, fresh] = dims.emplace(name, type.getCanonicalType());
        if (!fresh && known->second != type.getCanonicalType())
            fail("two dimensions of this rule are called " + name + ": " +
                 qualified_name(*known->second->getAsCXXRecordDecl()) + " and " +
                 qualified_name(*type->getAsCXXRecordDecl()) + "; rename one");
        return name;
    }

    // operand<Name, Role, Shape>; the same type is the same operand.
    int operand(llvm::ArrayRef<TemplateArgument> arguments) {
        DeclaredOperand operand;
        auto const tag = arguments[0].getAsType();
        operand.name = label(tag);
        operand.tag = qualified_name(*tag->getAsCXXRecordDecl());
        auto const role = label(arguments[1].getAsType());
        if (role == "state")
            operand.role = Role::state;
        else if (role == "input")
            operand.role = Role::input;
        else if (role == "gate")
            operand.role = Role::gate;
        else if (role == "parameter" || role == "linear_parameter")
            operand.role = Role::parameter;
        else if (role == "output")
            operand.role = Role::output;
        else
            fail("the operand " + operand.name + " has the unknown role " + role);
        auto const* shape = instance(arguments[2].getAsType());
        operand.domain = operand.role == Role::gate || role == "linear_parameter" ? Domain::linear : Domain::real;
        if (shape && shape->getName() == "log") {
            operand.domain = Domain::log;
            shape = instance(shape->getTemplateArgs()[0].getAsType());
        }
        if (shape)
            for (auto const& argument : shape->getTemplateArgs().asArray())
                operand.dims.push_back(dim(argument.getAsType()));
        for (std::size_t i = 0; i < rule.operands.size(); ++i)
            if (rule.operands[i] == operand) return int(i);
        rule.operands.push_back(std::move(operand));
        return int(rule.operands.size()) - 1;
    }

    void leaf(Tree& tree, QualType type) {
        auto const* terminal = instance(type);
        if (!terminal) return fail("a leaf that is neither an operand nor a number: " + type.getAsString());
        auto const arguments = terminal->getTemplateArgs().asArray();
        if (terminal->getName() == "literal") {
            tree.kind = TreeKind::number;
            tree.integer = label(arguments[0].getAsType()) == "integer";
        } else if (terminal->getName() == "operand" && arguments.size() == 3) {
            tree.kind = TreeKind::operand;
            tree.operand = operand(arguments);
            tree.head = rule.operands[std::size_t(tree.operand)].name;
        } else
            fail("a leaf that is neither an operand nor a number: " + terminal->getNameAsString());
    }

    // The name and the count of function<Name>; Name may be a template over the count.
    void function(Tree& tree, QualType type) {
        auto const* call = instance(type); // terminal<function<Name>>
        auto const* tuple =
            call && call->getName() == "expr" ? instance(call->getTemplateArgs()[1].getAsType()) : nullptr;
        auto const* f = tuple ? instance(tuple->getTemplateArgs()[0].pack_begin()->getAsType()) : nullptr;
        if (!f || f->getName() != "function") return fail("a call of something that is no function of the language");
        auto const name = f->getTemplateArgs()[0].getAsType();
        tree.head = label(name);
        tree.head.resize(std::min(tree.head.size(), tree.head.find('<')));
        if (auto const* counted = instance(name))
            for (auto const& argument : counted->getTemplateArgs().asArray())
                if (argument.getKind() == TemplateArgument::Integral)
                    tree.count = int(argument.getAsIntegral().getExtValue());
        tree.kind = tree.head == "repeat" ? TreeKind::repeat : TreeKind::call;
    }

    Tree tree(QualType type) {
        Tree result;
        auto const* node = instance(type);
        auto const* tuple =
            node && node->getName() == "expr" ? instance(node->getTemplateArgs()[1].getAsType()) : nullptr;
        if (!tuple) {
            fail("not an expression of the language: " + type.getAsString());
            return result;
        }
        auto elements = tuple->getTemplateArgs()[0].pack_elements();
        auto const kind = enumerator(node->getTemplateArgs()[0]);
        if (kind == "terminal") {
            leaf(result, elements[0].getAsType());
            return result;
        }
        auto const* operation =
            std::find_if(std::begin(operations), std::end(operations), [&](auto const& o) { return kind == o.kind; });
        if (operation != std::end(operations)) {
            result.kind = operation->tree;
            result.head = std::string(operation->head);
        } else if (kind == "call") {
            function(result, elements[0].getAsType());
            elements = elements.drop_front();
        } else
            fail("an operation that is not of the language: " + kind);
        for (auto const& element : elements) result.arguments.push_back(tree(element.getAsType()));
        return result;
    }
};

// A shape as a user says it; empty for what is none.
std::string shape_text(QualType type) {
    auto const* record = type->getAsCXXRecordDecl();
    if (!record) return type->isArithmeticType() ? "a number" : "";
    if (auto const* node = dyn_cast<CXXRecordDecl>(record); node->getName() == "expr" && node->hasDefinition())
        for (auto const& base : node->bases())
            if (auto const* shaped = instance(base.getType()); shaped && shaped->getName() == "shaped")
                return shape_text(shaped->getTemplateArgs()[0].getAsType());
    auto const* s = dyn_cast<ClassTemplateSpecializationDecl>(record);
    auto const argument = [&](unsigned i) { return printed(s->getTemplateArgs()[i]); };
    if (record->getName() == "scalar") return "a scalar";
    if (record->getName() == "number" || record->getName() == "integer") return "a number";
    if (record->getName() == "statement") return "a statement";
    if (!s) return "";
    if (record->getName() == "vector") return "a vector of " + argument(0);
    if (record->getName() == "row") return "a row of " + argument(0);
    if (record->getName() == "matrix") return "a matrix of " + argument(0) + " x " + argument(1);
    if (record->getName() == "log") {
        auto const inner = shape_text(s->getTemplateArgs()[0].getAsType());
        return inner == "a scalar" ? "a log gate" : "a log gate, " + inner;
    }
    return "";
}

void add_integrals(llvm::ArrayRef<TemplateArgument> arguments, std::string& suffix) {
    for (auto const& argument : arguments) {
        if (argument.getKind() == TemplateArgument::Pack) add_integrals(argument.pack_elements(), suffix);
        if (argument.getKind() != TemplateArgument::Integral) continue;
        auto text = printed(argument);
        if (text.front() == '-') text.front() = 'm';
        suffix += "_" + text;
    }
}

bool is_rule(QualType type) {
    auto const* record = instance(type);
    return record && record->getName() == "rule_t" && is_in(*record, "ast");
}

bool of_the_language(FunctionDecl const& function) { return is_in(function, "ast") || is_in(function, "dsl"); }

// "_3" for product<3>; the integral arguments of its classes come first.
std::string instance_suffix(VarDecl const& variable) {
    std::string suffix;
    std::vector<ClassTemplateSpecializationDecl const*> classes;
    for (auto const* context = variable.getDeclContext(); context; context = context->getParent())
        if (auto const* s = dyn_cast<ClassTemplateSpecializationDecl>(context)) classes.insert(classes.begin(), s);
    for (auto const* s : classes) add_integrals(s->getTemplateArgs().asArray(), suffix);
    if (auto const* f = dyn_cast<FunctionDecl>(variable.getDeclContext()); f && f->getTemplateSpecializationArgs())
        add_integrals(f->getTemplateSpecializationArgs()->asArray(), suffix);
    if (auto const* s = dyn_cast<VarTemplateSpecializationDecl>(&variable))
        add_integrals(s->getTemplateArgs().asArray(), suffix);
    return suffix;
}

// Fills operands (without locations) and statements (without locations and numbers) from rule_t<N, Statements...>.
// Returns what it does not understand, in words; empty: all is well.
std::string build_trees(QualType type, Declaration& rule) {
    Trees trees{rule, {}, {}};
    for (auto const& statement : instance(type)->getTemplateArgs()[1].pack_elements())
        rule.statements.push_back(trees.tree(statement.getAsType()));
    return trees.problem;
}

// ---- the initialiser ----

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

// The variable that an expression names, or null.
VarDecl const* named_variable(Expr const* written) {
    auto const* e = peel(written);
    if (auto const* d = dyn_cast<DeclRefExpr>(e)) return dyn_cast<VarDecl>(d->getDecl());
    if (auto const* m = dyn_cast<MemberExpr>(e)) return dyn_cast<VarDecl>(m->getMemberDecl());
    return nullptr;
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

// Of a variable whose type is_rule and that is no other name of a rule. What is wrong is added to the diagnostics.
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

// ---- the rules of a header ----

fs::path real(fs::path const& folder) {
    std::error_code failed;
    auto const full = fs::weakly_canonical(folder.empty() ? "." : folder, failed);
    return failed ? folder.lexically_normal() : full;
}

// The folder that a file is in; a file that is a link is where the link is.
fs::path folder_of(clang::FileEntryRef file) { return real(fs::path(file.getName().str()).parent_path()); }

bool is_below(fs::path const& inner, fs::path const& folder) {
    auto const relative = inner.lexically_relative(folder);
    return !relative.empty() && *relative.begin() != "..";
}

struct Search {
    Places const& places;
    std::vector<Diagnostic>& diagnostics;
    fs::path folder;                 // of the header
    std::vector<fs::path> elsewhere; // include folders that do not hold the header
    std::map<FileID, bool> own_files;
    std::set<Decl const*> seen;
    std::vector<Declaration> rules;

    bool own(SourceLocation at) {
        auto const file = places.sources.getFileID(places.sources.getExpansionLoc(at));
        auto const [known, fresh] = own_files.emplace(file, false);
        if (!fresh) return known->second;
        auto const entry = places.sources.getFileEntryRefForID(file);
        if (!entry) return false;
        auto const path = folder_of(*entry);
        bool here = is_below(path, folder);
        for (auto const& other : elsewhere) here = here && !is_below(path, other);
        return known->second = here;
    }

    void variable(VarDecl const& found) {
        auto const* init = found.getAnyInitializer();
        if (!is_rule(found.getType()) || found.isInvalidDecl() || found.isTemplated() || !init ||
            !found.hasGlobalStorage())
            return;
        auto const* other = named_variable(init);
        if (other && is_rule(other->getType()) && other->hasGlobalStorage()) return; // another name of that rule
        if (!seen.insert(found.getCanonicalDecl()).second) return;
        if (!found.isConstexpr()) {
            diagnostics.push_back({Severity::error,
                                   "the rule " + found.getNameAsString() +
                                       " is not constexpr: write inline constexpr auto " + found.getNameAsString() +
                                       " = rule(...)",
                                   places.token(found.getLocation()),
                                   {}});
            return;
        }
        rules.push_back(declaration_of(found, places, diagnostics));
    }

    // Instances are rules where the template or the place that names the instance is the user's.
    void instances(VarTemplateDecl const& pattern) {
        for (auto const* instance : pattern.specializations())
            if (is_rule(instance->getType()) &&
                (own(pattern.getLocation()) || own(instance->getPointOfInstantiation())))
                variable(*instance);
    }

    void body(Stmt const* statement) {
        if (!statement) return;
        if (auto const* declarations = dyn_cast<DeclStmt>(statement))
            for (auto const* d : declarations->decls())
                if (auto const* v = dyn_cast<VarDecl>(d); v && v->isStaticLocal()) variable(*v);
        for (auto const* child : statement->children()) body(child);
    }

    void function(FunctionDecl const& f) {
        if (!f.isTemplated() && f.doesThisDeclarationHaveABody()) body(f.getBody());
    }

    void record(CXXRecordDecl const& r) {
        if (r.isThisDeclarationADefinition() && !r.isTemplated()) context(r);
    }

    void context(DeclContext const& around) {
        for (auto const* d : around.decls()) {
            if (auto const* t = dyn_cast<VarTemplateDecl>(d))
                instances(*t);
            else if (isa<NamespaceDecl, LinkageSpecDecl>(d))
                context(*dyn_cast<DeclContext>(d));
            else if (!own(d->getLocation()))
                continue;
            else if (auto const* v = dyn_cast<VarDecl>(d))
                variable(*v);
            else if (auto const* f = dyn_cast<FunctionDecl>(d))
                function(*f);
            else if (auto const* r = dyn_cast<CXXRecordDecl>(d))
                record(*r);
            else if (auto const* ft = dyn_cast<FunctionTemplateDecl>(d)) {
                for (auto const* s : ft->specializations()) function(*s);
            } else if (auto const* ct = dyn_cast<ClassTemplateDecl>(d)) {
                for (auto const* s : ct->specializations()) record(*s);
            }
        }
    }
};

} // namespace

std::string shapes_of(FunctionDecl const& function) {
    std::string text;
    auto const* arguments = function.getTemplateSpecializationArgs();
    if (!arguments) return text;
    for (auto const& argument : arguments->asArray()) {
        if (argument.getKind() != TemplateArgument::Type) continue;
        auto const shape = shape_text(argument.getAsType());
        if (!shape.empty()) text += (text.empty() ? "" : " and ") + shape;
    }
    return text;
}

std::vector<Declaration> rules_of(ASTContext& context, Places const& places,
                                  std::vector<std::string> const& include_folders,
                                  std::vector<Diagnostic>& diagnostics) {
    Search search{places, diagnostics, {}, {}, {}, {}, {}};
    auto const main = places.sources.getFileEntryRefForID(places.sources.getMainFileID());
    search.folder = folder_of(*main);
    for (auto const& folder : include_folders)
        if (auto const path = real(folder); !is_below(search.folder, path)) search.elsewhere.push_back(path);
    search.context(*context.getTranslationUnitDecl());
    return std::move(search.rules);
}

} // namespace deltaloom::codegen
