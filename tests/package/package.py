#!/usr/bin/env python3
"""A stranger's project against the installed package: configures, builds, runs, builds nothing twice and what changed once, by Ninja and by Make."""
import os, pathlib, re, subprocess, tempfile, unittest

BUILD = os.environ["DELTALOOM_BUILD"]
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(stranger C CXX)
find_package(Deltaloom 0.1 REQUIRED)
deltaloom_add_rules(memory SOURCES rules.hpp {options})
add_executable(app main.cpp)
target_link_libraries(app PRIVATE memory)
"""
RULES = """#pragma once
#include <deltaloom/dsl.hpp>
#include "strength.hpp"
namespace mine {
using namespace deltaloom::dsl;
inline constexpr auto scaled = rule("scaled", S <<= S + strength * v * T(k), o <<= S * q);
}
"""
MAIN = """#include <cstdio>
#include <memory/scaled.hpp>
int main() {
    float k[] = {1, 0, 0, 1}, v[] = {5, 2, 3, 7}, q[] = {0, 0, 1, 1}, o[4];
    memory::scaled::arguments a{};
    a.tokens = 2, a.dk = 2, a.dv = 2;
    a.k = deltaloom::tensor(k, 2, 1, {2}), a.v = deltaloom::tensor(v, 2, 1, {2});
    a.q = deltaloom::tensor(q, 2, 1, {2}), a.o = deltaloom::tensor(o, 2, 1, {2});
    memory::scaled::forward(a);
    std::printf("%g %g", o[2], o[3]);
}
"""


def strength(x):
    return f"#pragma once\nnamespace mine {{ inline constexpr double strength = {x}; }}\n"


def run(*command, code=0):
    r = subprocess.run([str(x) for x in command], capture_output=True, text=True)
    if code is not None and r.returncode != code:
        raise AssertionError(f"{' '.join(map(str, command))} exited {r.returncode}\n{r.stdout[-3000:]}\n{r.stderr[-3000:]}")
    return r


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.held = tempfile.TemporaryDirectory()
        cls.prefix = pathlib.Path(cls.held.name) / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.held.cleanup()

    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)

    def project(self, options):
        for name, text in (("CMakeLists.txt", PROJECT.format(options=options)), ("rules.hpp", RULES), ("main.cpp", MAIN), ("strength.hpp", strength(1))):
            (self.folder / name).write_text(text)

    def configure(self, generator, code=0):
        return run("cmake", "-G", generator, "-S", self.folder, "-B", self.folder / "build", f"-DCMAKE_PREFIX_PATH={self.prefix}", "-DCMAKE_BUILD_TYPE=Release", code=code)

    def build(self, code=0):
        r = run("cmake", "--build", self.folder / "build", code=code)
        return r.stdout + r.stderr

    def printed(self):
        return run(self.folder / "build/app").stdout

    def worked(self, said):
        return bool(re.search(r"Deriving|Building|Linking", said))

    def builds_what_changed(self, generator, options):
        self.project(options)
        self.configure(generator)
        self.assertIn("Deriving the kernels of memory", self.build())
        self.assertEqual(self.printed(), "8 9")
        self.assertFalse(self.worked(self.build()), "a second build did something")
        (self.folder / "strength.hpp").write_text(strength(2))  # included by the header of rules, named by the depfile
        self.assertTrue(self.worked(self.build()), "a changed header did nothing")
        self.assertEqual(self.printed(), "16 18")
        self.assertFalse(self.worked(self.build()), "a build after a change did something")

    def test_ninja(self):
        self.builds_what_changed("Ninja", "FORMS recurrent chunked NO_BACKWARD")
        # Operands in another order: the program compiled against the typed header is built anew in the same build.
        other = RULES.replace("S <<= S + strength * v * T(k), o <<= S * q", "o <<= S * q, S <<= S + strength * v * T(k)")
        self.assertNotEqual(other, RULES)
        (self.folder / "rules.hpp").write_text(other)
        self.build()
        self.assertEqual(self.printed(), "10 4")
        (self.folder / "rules.hpp").write_text(RULES)
        self.build()
        # A refused header stops the build with its reason at its caret; corrected, it builds.
        good = (self.folder / "rules.hpp").read_text()
        (self.folder / "rules.hpp").write_text(good.replace("o <<= S * q", "o <<= v"))
        self.assertRegex(self.build(code=None), r"rules\.hpp:6:\d+: error: .*reads no state")
        (self.folder / "rules.hpp").write_text(good)
        self.build()
        self.assertEqual(self.printed(), "16 18")

    def test_make(self):
        self.builds_what_changed("Unix Makefiles", "FORMS recurrent NO_BACKWARD")

    def test_a_new_rule_builds_runs_and_holds(self):
        tool = self.prefix / "bin/deltaloom"
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder / "cache")}
        said = subprocess.run([tool, "new", "fresh", "--like", "delta"], cwd=self.folder, env=environment, capture_output=True, text=True).stdout
        # The commands that it prints, as they stand.
        self.assertIn(f"cmake -S fresh -B fresh/build -DCMAKE_PREFIX_PATH={self.prefix}", said)
        for command in [x.split("#")[0].strip() for x in said.split("Next:")[1].splitlines() if x.strip()]:
            command = command.replace("deltaloom", str(tool), 1) if command.startswith("deltaloom") else command
            r = subprocess.run(command, shell=True, cwd=self.folder, env=environment, capture_output=True, text=True)
            self.assertEqual(r.returncode, 0, f"{command}\n{r.stdout[-3000:]}{r.stderr[-3000:]}")
            if command.endswith("app"):
                self.assertRegex(r.stdout, r"(token \d: o =( -?\d+\.\d{4})+\n){4}$")
            if command.startswith("ctest"):
                self.assertIn("100% tests passed, 0 tests failed out of 1", r.stdout)
        self.assertEqual(sorted(p.name for p in (self.folder / "fresh").iterdir()), ["CMakeLists.txt", "build", "main.cpp", "rules.hpp"])

    def test_what_cannot_be_is_said_at_configure_time(self):
        for options, said in (("NO_BACKWARD NONSENSE", "NONSENSE"), ("CATALOGUE nonsense", "no shipped rule nonsense"), ("TARGETS abacus", "abacus"),
                              ("CHUNKS 8", "CHUNKS;"), ("SCALARS", "no value after SCALARS")):
            self.project(options)
            self.assertIn(said, self.configure("Ninja", code=1).stderr)

    def test_the_prefix_stands_alone(self):
        tool = self.prefix / "bin/deltaloom"
        self.assertIn(str(self.prefix / "include"), run(tool, "cxxflags").stdout)
        self.assertIn("gated_delta", run(tool, "list").stdout)
        for path in self.prefix.rglob("*"):
            if path.is_file() and path.suffix in (".cmake", ".hpp", ".h"):
                self.assertNotIn(os.environ["DELTALOOM_ROOT"], path.read_text(), path)


if __name__ == "__main__":
    unittest.main()
