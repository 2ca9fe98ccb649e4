#!/usr/bin/env python3
"""`check` end to end: what its JSON holds, that a seed replays, that options choose, that the second run comes from the cache, that wrong text is caught."""
import json, unittest

from support import DELTA, OUTPUT, ToolTest, rule

FORMS = {"step", "recurrent", "chunked", "parallel", "summary"}
KEYS = {"form", "direction", "level", "name", "target", "scalar", "trials", "tokens", "dims", "chunk", "pass"}


class Check(ToolTest):
    def same_results(self, a, b):
        self.assertEqual([x["results"] for x in a["rules"]], [x["results"] for x in b["rules"]])

    def test_all_levels_and_the_cache(self):
        h = self.rules(rule("one", DELTA, OUTPUT) + rule("two", "S <<= tanh(S) + v * T(k)", OUTPUT))
        report = self.check_json(h, "--scalar", "float,double", "--seed", 5)
        self.assertEqual(set(report), {"version", "seed", "rules", "passed", "failed", "seconds"})
        self.assertEqual((report["seed"], report["failed"]), (5, 0))
        self.assertEqual(report["passed"], sum(len(r["results"]) for r in report["rules"]))
        for r, forms in zip(report["rules"], (FORMS, {"step", "recurrent"})):
            self.assertEqual(set(r), {"name", "forms", "missing", "growth", "results"})
            for x in r["results"]:
                self.assertLessEqual(KEYS, set(x), x)
                self.assertIs(x["pass"], True)
                self.assertNotIn(x["form"], r["missing"])
                if x["level"] == "float":
                    self.assertLessEqual(x["error"], x["budget"])
                    self.assertTrue(x["isa"] and x["dims"])
                else:
                    self.assertLessEqual(x["bound_log2"], -40)
                    self.assertGreaterEqual(x["degree"], 1)
            for level in ("program", "text", "float"):
                seen = {(x["form"], x["direction"]) for x in r["results"] if x["level"] == level}
                self.assertGreaterEqual(seen, {(f, d) for f in forms for d in ("forward", "backward")}, level)
            self.assertEqual({x["scalar"] for x in r["results"] if x["level"] == "float"}, {"float", "double"})
        self.assertIn("tanh", report["rules"][1]["missing"]["chunked"])

        cached = self.check_json(h, "--scalar", "float,double", "--seed", 5)
        self.same_results(report, cached)
        self.assertLess(cached["seconds"], report["seconds"] / 2)
        self.assertEqual([p for p in (self.folder / "cache/deltaloom").iterdir() if p.suffix not in (".so", ".o")], [])
        other = self.check_json(h, "--level", "float", "--scalar", "float,double", "--seed", 6)
        self.assertEqual(other["failed"], 0)
        errors = [[x["error"] for x in r["rules"][0]["results"] if x["level"] == "float"] for r in (report, other)]
        self.assertNotEqual(*errors)

    def test_a_seed_replays_and_options_choose(self):
        h = self.rules(rule("one", DELTA, OUTPUT) + rule("two", "S <<= exp(g) * S + v * T(k)", OUTPUT))
        first = self.check_json(h, "--level", "program")
        self.same_results(first, self.check_json(h, "--level", "program", "--seed", first["seed"]))
        chosen = self.check_json(h, "--level", "program", "--rule", "two", "--form", "chunked,step", "--trials", 2)
        self.assertEqual([r["name"] for r in chosen["rules"]], ["two"])
        results = chosen["rules"][0]["results"]
        self.assertEqual({(x["form"], x["level"]) for x in results}, {("chunked", "program"), ("step", "program")})

    def test_the_table_and_the_file(self):
        h = self.rules(rule("one", DELTA, OUTPUT))
        r = self.run_tool("check", h, "--level", "program", "--seed", 9, "--json", "deep/report.json")
        self.assertRegex(r.stdout, r"one +step +exact +exact\n +recurrent +exact +exact")
        self.assertRegex(r.stdout, r"passed \d+, failed 0, seed 9")
        self.assertEqual(r.stderr, "")
        self.assertEqual(json.loads((self.folder / "deep/report.json").read_text())["seed"], 9)


if __name__ == "__main__":
    unittest.main()
