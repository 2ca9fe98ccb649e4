#include "codegen/tool/growth_report.hpp"

#include "codegen/read/report.hpp"
#include "codegen/tool/environment.hpp"

#include <cmath>
#include <cstdio>
#include <fmt/format.h>

namespace deltaloom::codegen::tool {

ExplainedGrowths explained_growth(LoadedRule const& rule) {
    auto const all = growth(rule.declaration, rule.derived, 1);
    auto const& first = all.front();
    ExplainedGrowths out;
    out.chunked = first.chunked;
    out.sizes = fmt::format("{} tokens, every dimension {}{}", first.tokens, first.extent,
                            first.chunked ? fmt::format(", a chunk of {}", first.chunk) : "");
    for (auto const& g : all) {
        out.rows.push_back({g.keys == Keys::unit ? "keys of unit norm" : "keys of N(0, 1) entries", g.state, g.doubling,
                            g.solve, g.digits_step, g.digits_chunked});
        if (g.hopeless()) out.advice = advice(rule.derived);
    }
    return out;
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
