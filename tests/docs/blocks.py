#!/usr/bin/env python3
"""Every code block of README.md and docs/*.md is compiled and run, or compared with what it quotes; a block of no known kind fails. docs/README.md lists
the kinds. All pages share one folder, in which an installed package stands first in PATH.

Environment: DELTALOOM_ROOT the repository, DELTALOOM_BUILD its build."""
import json, os, pathlib, re, subprocess, tempfile, unittest

from pages import Block, blocks

ROOT, BUILD = pathlib.Path(os.environ["DELTALOOM_ROOT"]), pathlib.Path(os.environ["DELTALOOM_BUILD"])
CXX = os.environ.get("CXX", "g++")
PAGES = [ROOT / "README.md", ROOT / "docs/tutorial.md", *sorted(set((ROOT / "docs").rglob("*.md")) - {ROOT / "docs/tutorial.md"})]  # others call what the tutorial builds
# Shell blocks that are not run, and why; whatever they call must exist.
NOT_RUN = {"install": "changes the machine it runs on", "long": "runs for minutes, and other tests run what it runs"}
ANY_NUMBERS = [r"\d\.\d+e[-+]\d+", r"seed \d+", r"\d+\.\d s\b", r"\d{12,}"]


def pattern(text):
    """What an expected output matches: numbers that differ from run to run as any of their kind, a line of three dots any lines."""
    lines = []
    for line in text.rstrip("\n").split("\n"):
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?")
            continue
        out, rest = "", line.rstrip()
        while m := re.search("|".join(ANY_NUMBERS), rest):
            kind = next(k for k in ANY_NUMBERS if re.fullmatch(k, m[0]))
            out, rest = out + re.escape(rest[:m.start()]) + kind, rest[m.end():]
        lines.append(out + re.escape(rest) + r" *\n")
    return "".join(lines)


def message(text):
    """A diagnostic without its place: a block that is part of a header does not know its line."""
    text = re.sub(r"(?m)^\S+?:\d+:\d+: ", "", text)
    return re.sub(r"(?m)^ *\d* \|", "|", text)


def wrapped(block):
    """A declaration as a namespace of its own. Its lines stay as they are, so that carets do."""
    return f"namespace at_line_{block.line} {{\nusing namespace deltaloom::dsl;\n{block.text}}}\n"


def same_lines(block, source):
    """The block's lines, in order, in the source; layout aside."""
    tight = lambda s: re.sub(r"\s+", "", s)
    whole, at = tight(source), 0
    for line in block.text.splitlines():
        found = whole.find(tight(line), at)
        if found < 0:
            return line
        at = found + len(tight(line))
    return None


class Reading(unittest.TestCase):
    """That a block cannot hide, and an output cannot be anything."""

    def test_every_block_is_found(self):
        text = "a\n```cpp rule\nx\n```\n\n- item\n\n    its second line\n\n  ~~~sh\n  y\n  ```\n  ~~~\n\nb\n\n    indented\n    twice\n\n````text output\n```\n````\n```cpp\nopen\n"
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(text)
            found = blocks(page)
        self.assertEqual([(b.info, b.text) for b in found[:2]], [("cpp rule", "x\n"), ("sh", "y\n```\n")])
        self.assertEqual([b.info for b in found[2:]], ["indented", "text output", "unclosed"])
        self.assertEqual((found[0].language, found[0].kind, found[0].line), ("cpp", "rule", 2))

    def test_outputs(self):
        matches = lambda want, got: bool(re.search(r"\A" + pattern(want) + r"\Z", got))
        self.assertTrue(matches("a 1.5e-08 b\npassed 3, failed 0, seed 7, 0.1 s\n", "a 2.0e-07 b\npassed 3, failed 0, seed 9, 33.4 s\n"))
        self.assertTrue(matches("...\nlast\n", "first\nsecond\nlast\n"))
        for wrong in ("a 1.5 b\n", "b 1.5e-08 b\n", "a 1.5e-08 b\nmore\n"):
            self.assertFalse(matches("a 1.5e-08 b\n", wrong), wrong)
        self.assertFalse(matches("passed 3, failed 0\n", "passed 2, failed 1\n"))

    def test_a_block_of_no_kind_fails(self):
        checker = Blocks("test_pages")
        for info in ("cpp", "indented", "unclosed", "text", "sh quietly", "text install"):
            with self.assertRaisesRegex(AssertionError, "nothing covers"):
                checker.block(Block(pathlib.Path("page.md"), 1, info, ""))
        with self.assertRaisesRegex(AssertionError, "there is no scripts/nothing"):
            checker.block(Block(pathlib.Path("page.md"), 1, "sh long", "scripts/nothing --all\n"))


class Blocks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.held.name) / "work"
        cls.folder.mkdir()
        prefix = pathlib.Path(cls.held.name) / "prefix"
        cls.environment = {**os.environ, "PATH": f"{prefix}/bin:{os.environ['PATH']}", "NO_COLOR": "1"}
        cls.tool = prefix / "bin/deltaloom"
        cls.run_command("cmake", "--install", str(BUILD), "--prefix", str(prefix))
        (cls.folder / "build").mkdir()
        (cls.folder / "build/bin").symlink_to(prefix / "bin")
        cls.files, cls.output = {}, None

    @classmethod
    def tearDownClass(cls):
        cls.held.cleanup()

    @classmethod
    def run_command(cls, *command, code=0):
        # XDG_CACHE_HOME only where the tool runs: ccache would start anew there.
        r = subprocess.run(command, cwd=cls.folder, env=cls.environment, capture_output=True, text=True)
        if code is not None and r.returncode != code:
            raise AssertionError(f"{' '.join(command)} exited {r.returncode}\n{r.stdout[-3000:]}\n{r.stderr[-3000:]}")
        return r

    def test_pages(self):
        for page in PAGES:
            with self.subTest(page=str(page.relative_to(ROOT))):
                self.page(page)

    def page(self, page):
        found = [b for b in blocks(page) if not re.fullmatch(r"\{toctree\}", b.info)]
        type(self).output = None
        rules = [b for b in found if b.kind == "rule"]
        if rules:
            text = "#pragma once\n#include <deltaloom/dsl.hpp>\n" + "".join(map(wrapped, rules))
            (self.folder / "page.hpp").write_text(text)
            r = self.run_command(str(self.tool), "check", "page.hpp", "--level", "program", "--json", "page.json")
            self.said = r.stderr
            passed = {rule["name"] for rule in json.loads((self.folder / "page.json").read_text())["rules"]}
            for b in rules:
                named = "|".join(re.findall(r'rule\("(\w+)"', b.text))  # a template's instances: with its numbers
                self.assertTrue(any(re.fullmatch(rf"(?:{named})(?:_\d+)*", p) for p in passed), f"{b.place}: no rule of this block was checked")
        for b in found:
            with self.subTest(block=b.place):
                self.block(b)

    def block(self, b):
        known = {"rule": self.rule, "refused": self.refused, "file": self.file, "from": self.quoted, "output": self.expected, "configure": self.configured,
                 "": self.shell if b.language == "sh" else None, **{k: self.not_run for k in NOT_RUN if b.language == "sh"}}
        if not known.get(b.kind):
            self.fail(f"{b.place}: nothing covers the block ```{b.info}; docs/README.md lists the kinds of blocks")
        known[b.kind](b)

    def rule(self, b):
        self.saw(message(self.said), whole=False)  # checked with the page's others

    def refused(self, b):
        (self.folder / "refused.hpp").write_text("#pragma once\n#include <deltaloom/dsl.hpp>\n" + wrapped(b))
        r = self.run_command(str(self.tool), "list", "refused.hpp", code=3)
        self.saw(message(r.stderr), whole=False)

    def file(self, b):
        self.assertEqual(self.files.setdefault(b.value, b.text), b.text, f"{b.place}: another page has another {b.value}")
        path = self.folder / b.value
        path.write_text(b.text)
        if b.value.endswith((".cpp", ".c")):
            # Against a library of the page's rules, without kernels: those are built where a page builds them.
            if not (self.folder / "syntax").exists():
                self.run_command(str(self.tool), "emit", "rules.hpp", "--out", "syntax", "--library", "memory")
            compiler = [CXX, "-std=c++20"] if b.value.endswith(".cpp") else ["cc", "-std=c99"]
            runtime = str(self.tool.parent.parent / "include")
            self.run_command(*compiler, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-Isyntax/include", f"-I{runtime}", b.value)

    def quoted(self, b):
        missing = same_lines(b, (ROOT / b.value).read_text())
        self.assertIsNone(missing, f"{b.place}: {b.value} has no such line, or not in this order")

    def configured(self, b):
        folder = self.folder / "configured"
        folder.mkdir(exist_ok=True)
        (folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(page C CXX)\n" + b.text)
        (folder / "rules.hpp").write_text((self.folder / "rules.hpp").read_text())
        (folder / "main.cpp").write_text("int main() {}\n")
        self.run_command("cmake", "-S", "configured", "-B", "configured/build")

    def shell(self, b):
        # Errors and results in the order in which a terminal shows them.
        r = self.run_command("bash", "-euo", "pipefail", "-c", "exec 2>&1\n" + re.sub(r"(?m)^(!?) *((?:\S*/)?deltaloom )", r"\1 XDG_CACHE_HOME=$PWD/cache \2", b.text))
        self.saw(r.stdout, whole=True)

    def saw(self, text, whole):
        type(self).output, type(self).whole = text, whole

    def expected(self, b):
        self.assertIsNotNone(self.output, f"{b.place}: nothing ran before this output")
        want, got = b.text, self.output
        if "|" in want and not re.search(r"(?m)^\S+:\d+:\d+: ", want):
            want, got = message(want), message(got)
        start, end = (r"\A", r"\Z") if self.whole else ("(?m)^", "")
        if not re.search(start + pattern(want) + end, got if got.endswith("\n") else got + "\n"):
            self.fail(f"{b.place}: the page shows\n{want}\nbut it is\n{got}")

    def not_run(self, b):
        for path in re.findall(r"(?<!\S)(?:scripts|examples|bench)/\S+", b.text):
            self.assertTrue((ROOT / path).exists(), f"{b.place}: there is no {path} ({NOT_RUN[b.kind]}, so only its existence is tested)")


if __name__ == "__main__":
    unittest.main()
