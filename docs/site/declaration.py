"""A shipped rule as its header has it: the comment above the declaration and the declaration itself."""
import pathlib, re
from dataclasses import dataclass

CITE = r"(?:[A-Z][\w'-]+(?:, | and | )?)+(?:et al\. )?(?:19|20)\d\d"


@dataclass
class Declared:
    file: str
    summary: str      # what the rule is
    equations: str    # as the comment writes them
    source: str       # where it comes from, and the domains of its operands
    cite: str         # authors and years alone
    code: str         # the declaration, with the operands declared beside it
    statements: list  # of the rule, one a line


def places(explained):
    """Of what `explain` prints, a rule after the other, each beginning with name, equation and place: name -> header and line, name -> its text."""
    found = list(re.finditer(r"(?m)^(\w+)\n    .*\n    (/?\S+\.hpp):(\d+)$", explained))
    ends = [m.start() for m in found[1:]] + [len(explained)]
    return {m[1]: (pathlib.Path(m[2]), int(m[3])) for m in found}, {m[1]: explained[m.start():end] for m, end in zip(found, ends)}


def split(text):
    """The parts between commas that no bracket holds."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if c == "," and depth == 0:
            parts, start = parts + [text[start:i]], i + 1
    return [" ".join(p.split()) for p in [*parts, text[start:]]]


def closing(text, start):
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i
    raise ValueError(f"no closing bracket in {text[start:start + 80]!r}")


def rule_call(lines, at):
    """The arguments of the rule(...) declared at this line; an alias of a template's instance leads to the template."""
    text = "\n".join(lines[at:])
    if m := re.match(r"[^;(]*=\s*(\w+)<[^;(]*>;", text):
        at = next(i for i, line in enumerate(lines) if re.search(rf"\bauto {m[1]} =", line))
        text = "\n".join(lines[at:])
    start = re.search(r"=\s*rule\s*\(", text).end() - 1
    return at, split(text[start + 1:closing(text, start)])[1:]


def laid_out(code):
    """The declaration with every statement of its rule on a line of its own."""
    start = re.search(r"\s*=\s*rule\s*\(", code)
    end = closing(code, start.end() - 1)
    name, *statements = split(code[start.end():end])
    return f"{code[:start.start()]} = rule({name},\n    " + ",\n    ".join(statements) + code[end:]


def comment_above(lines, at):
    while at and not lines[at - 1].startswith("//"):
        at -= 1
    end = at
    while at and lines[at - 1].startswith("//"):
        at -= 1
    return at, end


def read(path, line):
    lines = path.read_text().splitlines()
    at, statements = rule_call(lines, line - 1)
    first, last = comment_above(lines, at)
    comment = [x[2:] for x in lines[first:last]]
    equation = [i for i, x in enumerate(comment) if x.startswith("     ")]
    before, after = (comment[:equation[0]], comment[equation[-1] + 1:]) if equation else (comment, [])
    prose = lambda part: " ".join(" ".join(part).split())
    source = prose(after)
    body = [x for x in lines[:first] + lines[last:] if not x.startswith(("#", "//", "namespace", "} // namespace"))]
    code = laid_out(re.sub(r"\n{3,}", "\n\n", "\n".join(body)).strip("\n"))
    equations = re.sub(r"([,;]) {2,}", r"\1\n", "\n".join(comment[i][5:] for i in equation))
    cites = re.findall(CITE, prose(before) + " " + source)
    others = re.findall(r"flash-linear-attention", source) if not cites else []
    return Declared(path.name, prose(before), equations, source, "; ".join(dict.fromkeys([*cites, *others])), code, statements)
