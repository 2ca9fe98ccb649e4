#pragma once
// The stages in order, on one screen: header -> Declarations -> TypedRules -> Recurrences and Programs -> Kernels ->
// source.
#include "codegen/program/program.hpp"
#include "codegen/read/read.hpp"

namespace deltaloom::codegen {

struct LoadedRule {
    Declaration declaration; // the oracle's side
    Derived derived;         // the generator's side
};
struct Loaded {
    std::vector<LoadedRule> rules;
    std::vector<Diagnostic> diagnostics; // errors: the header is refused; warnings: forms that a rule cannot have
    std::vector<std::string> files;
    std::string digest;
    bool refused() const;
};

// Reads headers and derives every rule in them (or only those named in `only`). All errors of all rules are collected.
Loaded load(std::vector<std::string> const& headers, ReadOptions const&, std::vector<std::string> const& only = {});

} // namespace deltaloom::codegen
