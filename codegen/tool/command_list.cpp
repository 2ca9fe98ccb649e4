#include "codegen/tool/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace deltaloom::codegen::tool {

static char const* role_text(Operand const& o) {
    switch (o.role) {
    case Role::state: return "state";
    case Role::input: return "input";
    case Role::gate: return "gate";
    case Role::parameter: return "parameter";
    case Role::output: return "output";
    }
    return "";
}
static char const* domain_text(Domain d) {
    switch (d) {
    case Domain::real: return "real";
    case Domain::linear: return "linear";
    case Domain::log: return "log";
    }
    return "";
}

Command add_list(CLI::App& app, std::vector<std::string> const& user_flags) {
    struct Options {
        std::vector<std::string> headers;
        bool json = false;
    };
    auto const o = std::make_shared<Options>();
    auto* c = app.add_subcommand("list", "Rules, equations, forms, or the reason a form is missing");
    c->add_option("HEADER", o->headers, "Headers of rules; without one, the shipped catalogue");
    c->add_flag("--json", o->json, "One JSON object");
    return [o, &user_flags] {
        auto const loaded = load_or_fail(o->headers, user_flags, {}, o->json);
        nlohmann::json rules = nlohmann::json::array();
        for (auto const& [declaration, d] : loaded.rules) {
            if (!o->json) {
                fmt::print("{}\n    {}\n    forms: {}\n", d.rule.name, d.rule.equation, fmt::join(form_names(d), ", "));
                for (auto const& [form, reason] : missing_by_reason(d)) fmt::print("    no {}: {}\n", form, reason);
                continue;
            }
            nlohmann::json operands = nlohmann::json::array();
            for (auto const& operand : d.rule.operands) {
                nlohmann::json dims = nlohmann::json::array();
                if (operand.steps) dims.push_back(std::to_string(operand.steps));
                for (DimId dim : {operand.shape.rows, operand.shape.cols})
                    if (dim != one) dims.push_back(d.rule.dims[dim]);
                operands.push_back({{"name", operand.name},
                                    {"kind", role_text(operand)},
                                    {"domain", domain_text(operand.domain)},
                                    {"dims", dims}});
            }
            rules.push_back({{"name", d.rule.name},
                             {"equation", d.rule.equation},
                             {"forms", form_names(d)},
                             {"missing", missing_forms(d)},
                             {"operands", operands}});
        }
        if (o->json) fmt::print("{}\n", nlohmann::json{{"rules", rules}}.dump(2));
        return Exit::ok;
    };
}

} // namespace deltaloom::codegen::tool
