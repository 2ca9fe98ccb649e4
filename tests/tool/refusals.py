#!/usr/bin/env python3
"""Every refusal of the language through `emit`: exit 3, the reason at its caret, nothing written; its right twin is accepted. And forms that a rule
cannot have: a warning at its caret, exit 0, the recurrent forms written."""
import unittest

from support import DELTA, OUTPUT, ToolTest, diagnostics, header, place

OPERANDS = """DELTALOOM_INPUT(e, dk);
DELTALOOM_INPUT(f, dv);
DELTALOOM_INPUT(A, dk, dk);
DELTALOOM_INPUT(B, dv, dk);
DELTALOOM_GATE(w, log, dk);
DELTALOOM_GATE(a, linear, dk);
DELTALOOM_GATE(b, linear, dk);
DELTALOOM_STATE(M, dv, dk);
DELTALOOM_STATE(Q, dk, dk);
DELTALOOM_OUTPUT(y, dv);
DELTALOOM_OUTPUT(y2, dk);
namespace other { DELTALOOM_INPUT(e, dv); }
DELTALOOM_INPUT(v_previous, dv);
"""
# The rule with its place marked, words of the reason, the right twin.
BY_THE_GENERATOR = [
    ("S <<= S - (S * e) * T(k), o <<= S * q + other::@e", "two operands", "S <<= S - (S * e) * T(k), o <<= S * q + f"),
    ("o <<= @S * q", "never written", "S <<= S + v * T(k), o <<= S * q"),
    (DELTA + ", @z <<= z + k, o <<= S * q", "read by nothing", DELTA + ", z <<= z + k, o <<= S * z"),
    (DELTA, "no output", DELTA + ", o <<= S * q"),
    (DELTA + ", o <<= S * q + @y, y <<= S * k", "output y read", DELTA + ", o <<= S * q, y <<= S * k"),
    (DELTA + ", o <<= S * q, o @<<= S * k", "written twice", DELTA + ", o <<= S * q, y <<= S * k"),
    ("repeat<2>(S <<= S + v * T(k), o @<<= S * q)", "repeat", "repeat<2>(S <<= S + v * T(k)), o <<= S * q"),
    (DELTA + ", o @<<= v", "reads no state", DELTA + ", o <<= v + S * q"),
    ("repeat<2>(S <<= S + v * T(k)), o <<= S * q + @v", "inside repeat outside", "repeat<2>(S <<= S + v * T(k)), o <<= S * q + f"),
    ("repeat<2>(S <<= S + v * T(k)), repeat<3>(S <<= S + f * T(@k)), o <<= S * q", "repeat<2> repeat<3>", "repeat<2>(S <<= S + v * T(k)), repeat<2>(S <<= S + f * T(k)), o <<= S * q"),
    ("S <<= exp(0 @* g) * S + v * T(k), o <<= S * q", "integer below 1", "S <<= exp(1 * g) * S + v * T(k), o <<= S * q"),
    ("S <<= exp(-2 @* g) * S + v * T(k), o <<= S * q", "integer below 1", "S <<= exp(2 * g) * S + v * T(k), o <<= S * q"),
    ("S <<= exp(g) * S + @previous(v) * T(k), o <<= S * q + v_previous", "v_previous already", "S <<= exp(g) * S + previous(v) * T(k), o <<= S * q + f"),
]
# Refused by the language's own headers; the reader passes on what the compiler says.
BY_THE_COMPILER = [
    ("S <<= S + (S @* v) * T(k), o <<= S * q", "dv dk", "S <<= S + (S * k) * T(k), o <<= S * q"),
    (DELTA + ", o <<= v @+ k", "dv dk", DELTA + ", o <<= v + S * q"),
    (DELTA + ", k @<<= k, o <<= S * q", "state output", DELTA + ", z <<= k, o <<= S * (q + z)"),
    ("S <<= g @* S + v * T(k), o <<= S * q", "log exp", "S <<= exp(g) * S + v * T(k), o <<= S * q"),
    ("@repeat<0>(S <<= S + v * T(k)), o <<= S * q", "repeat", "repeat<1>(S <<= S + v * T(k)), o <<= S * q"),
    ("S <<= S @+ 1.0, o <<= S * q", "number", "S <<= S + v * T(k + 1.0), o <<= S * q"),
    (DELTA + ", o <<= @l2norm(S) * q", "vector", DELTA + ", o <<= l2norm(S * q)"),
    ("S <<= S + @previous(S), o <<= S * q", "previous", "S <<= S + previous(v) * T(k), o <<= S * q"),
]
# Its place and a word of the reason.
WITHOUT_A_CHUNKED_FORM = {
    "both_sides": ("S <<= S - beta * (S * k) * T(k) - beta * f @* (T(f) * S) + v * T(k), o <<= S * q", "both sides"),
    "squashed": ("S <<= @tanh(S) + v * T(k), o <<= S * q", "tanh"),
    "dense": ("S <<= S @* A + v * T(k), o <<= S * q", "dense"),
    "full_rank": ("S <<= S + @B, o <<= S * q", "low rank"),
    "own_transpose": ("Q <<= Q + @T(Q) + k * T(k), y2 <<= Q * q", "transpose"),
    "norm_clip": ("S <<= S + v * T(k), S <<= S / max(@norm(S), 1), o <<= S * q", "state"),
    "two_reads": ("S <<= S + dot(S * k, v) @* (S * k) * T(k), o <<= S * q", "state"),
    "dot_read": ("S <<= S + @dot(S * k, v) * v * T(k), o <<= S * q", "dot product"),
    "channel_decays": ("M <<= M @* diag(a) + beta * (v - S * k) * T(k), S <<= S * diag(b) + M, o <<= S * q", "coupled"),
    "layer_norm": ("S <<= S + beta * (v - (S * k) / @sqrt(1 + dot(S * k, S * k))) * T(k), o <<= S * q", "state"),
    "softmaxed": ("S <<= S + @softmax(S * k) * T(k), o <<= S * q", "softmax"),
}


def declared(name, text):
    return f'inline constexpr auto {name} = rule("{name}", {text});\n'


class Refusals(ToolTest):
    def refused(self, body, words, marked=True):
        text, line, column = place(header(OPERANDS + body)) if marked else (header(OPERANDS + body), 0, 0)
        h = self.write("rules.hpp", text)
        r = self.run_tool("emit", h, "--out", "out", "--depfile", "out.d", code=3)
        found = diagnostics(r.stderr, "error")
        self.assertEqual(len(found), 1, f"{body}\n{r.stderr}")
        at = found[0]
        if marked:
            self.assertEqual(at[:2], (line, column), f"{body}\n{r.stderr}")
            self.assertIsNotNone(at[3], r.stderr)
        for word in words.split():
            self.assertIn(word, r.stderr, body)
        self.assertEqual(sorted(self.files(self.folder)), ["rules.hpp"], body)
        self.assertEqual(r.stdout, "")
        self.assertLessEqual(len(r.stderr.splitlines()), 10, r.stderr)

    def test_each_refusal_of_the_generator_at_its_caret(self):
        for text, words, _ in BY_THE_GENERATOR:
            with self.subTest(text):
                self.refused(declared("r", text), words, "@" in text)

    def test_each_refusal_of_the_compiler_at_its_caret(self):
        for text, words, _ in BY_THE_COMPILER:
            with self.subTest(text):
                self.refused(declared("r", text), words)

    def test_names(self):
        good = "S <<= S + v * T(k), o <<= S * q"
        self.refused(declared("one", good) + "inline constexpr auto two = rule(@" + f'"one", {good});\n', "two rules")
        for name in ("no-name", "1st", "", "class", "library", "kernels_0", "std", "deltaloom", "dl_rule"):
            with self.subTest(name):
                self.refused(f'inline constexpr auto r = rule(@"{name}", {good});\n', "name")

    def test_the_right_twins_are_accepted(self):
        twins = [twin for _, _, twin in BY_THE_GENERATOR + BY_THE_COMPILER]
        h = self.write("rules.hpp", header(OPERANDS + "".join(declared(f"twin_{i}", t) for i, t in enumerate(twins))))
        r = self.run_tool("show", h, "--stage", "rule")
        self.assertNotIn("error", r.stderr)
        for i in range(len(twins)):
            self.assertIn(f"twin_{i}", r.stdout)

    def test_every_fault_of_a_header_is_told_at_once(self):
        h = self.write("rules.hpp", header(OPERANDS + declared("one", "o <<= S * q") + declared("two", DELTA)))
        self.assertEqual(len(diagnostics(self.run_tool("list", h, code=3).stderr, "error")), 2)


class MissingForms(ToolTest):
    def test_each_missing_form_is_a_warning_at_its_caret_and_the_recurrent_forms_are_there(self):
        body, places = OPERANDS, {}
        for name, (text, word) in WITHOUT_A_CHUNKED_FORM.items():
            _, line, column = place(header(body + declared(name, text)))
            places[line] = (name, column, word)
            body += declared(name, text.replace("@", ""))
        h = self.write("rules.hpp", header(body))
        r = self.run_tool("emit", h, "--out", "out")
        found = {line: (column, text, caret) for line, column, text, caret in diagnostics(r.stderr, "warning")}
        self.assertEqual(diagnostics(r.stderr, "error"), [])
        for line, (name, column, word) in places.items():
            with self.subTest(name):
                self.assertIn(line, found, r.stderr)
                at, text, caret = found[line]
                self.assertIn(f"'{name}' has no chunked form", text)
                self.assertIn(word, text)
                self.assertEqual(at, column, text)
                self.assertIsNotNone(caret)
        written = self.files(self.folder / "out")
        for name in WITHOUT_A_CHUNKED_FORM:
            for direction in ("forward", "backward"):
                for form in ("step", "recurrent"):
                    self.assertIn(f"src/{name}_{form}_{direction}.hpp", written)
                self.assertNotIn(f"src/{name}_chunked_{direction}.hpp", written)
        report = self.check_json(h, "--level", "program", "--trials", 1)
        for one in report["rules"]:
            self.assertEqual({(x["form"], x["direction"]) for x in one["results"]}, {(f, d) for f in ("step", "recurrent") for d in ("forward", "backward")})
            self.assertIn(WITHOUT_A_CHUNKED_FORM[one["name"]][1], one["missing"]["chunked"])
            self.assertEqual(set(one["missing"]), {"chunked", "parallel", "summary"})


if __name__ == "__main__":
    unittest.main()
