"""The language model from its command line: whole runs, and bad input. LANGUAGE_MODEL names the program."""
import json, os, pathlib, resource, signal, subprocess, tempfile, unittest

PROGRAM = os.environ["LANGUAGE_MODEL"]
TINY = "--width 16 --layers 1 --heads 2 --dk 4 --dv 4 --hidden 16 --length 16 --batch 4 --shares 2 --warm-up 2 --threads 2".split()
UNFILLABLE = """#pragma once
#include <deltaloom/dsl.hpp>
namespace mine {
using namespace deltaloom::dsl;
DELTALOOM_INPUT(A, dk, dk);
inline constexpr auto transformed = rule("transformed", S <<= S * A + v * T(k), o <<= S * q);
}
"""


class LanguageModel(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.text = self.folder / "text"
        self.text.write_text("".join(f"{i} men and {i * i % 97} sheep went up the hill. " for i in range(300)))

    def run_model(self, *arguments, code=0, says="", **more):
        r = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, errors="replace", timeout=300,
                           cwd=self.folder, **more)
        self.assertEqual(r.returncode, code, f"{' '.join(map(str, arguments))}\n{r.stdout}{r.stderr}")
        self.assertIn(says, r.stdout + r.stderr)
        return r

    def train(self, *arguments, **more):
        given = [x for i in range(0, len(TINY), 2) if TINY[i] not in arguments for x in TINY[i:i + 2]]
        return self.run_model("train", "--text", self.text, "--out", "run", *given, *arguments, **more)

    def test_trains_evaluates_and_talks(self):
        self.train("--steps", 8, "--every", 4, says="validation")
        curve = (self.folder / "run/loss.csv").read_text().splitlines()
        self.assertEqual(len(curve), 9)
        self.assertTrue((self.folder / "run/loss.svg").read_text().startswith("<svg"))
        self.run_model("evaluate", "run", "--text", self.text, "--json", "numbers.json", says="untruncated")
        numbers = json.loads((self.folder / "numbers.json").read_text())
        self.assertEqual((numbers["rule"], numbers["steps"]), ("delta", 8))
        self.assertLess(numbers["decode"], 1e-4)
        self.assertEqual(len(numbers["untruncated"]["quarters"]), 4)
        said = [self.run_model("generate", "run", "--prompt", "3 men", "--bytes", 20).stdout for _ in range(2)]
        self.assertEqual(*said)
        self.assertTrue(said[0].startswith("3 men"))
        self.run_model("plot", "both.svg", "delta=run/loss.csv", "delta=run/loss.csv")
        self.run_model("plot", "x.svg", "delta=text", code=1, says="is no loss curve")

    def test_an_interrupted_run_goes_on(self):
        with subprocess.Popen([PROGRAM, "train", "--text", self.text, "--out", "run", *TINY, "--steps", "100000", "--validate", "1"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder) as p:
            for line in p.stdout:
                if "bits/byte" in line:
                    p.send_signal(signal.SIGINT)
                    break
            self.assertIn("--resume", p.communicate(timeout=60)[1])
        self.assertEqual(p.returncode, 130)
        self.assertTrue((self.folder / "run/checkpoint").exists())
        self.train("--steps", 100000, code=1, says="there already")
        self.train("--steps", 9, "--resume", code=1, says="was made with --steps 100000")
        done = len((self.folder / "run/loss.csv").read_text().splitlines()) - 1
        self.train("--steps", 100000, "--resume", "--stop-after", done + 2, code=130, says=f"after step {done + 2}")
        self.assertEqual(len((self.folder / "run/loss.csv").read_text().splitlines()) - 1, done + 2)

    def test_text(self):
        for name, content, says in ("none", None, "cannot read"), ("empty", "", "empty"), ("short", "In the beginning", "16 bytes"):
            path = self.folder / name
            if content is not None:
                path.write_text(content)
            self.run_model("train", "--text", path, "--out", "run", *TINY, code=1, says=says)
            self.assertFalse((self.folder / "run").exists())
        self.train("--steps", 2)
        self.text.write_text(self.text.read_text() + "x")
        self.run_model("evaluate", "run", "--text", self.text, code=1, says="another text")

    def test_checkpoints(self):
        self.train("--steps", 2)
        checkpoint = self.folder / "run/checkpoint"
        whole = checkpoint.read_bytes()
        self.train("--resume", "--width", 32, code=1, says="--width 16, not 32")
        for content, says in (whole[:len(whole) // 2], "cut short"), (b"", "no checkpoint"), (whole[:-9] + b"x" * 9, "damaged"):
            checkpoint.write_bytes(content)
            for command in ("evaluate", "run", "--text", self.text), ("generate", "run"):
                self.run_model(*command, code=1, says=says)
            self.train("--resume", code=1, says=says)
            self.assertEqual(checkpoint.read_bytes(), content)
        checkpoint.write_bytes(whole.replace(b"\nwidth 16\n", b"\nwidth 24\n", 1))
        self.run_model("generate", "run", code=1, says="damaged")
        self.run_model("generate", "nowhere", code=1, says="cannot read nowhere/checkpoint")

    def test_full_disk(self):
        self.train("--steps", 6, "--stop-after", 2, code=130)
        before = {p.name: p.read_bytes() for p in (self.folder / "run").iterdir()}

        def small_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        self.train("--steps", 6, "--resume", code=1, says="the one that was there is as it was", preexec_fn=small_files)
        self.assertEqual({p.name: p.read_bytes() for p in (self.folder / "run").iterdir()}, before)
        self.train("--steps", 6, "--resume")
        full = self.folder / "full"
        full.mkdir()
        (full / "checkpoint").symlink_to("/dev/full")
        self.run_model("train", "--text", self.text, "--out", "full", *TINY, "--steps", 1, code=1, says="No space left on device")
        self.run_model("evaluate", "run", "--text", self.text, "--json", "/dev/full", code=1, says="No space left on device")

    def test_a_loss_that_is_not_finite(self):
        self.train("--rate", 1e30, "--steps", 8, code=1, says="there is no checkpoint yet")
        self.assertFalse((self.folder / "run/checkpoint").exists())
        self.train("--rate", 1e30, "--steps", 8, "--every", 1, code=1, says="is the last good checkpoint")
        self.run_model("generate", "run", "--bytes", 1, code=0)

    def test_rules(self):
        self.train("--rule", "detla", code=1, says="there are sum")
        self.train("--rules", "none.hpp", code=1, says="no such file")
        for text, says in (UNFILLABLE, "operand A is a matrix for every token"), (UNFILLABLE.replace("S * A", "S * k"), "no kernels came of it"):
            (self.folder / "mine.hpp").write_text(text)
            r = self.train("--rules", "mine.hpp", "--rule", "transformed", code=1, says=says)
            self.assertFalse((self.folder / "run").exists())
        self.assertIn("mine.hpp:6", r.stderr)

    def test_sizes(self):
        self.train("--shares", 3, code=1, says="does not divide --batch 4")
        self.train("--heads", 0, code=1, says="1 to 65536 is allowed")
        self.train("--length", 5000, code=1, says="smaller --length")
        self.train("--carry", "--batch", 4096, "--shares", 1, code=1, says="smaller --length")
        self.train("--rate", "nan", code=1, says="is allowed")
        self.train("--dim", "r=4", code=1, says="has no dimension of that name")
        self.train("--width", "x", code=2)
        self.run_model(code=2)


if __name__ == "__main__":
    unittest.main()
