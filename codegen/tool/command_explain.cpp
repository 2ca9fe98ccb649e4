#include "codegen/check/growth.hpp"
#include "codegen/explain/explain.hpp"
#include "codegen/tool/commands.hpp"

#include <fmt/format.h>

namespace deltaloom::codegen::tool {
namespace {

struct Options {
    std::string header, target = "cpu";
    std::vector<std::string> rules;
    ExplainSizes sizes;
    bool latex = false;
};

void print_growth(LoadedRule const& rule) {
    auto const all = growth(rule.declaration, rule.derived, 1);
    auto const& first = all.front();
    fmt::print("\nGrowth, and what float32 keeps of it ({} tokens, every dimension {}{})\n", first.tokens, first.extent,
               first.chunked ? fmt::format(", a chunk of {}", first.chunk) : "");
    fmt::print("    {:<28}{:>10}{:>12}{:>10}{:>14}{:>14}\n", "", "state", "over half", "solve", "digits, step",
               "chunked");
    bool hopeless = false;
    for (auto const& g : all) {
        auto const chunked = [&](std::string const& text) { return g.chunked ? text : std::string(); };
        fmt::print("    {:<28}{:>10.2g}{:>12.2g}{:>10}{:>14.1f}{:>14}\n",
                   g.keys == Keys::unit ? "keys of unit norm" : "keys of N(0, 1) entries", g.state, g.doubling,
                   chunked(fmt::format("{:.2g}", g.solve)), g.digits_step,
                   chunked(fmt::format("{:.1f}", g.digits_chunked)));
        hopeless |= g.hopeless();
    }
    fmt::print(
        "    The largest entry of a state at the end, and over that of half of the tokens; what a chunk's solve\n"
        "    multiplies its right side by.\n");
    if (hopeless) fmt::print("    Where it grows without bound: {}.\n", advice(rule.derived));
}

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
