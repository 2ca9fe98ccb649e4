#include "codegen/explain/explain.hpp"
#include "codegen/tool/commands.hpp"
#include "codegen/tool/growth_report.hpp"

#include <fmt/format.h>

namespace deltaloom::codegen::tool {
namespace {

struct Options {
    std::string header, target = "cpu";
    std::vector<std::string> rules;
    ExplainSizes sizes;
    bool latex = false;
};

} // namespace

Command add_explain(CLI::App& app, std::vector<std::string> const& user_flags) {
    auto const o = std::make_shared<Options>();
    auto* c = app.add_subcommand("explain", "The derivation of a rule, for a person to follow");
    c->add_option("HEADER", o->header, "A header of rules; without one, the shipped catalogue");
    c->add_option("--rule", o->rules, "Only this rule (again for more)")->delimiter(',');
    c->add_option("--dk", o->sizes.dk, "Key channels of the costs")->check(CLI::Range(1, 65536))->capture_default_str();
    c->add_option("--dv", o->sizes.dv, "Value channels of the costs")
        ->check(CLI::Range(1, 65536))
        ->capture_default_str();
    c->add_option("--chunk", o->sizes.chunk, "Tokens of a chunk")->check(CLI::Range(1, 4096))->capture_default_str();
    c->add_option("--target", o->target, "cpu")->check(CLI::IsMember({"cpu"}));
    c->add_flag("--latex", o->latex, "A LaTeX fragment");
    return [o, &user_flags] {
        auto const loaded =
            load_or_fail(o->header.empty() ? std::vector<std::string>{} : std::vector{o->header}, user_flags, o->rules);
        bool first = true;
        for (auto const& rule : loaded.rules) {
            auto const explanation = explain(rule.derived, o->sizes);
            fmt::print("{}{}", first ? "" : "\n\n", o->latex ? latex(explanation) : text(explanation));
            if (!o->latex) print_growth(rule);
            first = false;
        }
        return Exit::ok;
    };
}

} // namespace deltaloom::codegen::tool
