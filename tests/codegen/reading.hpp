#pragma once
// What the tests of the reader share.
#include "codegen/read/read.hpp"
#include "tests/support/scratch.hpp"

#include <sstream>

namespace deltaloom::test {

inline codegen::ReadOptions reader_options() {
    codegen::ReadOptions options;
    options.include_folders.push_back(DELTALOOM_TEST_DSL);
    std::istringstream boost(DELTALOOM_TEST_BOOST);
    for (std::string folder; std::getline(boost, folder, ';');) options.include_folders.push_back(folder);
    return options;
}

inline codegen::ReadResult read(std::string const& header) { return codegen::read(header, reader_options()); }

// The characters that a location underlines.
inline std::string text_at(codegen::Location const& where) {
    std::ifstream file(where.file);
    std::string line;
    for (unsigned i = 0; i < where.line; ++i) std::getline(file, line);
    return where.column <= line.size() ? line.substr(where.column - 1, where.length) : "";
}

inline std::string place(codegen::Location const& where) {
    return std::to_string(where.line) + ":" + std::to_string(where.column) + "+" + std::to_string(where.length);
}

} // namespace deltaloom::test
