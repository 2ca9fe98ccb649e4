#include "codegen/emit/clang_format.hpp"
#include "codegen/emit/emit.hpp"
#include "codegen/kernel/kernel.hpp"
#include "codegen/tool/commands.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace deltaloom::codegen::tool {
namespace {

constexpr char const* stages[] = {"declaration", "rule", "recurrence", "program", "kernel", "source"};

struct Options {
    std::string header, stage, form, direction, target = "cpu";
    std::vector<std::string> rules;
    bool json = false;
};

bool asked(Options const& o, Program const& p) {
    return (o.form.empty() || o.form == name(p.form)) && (o.direction.empty() || o.direction == name(p.direction));
}

std::string text_of(LoadedRule const& rule, Options const& o) {
    auto const& d = rule.derived;
    if (o.stage == "declaration") return print(rule.declaration) + "\n";
    if (o.stage == "rule") return print(d.rule);
    if (o.stage == "recurrence") {
        if (d.recurrence) return print(d.rule, *d.recurrence);
        return fmt::format("no recurrence: {}\n", d.missing ? d.missing->text : "");
    }
    std::string text;
    if (o.stage == "source") {
        for (auto const& file : emit_forms(d, "rules"))
            for (auto const& p : d.programs)
                if (asked(o, p) && has_kernel(p) &&
                    file.path == fmt::format("src/{}_{}_{}.hpp", d.rule.name, name(p.form), name(p.direction)))
                    text += fmt::format("// ---- {}\n{}\n", file.path, file.text);
        return text;
    }
    for (auto const& p : d.programs) {
        if (!asked(o, p)) continue;
        if (o.stage == "program")
            text += print(d.rule, p) + "\n";
        else if (has_kernel(p))
            text += print(schedule(d.rule, p)) + "\n";
    }
    return text;
}

} // namespace

Command add_show(CLI::App& app, std::vector<std::string> const& user_flags) {
    auto const o = std::make_shared<Options>();
    auto* c = app.add_subcommand("show", "Prints any stage of the derivation");
    c->add_option("HEADER", o->header, "A header of rules")->required();
    c->add_option("--stage", o->stage, "declaration, rule, recurrence, program, kernel, source")
        ->required()
        ->check(CLI::IsMember(std::vector<std::string>(std::begin(stages), std::end(stages))));
    c->add_option("--rule", o->rules, "Only this rule (again for more)")->delimiter(',');
    c->add_option("--form", o->form, "Only this form")
        ->check(CLI::IsMember({"step", "recurrent", "chunked", "parallel", "summary"}));
    c->add_option("--direction", o->direction, "forward or backward")->check(CLI::IsMember({"forward", "backward"}));
    c->add_option("--target", o->target, "cpu")->check(CLI::IsMember({"cpu"}));
    c->add_flag("--json", o->json, "One JSON object");
    return [o, &user_flags] {
        auto const loaded = load_or_fail({o->header}, user_flags, o->rules);
        if (!o->form.empty()) forms_or_fail({o->form}, loaded);
        nlohmann::json rules = nlohmann::json::array();
        for (auto const& rule : loaded.rules) {
            auto const text = text_of(rule, *o);
            if (o->json)
                rules.push_back({{"name", rule.declaration.name}, {"stage", o->stage}, {"text", text}});
            else
                fmt::print("{}", text);
        }
        if (o->json) fmt::print("{}\n", nlohmann::json{{"rules", rules}}.dump(2));
        return Exit::ok;
    };
}

} // namespace deltaloom::codegen::tool
