#!/usr/bin/env python3
"""Wrong use, bad input and bad folders: the exit codes of the contract, what is said, and nothing left behind."""
import json, unittest

from support import CATALOGUE, DELTA, OUTPUT, ToolTest, header, rule


class Usage(ToolTest):
    def refused(self, *arguments, says):
        r = self.run_tool(*arguments, code=2)
        for word in says:
            self.assertIn(word, r.stderr)
        self.assertEqual(r.stdout, "")

    def test_unknown_options_are_answered_with_those_that_exist(self):
        h = self.rules(rule("one", DELTA, OUTPUT))
        self.refused("check", h, "--no-such-option", says=["--no-such-option", "--level", "--rule", "--json", "--seed"])
        self.refused("emit", h, "--nonsense", "--out", "out", says=["--nonsense", "--depfile", "--scalar"])
        self.refused("nonsense", says=["nonsense", "check", "show", "emit", "list", "explain", "same", "new", "random", "cxxflags", "doctor"])
        self.refused(says=["check", "show", "emit"])

    def test_unknown_values_are_answered_with_those_that_exist(self):
        h = self.rules(rule("one", DELTA, OUTPUT))
        self.refused("show", h, "--stage", "nonsense", says=["nonsense", "declaration", "rule", "recurrence", "program", "kernel", "source"])
        self.refused("check", h, "--level", "nonsense", says=["nonsense", "program", "text", "float"])
        self.refused("check", h, "--scalar", "half", says=["half", "float", "double"])
        self.refused("check", h, "--form", "nonsense", says=["nonsense", "step", "recurrent", "chunked", "parallel", "summary"])
        self.refused("emit", h, "--out", "out", "--form", "nonsense", says=["nonsense", "step", "recurrent", "chunked", "parallel"])
        self.refused("emit", h, "--out", "out", "--target", "abacus", says=["abacus", "cpu"])
        self.refused("emit", h, "--out", "out", "--chunk", "0", says=["--chunk"])
        self.refused("emit", h, "--out", "out", "--library", "no-identifier", says=["no-identifier", "identifier"])
        self.refused("emit", h, "--out", "out", "--library", "class", says=["class", "another name"])
        self.refused("emit", h, "--out", "", says=["--out"])
        self.refused("check", h, "--seed", -1, says=["--seed"])
        self.refused("show", h, says=["--stage"])
        self.refused("emit", h, says=["--out"])
        self.refused("random", "--seed", 1, "--count", -1, says=["--count"])
        self.assertFalse((self.folder / "out").exists())

    def test_help_and_version(self):
        self.assertRegex(self.run_tool("--version").stdout, r"^deltaloom \d+\.\d+\.\d+\n$")
        for command in ("check", "show", "emit", "list", "explain", "same", "new", "random", "cxxflags", "doctor"):
            self.assertIn(command, self.run_tool("--help").stdout)
            self.assertIn("Usage", self.run_tool(command, "--help").stdout)


class Headers(ToolTest):
    def test_a_rule_that_two_headers_hold_is_one_rule(self):
        h = self.rules(rule("one", DELTA, OUTPUT))
        other = self.write("other.hpp", '#pragma once\n#include "rules.hpp"\nnamespace mine {\n' + rule("two", DELTA, OUTPUT) + "}\n")
        self.assertEqual([r["name"] for r in json.loads(self.run_tool("list", h, h, other, "--json").stdout)["rules"]], ["one", "two"])

    def refused(self, path, says, *more):
        for command in (["emit", path, "--out", "out"], ["list", path], ["check", path, "--level", "program"], ["show", path, "--stage", "rule"]):
            r = self.run_tool(*command, *more, code=3)
            self.assertIn("error: ", r.stderr)
            for word in says:
                self.assertIn(word, r.stderr)
            self.assertEqual(r.stdout, "")
            self.assertFalse((self.folder / "out").exists())

    def test_headers_that_cannot_be_read(self):
        self.refused("nowhere.hpp", ["nowhere.hpp", "no such file"])
        self.write("folder/x.hpp", "")
        self.refused("folder", ["folder"])
        block = self.write("file", "x")
        self.refused(block / "below.hpp", ["below.hpp"])

    def test_headers_that_are_wrong(self):
        self.refused(self.rules("inline constexpr auto r = rule(\"r\", S <<= S + , o <<= S * q);\n"), ["expected"])
        self.refused(self.rules("inline constexpr int r = 1;\n"), ["no rule", "rule("])
        self.refused(self.write("empty.hpp", ""), ["no rule"])
        self.refused(self.rules(rule("one", DELTA, OUTPUT) + rule("two", DELTA, OUTPUT).replace('"two"', '"one"')), ["two rules", '"one"'])
        self.refused(self.write("include.hpp", "#include <nowhere/at_all.hpp>\n" + header(rule("one", DELTA, OUTPUT))), ["nowhere/at_all.hpp"])

    def test_a_rule_that_is_not_there(self):
        r = self.run_tool("check", CATALOGUE, "--rule", "nonsense", code=3)
        for word in ("nonsense", "sum", "gated", "delta", "gated_delta"):
            self.assertIn(word, r.stderr)

    def test_forms_that_a_rule_cannot_have(self):
        h = self.rules(rule("squashed", "S <<= tanh(S) + v * T(k)", OUTPUT))
        for form in ("chunked", "parallel", "summary"):
            for command in (["check", h, "--level", "program"], ["emit", h, "--out", "out"], ["show", h, "--stage", "program"]):
                r = self.run_tool(*command, "--form", form, code=3)
                self.assertRegex(r.stderr, r"rules\.hpp:6:11: error: .*squashed.*" + form)
                self.assertFalse((self.folder / "out").exists())
        self.run_tool("emit", h, "--out", "out", "--form", "recurrent")
        self.run_tool("check", h, "--level", "program", "--form", "step,recurrent")
        both = self.rules(rule("squashed", "S <<= tanh(S) + v * T(k)", OUTPUT) + rule("plain", DELTA, OUTPUT))
        self.assertIn("for --rule: plain", self.run_tool("show", both, "--stage", "program", "--form", "chunked", code=3).stderr)

    def test_flags_after_two_dashes_reach_the_reader(self):
        self.write("elsewhere/statement.hpp", "#define STATEMENT " + DELTA + "\n")
        h = self.write("rules.hpp", "#include <statement.hpp>\n" + header(rule("one", "STATEMENT", OUTPUT)))
        self.run_tool("list", h, code=3)
        self.run_tool("list", h, "--", "-I", self.folder / "elsewhere")
        h = self.rules(rule("one", "S <<= S + STRENGTH * (v - S * k) * T(k)", OUTPUT))
        self.assertIn("S <<= S + 2 * (v - S * k) * T(k)", self.run_tool("list", h, "--", "-DSTRENGTH=2").stdout)


class Folders(ToolTest):
    def test_folders_that_cannot_be_written(self):
        h = self.rules(rule("one", DELTA, OUTPUT))
        block = self.write("file", "x")
        before = self.files(self.folder)
        for out in (block, block / "below", "/proc/nowhere"):
            r = self.run_tool("emit", h, "--out", out, code=4)
            self.assertIn(str(out), r.stderr)
        for extra in (["emit", h, "--out", "out", "--depfile", block / "x.d"], ["check", h, "--level", "program", "--json", block / "x.json"]):
            r = self.run_tool(*extra, code=4)
            self.assertIn(str(block), r.stderr)
        self.assertEqual(self.files(self.folder), {**before, **{k: v for k, v in self.files(self.folder).items() if k.startswith("out/")}})

    def test_a_file_of_the_library_in_the_way(self):
        h = self.rules(rule("one", DELTA, OUTPUT))
        (self.folder / "out/src/one.cpp/in_the_way").mkdir(parents=True)
        self.assertIn("one.cpp", self.run_tool("emit", h, "--out", "out", code=4).stderr)
        self.assertEqual([p for p in self.files(self.folder) if p.endswith(".tmp")], [])

    def test_a_cache_that_cannot_be_made(self):
        block = self.write("file", "x")
        r = self.run_tool("check", CATALOGUE, "--level", "text", code=4, environment={"XDG_CACHE_HOME": str(block)})
        self.assertIn("XDG_CACHE_HOME", r.stderr)

    def test_no_compiler(self):
        r = self.run_tool("check", CATALOGUE, code=4, environment={"PATH": str(self.folder), "CXX": ""})
        self.assertIn("install g++", r.stderr)
        r = self.run_tool("check", CATALOGUE, "--cxx", "no-such-compiler", code=4)
        self.assertIn("no-such-compiler", r.stderr)
        self.run_tool("check", CATALOGUE, "--level", "program", environment={"PATH": str(self.folder), "CXX": ""})


if __name__ == "__main__":
    unittest.main()
