#pragma once
// The rules of a random header as Declarations, through parse_rule.
#include "codegen/check/random.hpp"
#include "tests/support/parse.hpp"

namespace deltaloom::test {

// The declarations of a header in the spelling of parse_rule: "INPUT(e, dk); GATE(w, log, dk)".
inline std::string declared_in(std::string const& header) {
    std::string operands;
    std::string const macro = "DELTALOOM_";
    for (std::size_t at = header.find(macro); at != std::string::npos; at = header.find(macro, at)) {
        at += macro.size();
        operands += (operands.empty() ? "" : "; ") + header.substr(at, header.find(';', at) - at);
    }
    return operands;
}

inline std::vector<codegen::Declaration> random_declarations(std::uint64_t seed, int count, bool chunkable) {
    std::string const operands = declared_in(codegen::random_rules(seed, count, chunkable));
    std::vector<codegen::Declaration> rules;
    for (int i = 0; i < count; ++i) {
        std::string text;
        for (auto const& statement : codegen::random_rule(seed, i, chunkable).statements)
            text += (text.empty() ? "" : ", ") + statement;
        rules.push_back(parse_rule("random_" + std::to_string(i), text, operands));
    }
    return rules;
}

} // namespace deltaloom::test
