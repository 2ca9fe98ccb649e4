#!/usr/bin/env python3
"""Tensors of 16 bits: `emit --scalar`, `--state-scalar`, and `check` in bfloat16 and float16, which sees a result that is cut off and a load that drops a bit."""
import re, unittest

from support import DELTA, OUTPUT, ToolTest, rule

BUDGETS = {"float": 2e-5, "bfloat16": 2**-8, "float16": 2**-11}


class ShortFloats(ToolTest):
    def results(self, *arguments, code=0):
        report = self.check_json("rules.hpp", "--form", "recurrent", "--text", "text", "--seed", 3, *arguments, code=code)
        return report["rules"][0]["results"]

    def edit(self, old, new):
        path = self.folder / "text/src/one_step_forward.hpp"
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1))
        return lambda: path.write_text(text)

    def test_check(self):
        h = self.rules(rule("one", "S <<= exp(g) * S", DELTA, OUTPUT))
        self.run_tool("emit", h, "--out", "text", "--library", "mine", "--form", "recurrent")
        every = self.results("--level", "float,integer", "--scalar", "float,bfloat16,float16", "--state-scalar", "float,bfloat16,float16")
        self.assertTrue(all(x["pass"] for x in every))
        for x in every:
            if x["level"] == "float" and x["name"] == "declaration":
                self.assertEqual(x["budget"], BUDGETS[x["scalar"]], x)
        exact = {(x["scalar"], x["direction"]) for x in every if x["level"] == "integer" and "reason" not in x and x["error"] == 0}
        self.assertEqual(exact, {(s, d) for s in BUDGETS for d in ("forward", "backward")})
        # What a short state costs: told, within what the line itself loses, and less where it has more bits.
        cost = {s: [x for x in every if x["name"] == f"state in {s}"] for s in BUDGETS}
        self.assertEqual([len(cost[s]) for s in BUDGETS], [0, 2, 2])
        for fine, coarse in zip(cost["float16"], cost["bfloat16"]):
            self.assertEqual((coarse["scalar"], coarse["level"], coarse["tokens"] > 1), ("float", "float", True))
            self.assertTrue(1e-6 < fine["error"] < coarse["error"] < coarse["budget"], (fine, coarse))
        table = self.run_tool("check", h, "--form", "recurrent", "--text", "text", "--seed", 3, "--level", "float", "--scalar", "bfloat16",
                              "--state-scalar", "float16").stdout
        self.assertRegex(table, r"^ +float \(bfloat16\) +state in float16 *\n")

        differing = lambda: {(x["scalar"], x["direction"]) for x in self.results("--level", "float", "--scalar", "float,bfloat16,float16", code=1) if not x["pass"]}
        output = re.search(r"store_token\((\w+), (s\.operand\[\d+\]), token\);", (self.folder / "text/src/one_step_forward.hpp").read_text())
        cut = "float(__builtin_bit_cast(float, __builtin_bit_cast(unsigned, float({0}(i, 0))) & {1}u))"
        loop = "if ({2}.scalar == {3}) for (index i = 0; i < {0}.rows; ++i) {0}(i, 0) = K(" + cut + ");"
        # bfloat16 by cutting off: up to twice what rounding to nearest may lose.
        restore = self.edit(output[0], loop.format(output[1], "0xffff0000", output[2], "DL_BF16") + output[0])
        self.assertEqual(differing(), {("bfloat16", "forward")})
        restore()
        # The last bit of a key of float16.
        key = re.search(r"load_token\((k), (s\.operand\[\d+\]), token\);", (self.folder / "text/src/one_step_forward.hpp").read_text())
        self.edit(key[0], key[0] + loop.format(key[1], "0xffffc000", key[2], "DL_F16"))
        self.assertIn(("float16", "forward"), differing())
        self.assertNotIn("float", {s for s, d in differing()})

    def test_emit(self):
        h = self.rules(rule("one", DELTA, OUTPUT))
        for options, operands, states in ((["--scalar", "bfloat16,float", "--state-scalar", "float16,float"], "float or bfloat16", "float or float16"),
                                          (["--scalar", "float16,bfloat16,double"], "double, bfloat16 or float16", "float or double"), ([], "float", "float")):
            self.run_tool("emit", h, "--out", "out", "--library", "mine", *options)
            words = " ".join((self.folder / "out/include/mine/one.hpp").read_text().replace("///", " ").split())
            self.assertIn(f"here operands may be {operands}, states {states};", words)
        kernels = (self.folder / "out/src/one.cpp").read_text()
        self.assertIn("run<float,", kernels)
        self.assertNotIn("run<double,", kernels)
        refused = self.run_tool("emit", h, "--out", "out", "--state-scalar", "double", code=2).stderr
        self.assertIn("add double to --scalar", refused)
        for option in ("--scalar", "--state-scalar"):
            said = self.run_tool("emit", h, "--out", "out", option, "half", code=2).stderr
            for word in ("half", "float", "double", "bfloat16", "float16"):
                self.assertIn(word, said)


if __name__ == "__main__":
    unittest.main()
