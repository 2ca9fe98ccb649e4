// Every place that a rule can stand in, and the reader's trees against the compiler's.
#include "tests/codegen/reading.hpp"

#include <catch2/catch.hpp>

#include <cstdio>

using namespace deltaloom;
using namespace deltaloom::codegen;
using deltaloom::test::place;

namespace {

std::string const fixtures = DELTALOOM_TEST_ROOT "/tests/codegen/fixtures/";

Declaration const& named(ReadResult const& result, std::string const& name) {
    for (auto const& rule : result.rules)
        if (rule.name == name) return rule;
    throw std::runtime_error("no rule " + name);
}

// The node that a path of argument numbers leads to.
Tree const& node(Declaration const& rule, std::initializer_list<std::size_t> path) {
    auto const* at = &rule.statements.at(*path.begin());
    for (auto step = path.begin() + 1; step != path.end(); ++step) at = &at->arguments.at(*step);
    return *at;
}

struct Ran {
    int status = 0;
    std::string output;
};
Ran run(std::string const& command) {
    Ran ran;
    auto* pipe = popen((command + " 2>&1").c_str(), "r");
    char block[4096];
    for (std::size_t n = 0; (n = fread(block, 1, sizeof block, pipe)) > 0;) ran.output.append(block, n);
    ran.status = pclose(pipe);
    return ran;
}

// What a compiled program says of the same rules. `local` is an expression for rules that no other file can name.
std::string compiled(std::string const& header, std::vector<Declaration> const& rules, std::string const& local) {
    test::ScratchFolder folder;
    std::string program = "#include \"" + header + "\"\n#include \"tests/support/print_types.hpp\"\nint main() {\n";
    for (auto const& rule : rules) {
        auto const open = rule.qualified.find('<'), close = rule.qualified.find('>');
        auto const suffix = open == std::string::npos ? "" : "_" + rule.qualified.substr(open + 1, close - open - 1);
        program +=
            "deltaloom::test::print(" + (rule.qualified.empty() ? local : rule.qualified) + ", \"" + suffix + "\");\n";
    }
    auto const source = folder.write("print.cpp", program + "}\n"), binary = (folder.path / "print").string();
    std::string command =
        std::string(DELTALOOM_TEST_CXX) + " -std=c++20 -O0 -I " DELTALOOM_TEST_ROOT " -I " DELTALOOM_TEST_DSL;
    for (auto const& include : test::reader_options().include_folders)
        if (include != "/usr/include") command += " -isystem " + include;
    auto const built = run(command + " " + source + " -o " + binary);
    INFO(built.output);
    REQUIRE(built.status == 0);
    auto const ran = run(binary);
    REQUIRE(ran.status == 0);
    return ran.output;
}

std::string printed(std::vector<Declaration> const& rules) {
    std::string text;
    for (auto const& rule : rules) text += print(rule);
    return text;
}

} // namespace

TEST_CASE("Rules stand in classes, templates, functions, macros and included headers") {
    auto const result = test::read(fixtures + "forms.hpp");
    for (auto const& d : result.diagnostics) UNSCOPED_INFO(d.text);
    REQUIRE(result.diagnostics.empty());
    std::vector<std::pair<std::string, std::string>> names;
    for (auto const& rule : result.rules) names.emplace_back(rule.name, rule.qualified);
    CHECK(names == std::vector<std::pair<std::string, std::string>>{
                       {"beside", "::forms::beside"},
                       {"member", "::forms::Layer::member"},
                       {"from_macro", "::forms::from_macro"},
                       {"product_3", "::forms::product<3>"},
                       {"product_2", "::forms::product<2>"},
                       {"helped", "::forms::helped"},
                       {"made", "::forms::made"},
                       {"named", "::forms::named"},
                       {"written", "::forms::written"},
                       {"maps", "::forms::maps"},
                       {"local", ""},
                       {"internal", "::forms::internal"},
                       {"steps", "::forms::steps"},
                       {"wide", "::forms::wide"},
                       {"inner_2", "::forms::Sized<2>::inner"},
                       {"hidden", ""},
                       {"unnamed", "::forms::unnamed"},
                   });
}

TEST_CASE("Places go through names, stop at helpers, and follow a macro's arguments") {
    auto const result = test::read(fixtures + "forms.hpp");
    auto const at = [&](std::string const& rule, std::initializer_list<std::size_t> path) {
        auto const& where = node(named(result, rule), path).where;
        return place(where) + " " + test::text_at(where);
    };
    // S <<= S - beta * (S * kk): the statement and kk are written elsewhere; `key` is an operand's use where it stands.
    CHECK(at("named", {0}) == "45:33+3 <<=");
    CHECK(at("named", {0, 1, 1, 1, 0}) == "45:49+1 S");
    CHECK(at("named", {0, 1, 1, 1, 1}) == "44:30+1 *");
    CHECK(at("named", {0, 1, 1, 1, 1, 1, 0}) == "44:34+1 k");
    CHECK(at("named", {1, 1, 1}) == "47:62+3 key");
    // project(k), swapped(k, v): all of it at the call; what stands around a call is where it is written.
    CHECK(at("helped", {0, 1, 0, 0, 1, 1}) == "37:37+7 project");
    CHECK(at("helped", {0, 1, 0, 0, 1, 1, 1, 0}) == "37:37+7 project");
    CHECK(at("helped", {0, 1, 1, 0}) == "37:69+7 swapped");
    CHECK(at("helped", {0, 1, 0, 1, 1, 0}) == "37:64+1 e");
    CHECK(at("made", {1, 1, 1}) == "42:30+6 family");
    CHECK(place(named(result, "made").label) == "42:37+6");
    CHECK(at("local", {0, 1, 1, 0, 1}) == "63:59+6 scaled");
    CHECK(at("local", {0, 1, 1, 1, 0, 1}) == "62:36+4 beta");
    // KEEP(S) + WRITE: a macro's body is at its use, its argument where it is spelt.
    CHECK(at("written", {0, 1, 0}) == "52:53+4 KEEP");
    CHECK(at("written", {0, 1, 0, 0}) == "52:53+4 KEEP");
    CHECK(at("written", {0, 1, 0, 1}) == "52:58+1 S");
    CHECK(at("written", {0, 1, 1, 1, 0}) == "52:63+5 WRITE");
    CHECK(at("written", {1, 1, 0, 1}) == "52:88+2 -1");
    CHECK(at("from_macro", {0, 1, 1, 1, 0}) == "24:1+7 DECLARE");
    CHECK(place(named(result, "from_macro").where) == "24:9+10");
    // eps that was left out is at its function; an instance of a template is where the template is written.
    CHECK(at("maps", {0, 1, 1, 1, 0, 0, 0, 1}) == "55:62+8 sum_norm");
    CHECK(at("product_2", {1, 0, 1, 1, 0, 1, 1, 1}) == "28:74+1 k");
    CHECK(at("internal", {0, 1, 1, 1, 0}) == "67:84+1 k");
    CHECK(node(named(result, "beside"), {0}).where.file == fixtures + "forms_beside.hpp");
    // Numbers know how they were written.
    CHECK(node(named(result, "written"), {0, 1, 0, 0}).number == 0.5);
    CHECK(node(named(result, "member"), {1, 1, 1}).integer);
    CHECK_FALSE(node(named(result, "member"), {1, 1, 0, 1}).integer);
    CHECK(node(named(result, "product_3"), {1}).count == 3);
}

TEST_CASE("The reader's tree is the compiler's tree: every form") {
    auto result = test::read(fixtures + "forms.hpp");
    std::erase_if(result.rules, [](auto const& rule) { return rule.name == "hidden"; });
    CHECK(printed(result.rules) == compiled(fixtures + "forms.hpp", result.rules, "forms::in_a_function()"));
}

TEST_CASE("The reader's tree is the compiler's tree: the shipped rules") {
    std::string const header = DELTALOOM_TEST_DSL "/deltaloom/rules.hpp";
    auto const result = test::read(header);
    for (auto const& d : result.diagnostics) UNSCOPED_INFO(d.text);
    REQUIRE(result.diagnostics.empty());
    CHECK(result.rules.size() >= 40);
    CHECK(printed(result.rules) == compiled(header, result.rules, ""));
}
