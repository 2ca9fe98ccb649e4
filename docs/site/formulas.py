"""What `deltaloom explain --latex` says of a rule, as Markdown: its formulas, and what it costs. A line that is not known here is an error, so that
nothing of an explanation is lost silently."""
import re
from dataclasses import dataclass


@dataclass
class Explained:
    mathematics: str
    cost: str


LONG = 700  # a formula longer than this, of a rule written with helper functions, is not for reading


def plain(text):
    """Running text: TeX's escapes undone, formulas between dollars left as they are, Markdown's own signs kept apart."""
    parts = re.split(r"(\$[^$]*\$)", text)
    for i in range(0, len(parts), 2):
        t = re.sub(r"\\textless\{\}", "<", parts[i])
        t = re.sub(r"\\textgreater\{\}", ">", t)
        for word, sign in (("textbar", "|"), ("textasciicircum", "^"), ("textasciitilde", "~")):
            t = t.replace(f"\\{word}{{}}", sign)
        t = re.sub(r"\\([_&%#{}])", r"\1", t)
        if "\\" in t:
            raise ValueError(f"TeX in running text: {t!r}")
        parts[i] = re.sub(r"([<>_*|])", r"\\\1", t)
    return "".join(parts)


def items(lines):
    """The items of a description: a formula and what it is."""
    rows = []
    for line in lines:
        m = re.fullmatch(r"  \\item\[(\$.*?\$)\] (.*)", line)
        if not m:
            raise ValueError(f"no item: {line!r}")
        rows.append(f"| {m[1]} | {plain(m[2])} |")
    return "| | |\n|---|---|\n" + "\n".join(rows) + "\n"


def equations(lines):
    if max(map(len, lines), default=0) > LONG:
        return "The helper functions of the declaration, written out, fill pages; the equations above say the same with names.\n"
    return "$$\n\\begin{aligned}\n" + "\n".join(lines) + "\n\\end{aligned}\n$$\n"


def costs(lines):
    rows = [[plain(cell.strip()) for cell in re.sub(r"\\\\|\\hline", "", line).split("&")] for line in lines if "&" in line]
    head, rows = rows[0], rows[1:]
    return ("| " + " | ".join(head) + " |\n|---|" + "---:|" * (len(head) - 1) + "\n" + "\n".join("| " + " | ".join(r) + " |" for r in rows) + "\n")


def section(lines):
    """The lines of one part -> Markdown."""
    out, i = [], 0
    while i < len(lines):
        line = lines[i]
        if m := re.fullmatch(r"\\begin\{(description|align\*|center)\}", line):
            end = lines.index(f"\\end{{{m[1]}}}", i)
            inside = lines[i + 1:end]
            out.append({"description": items, "align*": equations, "center": costs}[m[1]](inside))
            i = end + 1
            continue
        if line.startswith("\\noindent "):
            line = line[len("\\noindent "):]
            if re.match(r"[a-z]{2,} ", line):
                line = line[0].upper() + line[1:]
        if line.strip():
            out.append(plain(line) + "\n")
        i += 1
    return "\n".join(out)


def rules(latex):
    """Rule -> Explained, of everything that explain --latex printed."""
    found = {}
    for text in latex.split("% needs \\usepackage{amsmath}\n")[1:]:
        name = re.match(r"\\subsection\*\{(.*)\}\n", text)[1].replace("\\_", "_")
        mathematics, cost = [], ""
        for title, body in re.findall(r"\\paragraph\{(.*?)\}\n(.*?)(?=\\paragraph|\Z)", text, re.S):
            lines = body.split("\n")
            if title.startswith("What a token of one head costs"):
                cost = plain(title) + ".\n\n" + section(lines)
            elif not title.startswith(("Forms", "Growth")):  # `list` says the one with reasons, `check` the other
                mathematics.append(f"## {plain(title.rstrip('.'))}\n\n" + section(lines))
        found[name] = Explained("\n".join(mathematics), cost)
    return found
