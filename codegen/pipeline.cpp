#include "codegen/pipeline.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace deltaloom::codegen {

bool Loaded::refused() const {
    return std::any_of(diagnostics.begin(), diagnostics.end(),
                       [](auto const& d) { return d.severity == Severity::error; });
}

// A rule that two headers hold: one of them given twice, or a third that both include.
static bool one_place(Declaration const& a, Declaration const& b) {
    std::error_code none;
    return a.name == b.name && a.where.line == b.where.line && a.where.column == b.where.column &&
           (a.where.file == b.where.file || std::filesystem::equivalent(a.where.file, b.where.file, none));
}

Loaded load(std::vector<std::string> const& headers, ReadOptions const& options, std::vector<std::string> const& only) {
    Loaded loaded;
    std::vector<Declaration> declarations;
    for (auto const& header : headers) {
        auto read_result = read(header, options);
        auto const before = std::ptrdiff_t(declarations.size());
        for (auto const& rule : read_result.rules)
            if (std::none_of(declarations.begin(), declarations.begin() + before,
                             [&](Declaration const& other) { return one_place(rule, other); }))
                declarations.push_back(rule);
        loaded.diagnostics.insert(loaded.diagnostics.end(), read_result.diagnostics.begin(),
                                  read_result.diagnostics.end());
        for (auto const& file : read_result.files)
            if (std::find(loaded.files.begin(), loaded.files.end(), file) == loaded.files.end())
                loaded.files.push_back(file);
        loaded.digest += read_result.preprocessed + ";";
    }
    auto names = check_names(declarations);
    loaded.diagnostics.insert(loaded.diagnostics.end(), names.begin(), names.end());
    auto const wanted = [&](std::string const& name) {
        return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
    };
    for (auto const& name : only)
        if (std::none_of(declarations.begin(), declarations.end(), [&](auto const& d) { return d.name == name; })) {
            std::string there;
            for (auto const& d : declarations) there += (there.empty() ? "" : ", ") + d.name;
            loaded.diagnostics.push_back(
                {Severity::error, fmt::format("no rule '{}'; there are: {}", name, there), {}, {}});
        }
    for (auto& declaration : declarations) {
        if (!wanted(declaration.name)) continue;
        auto checked = check(declaration);
        if (auto* errors = std::get_if<std::vector<Diagnostic>>(&checked)) {
            loaded.diagnostics.insert(loaded.diagnostics.end(), errors->begin(), errors->end());
            continue;
        }
        if (loaded.refused()) continue;
        auto derived = derive(std::get<TypedRule>(std::move(checked)));
        if (derived.missing)
            loaded.diagnostics.push_back(
                {Severity::warning,
                 fmt::format("rule '{}' has no chunked form: {}", declaration.name, derived.missing->text),
                 derived.missing->where,
                 {{Severity::note,
                   fmt::format("in rule '{}' declared here; its recurrent forms and their backward are there",
                               declaration.name),
                   declaration.where,
                   {}}}});
        loaded.rules.push_back({std::move(declaration), std::move(derived)});
    }
    return loaded;
}

} // namespace deltaloom::codegen
