#include "codegen/read/clang_types.hpp"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <llvm/ADT/StringExtras.h>

#include <algorithm>
#include <map>

namespace deltaloom::codegen {

namespace {

using namespace clang;
using llvm::dyn_cast;
using llvm::dyn_cast_or_null;
using llvm::isa;

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

} // namespace

bool is_rule(QualType type) {
    auto const* record = instance(type);
    return record && record->getName() == "rule_t" && is_in(*record, "ast");
}

bool of_the_language(FunctionDecl const& function) { return is_in(function, "ast") || is_in(function, "dsl"); }

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

std::string build_trees(QualType type, Declaration& rule) {
    Trees trees{rule, {}, {}};
    for (auto const& statement : instance(type)->getTemplateArgs()[1].pack_elements())
        rule.statements.push_back(trees.tree(statement.getAsType()));
    return trees.problem;
}

} // namespace deltaloom::codegen
