#!/usr/bin/env python3
"""Levels integer, property and fault, and `check --text`: they hold for what is emitted, and fail for what was edited."""
import json, re, shutil, unittest

from support import DELTA, OUTPUT, ToolTest, rule


class Levels(ToolTest):
    def emitted(self, *statements, forms=()):
        h = self.rules(rule("one", *statements))
        self.run_tool("emit", h, "--out", "text", "--library", "mine", *forms)
        return h

    def edit(self, file, old, new):
        path = self.folder / "text/src" / file
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1))
        return lambda: path.write_text(text)

    def differing(self, report):
        return [x for r in report["rules"] for x in r["results"] if not x["pass"]]

    def test_text_of_a_folder(self):
        h = self.emitted("S <<= alpha * S", DELTA, OUTPUT)
        check = lambda code, *more: self.check_json(h, "--level", "text", "--text", "text", *more, code=code)
        whole = check(0)
        self.assertEqual(whole["passed"], 10)
        # A sign: form, direction, output, the shortest sequence, both values.
        restore = self.edit("one_chunked_forward.hpp", "(i, j) -", "(i, j) +")
        wrong = self.differing(check(1))
        self.assertEqual({(x["form"], x["direction"]) for x in wrong}, {("chunked", "forward"), ("parallel", "forward"), ("summary", "forward")})
        for x in wrong:
            self.assertRegex(x["index"], r"^(o|S)\[")
            self.assertEqual(x["tokens"], 1)
            self.assertNotEqual(x["got"], x["want"])
        restore()
        # The content of the folder is the key, both ways.
        self.assertEqual(check(0)["failed"], 0)
        # What does not compile; what crashes; what never ends; what is gone.
        restore = self.edit("one_step_forward.hpp", "store_token(", "store_tokens(")
        broken, = self.differing(check(1))
        self.assertRegex(broken["got"], r"^the text does not compile: src/one_step_forward\.hpp:\d+:\d+: (fatal )?error: .*store_tokens")
        self.assertEqual((broken["form"], broken["direction"]), ("step", "forward"))
        said = self.run_tool("check", h, "--level", "text", "--text", "text", code=1).stdout
        self.assertRegex(said, r"(?m)^differs: one step forward, level text: the text does not compile: src/one_step_forward\.hpp:\d+:\d+: .*store_tokens.*$")
        restore()
        restore = self.edit("one_recurrent_backward.hpp", "load_state(", "__builtin_trap(); load_state(")
        crash = self.differing(check(1))
        self.assertTrue(all("crash" in x["got"] and x["direction"] == "backward" for x in crash), crash)
        restore()
        (self.folder / "text/src/one_chunked_backward.hpp").unlink()
        self.assertEqual({x["direction"] for x in self.differing(check(1, "--form", "chunked"))} - {"forward"}, {"backward"})

    def test_a_large_row_hides_nothing_in_a_small_one(self):
        # The state grows to a million; 0.1 too much at the first token is a rounding beside that, and a fault in its own row.
        h = self.rules(rule("one", "S <<= 1.5 * S + v * T(k)", OUTPUT))
        self.run_tool("emit", h, "--out", "text", "--library", "mine")
        level = ("--level", "float", "--form", "recurrent", "--text", "text", "--seed", 3)
        self.assertEqual(self.check_json(h, *level)["failed"], 0)
        self.edit("one_step_forward.hpp", "store_token(o,", "if (token == 0 && s.tokens > 30) o(0, 0) = o(0, 0) + number<K>(0.1);\n    store_token(o,")
        wrong, = self.differing(self.check_json(h, *level, code=1))
        self.assertEqual(wrong["direction"], "forward")
        self.assertRegex(wrong["index"], r"^o\[batch \d+\]\[token 0\]\[head \d+\]\[0\]$")
        self.assertAlmostEqual(float(wrong["got"]) - float(wrong["want"]), 0.1, places=3)

    def test_no_text(self):
        h = self.rules(rule("one", DELTA, OUTPUT))
        (self.folder / "empty").mkdir()
        self.assertIn("library-calls.h", self.run_tool("check", h, "--text", "empty", code=2).stderr)
        self.assertIn("nowhere", self.run_tool("check", h, "--text", "nowhere", code=2).stderr)

    def test_the_levels_hold_and_fail(self):
        h = self.emitted("S <<= exp(g) * S", DELTA, OUTPUT, forms=("--form", "chunked"))
        levels = ("--level", "integer,property,fault", "--form", "chunked", "--text", "text", "--seed", 3)
        report = self.check_json(h, *levels)
        results = report["rules"][0]["results"]
        names = {level: {x["name"] for x in results if x["level"] == level} for level in ("integer", "property", "fault")}
        self.assertGreaterEqual(len(names["property"]), 11)
        numbers = {int(re.match(r"\d+", n)[0]) for n in names["fault"]}
        self.assertEqual(numbers, set(range(1, 48)))
        self.assertIn("base", {x["isa"] for x in results if x["level"] == "integer"})
        for x in results:
            if "reason" in x:
                self.assertTrue(x["reason"].startswith("not applicable: "), x)
        # A write that forgets what was erased: the kernels no longer are the line.
        text = (self.folder / "text/src/one_chunked_forward.hpp").read_text()
        self.edit("one_chunked_forward.hpp", "solve(u, M, rhs);", "copy_of(u, rhs);" if "copy_of(" in text else
                  "for (index i = 0; i < u.rows; ++i)\n for (index j = 0; j < u.cols; ++j) u(i, j) = rhs(i, j);")
        wrong = self.differing(self.check_json(h, *levels, code=1))
        self.assertEqual({x["level"] for x in wrong}, {"integer", "property", "fault"})
        self.assertEqual({(x["form"], x["direction"]) for x in wrong if x["level"] == "integer"}, {("chunked", "forward")})
        self.assertTrue(all(x["form"] == "chunked" for x in wrong))
        integer = next(x for x in wrong if x["level"] == "integer")
        self.assertRegex(integer["index"], r"^(o|S)\[")

    def test_feature_maps(self):
        operands = "DELTALOOM_STATE(P, dv, dpfp_dim<2, dk>); DELTALOOM_STATE(F, dv, taylor2_dim<dk>); DELTALOOM_STATE(n, taylor2_dim<dk>);\n" \
                   "DELTALOOM_DIM(dr); DELTALOOM_PARAMETER(W, dr, dk); DELTALOOM_STATE(R, dv, dr); DELTALOOM_STATE(m, dr);\n"
        features = lambda x: f"random_features({x}, W)"
        h = self.rules(operands +
                       rule("dpfp_delta", "P <<= P + beta * (v - P * dpfp<2>(k)) * T(dpfp<2>(k))", "o <<= P * dpfp<2>(q)") +
                       rule("random_feature_sum", f"R <<= R + v * T({features('k')})", f"m <<= m + {features('k')}",
                            f"o <<= (R * {features('q')}) / dot(m, {features('q')})") +
                       rule("taylor2_sum", "F <<= F + v * T(taylor2(k))", "n <<= n + taylor2(k)", "o <<= (F * taylor2(q)) / dot(n, taylor2(q))"))
        report = self.check_json(h, "--level", "program,text,integer,float,property,fault")
        for r in report["rules"]:
            self.assertEqual(set(r["forms"]), {"step", "recurrent", "chunked", "parallel", "summary"}, r["name"])
            for x in r["results"]:
                if x["level"] == "integer" and r["name"] == "dpfp_delta":
                    self.assertNotIn("reason", x) # relu and products round nothing
                if x["level"] != "float" and "dpfp_dim<2, dk>" in x["dims"]:
                    self.assertEqual(x["dims"]["dpfp_dim<2, dk>"], 4 * x["dims"]["dk"])
        exact = [x for x in report["rules"][2]["results"] if x["level"] == "integer"]
        self.assertTrue(exact and all("taylor2" in x["reason"] for x in exact))
        listed = self.run_tool("list", h).stdout
        self.assertIn("random_features(k, W)", listed)
        explained = self.run_tool("explain", h, "--rule", "dpfp_delta", "--dk", 64).stdout
        self.assertIn("dpfp_dim<2, dk> = 256", explained)
        self.assertRegex(explained, r"dpfp<2>\(k\): 256 features in \d+ operations")

    def test_inexact_maps_are_said(self):
        h = self.rules(rule("one", "S <<= sigmoid(beta) * S + v * T(k)", OUTPUT))
        report = self.check_json(h, "--level", "integer", "--form", "recurrent")
        self.assertEqual({x["reason"] for x in report["rules"][0]["results"]}, {"not applicable: sigmoid"})

    def test_a_budget_follows_what_the_line_itself_does(self):
        # Chaotic over long streams: its own answer moves when its inputs move by one unit roundoff, and the report says how far.
        r = self.run_tool("check", "--rule", "ttt_linear", "--form", "recurrent", "--level", "fault", "--seed", 1, "--json", "report.json")
        self.assertIn("sensitive: moving its inputs", r.stdout)
        results = json.loads((self.folder / "report.json").read_text())["rules"][0]["results"]
        moved = [x for x in results if "moves" in x]
        self.assertTrue(moved)
        for x in moved:
            self.assertEqual(x["budget"], 64 * x["moves"])
            self.assertLessEqual(x["error"], x["budget"])
            self.assertGreater(x["budget"], 2e-5)
        self.assertLess(len(moved), len(results) / 4)

    def test_a_line_that_leaves_float32_is_exact_and_not_applicable(self):
        h = self.rules(rule("grows", "S <<= 64 * S + v * T(k)", OUTPUT))
        report = self.check_json(h, "--form", "recurrent", "--level", "program,float,property")
        by_level = lambda level: [x for x in report["rules"][0]["results"] if x["level"] == level]
        self.assertTrue(all(x["pass"] and "reason" not in x for x in by_level("program")))
        self.assertIn("grows beyond float32", {x.get("reason", "") for x in by_level("float")}.pop())
        self.assertEqual(report["failed"], 0)


if __name__ == "__main__":
    unittest.main()
