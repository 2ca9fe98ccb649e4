#include "codegen/tool/growth_report.hpp"

#include "codegen/read/report.hpp"
#include "codegen/tool/environment.hpp"

#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace deltaloom::codegen::tool {

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

void warn_of_growth(LoadedRule const& rule, std::vector<Growth> const& all) {
    for (auto const& g : all)
        if (g.hopeless() && g.keys == Keys::unit) {
            auto const& d = rule.declaration;
            Diagnostic const warning{
                Severity::warning,
                fmt::format("'{}' grows without bound; {}. {}", d.name, sentence(g), advice(rule.derived)),
                d.label.known() ? d.label : d.where,
                {}};
            fmt::print(stderr, "{}", render(warning, colour_on_stderr()));
        }
}

nlohmann::json to_json(std::vector<Growth> const& all) {
    auto const number = [](double x) { return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json("inf"); };
    nlohmann::json list = nlohmann::json::array();
    for (auto const& g : all) {
        nlohmann::json one{{"keys", g.keys == Keys::unit ? "unit" : "normal"},
                           {"tokens", g.tokens},
                           {"extent", g.extent},
                           {"state", number(g.state)},
                           {"over_half", number(g.doubling)},
                           {"digits_step", g.digits_step},
                           {"hopeless", g.hopeless()}};
        if (g.chunked) one["chunk"] = g.chunk, one["solve"] = number(g.solve), one["digits_chunked"] = g.digits_chunked;
        list.push_back(std::move(one));
    }
    return list;
}

} // namespace deltaloom::codegen::tool
