#include "codegen/read/clang_rules.hpp"

#include "codegen/read/clang_tree.hpp"
#include "codegen/read/clang_types.hpp"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>

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
