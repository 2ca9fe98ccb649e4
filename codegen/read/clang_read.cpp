#include "codegen/read/clang_diagnostics.hpp"
#include "codegen/read/clang_rules.hpp"
#include "codegen/read/read.hpp"

#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Tooling/ArgumentsAdjusters.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace deltaloom::codegen {

namespace {

namespace fs = std::filesystem;

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
