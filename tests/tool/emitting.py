#!/usr/bin/env python3
"""What `emit`, `list`, `show`, `random` and `cxxflags` print and write: the same bytes for the same input, nothing of the machine in it, nothing stale."""
import json, os, pathlib, pty, re, shutil, subprocess, unittest

from support import CATALOGUE, DELTA, FLAGS, OUTPUT, TOOL, ToolTest, rule

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPILERS = [c for c in ("g++", "clang++-19") if shutil.which(c)]

SOME = ("sum", "gated", "delta", "gated_delta")


class Emit(ToolTest):
    def test_the_same_bytes_twice_and_nothing_of_the_machine(self):
        for out in ("one", "two/deep"):
            self.run_tool("emit", CATALOGUE, "--rule", ",".join(SOME), "--out", out, "--scalar", "float,double")
        one = self.files(self.folder / "one")
        self.assertEqual(one, self.files(self.folder / "two/deep"))
        for name in SOME:
            for file in (f"include/rules/{name}.hpp", f"include/rules/{name}.h", f"src/{name}.cpp", f"src/{name}_chunked_backward.hpp", "src/library.cpp"):
                self.assertIn(file, one)
        for path, text in one.items():
            for word in (str(ROOT), str(self.folder), "/home", "/tmp", "/usr", "\x1b"):
                self.assertNotIn(word, text.decode(), path)

    def test_a_second_run_touches_nothing(self):
        h = self.rules(rule("one", DELTA, OUTPUT))
        self.run_tool("emit", h, "--out", "out", "--depfile", "out.d")
        times = {p: p.stat().st_mtime_ns for p in self.folder.rglob("*") if p.is_file()}
        self.run_tool("emit", h, "--out", "out", "--depfile", "out.d")
        self.assertEqual(times, {p: p.stat().st_mtime_ns for p in self.folder.rglob("*") if p.is_file()})

    def test_rules_under_other_names_of_equal_length_give_the_same_text(self):
        text = {}
        for letter in "px":
            body = "".join(re.sub(r'auto \w+ = rule\(\s*"\w+"', f'auto {letter}{i} = rule("{letter * 5}{i}"', re.search(r"inline constexpr auto (?s:.*?);\n", p.read_text())[0])
                           for i, p in enumerate(CATALOGUE.parent / f"rules/{name}.hpp" for name in SOME))
            self.run_tool("emit", self.rules(body, f"{letter}/rules.hpp"), "--out", f"{letter}/out")
            text[letter] = {k.replace("x" * 5, "p" * 5): v.replace(b"x" * 5, b"p" * 5) for k, v in self.files(self.folder / letter / "out").items()}
        self.assertGreater(len(text["p"]), 20)
        self.assertEqual(text["p"], text["x"])

    def test_files_of_a_renamed_rule_are_removed_and_no_others(self):
        self.run_tool("emit", self.rules(rule("old", DELTA, OUTPUT)), "--out", "out")
        mine = self.write("out/src/mine.hpp", "kept")
        self.assertIn("src/old.cpp", self.files(self.folder / "out"))
        self.run_tool("emit", self.rules(rule("new_one", DELTA, OUTPUT)), "--out", "out")
        after = self.files(self.folder / "out")
        self.assertIn("src/new_one.cpp", after)
        self.assertEqual([p for p in after if "old" in p], [])
        self.assertTrue(mine.exists())
        self.run_tool("emit", self.rules(rule("new_one", "S <<= tanh(S) + v * T(k)", OUTPUT)), "--out", "out")
        self.assertEqual([p for p in self.files(self.folder / "out") if "chunked" in p], [])

    def test_the_depfile_names_every_header(self):
        self.write("statement.hpp", "#define STATEMENT " + DELTA + "\n")
        h = self.write("with space.hpp", '#include "statement.hpp"\n' + self.rules(rule("one", "STATEMENT", OUTPUT)).read_text())
        self.run_tool("emit", h, "--out", "out", "--depfile", "out.d")
        target, _, rest = (self.folder / "out.d").read_text().partition(": ")
        self.assertEqual(target, "out/src/library.cpp")
        named = [re.sub(r"\\([ #])", r"\1", x) for x in re.split(r"(?<!\\)\s+(?:\\\n)?", rest.replace("\\\n", " ").strip())]
        self.assertIn(str(h), named)
        self.assertTrue(any(x.endswith("statement.hpp") for x in named), named)
        self.assertTrue(any(x.endswith("deltaloom/dsl.hpp") for x in named), named)
        for x in named:
            self.assertTrue((self.folder / x).exists(), x)

    def test_options_choose_what_is_written(self):
        h = self.rules(rule("one", DELTA, OUTPUT))
        self.run_tool("emit", h, "--out", "out", "--library", "memory", "--no-backward", "--form", "recurrent", "--scalar", "double")
        written = self.files(self.folder / "out")
        self.assertIn("include/memory/one.hpp", written)
        self.assertEqual([p for p in written if "chunked" in p], [])
        source = written["src/one.cpp"].decode()
        self.assertIn("double", source)
        self.assertNotIn("float", source)
        self.assertNotIn("backward", source)
        self.run_tool("emit", CATALOGUE, "--out", "two", "--rule", "delta,sum")
        self.assertEqual(sorted(p.name for p in (self.folder / "two/include/rules").glob("*.hpp") if p.stem in ("sum", "gated", "delta", "gated_delta")), ["delta.hpp", "sum.hpp"])


class Print(ToolTest):
    def test_list_json(self):
        h = self.rules("DELTALOOM_GATE(w, log, dk);\nDELTALOOM_PARAMETER(u, dk);\nDELTALOOM_INPUT(v2, dv);\nDELTALOOM_INPUT(k2, dk);\n"
                       + rule("one", "S <<= S * diag(exp(w)) + v * T(k)", "repeat<2>(S <<= S + beta * (v2 - S * k2) * T(k2))", "o <<= S * (q + u)")
                       + rule("two", "S <<= tanh(S) + v * T(k)", OUTPUT))
        one, two = json.loads(self.run_tool("list", h, "--json").stdout)["rules"]
        self.assertEqual(set(one), {"name", "equation", "forms", "missing", "operands"})
        self.assertEqual(one["name"], "one")
        self.assertIn("S <<= S * diag(exp(w)) + v * T(k)", one["equation"])
        self.assertEqual(one["forms"], ["step", "recurrent", "chunked", "parallel", "summary"])
        self.assertEqual(one["missing"], {})
        self.assertEqual([x["name"] for x in one["operands"]], ["S", "w", "v", "k", "beta", "v2", "k2", "o", "q", "u"])
        by_name = {x["name"]: x for x in one["operands"]}
        self.assertEqual((by_name["w"]["kind"], by_name["w"]["domain"], by_name["w"]["dims"]), ("gate", "log", ["dk"]))
        self.assertEqual((by_name["u"]["kind"], by_name["v2"]["dims"], by_name["beta"]["dims"]), ("parameter", ["2", "dv"], ["2"]))
        self.assertEqual(two["forms"], ["step", "recurrent"])
        self.assertIn("tanh", two["missing"]["chunked"])
        shipped = {r["name"] for r in json.loads(self.run_tool("list", "--json").stdout)["rules"]}
        self.assertTrue({"sum", "kda", "delta_product_3"} <= shipped and len(shipped) > 40, shipped)

    def test_show_every_stage(self):
        h = self.rules(rule("one", DELTA, OUTPUT) + rule("two", "S <<= tanh(S) + v * T(k)", OUTPUT))
        for stage in ("declaration", "rule", "recurrence", "program", "kernel", "source"):
            with self.subTest(stage):
                text = self.run_tool("show", h, "--stage", stage, "--rule", "one").stdout
                self.assertTrue(text.strip())
                self.assertEqual(text, self.run_tool("show", h, "--stage", stage, "--rule", "one").stdout)
                as_json = json.loads(self.run_tool("show", h, "--stage", stage, "--json").stdout)["rules"]
                self.assertEqual([(x["name"], x["stage"]) for x in as_json], [("one", stage), ("two", stage)])
                self.assertEqual(as_json[0]["text"], text)
        chosen = self.run_tool("show", h, "--stage", "source", "--rule", "one", "--form", "chunked", "--direction", "backward").stdout
        self.assertIn("src/one_chunked_backward.hpp", chosen)
        self.assertNotIn("forward.hpp\n", chosen)
        self.assertNotIn(str(self.folder), self.run_tool("show", h, "--stage", "recurrence").stdout)

    def test_equal_rules_print_equal_recurrences(self):
        h = self.rules(rule("a", "S <<= alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k)", OUTPUT))
        i = self.rules(rule("a", "S <<= v * beta * T(k) - alpha * beta * (S * k) * T(k) + S * alpha", OUTPUT), "other.hpp")
        j = self.rules(rule("a", "S <<= v * beta * T(k) - beta * (S * k) * T(k) + S * alpha", OUTPUT), "third.hpp")
        text = [self.run_tool("show", x, "--stage", "recurrence").stdout for x in (h, i, j)]
        self.assertEqual(text[0], text[1])
        self.assertNotEqual(text[0], text[2])

    def test_random_is_the_same_for_a_seed(self):
        arguments = ("random", "--seed", 5, "--count", 30)
        text = self.run_tool(*arguments).stdout
        self.assertEqual(text, self.run_tool(*arguments).stdout)
        self.assertNotEqual(text, self.run_tool("random", "--seed", 6, "--count", 30).stdout)
        self.assertEqual(len(set(re.findall(r'rule\("(\w+)"', text))), 30)
        chunkable = self.write("random.hpp", self.run_tool(*arguments, "--chunkable").stdout)
        for x in json.loads(self.run_tool("list", chunkable, "--json").stdout)["rules"]:
            self.assertIn("chunked", x["forms"])

    def test_cxxflags_compile_a_header(self):
        self.write("main.cpp", '#include "rules.hpp"\n#include <deltaloom/evaluate.hpp>\nint main() { return mine::one.name.text[0] == 0; }\n')
        self.rules(rule("one", DELTA, OUTPUT))
        self.assertTrue(FLAGS and COMPILERS)
        for compiler in COMPILERS:
            r = subprocess.run([compiler, *FLAGS, "-fsyntax-only", "main.cpp"], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual((r.returncode, r.stderr), (0, ""), compiler)

    def test_doctor(self):
        self.assertIn("instruction set", self.run_tool("doctor").stdout)

    def test_no_colour_in_a_pipe(self):
        h = self.rules(rule("one", "S <<= tanh(S) + v * T(k)", OUTPUT) + rule("two", "S <<= S + beta * (v - S * k) * T(k)"))
        for command in (["list", h], ["check", h, "--level", "program"], ["emit", h, "--out", "out"]):
            r = self.run_tool(*command, code=3)
            self.assertNotIn("\x1b", r.stdout + r.stderr)
            self.assertNotIn("\r", r.stdout + r.stderr)

    def test_colour_on_a_terminal_unless_told_otherwise(self):
        h = self.rules(rule("two", "S <<= S + beta * (v - S * k) * T(k)"))
        for more, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
            ours, theirs = pty.openpty()
            environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
            r = subprocess.run([TOOL, "list", h], stdout=subprocess.PIPE, stderr=theirs, env={**environment, **more})
            os.close(theirs)
            said = os.read(ours, 1 << 16).decode()
            os.close(ours)
            self.assertEqual(r.returncode, 3)
            self.assertIn("no output", said)
            self.assertEqual("\x1b[" in said, coloured, said)


if __name__ == "__main__":
    unittest.main()
