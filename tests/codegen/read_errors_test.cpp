#include "tests/codegen/reading.hpp"

#include <catch2/catch.hpp>

using namespace deltaloom;
using namespace deltaloom::codegen;
using Catch::Matchers::Contains;
using deltaloom::test::place;
using deltaloom::test::ScratchFolder;

namespace {

// A header whose namespace holds the given lines; the first of them is line 4.
ReadResult read_lines(std::string const& lines, std::vector<std::string> flags = {}) {
    ScratchFolder folder;
    auto const header = folder.write(
        "case.hpp", "#pragma once\n#include <deltaloom/dsl.hpp>\nnamespace n { using namespace deltaloom::dsl;\n" +
                        lines + "\n}\n");
    auto options = test::reader_options();
    options.compiler_flags = std::move(flags);
    return read(header, options);
}

std::string const good = "inline constexpr auto good = rule(\"good\", S <<= S + v * T(k), o <<= S * q);";

} // namespace

TEST_CASE("What cannot be read is a diagnostic") {
    ScratchFolder folder;
    auto const only = [](ReadResult const& result) {
        REQUIRE(result.diagnostics.size() == 1);
        CHECK(result.diagnostics[0].severity == Severity::error);
        CHECK(result.rules.empty());
        return result.diagnostics[0].text;
    };
    auto const missing = (folder.path / "missing.hpp").string();
    CHECK(only(test::read(missing)) == "cannot read " + missing + ": there is no such file");
    CHECK(only(test::read(folder.path.string())) ==
          "cannot read " + folder.path.string() + ": it is a folder, name a header file");
    auto const empty = folder.write("empty.hpp", "");
    CHECK(only(test::read(empty)) == "no rule in " + empty + ": declare one with rule(...)");
    auto const without = folder.write("without.hpp", "#pragma once\n#include <deltaloom/dsl.hpp>\nint x = 3;\n");
    CHECK(only(test::read(without)) == "no rule in " + without + ": declare one with rule(...)");
    CHECK_THAT(only(test::read("")), Contains("cannot read"));
}

TEST_CASE("A syntax error is clang's, at its place; the other rules are found") {
    auto const result =
        read_lines(good + "\ninline constexpr auto broken = rule(\"broken\", S <<= S + , o <<= S * q);");
    REQUIRE(result.diagnostics.size() == 1);
    CHECK(result.diagnostics[0].text == "expected expression");
    CHECK(place(result.diagnostics[0].where) == "5:57+1");
    CHECK(result.rules.size() == 1);
}

TEST_CASE("An operand that is not declared: how to declare one; = instead of <<=: what to write") {
    auto const unknown = read_lines("inline constexpr auto r = rule(\"r\", S <<= S + eta * v * T(k), o <<= S * q);");
    REQUIRE(unknown.diagnostics.size() == 1);
    CHECK_THAT(unknown.diagnostics[0].text, Contains("eta"));
    REQUIRE(!unknown.diagnostics[0].notes.empty());
    CHECK_THAT(unknown.diagnostics[0].notes[0].text, Contains("DELTALOOM_INPUT(name)"));
    auto const assigned = read_lines("inline constexpr auto r = rule(\"r\", S = S + v * T(k), o <<= S * q);");
    REQUIRE(assigned.diagnostics.size() == 1);
    CHECK_THAT(assigned.diagnostics[0].text, Contains("written with <<="));
}

TEST_CASE("A refusal of the language is one error with both shapes, at the operator's operand") {
    auto const result = read_lines("inline constexpr auto r = rule(\"r\",\n    S <<= S + (S * v) * T(k),\n    o <<= S "
                                   "* q);\ninline constexpr auto again = r;");
    REQUIRE(result.diagnostics.size() == 1);
    auto const& error = result.diagnostics[0];
    CHECK(error.where.line == 5);
    CHECK_THAT(error.text, Contains("transpose") && Contains("a matrix of dv x dk and a vector of dv"));
    CHECK(result.rules.empty());

    auto const gate = read_lines("inline constexpr auto r = rule(\"r\", S <<= g * S + v * T(k), o <<= S * q);");
    REQUIRE(gate.diagnostics.size() == 1);
    CHECK_THAT(gate.diagnostics[0].text, Contains("exp") && Contains("(here: a log gate and a matrix of dv x dk)"));
}

TEST_CASE("A refusal inside a helper names the helper's line, and the call in a note") {
    auto const result = read_lines("template<class X> constexpr auto project(X x) { return S * x; }\n"
                                   "inline constexpr auto r = rule(\"r\", S <<= S + project(v) * T(k), o <<= S * q);");
    REQUIRE(result.diagnostics.size() == 1);
    CHECK(result.diagnostics[0].where.line == 4);
    REQUIRE(result.diagnostics[0].notes.size() == 1);
    CHECK(result.diagnostics[0].notes[0].where.line == 5);
    CHECK(result.diagnostics[0].notes[0].severity == Severity::note);
}

TEST_CASE("A rule that is not constexpr, or has two dimensions of one name, is refused") {
    auto const plain = read_lines("inline auto r = rule(\"r\", S <<= S + v * T(k), o <<= S * q);");
    REQUIRE(plain.diagnostics.size() == 1);
    CHECK(plain.diagnostics[0].text == "the rule r is not constexpr: write inline constexpr auto r = rule(...)");
    CHECK(place(plain.diagnostics[0].where) == "4:13+1");

    auto const dims = read_lines(
        "namespace a { DELTALOOM_DIM(dr); DELTALOOM_INPUT(x, dr); }\nnamespace b { DELTALOOM_DIM(dr); "
        "DELTALOOM_INPUT(y, dr); }\n"
        "inline constexpr auto r = rule(\"r\", S <<= S * dot(a::x, a::x) * dot(b::y, b::y) + v * T(k), o <<= S * q);");
    REQUIRE(dims.diagnostics.size() == 1);
    CHECK(dims.diagnostics[0].text ==
          "two dimensions of this rule are called dr: ::n::a::dr and ::n::b::dr; rename one");
}

TEST_CASE("A missing header says which package brings it; the user's own does not") {
    auto const package = read_lines("}\n#include <boost/no_such_header.hpp>\nnamespace n {");
    REQUIRE(package.diagnostics.size() == 1);
    CHECK(package.machine);
    REQUIRE(package.diagnostics[0].notes.size() == 1);
    CHECK_THAT(package.diagnostics[0].notes[0].text, Contains("libboost-dev"));
    auto const own = read_lines("}\n#include \"no_such_header.hpp\"\nnamespace n {");
    REQUIRE(own.diagnostics.size() == 1);
    CHECK_FALSE(own.machine);
    CHECK(place(own.diagnostics[0].where) == "5:10+20");
    CHECK(read_lines(good, {"-nostdinc++"}).machine);
    ScratchFolder folder;
    auto const alone = read(folder.write("alone.hpp", "#include <deltaloom/dsl.hpp>\n"), {});
    CHECK(alone.machine);
}

TEST_CASE("The user's flags reach clang, and a wrong one is a diagnostic") {
    auto const guarded = "#ifdef WANTED\n" + good + "\n#endif";
    CHECK(read_lines(guarded).rules.empty());
    CHECK(read_lines(guarded, {"-DWANTED"}).rules.size() == 1);
    auto const warned = read_lines(good + "\ninline int f(int x) { int unused; return x; }", {"-Wall"});
    REQUIRE(warned.diagnostics.size() == 1);
    CHECK(warned.diagnostics[0].severity == Severity::warning);
    CHECK(warned.rules.size() == 1);
    ScratchFolder folder;
    auto const object = (folder.path / "out.o").string(), dependencies = (folder.path / "out.d").string();
    CHECK(read_lines(good, {"-O2", "-c", "-o", object, "-MD", "-MF", dependencies}).rules.size() == 1);
    CHECK_FALSE((std::filesystem::exists(object) || std::filesystem::exists(dependencies)));
    auto const unknown = read_lines(good, {"--no-such-flag"});
    REQUIRE_FALSE(unknown.diagnostics.empty());
    CHECK_THAT(unknown.diagnostics[0].text, Contains("--no-such-flag"));
}
