// The shipped rules, each without its name being known: explained in three ways, and as the beginning of a rule of
// one's own.
#include "codegen/check/program_level.hpp"
#include "codegen/emit/library.hpp"
#include "codegen/emit/project.hpp"
#include "codegen/explain/explain.hpp"
#include "tests/codegen/reading.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <set>

using namespace deltaloom;
using namespace deltaloom::codegen;

namespace {

struct Rule {
    Declaration declaration;
    Derived derived;
};

std::vector<Rule> derived(ReadResult const& read_result) {
    std::vector<Rule> rules;
    for (auto const& d : read_result.diagnostics) INFO(d.text);
    REQUIRE(std::none_of(read_result.diagnostics.begin(), read_result.diagnostics.end(),
                         [](Diagnostic const& d) { return d.severity == Severity::error; }));
    for (auto const& declaration : read_result.rules) {
        auto result = check(declaration);
        if (auto* all = std::get_if<1>(&result)) FAIL(declaration.name << ": " << (*all)[0].text);
        rules.push_back({declaration, derive(std::get<0>(std::move(result)))});
    }
    return rules;
}
std::vector<Rule> const& shipped() {
    static auto const rules = derived(test::read(std::string(DELTALOOM_TEST_DSL) + "/deltaloom/rules.hpp"));
    return rules;
}

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

// Which kinds of operands a rule has.
std::string kind(TypedRule const& rule) {
    std::set<std::string> kinds;
    for (auto const& o : rule.operands)
        kinds.insert(std::to_string(int(o.role)) + std::to_string(int(o.domain)) +
                     std::to_string((o.shape.rows != one) + (o.shape.cols != one)) + (o.steps ? "steps" : "") +
                     (o.previous_of >= 0 ? "before" : ""));
    std::string text;
    for (auto const& k : kinds) text += k + " ";
    return text;
}

// The S-expression with another rule's name.
std::string renamed(Declaration declaration, std::string const& name) {
    declaration.name = name;
    return print(declaration);
}

Formula operand(Explanation const& x, std::string const& name) {
    for (auto const& o : x.operands)
        if (o.what.text == name || o.what.text == name + ".0") return o.what;
    FAIL(x.name << " says nothing of " << name);
    return {};
}

int run(std::string const& command) { return std::system(command.c_str()); }

// Every formula has its elements' number of children; every table its headers; nothing comes from elsewhere.
constexpr char const* judge = R"(
import sys, xml.etree.ElementTree as tree
X, M = "{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/1998/Math/MathML}"
page = tree.parse(sys.argv[1]).getroot()
names = sys.argv[2].split(",")
sections = {s.get("id"): s for s in page.iter(X + "section")}
assert list(sections) == names, list(sections)
children = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2}
for e in page.iter():
    assert e.tag.startswith((X, M)), e.tag
    assert not any(a in e.attrib for a in ("src", "onload", "onclick")), e.attrib
    assert (e.get("href") or "#").startswith("#"), e.attrib
    short = e.tag.split("}")[1]
    assert len(e) == children.get(short, len(e)), (short, len(e))
    if e.tag == M + "math": assert len(e) == 1
    if short in ("mi", "mn"): assert e.text and e.text.strip(), short
    if e.tag == X + "table": assert e.findall(f".//{X}th[@scope='col']") and e.findall(f".//{X}th[@scope='row']")
levels = [int(e.tag[-1]) for e in page.iter() if e.tag in [X + f"h{i}" for i in range(1, 7)]]
assert levels[0] == 1 and levels.count(1) == 1 and all(b - a <= 1 for a, b in zip(levels, levels[1:])), levels
)";

} // namespace

TEST_CASE("every shipped rule is explained as text, LaTeX and one page") {
    REQUIRE(shipped().size() >= 40);
    std::vector<Explanation> all;
    std::string names;
    for (auto const& rule : shipped()) {
        auto const& name = rule.declaration.name;
        INFO(name);
        all.push_back(explain(rule.derived));
        auto const plain = text(all.back()), tex = latex(all.back()), page = html({all.back()});
        for (auto const& o : rule.derived.rule.operands) {
            if (o.previous_of >= 0) continue;
            INFO(o.name);
            auto const formula = operand(all.back(), o.name);
            CHECK(has(plain, formula.text + " "));
            CHECK(has(tex, "\\item[$" + formula.latex + "$]"));
            CHECK(has(page, formula.mathml));
        }
        for (auto const& m : all.back().missing) CHECK(has(plain, "no " + m.forms));
        names += (names.empty() ? "" : ",") + name;
    }
    test::ScratchFolder folder;
    auto const script = folder.write("judge.py", judge);
    auto const page = folder.write("all.html", html(all));
    CHECK(run("python3 " + script + " " + page + " " + names) == 0);
    CHECK(run("python3 " + script + " " + folder.write("one.html", html({all[0]})) + " " + all[0].name) == 0);
    // The judge judges.
    CHECK(run("python3 " + script + " " + folder.write("bad.html", html({all[0]}) + "<p>") + " " + all[0].name +
              " 2>/dev/null") != 0);
}

static bool compiles(test::ScratchFolder const& folder, std::string const& program,
                     std::vector<Derived> const& library) {
    LibraryOptions options;
    options.library = "memory";
    for (auto const& d : library)
        for (auto const& file : emit_library({d}, options))
            if (file.path.starts_with("include/")) folder.write(file.path, file.text);
    auto const source = folder.write("main.cpp", program);
    return run(std::string(DELTALOOM_TEST_CXX) + " -std=c++20 -Wall -Wextra -Werror -fsyntax-only -I" +
               (folder.path / "include").string() + " -I" DELTALOOM_TEST_ROOT "/runtime/include " + source) == 0;
}

TEST_CASE("a new rule can begin as any shipped one") {
    test::ScratchFolder folder;
    std::string all = "#pragma once\n", programs;
    std::set<std::string> kinds;
    for (auto const& rule : shipped()) {
        auto const name = "my_" + rule.declaration.name;
        REQUIRE(name_refused(name, rule.derived.rule) == "");
        auto const files = project(name, rule.declaration, rule.derived.rule);
        REQUIRE(files.size() == 3);
        CHECK(has(files[1].text, "deltaloom_add_rules(memory SOURCES rules.hpp CHECK)"));
        folder.write(name + ".hpp", files[0].text);
        all += "#include \"" + name + ".hpp\"\n";
        if (!kinds.insert(kind(rule.derived.rule)).second) continue;
        // Programs in one file: their includes first, each in a namespace of its own.
        std::string includes, body;
        std::istringstream lines(files[2].text);
        for (std::string line; std::getline(lines, line);) (line[0] == '#' ? includes : body) += line + "\n";
        programs = includes + programs + "namespace of_" + name + " {\n" + body + "}\n";
    }
    auto const rules = derived(test::read(folder.write("all.hpp", all)));
    REQUIRE(rules.size() == shipped().size());
    std::vector<Derived> library;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        auto const& before = shipped()[i].declaration;
        auto const& before_rule = shipped()[i].derived.rule;
        auto const after = std::find_if(rules.begin(), rules.end(),
                                        [&](Rule const& r) { return r.declaration.name == "my_" + before.name; });
        INFO(before.name);
        REQUIRE(after != rules.end());
        CHECK(renamed(after->declaration, "rule") == renamed(before, "rule"));
        CHECK(after->declaration.qualified == "::my_" + before.name + "_rules::my_" + before.name);
        for (auto const& r : check_program(after->declaration, after->derived, {1, 1, {}})) {
            INFO(codegen::name(r.form) << " " << codegen::name(r.direction) << " " << r.index);
            CHECK(r.pass);
        }
        if (kinds.erase(kind(before_rule)) > 0) library.push_back(after->derived);
    }
    // One program of every kind of operands compiles against the headers of a library.
    CHECK(kinds.empty());
    CHECK(library.size() >= 10);
    CHECK(compiles(folder, std::regex_replace(programs, std::regex("int main"), "void program"), library));
}

TEST_CASE("the program of a new rule has tensors over what feature maps make of a dimension") {
    test::ScratchFolder folder;
    auto const header = folder.write("gated.hpp", R"(#pragma once
#include <deltaloom/dsl.hpp>
namespace mine {
using namespace deltaloom::dsl;
using inner = dpfp_dim<1, dk>;
DELTALOOM_STATE(P, dv, taylor2_dim<inner>);
DELTALOOM_GATE(w, log, taylor2_dim<inner>);
inline constexpr auto gated = rule("gated", P <<= P * diag(exp(w)) + v * T(taylor2(dpfp<1>(k))), o <<= P * taylor2(dpfp<1>(q)));
}
)");
    auto const rules = derived(test::read(header));
    REQUIRE(rules.size() == 1);
    auto const text = project("gated", rules[0].declaration, rules[0].derived.rule)[2].text;
    CHECK(has(text, ", dpfp_1_dk = 2 * dk, taylor2_dpfp_1_dk = 1 + dpfp_1_dk + dpfp_1_dk * dpfp_1_dk"));
    CHECK(compiles(folder, text, {rules[0].derived}));
}

TEST_CASE("names that no new rule can have") {
    auto const& rule = shipped()[0].derived.rule;
    for (auto const& [name, why] : std::vector<std::pair<std::string, std::string>>{
             {"", "identifier"},
             {"1st", "identifier"},
             {"no-name", "identifier"},
             {"a/b", "identifier"},
             {"class", "keyword"},
             {"S", "word of the language"},
             {"softmax", "word of the language"},
             {"dk", "word of the language"},
             {"library", "source of every library"},
             {"deltaloom", "headers of every library"},
         }) {
        INFO(name);
        CHECK(has(name_refused(name, rule), why));
    }
    for (auto const& rule_with : shipped())
        for (auto const& o : rule_with.derived.rule.operands) CHECK(name_refused(o.name, rule_with.derived.rule) != "");
    for (auto const* good : {"mine", "_x", "Delta2", "twofold"}) CHECK(name_refused(good, rule) == "");
}
