#pragma once
// Clang's own errors and warnings as Diagnostics; nothing is printed.
#include "codegen/location.hpp"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/LangOptions.h>

#include <vector>

namespace deltaloom::codegen {

struct DiagnosticCollector : clang::DiagnosticConsumer {
    std::vector<Diagnostic> found;
    bool machine = false; // a header that a package brings is missing

    void BeginSourceFile(clang::LangOptions const&, clang::Preprocessor const*) override;
    void HandleDiagnostic(clang::DiagnosticsEngine::Level, clang::Diagnostic const&) override;

private:
    clang::LangOptions language;
    bool ignoring = false; // the notes of something that was left out
};

} // namespace deltaloom::codegen
