#include "codegen/emit/clang_format.hpp"

#include <clang/Format/Format.h>
#include <clang/Tooling/Core/Replacement.h>

namespace deltaloom::codegen {

namespace {

using clang::tooling::Replacements;

constexpr char const* file = "emitted.hpp"; // C++ by its name
constexpr int most_passes = 4;              // a second pass moves a comment now and then

clang::format::FormatStyle parsed_style() {
    auto style = clang::format::getLLVMStyle();
    if (clang::format::parseConfiguration(format_style(), &style)) return clang::format::getLLVMStyle();
    return style;
}

std::string changed(std::string const& code, Replacements const& replacements) {
    auto result = clang::tooling::applyAllReplacements(code, replacements);
    if (result) return *result;
    llvm::consumeError(result.takeError());
    return code;
}

} // namespace

std::string const& format_style() {
    static std::string const style = R"(BasedOnStyle: LLVM
Standard: c++20
ColumnLimit: 120
IndentWidth: 4
AccessModifierOffset: -4
AllowShortFunctionsOnASingleLine: All
AllowShortIfStatementsOnASingleLine: WithoutElse
AllowShortLoopsOnASingleLine: true
AllowShortCaseLabelsOnASingleLine: true
AllowShortBlocksOnASingleLine: Empty
AlwaysBreakTemplateDeclarations: MultiLine
PointerAlignment: Left
QualifierAlignment: Right
ReferenceAlignment: Left
SpaceAfterTemplateKeyword: false
IncludeBlocks: Preserve
NamespaceIndentation: None
PackConstructorInitializers: CurrentLine
EmptyLineBeforeAccessModifier: Leave
KeepEmptyLines: { AtEndOfFile: false, AtStartOfBlock: false, AtStartOfFile: false }
)";
    return style;
}

std::string format(std::string const& code) {
    using clang::tooling::Range;
    static auto const style = parsed_style();
    auto const all = [](std::string const& text) { return Range(0, unsigned(text.size())); };
    auto text = changed(code, clang::format::sortIncludes(style, code, {all(code)}, file));
    for (int pass = 0; pass < most_passes; ++pass) {
        auto const replacements = clang::format::reformat(style, text, {all(text)}, file);
        if (replacements.empty()) break;
        text = changed(text, replacements);
    }
    return text;
}

} // namespace deltaloom::codegen
