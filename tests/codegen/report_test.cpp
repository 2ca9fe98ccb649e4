#include "codegen/read/report.hpp"
#include "tests/support/scratch.hpp"

#include <catch2/catch.hpp>

using namespace deltaloom::codegen;
using deltaloom::test::ScratchFolder;

TEST_CASE("A diagnostic shows its place, its line and a caret") {
    ScratchFolder folder;
    auto const file = folder.write(
        "rules.hpp", "first\n    S <<= S - beta * (S * kk),\r\n\tS\t<<= 2;\n  /* \u00fc\u00fc */ x = y;\n");
    Diagnostic d{Severity::error, "too much", {file, 2, 11, 1}, {}};
    CHECK(render(d, false) == file + ":2:11: error: too much\n"
                                     "    2 |     S <<= S - beta * (S * kk),\n"
                                     "      |           ^\n");
    d.severity = Severity::warning;
    d.where.column = 15;
    d.where.length = 4;
    d.notes.push_back({Severity::note, "declared here", {file, 1, 1, 5}, {}});
    CHECK(render(d, false) == file +
                                  ":2:15: warning: too much\n"
                                  "    2 |     S <<= S - beta * (S * kk),\n"
                                  "      |               ^~~~\n" +
                                  file +
                                  ":1:1: note: declared here\n"
                                  "    1 | first\n"
                                  "      | ^~~~~\n");
    // A tab stays a tab, so that the caret stands under its token whatever the terminal makes of it.
    CHECK(render({Severity::error, "t", {file, 3, 4, 3}, {}}, false) ==
          file + ":3:4: error: t\n    3 | \tS\t<<= 2;\n      | \t \t^~~\n");
    // Columns are bytes, carets are characters.
    CHECK(render({Severity::error, "u", {file, 4, 14, 1}, {}}, false) ==
          file + ":4:14: error: u\n    4 |   /* \u00fc\u00fc */ x = y;\n      |            ^\n");
    // No mark beyond the line's end.
    CHECK(render({Severity::error, "l", {file, 1, 4, 99}, {}}, false) ==
          file + ":1:4: error: l\n    1 | first\n      |    ^~\n");
    CHECK(render({Severity::error, "l", {file, 1, 6, 1}, {}}, false) ==
          file + ":1:6: error: l\n    1 | first\n      |      ^\n");
}

TEST_CASE("Without a known place or file there is no source line") {
    CHECK(render({Severity::error, "no rule", {}, {}}, false) == "error: no rule\n");
    CHECK(render({Severity::error, "gone", {"no/such/file.hpp", 3, 1, 1}, {}}, false) ==
          "no/such/file.hpp:3:1: error: gone\n");
    ScratchFolder folder;
    auto const file = folder.write("short.hpp", "one\n");
    CHECK(render({Severity::error, "past", {file, 9, 1, 1}, {}}, false) == file + ":9:1: error: past\n");
}

TEST_CASE("Colour changes nothing but colour") {
    ScratchFolder folder;
    auto const file = folder.write("rules.hpp", "S <<= S\n");
    Diagnostic d{Severity::error, "e", {file, 1, 3, 3}, {}};
    d.notes.push_back({Severity::note, "n", {}, {}});
    auto coloured = render(d, true);
    CHECK(coloured.find("\033[") != std::string::npos);
    for (std::size_t at = 0; (at = coloured.find("\033[")) != std::string::npos;)
        coloured.erase(at, coloured.find('m', at) - at + 1);
    CHECK(coloured == render(d, false));
}
