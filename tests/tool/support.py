"""What the tests of the built tool share. DELTALOOM names the tool; every test has a folder of its own that is also the cache's home."""
import json, os, pathlib, re, subprocess, tempfile, unittest

TOOL = os.environ["DELTALOOM"]
DELTA = "S <<= S + beta * (v - S * k) * T(k)"
OUTPUT = "o <<= S * q"
FLAGS = subprocess.run([TOOL, "cxxflags"], capture_output=True, text=True).stdout.split()
# The header of the shipped rules, where the tool has it.
CATALOGUE = next(p for p in (pathlib.Path(x[2:]) / "deltaloom/rules.hpp" for x in FLAGS) if p.exists())


def rule(name, *statements):
    return f'inline constexpr auto {name} = rule("{name}",\n    ' + ",\n    ".join(statements) + ");\n"


def header(body):
    return "#pragma once\n#include <deltaloom/dsl.hpp>\nnamespace mine {\nusing namespace deltaloom::dsl;\n" + body + "}\n"


class ToolTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_tool(self, *arguments, code=0, environment={}, timeout=600):
        r = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, cwd=self.folder,
                           env={**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache"), **environment})
        if code is not None:
            self.assertEqual(r.returncode, code, f"deltaloom {' '.join(map(str, arguments))}\n{r.stdout}{r.stderr}")
        return r

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def rules(self, body, name="rules.hpp"):
        return self.write(name, header(body))

    def files(self, folder):
        """Path -> bytes of every file below a folder."""
        folder = pathlib.Path(folder)
        return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}

    def check_json(self, *arguments, code=0, **more):
        return json.loads(self.run_tool("check", *arguments, "--json", "-", code=code, **more).stdout)


def place(text, mark="@"):
    """Text with one mark in it -> the text without it, and the mark's line and column."""
    before = text[:text.index(mark)]
    return text.replace(mark, "", 1), before.count("\n") + 1, len(before) - before.rfind("\n")


def diagnostics(stderr, severity):
    """(line, column, text, column of the caret) of every diagnostic of this severity."""
    lines, found = stderr.splitlines(), []
    for i, line in enumerate(lines):
        if m := re.match(r".*:(\d+):(\d+): %s: (.*)" % severity, line):
            caret = next((x.split("|", 1)[1].index("^") for x in lines[i + 1:i + 4] if "^" in x and "|" in x), None)
            found.append((int(m[1]), int(m[2]), m[3], caret))
    return found
