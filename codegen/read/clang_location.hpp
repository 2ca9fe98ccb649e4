#pragma once
// Clang's positions -> Location. A macro's argument is where it is spelt, what its body wrote is where the macro is
// used.
#include "codegen/location.hpp"

#include <clang/Basic/LangOptions.h>
#include <clang/Basic/SourceManager.h>

namespace deltaloom::codegen {

struct Places {
    clang::SourceManager const& sources;
    clang::LangOptions const& language;

    clang::SourceLocation in_file(clang::SourceLocation) const;
    Location token(clang::SourceLocation) const; // of the token that starts there
    Location range(clang::SourceRange)
        const; // up to the end of the last token where that is on the same line, else of the first token
};

} // namespace deltaloom::codegen
