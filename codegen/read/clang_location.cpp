#include "codegen/read/clang_location.hpp"

#include <clang/Lex/Lexer.h>

namespace deltaloom::codegen {

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

} // namespace deltaloom::codegen
