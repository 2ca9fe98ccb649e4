"""Mutants of the generator and of the runtime's operations: the lists beside this file, the instrumented copies of what they name, and what
the sources ask of them. Run as a program it writes the copies.

A list (*.mutants) is made of lines:
    @ codegen/program/differentiate.cpp        the file that the next lines are about
    return b.transpose(«y → b.scale(2, y)»);   a mutant: text that stands once in the file, and what a part of it becomes
      = why nobody can see it                  of the mutant above: it is equivalent
    - names_of: text for people only           a function, or a case of a switch (Op::sum), that needs no mutant
Spaces and line breaks of the text do not count. A part that ends with a semicolon is a statement, everything else an expression.
"""
import argparse, dataclasses, pathlib, re, sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# What a class of mutants is about: every function and every case of a switch in these files has a mutant or an argument why it has none.
CLASSES = {
    "derivative": ["codegen/program/differentiate.cpp"],
    "lowering": ["codegen/program/lower_*.cpp", "codegen/program/chunk_*.cpp", "codegen/program/decay_track.cpp", "codegen/program/events.cpp",
                 "codegen/program/derive.cpp", "codegen/program/builder.cpp"],
    "rewrite": ["codegen/rule/%s.cpp" % x for x in ("normalise", "split", "gather", "products", "atoms", "contract", "symbolic", "value")],
    "emitter": ["codegen/kernel/*.cpp", "codegen/emit/emit_cpp*.cpp"],
    "operation": ["runtime/include/deltaloom/runtime/ops/*.hpp"],
}
OPERATIONS = "runtime/include/"


@dataclasses.dataclass
class Mutant:
    number: int
    kind: str       # of CLASSES
    file: str
    before: str     # the text around the part, the part, and what it becomes
    part: str
    becomes: str
    after: str
    listed: str     # list:line
    equivalent: str = ""
    begin: int = -1  # of the part in the file
    end: int = -1
    line: int = 0
    lost: str = ""  # why it has no place in the file

    def __str__(self):
        return f"{self.number} {self.kind} {self.file}:{self.line}: {self.before}«{self.part} → {self.becomes}»{self.after}"


@dataclasses.dataclass
class Lists:
    mutants: list
    exempt: dict    # (file, name) -> reason
    faults: list


def read_lists(root=ROOT, folder=HERE):
    lists = Lists([], {}, [])
    for kind in CLASSES:
        path = folder / f"{kind}.mutants"
        file = ""
        for n, line in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
            text, here = line.strip(), f"{path.name}:{n}"
            if not text or text.startswith("#"):
                continue
            if text.startswith("@ "):
                file = text[2:].strip()
            elif text.startswith("= "):
                lists.mutants[-1].equivalent = text[2:]
            elif text.startswith("- "):
                name, _, reason = text[2:].partition(": ")
                lists.exempt[file, name] = reason
                if not reason:
                    lists.faults.append(f"{here}: no reason why {name} needs no mutant")
            else:
                m = re.fullmatch(r"(.*?)«(.*?) → ?(.*?)»(.*)", text)
                if not m:
                    lists.faults.append(f"{here}: not a mutant: {text}")
                    continue
                lists.mutants.append(Mutant(len(lists.mutants) + 1, kind, file, m[1], m[2], m[3], m[4], here))
    sources = {}
    for m in lists.mutants:
        if m.file not in sources:
            path = root / m.file
            sources[m.file] = squeezed(path.read_text()) if path.is_file() else None
        place(m, sources[m.file])
        if m.lost:
            lists.faults.append(f"{m.listed}: {m.lost}: {m.before}«{m.part}»{m.after}")
    return lists


def squeezed(text):
    """Text without white space, and where each of its characters stands in the text."""
    kept = [i for i, c in enumerate(text) if not c.isspace()]
    return "".join(text[i] for i in kept), kept, text


def several(part):
    """Is the part no expression, but a list of them, or the end of one?"""
    depth = 0
    for c in part:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(c, 0)
        if depth < 0 or (c == "," and depth == 0 and not part.endswith(";")):
            return True
    return depth != 0 or re.match(r"[<>=/%|,?:]|&&|\+(?!\+)", part) is not None


def place(m, source):
    if several(m.part):
        m.lost = "the part is neither one expression nor one statement"
        return
    if source is None:
        m.lost = f"there is no file {m.file}"
        return
    text, at, whole = source
    before, part, after = ("".join(x.split()) for x in (m.before, m.part, m.after))
    count = text.count(before + part + after)
    if count != 1:
        m.lost = f"{'not' if count == 0 else f'{count} times'} in {m.file}, it has to stand there once"
        return
    begin = text.index(before + part + after) + len(before)
    m.begin, m.end = at[begin], at[begin + len(part) - 1] + 1
    m.line = whole.count("\n", 0, m.begin) + 1


def instrumented(text, mutants):
    """The file with every mutant beside what it replaces, chosen while it runs."""
    chosen = "deltaloom_constexpr_mutant" if mutants[0].file.startswith(OPERATIONS) else "deltaloom_mutant"
    mutants = sorted(mutants, key=lambda m: (m.begin, -m.end))

    def emit(begin, end, inside):
        out, i = "", 0
        while i < len(inside):
            m = inside[i]
            own = []
            i += 1
            while i < len(inside) and inside[i].begin < m.end:
                if inside[i].end > m.end:
                    raise SystemExit(f"{inside[i].listed}: overlaps {m.listed}")
                own.append(inside[i])
                i += 1
            original = emit(m.begin, m.end, own)
            out += text[begin:m.begin]
            if m.part.endswith(";"):
                out += f"if ({chosen}({m.number})) {{ {m.becomes} }} else {{ {original} }}"
            elif m.becomes in ("true", "false"):  # of what is true or false only where a condition stands
                out += f"({chosen}({m.number}) ? {m.becomes} : bool({original}))"
            else:
                out += f"({chosen}({m.number}) ? ({m.becomes}) : ({original}))"
            begin = m.end
        return out + text[begin:end]

    return emit(0, len(text), mutants)


# ---- what the sources ask ------------------------------------------------------------------------------------------------------------------

def blanked(text):
    """The text with comments and strings blanked, of the same length."""
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-zA-Z])\'(?:\\.|[^\'\\\n])*\'',
                  lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def matching(text, at):
    """Where the brace that opens at `at` is closed."""
    depth = 0
    for i in range(at, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return len(text)


def functions(text):
    """(name, begin, end) of every function of a file, those of classes among them."""
    found, since, i = [], 0, 0
    while i < len(text):
        c = text[i]
        if c in ";}":
            since = i + 1
        elif c == "{":
            head = text[since:i]
            if "(" in head and not head.rstrip().endswith("="):
                end = matching(text, i)
                while m := re.match(r"\s*(,[^{;]*)?\{", text[end + 1:]):  # the members that a constructor begins with
                    end = matching(text, end + m.end())
                name = re.search(r"(operator\(\)|operator\[\]|[\w~]+)\s*\(", head)
                found.append((name[1] if name else "?", since, end))
                i = end
                since = i + 1
            elif re.search(r"\b(namespace|struct|class|union|extern)\b", head):
                since = i + 1
            else:
                i = matching(text, i)
        i += 1
    return found


def cases(text):
    """(names, begin, end) of the groups of labels of every switch, with the statements under them."""
    found = []
    label = re.compile(r"\bcase\s+([\w:]+)\s*:(?!:)")
    all_labels = list(label.finditer(text))
    i = 0
    while i < len(all_labels):
        first = i
        while i + 1 < len(all_labels) and not text[all_labels[i].end():all_labels[i + 1].start()].strip():
            i += 1
        begin, at = all_labels[first].start(), all_labels[i].end()
        depth, end = 0, at
        while end < len(text):
            if text[end] == "{":
                depth += 1
            elif text[end] == "}":
                if depth == 0:
                    break
                depth -= 1
            elif depth == 0 and label.match(text, end):
                break
            end += 1
        found.append(([m[1] for m in all_labels[first:i + 1]], begin, at, end))
        i += 1
    return found


def nothing(statements):
    return re.fullmatch(r"\s*\{?\s*(break|return(\s*(\{\}|false|-1|\"\s*\"|[\w:]*none[\w:]*|0))?|throw\b.*?)?\s*;?\s*(\}|break;)?\s*", statements, re.S) is not None


def demands(root, lists):
    """What has neither a mutant nor a reason to have none."""
    missing, used = [], set()
    for kind, patterns in CLASSES.items():
        for path in sorted({p for pattern in patterns for p in root.glob(pattern)}):
            file = path.relative_to(root).as_posix()
            begins = [m.begin for m in lists.mutants if m.file == file and not m.lost]
            if (file, "*") in lists.exempt:
                used.add((file, "*"))
                continue
            if kind == "operation":
                if not begins:
                    missing.append(f"{file}: no mutant at all")
                continue
            source = path.read_text()
            text = blanked(source)
            all_functions = functions(text)
            touched = {name for name, begin, end in all_functions if any(begin <= b <= end for b in begins)}
            for name in dict.fromkeys(name for name, _, _ in all_functions):
                if name in touched:
                    continue
                if (file, name) in lists.exempt:
                    used.add((file, name))
                else:
                    missing.append(f"{file}: function {name}")
            spared = [(begin, end) for name, begin, end in all_functions if (file, name) in lists.exempt]
            for names, begin, at, end in cases(text):
                statements = source[at:end]
                if any(b <= begin < e for b, e in spared):
                    continue
                if nothing(statements) or any(begin <= b < end for b in begins):
                    continue
                if any(re.search(rf"\b{name}\s*\(", text[at:end]) for name in touched):
                    continue
                named = [n for n in names if (file, n) in lists.exempt]
                used.update((file, n) for n in named)
                if not named:
                    missing.append(f"{file}:{source.count(chr(10), 0, begin) + 1}: case {', '.join(names)}")
    stale = [f"{file}: '- {name}' names nothing that needs a mutant" for file, name in lists.exempt if (file, name) not in used]
    return missing, stale


def write_copies(root, out):
    lists = read_lists(root)
    out.mkdir(parents=True, exist_ok=True)
    by_file = {}
    for m in lists.mutants:
        if not m.lost:
            by_file.setdefault(m.file, []).append(m)
    for file, mutants in by_file.items():
        source = (root / file).read_text()
        text = '#include "tests/mutants/mutant.hpp"\n#line 1 "' + str(root / file) + '"\n' + instrumented(source, mutants)
        target = out / file
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text() != text:
            target.write_text(text)
    return lists


if __name__ == "__main__":
    options = argparse.ArgumentParser(description="Writes the instrumented copies of the files that the lists name.")
    options.add_argument("out", type=pathlib.Path, nargs="?", help="the folder of the copies; without one, the files that have mutants are listed")
    out = options.parse_args().out
    if out is None:
        print(*sorted({m.file for m in read_lists().mutants if not m.lost}), sep="\n")
    else:
        for fault in write_copies(ROOT, out).faults:
            print("mutants:", fault, file=sys.stderr)
