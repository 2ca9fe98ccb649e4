#include "codegen/read/clang_diagnostics.hpp"

#include "codegen/read/clang_location.hpp"
#include "codegen/read/clang_types.hpp"

#include <clang/Basic/DiagnosticLex.h>
#include <clang/Basic/DiagnosticSema.h>

#include <algorithm>
#include <array>

namespace deltaloom::codegen {

namespace {

constexpr std::size_t most_notes = 4, longest_text = 400;

std::string shortened(std::string text) {
    if (text.size() > longest_text) text = text.substr(0, longest_text) + " ...";
    return text;
}

// The Debian package that brings a header, empty for one of the user's own.
std::string package_of(std::string_view header) {
    constexpr std::array<std::string_view, 8> builtin{"stddef.h", "stdarg.h", "stdbool.h",  "float.h",
                                                      "limits.h", "stdint.h", "stdalign.h", "immintrin.h"};
    if (header.starts_with("boost/")) return "libboost-dev";
    if (header.starts_with("deltaloom/")) return "Deltaloom itself (the language's headers)";
    if (std::find(builtin.begin(), builtin.end(), header) != builtin.end()) return "libclang-common-19-dev";
    bool const standard = header.find_first_of("./") == header.npos;
    return standard ? "libstdc++-12-dev" : "";
}

} // namespace

void DiagnosticCollector::BeginSourceFile(clang::LangOptions const& options, clang::Preprocessor const*) {
    language = options;
}

void DiagnosticCollector::HandleDiagnostic(clang::DiagnosticsEngine::Level level, clang::Diagnostic const& info) {
    DiagnosticConsumer::HandleDiagnostic(level, info); // counts
    using Level = clang::DiagnosticsEngine::Level;
    bool const note = level == Level::Note;
    if (!note) ignoring = level == Level::Ignored || level == Level::Remark;
    if (ignoring) return;

    if (note && info.getID() == clang::diag::note_from_diagnose_if && !found.empty()) {
        // A refusal of the language: the text is the error's, the operator's template arguments are the shapes.
        if (info.getNumArgs() > 0 && info.getArgKind(0) == clang::DiagnosticsEngine::ak_nameddecl) {
            auto const* function =
                llvm::dyn_cast<clang::FunctionDecl>(reinterpret_cast<clang::NamedDecl const*>(info.getRawArg(0)));
            auto const shapes = function ? shapes_of(*function) : "";
            if (!shapes.empty()) found.back().text += " (here: " + shapes + ")";
        }
        return;
    }
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    Diagnostic diagnostic{Severity::error, shortened(text.str().str()), {}, {}};
    if (info.hasSourceManager() && info.getLocation().isValid())
        diagnostic.where = Places{info.getSourceManager(), language}.token(info.getLocation());
    if (note) {
        diagnostic.severity = Severity::note;
        if (!found.empty() && found.back().notes.size() < most_notes)
            found.back().notes.push_back(std::move(diagnostic));
        return;
    }
    if (level == Level::Warning) diagnostic.severity = Severity::warning;
    if (info.getID() == clang::diag::err_pp_file_not_found &&
        info.getArgKind(0) == clang::DiagnosticsEngine::ak_std_string) {
        auto const package = package_of(info.getArgStdStr(0));
        if (!package.empty()) {
            machine = true;
            diagnostic.notes.push_back(
                {Severity::note, "it comes with " + package + "; another folder is named by -- -I FOLDER", {}, {}});
        }
    }
    found.push_back(std::move(diagnostic));
}

} // namespace deltaloom::codegen
