// Clang run on a header: its places and its messages as ours, the files it opened. The rules are found and read in
// clang_declarations.cpp.
#include "codegen/read/clang_declarations.hpp"
#include "codegen/read/read.hpp"

#include <clang/AST/ASTContext.h>
#include <clang/Basic/DiagnosticLex.h>
#include <clang/Basic/DiagnosticSema.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Lex/Lexer.h>
#include <clang/Tooling/ArgumentsAdjusters.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace deltaloom::codegen {

// ---- places ----

clang::SourceLocation Places::in_file(clang::SourceLocation at) const {
    if (at.isInvalid()) return at;
    auto const place = sources.getFileLoc(at);
    // `#NAME` and `a ## b` are spelt in a buffer of clang's own.
    return sources.isWrittenInScratchSpace(place) ? sources.getExpansionLoc(at) : place;
}

Location Places::token(clang::SourceLocation at) const {
    auto const place = in_file(at);
    auto const presumed = sources.getPresumedLoc(place, false);
    if (presumed.isInvalid()) return {};
    // A file beside the header in the working folder is named "./other.hpp" by clang.
    llvm::StringRef file = presumed.getFilename();
    auto const main = sources.getFileEntryRefForID(sources.getMainFileID());
    if (main && !main->getName().starts_with("./")) file.consume_front("./");
    return {file.str(), presumed.getLine(), presumed.getColumn(),
            std::max(1u, clang::Lexer::MeasureTokenLength(place, sources, language))};
}

Location Places::range(clang::SourceRange range) const {
    auto first = token(range.getBegin());
    auto const last = token(range.getEnd());
    if (first.file == last.file && first.line == last.line && first.column <= last.column)
        first.length = last.column + last.length - first.column;
    return first;
}

namespace {

namespace fs = std::filesystem;

// ---- diagnostics ----

// Clang's own errors and warnings as Diagnostics; nothing is printed.
struct DiagnosticCollector : clang::DiagnosticConsumer {
    std::vector<Diagnostic> found;
    bool machine = false; // a header that a package brings is missing

    void BeginSourceFile(clang::LangOptions const&, clang::Preprocessor const*) override;
    void HandleDiagnostic(clang::DiagnosticsEngine::Level, clang::Diagnostic const&) override;

private:
    clang::LangOptions language;
    bool ignoring = false; // the notes of something that was left out
};

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
    if (info.getID() == clang::diag::err_undeclared_var_use ||
        info.getID() == clang::diag::err_undeclared_var_use_suggest)
        diagnostic.notes.push_back(
            {Severity::note,
             "an operand is declared before the rule: DELTALOOM_INPUT(name) for a number of every "
             "token, DELTALOOM_INPUT(name, dk) for a vector; so with GATE, STATE, PARAMETER, OUTPUT",
             {},
             {}});
    found.push_back(std::move(diagnostic));
}

// ---- the run ----

// Only the header's own functions can hold rules; the bodies of others are not needed unless they are evaluated
// (constexpr, auto).
struct Consumer : clang::ASTConsumer {
    ReadResult& result;
    ReadOptions const& options;
    clang::CompilerInstance& compiler;

    Consumer(ReadResult& r, ReadOptions const& o, clang::CompilerInstance& c) : result(r), options(o), compiler(c) {}

    bool shouldSkipFunctionBody(clang::Decl* d) override {
        return compiler.getSourceManager().isInSystemHeader(d->getLocation());
    }

    void HandleTranslationUnit(clang::ASTContext& context) override {
        Places const places{context.getSourceManager(), context.getLangOpts()};
        result.rules = rules_of(context, places, options.include_folders, result.diagnostics);
    }
};

struct Action : clang::ASTFrontendAction {
    ReadResult& result;
    ReadOptions const& options;

    Action(ReadResult& r, ReadOptions const& o) : result(r), options(o) {}

    std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& compiler, llvm::StringRef) override {
        compiler.getFrontendOpts().SkipFunctionBodies = true;
        return std::make_unique<Consumer>(result, options, compiler);
    }

    // Every file with its contents' hash, ordered by name: the same reading has the same digest.
    void EndSourceFileAction() override {
        auto const& sources = getCompilerInstance().getSourceManager();
        std::vector<std::pair<std::string, std::uint64_t>> read;
        for (auto file = sources.fileinfo_begin(); file != sources.fileinfo_end(); ++file)
            if (auto const contents = file->second->getBufferDataIfLoaded())
                read.emplace_back(file->first.getName().str(), llvm::xxh3_64bits(*contents));
        std::sort(read.begin(), read.end());
        for (auto const& [name, hash] : read) {
            result.files.push_back(name);
            result.preprocessed += llvm::utohexstr(hash) + " ";
        }
    }
};

std::string digest(llvm::StringRef bytes) {
    auto const hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(bytes));
    return llvm::utohexstr(hash.high64, true, 16) + llvm::utohexstr(hash.low64, true, 16);
}

std::string first_existing(std::vector<std::string> const& folders) {
    for (auto const& folder : folders)
        if (fs::exists(fs::path(folder) / "include" / "stddef.h")) return folder;
    return folders.front();
}

// Naming a folder that is searched anyway moves it in front of the C++ library, whose headers then miss it with
// include_next.
bool is_default(fs::path const& folder) {
    std::error_code none;
    return fs::equivalent(folder, "/usr/include", none) || fs::equivalent(folder, "/usr/local/include", none);
}

std::vector<std::string> command(std::string const& header, ReadOptions const& options) {
    auto const resources =
        first_existing({options.resource_folder.empty() ? DELTALOOM_CLANG_RESOURCE_DIR : options.resource_folder,
                        DELTALOOM_CLANG_RESOURCE_DIR, "/usr/lib/llvm-19/lib/clang/19", "/usr/lib/clang/19"});
    std::vector<std::string> words{
        "clang++",    "--no-default-config", "-fsyntax-only", "-fno-caret-diagnostics",
        "-std=c++20", "-resource-dir",       resources,       "-Wno-pragma-once-outside-header"};
    for (auto const& folder : options.include_folders)
        if (!is_default(folder)) words.insert(words.end(), {"-isystem", folder});
    // What a build's flags may say about outputs is not for the reader.
    using namespace clang::tooling;
    auto const strip = combineAdjusters(getClangStripOutputAdjuster(), getClangStripDependencyFileAdjuster());
    auto const flags = strip(options.compiler_flags, header);
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"-xc++-header", header.starts_with("-") ? "./" + header : header});
    return words;
}

// Why the header cannot be opened; empty if it can.
std::string unreadable(std::string const& header) {
    std::error_code failed;
    auto const status = fs::status(header, failed);
    if (status.type() == fs::file_type::not_found) return "cannot read " + header + ": there is no such file";
    if (status.type() == fs::file_type::directory)
        return "cannot read " + header + ": it is a folder, name a header file";
    if (failed) return "cannot read " + header + ": " + failed.message();
    errno = 0;
    if (std::ifstream file(header); file) return "";
    return "cannot read " + header + ": " + std::strerror(errno);
}

bool has_error(std::vector<Diagnostic> const& diagnostics) {
    return std::any_of(diagnostics.begin(), diagnostics.end(),
                       [](Diagnostic const& d) { return d.severity == Severity::error; });
}

} // namespace

ReadResult read(std::string const& header, ReadOptions const& options) {
    ReadResult result;
    if (auto text = unreadable(header); !text.empty()) {
        result.diagnostics.push_back({Severity::error, std::move(text), {}, {}});
        return result;
    }
    DiagnosticCollector collector;
    llvm::IntrusiveRefCntPtr<clang::FileManager> files(new clang::FileManager(clang::FileSystemOptions()));
    clang::tooling::ToolInvocation invocation(command(header, options), std::make_unique<Action>(result, options),
                                              files.get());
    invocation.setDiagnosticConsumer(&collector);
    bool const ran = invocation.run();

    result.machine = collector.machine;
    collector.found.insert(collector.found.end(), result.diagnostics.begin(), result.diagnostics.end());
    result.diagnostics = std::move(collector.found);
    for (auto const& flag : options.compiler_flags) result.preprocessed += flag + '\0';
    result.preprocessed = digest(result.preprocessed);
    if (has_error(result.diagnostics)) return result;
    if (!ran)
        result.diagnostics.push_back({Severity::error, "clang could not read " + header, {}, {}});
    else if (result.rules.empty())
        result.diagnostics.push_back(
            {Severity::error, "no rule in " + header + ": declare one with rule(...)", {}, {}});
    return result;
}

} // namespace deltaloom::codegen
