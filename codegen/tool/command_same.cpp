// same: are two rules the same maths?
#include "codegen/check/same.hpp"
#include "codegen/tool/commands.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace deltaloom::codegen::tool {
namespace {

struct Options {
    std::string header;
    std::vector<std::string> rules;
    std::uint64_t seed = 1;
    bool json = false;
};

std::string names_of(std::vector<LoadedRule> const& rules) {
    std::string text;
    for (auto const& r : rules) text += (text.empty() ? "" : ", ") + r.declaration.name;
    return text;
}

LoadedRule const* find(std::vector<LoadedRule> const& rules, std::string const& name) {
    for (auto const& r : rules)
        if (r.declaration.name == name) return &r;
    return nullptr;
}

// "1", "(1, 0)", "[1, 0; 0, 2]"
std::string matrix_text(Dense<double> const& m, bool log) {
    auto const entry = [&](double x) { return log ? fmt::format("log({})", number_text(x)) : number_text(x); };
    if (m.e.size() == 1) return entry(m.e[0]);
    std::string text;
    for (int i = 0; i < m.rows; ++i)
        for (int j = 0; j < m.cols; ++j)
            text += (i + j == 0 ? "" : j ? ", " : m.cols > 1 ? "; " : ", ") + entry(m(i, j));
    return m.cols > 1 ? "[" + text + "]" : "(" + text + ")";
}

struct Given { // one operand of a counterexample, of one token or of all
    int token;
    std::string name, value;
};
std::vector<Given> given(TypedRule const& rule, Counterexample const& c) {
    std::vector<Given> all;
    auto const text = [&](std::string const& name, Dense<double> const& m) {
        return matrix_text(m, std::find(c.log.begin(), c.log.end(), name) != c.log.end());
    };
    for (auto const& o : rule.operands) {
        if (auto const p = c.data.parameters.find(o.name); p != c.data.parameters.end())
            all.push_back({-1, o.name, text(o.name, p->second)});
        if (auto const s = c.data.states.find(o.name); s != c.data.states.end())
            all.push_back({-1, o.name, text(o.name, s->second)});
    }
    for (int t = 0; t < c.tokens; ++t)
        for (auto const& o : rule.operands)
            if (auto const at = c.data.tokens.find(o.name); at != c.data.tokens.end()) {
                auto const& steps = at->second[std::size_t(t)];
                std::string values;
                for (auto const& m : steps) values += (values.empty() ? "" : " then ") + text(o.name, m);
                all.push_back({t, o.name, values});
            }
    return all;
}

std::string place(Counterexample const& c) {
    auto text = c.token < 0 ? fmt::format("{} after the last token", c.operand)
                            : fmt::format("{} of token {}", c.operand, c.token);
    bool one = c.row == 0 && c.column == 0;
    for (auto const& [name, extent] : c.dims) one &= extent == 1;
    if (one) return text;
    return text + (c.vector ? fmt::format(", entry {}", c.row) : fmt::format(", entry {}, {}", c.row, c.column));
}

std::string sizes_text(Counterexample const& c) {
    auto text = fmt::format("T = {}", c.tokens);
    for (auto const& [name, extent] : c.dims) text += fmt::format(", {} = {}", name, extent);
    return text;
}

std::string indented(std::string const& lines) {
    std::string text = "    ";
    for (char const x : lines) text += x == '\n' ? std::string("\n    ") : std::string(1, x);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\n')) text.pop_back();
    return text + "\n";
}

std::string chance(RuleComparison const& c) { return fmt::format("2^{:.1f}", c.bound_log2); }

void print(std::string const& a, std::string const& b, TypedRule const& rule, RuleComparison const& c) {
    char const* const by_name = c.functions ? ", functions taken as known by their names only" : "";
    switch (c.verdict) {
    case Sameness::recurrence:
        fmt::print("{} and {} are the same, by recurrence: statement by statement they are\n{}", a, b,
                   indented(c.canonical));
        break;
    case Sameness::token_map:
        fmt::print("{} and {} are the same, by token map: split into other statements, but one token makes of states "
                   "and inputs\n{}",
                   a, b, indented(c.canonical));
        break;
    case Sameness::points:
        fmt::print("{} and {} are the same as far as points tell: equal on {} random points over the field{}, chance "
                   "of a mistake at most {}\n    Their normal forms differ or are none, so this is no identity that "
                   "was derived.\n",
                   a, b, c.points, by_name, chance(c));
        return;
    case Sameness::operands:
        fmt::print("{} and {} differ in operands\n", a, b);
        for (auto const& o : c.operands)
            fmt::print("    {}: {} has {}, {} has {}\n", o.name, a, o.one.empty() ? "none" : o.one, b,
                       o.two.empty() ? "none" : o.two);
        return;
    case Sameness::undecided:
        fmt::print("{} and {} are not shown to be the same: over the field, which knows a function by its name only, "
                   "they differ; no small real numbers were found at which they do\n",
                   a, b);
        return;
    case Sameness::differs: {
        if (!c.counterexample) {
            fmt::print(
                "{} and {} differ: at a random point of the field, which no rounding touches; at no small numbers "
                "that were tried\n",
                a, b);
            return;
        }
        auto const& x = *c.counterexample;
        fmt::print("{} and {} differ: at {}\n", a, b, sizes_text(x));
        int token = -2;
        std::string line;
        for (auto const& g : given(rule, x)) {
            if (g.token != token) fmt::print("{}{}", line, line.empty() ? "" : "\n"), line.clear();
            line += line.empty() ? (g.token < 0 ? "    before    " : fmt::format("    token {}   ", g.token)) : ", ";
            line += g.name + " = " + g.value;
            token = g.token;
        }
        fmt::print("{}\n    {}: {} says {}, {} says {}\n", line, place(x), a, x.one, b, x.two);
        return;
    }
    }
    fmt::print("    and equal on {} random points over the field{}\n", c.points, by_name);
}

nlohmann::json to_json(std::string const& a, std::string const& b, TypedRule const& rule, RuleComparison const& c) {
    nlohmann::json json{{"rules", {a, b}}, {"same", same(c.verdict)}, {"verdict", name(c.verdict)}};
    if (!c.canonical.empty()) json["canonical"] = c.canonical;
    if (c.points) json["points"] = c.points, json["degree"] = c.degree, json["bound_log2"] = c.bound_log2;
    if (c.verdict == Sameness::operands) {
        auto& list = json["operands"] = nlohmann::json::array();
        for (auto const& o : c.operands) list.push_back({{"name", o.name}, {"has", {o.one, o.two}}});
    }
    if (c.counterexample) {
        auto const& x = *c.counterexample;
        auto& to = json["counterexample"];
        to["tokens"] = x.tokens;
        for (auto const& [name, extent] : x.dims) to["dims"][name] = extent;
        auto& list = to["given"] = nlohmann::json::array();
        for (auto const& g : given(rule, x)) {
            list.push_back({{"operand", g.name}, {"value", g.value}});
            if (g.token >= 0) list.back()["token"] = g.token;
        }
        to["operand"] = x.operand, to["where"] = place(x), to["values"] = {x.one, x.two};
        if (x.token >= 0) to["token"] = x.token;
    }
    return json;
}

} // namespace

Command add_same(CLI::App& app, std::vector<std::string> const& user_flags) {
    auto const o = std::make_shared<Options>();
    auto* c =
        app.add_subcommand("same", "Are two rules the same maths? By recurrence, by token map, or a counterexample");
    c->add_option("HEADER", o->header,
                  "A header of rules; what it does not hold is looked for in the shipped catalogue");
    c->add_option("--rule", o->rules, "A rule; twice")->delimiter(',')->required();
    c->add_option("--seed", o->seed, "Of the random points")->check(whole_number);
    c->add_flag("--json", o->json, "One JSON object");
    return [o, &user_flags] {
        if (o->rules.size() != 2)
            throw Failure{Exit::usage, fmt::format("same compares two rules: give --rule twice, not {}",
                                                   o->rules.size() == 1 ? std::string("once")
                                                                        : fmt::format("{} times", o->rules.size()))};
        auto const& a = o->rules[0];
        auto const& b = o->rules[1];
        if (a == b)
            throw Failure{Exit::usage, fmt::format("--rule {} twice: a rule is the same as itself; name another", a)};
        std::vector<LoadedRule> rules;
        std::string known;
        if (!o->header.empty()) {
            auto own = load_or_fail({o->header}, user_flags, {}, true).rules;
            known = fmt::format("{} has {}; ", o->header, names_of(own));
            for (auto& r : own)
                if (r.declaration.name == a || r.declaration.name == b) rules.push_back(std::move(r));
        }
        for (auto const& name : o->rules) {
            if (find(rules, name)) continue;
            auto shipped = shipped_rule(name, user_flags);
            if (!shipped.rule)
                throw Failure{Exit::header, fmt::format("no rule '{}'; {}the catalogue has {}", name, known,
                                                        fmt::join(shipped.others, ", "))};
            rules.push_back(*std::move(shipped.rule));
        }
        auto const& one = *find(rules, a);
        auto const& two = *find(rules, b);
        auto const result = compare_rules({one.declaration, one.derived}, {two.declaration, two.derived}, o->seed);
        if (o->json)
            fmt::print("{}\n", to_json(a, b, one.derived.rule, result).dump(2));
        else
            print(a, b, one.derived.rule, result);
        return same(result.verdict) ? Exit::ok : Exit::differs;
    };
}

} // namespace deltaloom::codegen::tool
