#!/usr/bin/env python3
"""The catalogue's generator on two rules, one that has every form and one that has recurrent forms alone: what its pages say is what declaration and tool say.

Environment: DELTALOOM_ROOT the repository, DELTALOOM_BUILD its build."""
import contextlib, io, json, os, pathlib, re, subprocess, sys, tempfile, unittest

ROOT, BUILD = pathlib.Path(os.environ["DELTALOOM_ROOT"]), pathlib.Path(os.environ["DELTALOOM_BUILD"])
TOOL = str(BUILD / "bin/deltaloom")
sys.path.insert(0, str(ROOT / "docs/site"))
import catalogue, declaration, formulas


def generate(folder, *more):
    with contextlib.redirect_stdout(io.StringIO()):  # the tool is asked once for each thing, however often pages are made
        catalogue.main(["--tool", TOOL, "--out", str(folder), *map(str, more)])


class Catalogue(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.held.name)
        check = cls.folder / "check.json"
        subprocess.run([TOOL, "check", "--rule", "kda", "--rule", "fwm", "--level", "program", "--seed", "1", "--json", check], check=True, capture_output=True,
                       env={**os.environ, "XDG_CACHE_HOME": str(cls.folder / "cache")})
        cls.check = {r["name"]: r for r in json.loads(check.read_text())["rules"]}
        generate(cls.folder / "pages", "--rule", "kda", "--rule", "fwm", "--check", check)
        cls.pages = {p.stem: p.read_text() for p in (cls.folder / "pages").glob("*.md")}

    @classmethod
    def tearDownClass(cls):
        cls.held.cleanup()

    def section(self, page, title):
        found = re.search(rf"(?ms)^## {re.escape(title)}\n(.*?)(?=^## |\Z)", self.pages[page])
        self.assertIsNotNone(found, f"{page} has no section {title}")
        return found[1]

    def test_a_page_for_each_rule_and_the_table(self):
        self.assertEqual(set(self.pages), {"kda", "fwm", "index"})
        self.assertRegex(self.pages["index"], r"\| \[kda\]\(kda\.md\) \| `S <<= S \* diag\(exp\(gk\)\)`<br>.* \| chunked \| Kimi Team 2025 \|")
        self.assertRegex(self.pages["index"], r"\| \[fwm\]\(fwm\.md\) \| .* \| step by step \| Schlag, Munkhdalai, Schmidhuber 2021 \|")

    def test_the_declaration_is_the_header_s(self):
        for name in ("kda", "fwm"):
            header = (ROOT / f"dsl/include/deltaloom/rules/{name}.hpp").read_text()
            code = re.search(r"```cpp\n(.*?)```", self.section(name, "Declaration"), re.S)[1]
            self.assertIn("".join(code.split()), "".join(header.split()))
            self.assertIn(f'rule("{name}"', code)
        self.assertIn("every key channel fades", self.pages["kda"].split("##")[0])
        self.assertIn("S' = S_{t-1} diag(exp(gk_t)),", self.pages["kda"].split("##")[0])

    def test_forms_and_reasons_are_the_tool_s(self):
        listed = {r["name"]: r for r in json.loads(catalogue.said(TOOL, "list", "--json"))["rules"]}
        for name in ("kda", "fwm"):
            forms = self.section(name, "Forms")
            for f in listed[name]["forms"]:
                self.assertIn(f"| `{f}` | forward and backward |", forms)
            for f, reason in listed[name]["missing"].items():
                self.assertIn(f"| `{f}` | no: {reason} |", forms)
        place, line, caret = re.search(r"fwm\.hpp:(\d+:\d+): norm of the state is not affine.*\n( *\d+ \| .*\n)( +\| +\^)", self.section("fwm", "Forms")).groups()
        self.assertTrue(line[len(caret) - 1:].startswith("norm("), line)
        self.assertNotIn(str(ROOT), "".join(self.pages.values()))

    def test_formulas(self):
        self.assertIn("(I - M", self.section("kda", "The chunk: many tokens at once").replace("\\left", "").replace("\\right", ""))
        self.assertIn("\\operatorname{gk}", self.section("kda", "The canonical recurrence: one token, in order"))
        self.assertNotIn("## The chunk", self.pages["fwm"])
        self.assertNotRegex("".join(self.pages.values()), r"\\(item|noindent|paragraph|textless|begin\{(description|center|align\*))")

    def test_costs_growth_and_proofs(self):
        explained = declaration.places(catalogue.said(TOOL, "explain", "--rule", "kda", "--rule", "fwm"))[1]["kda"]
        for row in ("step forward", "chunked backward", "floor forward"):
            numbers = re.search(rf"{row} +(\d+) +(\d+) +(\d+)", explained).groups()
            self.assertIn(f"| {row} | {' | '.join(numbers)} |", self.section("kda", "Cost"))
        self.assertEqual("**without bound**" in self.section("kda", "Growth"), any(g["hopeless"] for g in self.check["kda"]["growth"]))
        degree = max(r["degree"] for r in self.check["kda"]["results"] if r["form"] == "chunked" and r["direction"] == "backward")
        self.assertRegex(self.section("kda", "Proof"), rf"\| `chunked` \| backward \| exact \| {degree} \|")
        self.assertIn("scripts/docs --accuracy", self.section("kda", "Accuracy"))

    def test_measured_accuracy(self):
        results = [{"level": "float", "form": f, "direction": d, "error": e, "budget": 2e-5, "pass": True}
                   for f in ("step", "chunked") for d, e in (("forward", 3e-8), ("forward", 7e-8), ("backward", 1e-7))]
        accuracy = self.folder / "accuracy.json"
        accuracy.write_text(json.dumps({"rules": [{**self.check["kda"], "forms": ["step", "chunked"], "results": results}]}))
        check = self.folder / "check.json"
        generate(self.folder / "measured", "--rule", "kda", "--rule", "fwm", "--check", check, "--accuracy", accuracy)
        self.assertIn("| `chunked` | 7.0e-08 | 2e-05 | 1.0e-07 | 2e-05 |", (self.folder / "measured/kda.md").read_text())

    def test_an_unknown_rule_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "no shipped rule nonsense; there are: .*\\bcomba,"):
            generate(self.folder / "none", "--rule", "nonsense")
        self.assertFalse((self.folder / "none").exists())

    def test_nothing_of_an_explanation_is_lost_silently(self):
        with self.assertRaises(ValueError):
            formulas.plain("a \\newmacro{b}")
        with self.assertRaises(ValueError):
            formulas.items(["  what is no item"])


if __name__ == "__main__":
    unittest.main()
