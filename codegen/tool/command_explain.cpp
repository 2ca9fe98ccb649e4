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
    bool latex = false, html = false;
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
    auto* latex_flag = c->add_flag("--latex", o->latex, "A LaTeX fragment");
    c->add_flag("--html", o->html, "One page that needs nothing else, formulas as MathML")->excludes(latex_flag);
    return [o, &user_flags] {
        auto const loaded =
            load_or_fail(o->header.empty() ? std::vector<std::string>{} : std::vector{o->header}, user_flags, o->rules);
        std::vector<Explanation> all;
        for (auto const& rule : loaded.rules) {
            all.push_back(explain(rule.derived, o->sizes));
            all.back().growth = explained_growth(rule);
        }
        if (o->html) {
            fmt::print("{}", html(all));
            return Exit::ok;
        }
        for (auto const& x : all) fmt::print("{}{}", &x == &all.front() ? "" : "\n\n", o->latex ? latex(x) : text(x));
        return Exit::ok;
    };
}

} // namespace deltaloom::codegen::tool
