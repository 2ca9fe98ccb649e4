#include "codegen/read/report.hpp"
#include "codegen/tool/commands.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace deltaloom::codegen::tool {

std::string catalogue_header() {
    for (auto const& folder : header_folders()) {
        auto const path = std::filesystem::path(folder) / "deltaloom/rules.hpp";
        if (std::filesystem::exists(path)) return path.string();
    }
    throw Failure{Exit::machine, "deltaloom/rules.hpp is not where the tool looks for it: run deltaloom doctor"};
}

// Reading the whole catalogue takes seconds. Most shipped rules have a header of their name: those are read where they
// hold all that is asked for.
static std::optional<Loaded> load_by_name(std::vector<std::string> const& user_flags,
                                          std::vector<std::string> const& names) {
    std::vector<std::string> own;
    for (auto const& name : names) {
        auto const header = std::filesystem::path(catalogue_header()).parent_path() / "rules" / (name + ".hpp");
        if (name.find('/') != std::string::npos || !std::filesystem::exists(header)) return std::nullopt;
        own.push_back(header.string());
    }
    if (own.empty()) return std::nullopt;
    auto loaded = load(own, read_options(user_flags), names);
    if (loaded.refused()) return std::nullopt;
    return loaded;
}
static Loaded load_catalogue(std::vector<std::string> const& user_flags, std::vector<std::string> const& only) {
    if (auto loaded = load_by_name(user_flags, only)) return *std::move(loaded);
    return load({catalogue_header()}, read_options(user_flags), only);
}

Loaded load_or_fail(std::vector<std::string> const& headers, std::vector<std::string> const& user_flags,
                    std::vector<std::string> const& only, bool quiet) {
    // Which forms a shipped rule lacks is no news to who asks for all of them; every command says why in its own place.
    quiet |= headers.empty();
    auto loaded = headers.empty() ? load_catalogue(user_flags, only) : load(headers, read_options(user_flags), only);
    for (auto const& diagnostic : loaded.diagnostics)
        if (!quiet || diagnostic.severity == Severity::error)
            fmt::print(stderr, "{}", render(diagnostic, colour_on_stderr()));
    if (loaded.refused()) throw Failure{Exit::header, ""};
    return loaded;
}

ShippedRule shipped_rule(std::string const& name, std::vector<std::string> const& user_flags) {
    ShippedRule found;
    if (auto loaded = load_by_name(user_flags, {name})) {
        found.rule = std::move(loaded->rules.at(0));
        return found;
    }
    for (auto& rule : load({catalogue_header()}, read_options(user_flags)).rules) {
        found.others.push_back(rule.declaration.name);
        if (found.others.back() == name) found.rule = std::move(rule);
    }
    return found;
}

std::vector<std::string> form_names(Derived const& d) {
    std::vector<std::string> names;
    for (auto const& p : d.programs)
        if (std::find(names.begin(), names.end(), name(p.form)) == names.end()) names.push_back(name(p.form));
    return names;
}

// Why a rule lacks a form; null: it has it.
static Reason const* missing(Form form, Derived const& d) {
    if (form == Form::step || form == Form::recurrent) return nullptr;
    auto const& reason = form == Form::summary ? d.no_summary : d.missing;
    return reason ? &*reason : nullptr;
}

std::map<std::string, std::string> missing_forms(Derived const& d) {
    std::map<std::string, std::string> reasons;
    for (Form form : {Form::chunked, Form::parallel, Form::summary})
        if (auto const* reason = missing(form, d)) reasons[name(form)] = reason->text;
    return reasons;
}

std::vector<std::pair<std::string, std::string>> missing_by_reason(Derived const& d) {
    std::vector<std::pair<std::string, std::string>> grouped;
    for (auto const& [form, reason] : missing_forms(d)) {
        auto const same =
            std::find_if(grouped.begin(), grouped.end(), [&](auto const& g) { return g.second == reason; });
        if (same == grouped.end())
            grouped.emplace_back(form, reason);
        else
            same->first += ", " + form;
    }
    return grouped;
}

std::optional<Form> form_named(std::string const& text) {
    for (Form form : {Form::step, Form::recurrent, Form::chunked, Form::parallel, Form::summary})
        if (text == name(form)) return form;
    return std::nullopt;
}

std::vector<Form> forms_or_fail(std::vector<std::string> const& names, Loaded const& loaded) {
    std::vector<Form> forms;
    bool refused = false;
    for (auto const& text : names) {
        auto const form = form_named(text);
        if (!form)
            throw Failure{Exit::usage,
                          fmt::format("no form '{}'; the forms are step, recurrent, chunked, parallel, summary", text)};
        forms.push_back(*form);
        std::string others;
        for (auto const& [declaration, derived] : loaded.rules)
            if (!missing(*form, derived)) others += (others.empty() ? "" : ", ") + declaration.name;
        for (auto const& [declaration, derived] : loaded.rules) {
            auto const* reason = missing(*form, derived);
            if (!reason) continue;
            refused = true;
            Diagnostic const error{Severity::error,
                                   fmt::format("rule '{}' cannot have the form {} that was asked for: {}{}",
                                               declaration.name, text, reason->text,
                                               others.empty() ? "" : "; rules that have it, for --rule: " + others),
                                   reason->where.known() ? reason->where : declaration.where,
                                   {}};
            fmt::print(stderr, "{}", render(error, colour_on_stderr()));
        }
    }
    if (refused) throw Failure{Exit::header, ""};
    return forms;
}

} // namespace deltaloom::codegen::tool
