#pragma once
// The commands. Each adds itself to the command line and returns what to run once the line has been parsed.
#include "codegen/pipeline.hpp"
#include "codegen/tool/environment.hpp"

#include <CLI/CLI.hpp>
#include <functional>
#include <map>

namespace deltaloom::codegen::tool {

using Command = std::function<Exit()>;

// `user_flags`: everything after `--`, for the reader.
Command add_check(CLI::App&, std::vector<std::string> const& user_flags);
Command add_show(CLI::App&, std::vector<std::string> const& user_flags);
Command add_emit(CLI::App&, std::vector<std::string> const& user_flags);
Command add_list(CLI::App&, std::vector<std::string> const& user_flags);
Command add_explain(CLI::App&, std::vector<std::string> const& user_flags);
Command add_same(CLI::App&, std::vector<std::string> const& user_flags);
Command add_new(CLI::App&, std::vector<std::string> const& user_flags);
Command add_random(CLI::App&);
Command add_cxxflags(CLI::App&);
Command add_doctor(CLI::App&);

// A seed: CLI11 would take -1 for 2^64 - 1, and what is too large for the largest.
inline CLI::Validator const whole_number{
    [](std::string& text) {
        bool const digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
        return digits && text.size() < 20 ? std::string() : text + " is no whole number from 0 to 10^19";
    },
    "", "whole number"};

// Loads headers (the shipped catalogue where there are none), prints every diagnostic, throws Failure{header} if one is
// an error. `quiet`, and for the shipped catalogue: no warnings.
Loaded load_or_fail(std::vector<std::string> const& headers, std::vector<std::string> const& user_flags,
                    std::vector<std::string> const& only = {}, bool quiet = false);
std::string catalogue_header();
// One rule of the catalogue; where it is not found at once, the names that there are.
struct ShippedRule {
    std::optional<LoadedRule> rule;
    std::vector<std::string> others;
};
ShippedRule shipped_rule(std::string const& name, std::vector<std::string> const& user_flags);

// The forms that a rule has, and for each that it lacks the reason: as `list` and `check` say them.
std::vector<std::string> form_names(Derived const&);
std::map<std::string, std::string> missing_forms(Derived const&);
// "chunked, parallel, summary" and their one reason.
std::vector<std::pair<std::string, std::string>> missing_by_reason(Derived const&);

std::optional<Form> form_named(std::string const&);
// Every form by name; throws Failure{header} for one that a rule cannot have.
std::vector<Form> forms_or_fail(std::vector<std::string> const& names, Loaded const&);

} // namespace deltaloom::codegen::tool
