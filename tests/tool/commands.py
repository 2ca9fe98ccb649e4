#!/usr/bin/env python3
"""`same`, `new`, `explain` and `list` from the outside: verdicts, pages, folders, and what is said of wrong use."""
import json, os, re, subprocess, unittest, xml.etree.ElementTree as tree

from support import DELTA, OUTPUT, ToolTest, diagnostics, rule

GATED = "S <<= S * diag(exp(w))"
RULES = ("DELTALOOM_GATE(w, log, dk);\n" + rule("two_statements", GATED, DELTA, OUTPUT)
         + rule("one_statement", "S <<= S * diag(exp(w)) + beta * (v - S * (exp(w) % k)) * T(k)", OUTPUT)
         + rule("again", "S <<= S * diag(exp(w))", "S <<= S - (beta * S * k - beta * v) * T(k)", OUTPUT)
         + rule("other", GATED, "S <<= S + beta * (v + S * k) * T(k)", OUTPUT)
         + rule("squashed", GATED, "S <<= tanh(S) + beta * v * T(k)", OUTPUT)
         + rule("squashed_too", GATED, "S <<= beta * v * T(k) + tanh(S)", OUTPUT)
         + rule("plain", DELTA, OUTPUT))


class Same(ToolTest):
    def same(self, a, b, *more, code=0):
        return self.run_tool("same", self.rules(RULES), "--rule", a, "--rule", b, *more, code=code).stdout

    def test_verdicts(self):
        self.assertRegex(self.same("two_statements", "again"), r"the same, by recurrence(.|\n)*S <- 1 S")
        self.assertRegex(self.same("two_statements", "one_statement"), r"the same, by token map(.|\n)*S <<= .*\n(.|\n)*o <<=")
        self.assertRegex(self.same("squashed", "squashed_too"), r"equal on \d+ random points over the field.*chance of a mistake at most 2\^-\d+")
        differ = self.same("two_statements", "other", code=1)
        self.assertRegex(differ, r"differ: at T = 1, dv = 1, dk = 1\n    before +S = .+\n    token 0 .*w = .*\n    \w+.*: two_statements says \S+, other says \S+\n")
        self.assertRegex(self.same("plain", "other", code=1), r"differ in operands\n    w: plain has none, other has log gate of dk\n")

    def test_a_counterexample_holds(self):
        x = json.loads(self.same("two_statements", "other", "--json", code=1))
        self.assertEqual((x["same"], x["verdict"], x["rules"]), (False, "differs", ["two_statements", "other"]))
        c = x["counterexample"]
        self.assertEqual((c["tokens"], c["dims"]), (1, {"dv": 1, "dk": 1}))
        value = {g["operand"]: g["value"] for g in c["given"]}
        number = lambda name: eval(value[name].replace("log", ""))  # of a log gate exp(w) is the number
        kept = number("S") * number("w")
        for sign, said in ((-1, c["values"][0]), (1, c["values"][1])):
            after = kept + number("beta") * (number("v") + sign * kept * number("k")) * number("k")
            self.assertAlmostEqual(eval(said), after * number("q") if c["operand"] == "o" else after)

    def test_json_of_what_is_the_same(self):
        x = json.loads(self.same("two_statements", "one_statement", "--json"))
        self.assertEqual((x["same"], x["verdict"]), (True, "token map"))
        self.assertIn("S <<= ", x["canonical"])
        self.assertLessEqual(x["bound_log2"], -40)
        y = json.loads(self.same("plain", "other", "--json", code=1))
        self.assertEqual(y["operands"], [{"name": "w", "has": ["", "log gate of dk"]}])

    def test_a_shipped_rule_beside_ones_own(self):
        self.assertIn("plain and delta are the same, by recurrence", self.same("plain", "delta"))

    def test_wrong_use(self):
        h = self.rules(RULES)
        for rules, says in ((["plain"], "give --rule twice, not once"), (["plain", "other", "again"], "not 3 times"), (["plain", "plain"], "same as itself")):
            r = self.run_tool("same", h, *[x for name in rules for x in ("--rule", name)], code=2)
            self.assertIn(says, r.stderr)
        r = self.run_tool("same", h, "--rule", "plain", "--rule", "nonsense", code=3)
        for word in ("nonsense", "two_statements", "the catalogue has", "delta"):
            self.assertIn(word, r.stderr)
        self.run_tool("same", "nowhere.hpp", "--rule", "a", "--rule", "b", code=3)
        self.assertIn("--rule", self.run_tool("same", h, code=2).stderr)


class New(ToolTest):
    def names(self):
        return sorted(p.name for p in self.folder.iterdir() if p.name != "cache")

    def test_a_new_rule(self):
        r = self.run_tool("new", "fresh")
        self.assertEqual(self.names(), ["fresh"])
        self.assertEqual(sorted(self.files(self.folder / "fresh")), ["CMakeLists.txt", "main.cpp", "rules.hpp"])
        self.assertRegex(r.stdout, r"checked: step, recurrent, chunked, parallel, summary; \d+ derived programs")
        for command in ("cmake -S fancy", "cmake --build", "ctest --test-dir", "build/app", "deltaloom explain"):
            self.assertIn(command.replace("fancy", "fresh"), r.stdout)
        report = self.check_json("fresh/rules.hpp", "--level", "program")
        self.assertEqual(([x["name"] for x in report["rules"]], report["failed"]), (["fresh"], 0))

    def test_it_begins_as_a_shipped_rule(self):
        self.run_tool("new", "fresh", "--like", "kda")
        self.assertIn("DELTALOOM_GATE(gk, log, dk);", (self.folder / "fresh/rules.hpp").read_text())
        r = self.run_tool("same", "fresh/rules.hpp", "--rule", "fresh", "--rule", "kda")
        self.assertIn("by recurrence", r.stdout)
        # One without a chunked form says so.
        self.assertIn("no chunked form: ", self.run_tool("new", "squashed", "--like", "tanh_memory").stdout)

    def refused(self, *arguments, says, code=2):
        before = self.names()
        r = self.run_tool("new", *arguments, code=code)
        for word in says:
            self.assertIn(word, r.stderr)
        self.assertEqual(r.stdout, "")
        self.assertEqual(self.names(), before)

    def test_bad_names(self):
        for name, why in (("1st", "identifier"), ("no-name", "identifier"), ("a/b", "identifier"), ("class", "keyword"), ("S", "word of the language"), ("std", "headers of every library")):
            self.refused(name, says=[name, why])
        self.refused("gk", "--like", "kda", says=["operand of kda"])
        self.refused(says=["NAME"])

    def test_what_is_there_stays(self):
        self.write("taken/mine.txt", "mine")
        self.write("a_file", "mine")
        (self.folder / "a_link").symlink_to("nowhere")
        for name in ("taken", "a_file", "a_link"):
            self.refused(name, says=[name, "stays as it is"])
        self.assertEqual(self.files(self.folder / "taken"), {"mine.txt": b"mine"})
        (self.folder / "empty").mkdir()
        self.refused("empty", says=["stays as it is"])

    def test_an_unknown_rule_to_begin_as(self):
        self.refused("fresh", "--like", "gated_dleta", says=["gated_dleta", "is it gated_delta", "there are", "kda"])

    def test_a_place_that_cannot_be_written(self):
        r = subprocess.run([os.environ["DELTALOOM"], "new", "fresh"], capture_output=True, text=True, cwd="/proc")
        self.assertEqual((r.returncode, r.stdout), (4, ""))
        self.assertIn("fresh", r.stderr)


class Explain(ToolTest):
    def test_three_ways(self):
        h = self.rules(RULES)
        text = self.run_tool("explain", h, "--rule", "two_statements").stdout
        tex = self.run_tool("explain", h, "--rule", "two_statements", "--latex").stdout
        page = self.run_tool("explain", h, "--rule", "two_statements", "--html").stdout
        self.assertIn("log form", text)
        for one in (text, tex, page):
            self.assertIn("Growth, and what float32 keeps of it", one)
            self.assertIn("keys of unit norm", one)
        body = tree.fromstring(page.split("?>")[-1])
        self.assertEqual(len(list(body.iter("{http://www.w3.org/1998/Math/MathML}math"))) > 10, True)
        self.assertIn("excludes", self.run_tool("explain", h, "--html", "--latex", code=2).stderr)

    def test_a_page_escapes_what_it_quotes(self):
        # In the line, in the reason, in the place.
        h = self.rules(rule("one", "S <<= tanh(S) + v * T(k)", OUTPUT), name="a&b<c>.hpp")
        page = self.run_tool("explain", h, "--html").stdout
        self.assertIn("S &lt;&lt;= tanh(S)", page)
        self.assertIn("a&amp;b&lt;c&gt;.hpp", page)
        self.assertRegex(page, r"<p>No chunked, parallel, summary: .*tanh of the state")
        tree.fromstring(page)


class List(ToolTest):
    def test_one_reason_is_said_once(self):
        h = self.rules(rule("one", "S <<= tanh(S) + v * T(k)", OUTPUT) + rule("two", DELTA, OUTPUT))
        r = self.run_tool("list", h)
        self.assertEqual(re.findall(r"^    no .*$", r.stdout, re.M), ["    no chunked, parallel, summary: tanh of the state is not affine in the state"])
        self.assertEqual(len(diagnostics(r.stderr, "warning")), 1)  # of a header of one's own

    def test_the_catalogue_reads_without_carets(self):
        r = self.run_tool("list")
        self.assertEqual(r.stderr, "")
        self.assertRegex(r.stdout, r"(?m)^    no chunked, parallel, summary: .+\n")
        self.assertRegex(r.stdout, r"(?m)^    no summary: .+\n")


if __name__ == "__main__":
    unittest.main()
