#!/usr/bin/env python3
"""The shipped catalogue and the rules of examples/new_papers. catalogue.py [COUNT SEED]: COUNT rules of the catalogue, drawn with SEED (0: a new
one each time, printed), at every level; COUNT 0: all of them, and those of the papers."""
import pathlib, random, sys, unittest

from support import CATALOGUE, ToolTest

PAPERS = pathlib.Path(__file__).parents[2] / "examples/new_papers/rules.hpp"
# Part of the reason why a rule has no chunked form; every other rule has one.
NO_CHUNKED = {"two_sided_delta": "both sides", "momentum_channels": "channel decays", "surprise": "dot product", "fwm": "norm of the state",
              "tanh_memory": "tanh of the state", "sigmoid_memory": "sigmoid of the state", "ttt_linear": "sqrt of the state", "titans": "sqrt of the state",
              "saturating_delta": "min of the state", "dense_transition": "no low-rank factor", "full_rank_write": "no low-rank factor",
              "symmetric_memory": "no low-rank factor"}
LEVELS = "program,text,integer,float,property,fault"
COUNT, SEED = (int(x) for x in sys.argv[1:3]) if len(sys.argv) > 2 else (3, 0)
SEED = SEED or random.randrange(1, 10**9)


class Catalogue(ToolTest):
    def names(self):
        return {p.stem for p in CATALOGUE.parent.glob("rules/*.hpp") if f'rule("{p.stem}"' in p.read_text()}

    def test_every_rule_is_exact_in_every_form(self):
        report = self.check_json("--level", "program")
        self.assertEqual(report["failed"], 0)
        rules = {r["name"]: r for r in report["rules"]}
        # A rule lies in the header of its name; delta_product has an instance for each number of steps.
        self.assertEqual(self.names() - set(rules), {"delta_product"} & (self.names() - set(rules)))
        self.assertTrue({"delta_product_2", "delta_product_3"} <= set(rules))
        for name, r in rules.items():
            self.assertTrue({"step", "recurrent"} <= set(r["forms"]), name)
            self.assertEqual("chunked" in r["forms"], name not in NO_CHUNKED, name)
            if name in NO_CHUNKED:
                self.assertIn(NO_CHUNKED[name], r["missing"]["chunked"], name)
            self.assertLessEqual(max(x["bound_log2"] for x in r["results"] if "bound_log2" in x), -40, name)

    def test_every_declaration_has_its_equation_and_its_source_or_bounds(self):
        for p in sorted(CATALOGUE.parent.glob("rules/*.hpp")):
            text = p.read_text()
            self.assertEqual(text.count("#pragma once"), 1, p)
            if p.stem in self.names():
                self.assertRegex(text, r"//     .*_t = ", p)

    def test_a_draw_at_every_level(self):
        all_of_them = sorted(self.names() - {"delta_product"} | {"delta_product_2", "delta_product_3"})
        drawn = random.Random(SEED).sample(all_of_them, COUNT) if COUNT else all_of_them
        print(f"seed {SEED}: {' '.join(drawn)}", flush=True)
        report = self.check_json("--rule", ",".join(drawn), "--level", LEVELS, "--seed", SEED, timeout=3600)
        self.assertEqual(report["failed"], 0)
        self.assertEqual({x["level"] for r in report["rules"] for x in r["results"]}, set(LEVELS.split(",")))

    def test_rules_of_papers(self):
        report = self.check_json(PAPERS, "--level", LEVELS if COUNT == 0 else "program", timeout=3600)
        self.assertEqual(report["failed"], 0)
        chunked = {r["name"] for r in report["rules"] if "chunked" in r["forms"]}
        self.assertEqual(chunked, {"slot_attention", "second_order", "atlas"})
        missing = {r["name"]: r["missing"]["chunked"] for r in report["rules"] if "chunked" in r["missing"]}
        self.assertIn("max of the state", missing["mlstm"])
        self.assertIn("exp of a matrix has no low-rank factor", missing["s6"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
