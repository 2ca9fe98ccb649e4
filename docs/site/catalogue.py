#!/usr/bin/env python3
"""The catalogue's pages: a table, and a page for every rule, from its declaration and from what the tool says of it.

    catalogue.py --tool DELTALOOM --out FOLDER [--check FILE] [--accuracy FILE] [--rule NAME]...

--check: what `deltaloom check --level program --json FILE` wrote; --accuracy: the same of --level float. Nothing is listed by hand: rules, forms and
reasons are `list`'s, formulas and costs `explain`'s, growth and proofs `check`'s, sources and domains those of the comment above the declaration."""
import argparse, functools, json, pathlib, re, subprocess, sys

import declaration, formulas

FORMS = ["step", "recurrent", "chunked", "parallel", "summary"]


@functools.cache
def said(tool, *arguments):
    r = subprocess.run([tool, *arguments], capture_output=True, text=True)
    if r.returncode:
        sys.exit(f"catalogue.py: deltaloom {' '.join(arguments)} exited {r.returncode}\n{r.stderr}")
    return r.stdout


def table(head, rows, align=None):
    align = align or ["---"] * len(head)
    return "\n".join("| " + " | ".join(str(x).replace("|", "\\|") for x in row) + " |" for row in [head, align, *rows]) + "\n"


def fenced(text, language):
    return f"```{language}\n{text.strip(chr(10))}\n```\n"


def operands(rule):
    rows = []
    for o in rule["operands"]:
        shape = " x ".join(f"`{d}`" for d in o["dims"]) or "a number"
        meaning = {"log": "log form: in [-inf, 0], acts as its `exp`", "linear": "any finite number"}.get(o["domain"], "")
        rows.append([f"`{o['name']}`", o["kind"], shape, meaning])
    return table(["name", "kind", "shape", "domain"], rows)


def blamed(explained):
    """What keeps a form from the rule, at the operator that is to blame, as a compiler shows it; the file by its name alone."""
    text = ""
    for reason, path, line, column in re.findall(r"(?m)^    no [\w, ]+: (.*)\n +the operator \S+ at (\S+):(\d+):(\d+)$", explained):
        path = pathlib.Path(path)
        source = path.read_text().splitlines()[int(line) - 1]
        text += f"{path.name}:{line}:{column}: {reason}\n{line:>5} | {source}\n      | {' ' * (int(column) - 1)}^\n"
    return text


def forms(rule, blame):
    rows = [[f"`{f}`", "forward and backward" if f in rule["forms"] else f"no: {rule['missing'][f]}"] for f in FORMS]
    text = table(["form", ""], rows)
    if blame:
        text += "\nThe operator that is to blame:\n\n" + fenced(blame, "text")
    if "chunked" in rule["missing"]:
        text += "\n`step` and `recurrent` compute the line as it stands, and have their backward.\n"
    return text


def growth(check):
    rows = []
    for g in check["growth"]:
        number = lambda key: f"{g[key]:.2g}" if isinstance(g.get(key), float) else str(g.get(key, ""))
        rows.append(["unit norm" if g["keys"] == "unit" else "N(0, 1) entries", number("state"), number("over_half"), number("solve"), number("digits_step"),
                     number("digits_chunked"), "**without bound**" if g["hopeless"] else ""])
    g = check["growth"][0]
    return (f"{g['tokens']} tokens, every dimension {g['extent']}: the largest entry of a state at the end, and over that of half of the tokens; what a chunk's solve "
            "multiplies its right side by; the decimal digits that float32 keeps.\n\n"
            + table(["keys", "state", "over half", "solve", "digits, step", "digits, chunked", "grows"], rows))


def proofs(check):
    rows = []
    for f in check["forms"]:
        for direction in ("forward", "backward"):
            of = [r for r in check["results"] if r["level"] == "program" and r["form"] == f and r["direction"] == direction and "degree" in r]
            if of:
                worst = max(of, key=lambda r: r["degree"])
                verdict = "exact" if all(r["pass"] for r in of) else "**differs**"
                rows.append([f"`{f}`", direction, verdict, worst["degree"], f"2^{worst['bound_log2']:.1f}", " ".join(sorted({r["name"] for r in of}))])
    return ("Compared with the declaration over the field of 2^61 - 1 elements (`deltaloom check --level program`): the largest degree, and the chance that a wrong form "
            "passes one trial.\n\n" + table(["form", "direction", "verdict", "degree", "chance", "as"], rows))


def accuracy(check):
    if not check:
        return "Not measured in this build: `scripts/docs --accuracy` compiles every rule and measures it.\n"
    rows = []
    for f in check["forms"]:
        row = [f"`{f}`"]
        for direction in ("forward", "backward"):
            of = [r for r in check["results"] if r["level"] == "float" and r["form"] == f and r["direction"] == direction and "error" in r]
            row += [f"{max(r['error'] for r in of):.1e}", f"{min(r['budget'] for r in of):.0e}"] if of else ["", ""]
        rows.append(row)
    return ("The compiled float32 kernels against the declaration in double (`deltaloom check --level float`): the largest error, over 1 + the largest entry, and the "
            "budget.\n\n" + table(["form", "forward", "budget", "backward", "budget"], rows))


def page(rule, declared, explained, blame, check, measured):
    parts = [f"# {rule['name']}\n", declared.summary + "\n", fenced(declared.equations, "text") if declared.equations else "", declared.source + "\n" if declared.source else ""]
    parts += ["## Declaration\n", f"`deltaloom/rules/{declared.file}`\n", fenced(declared.code, "cpp")]
    parts += ["## Operands\n", "In the order of the library's interface.\n", operands(rule)]
    parts += [explained.mathematics, "## Forms\n", forms(rule, blame)]
    parts += [f"## Cost\n", explained.cost]
    if check:
        parts += ["## Growth\n", growth(check), "## Proof\n", proofs(check), "## Accuracy\n", accuracy(measured)]
    return "\n".join(p for p in parts if p)


def index(rules, declared, count):
    chunked = sum("chunked" in r["forms"] for r in rules)
    rows = []
    for r in rules:
        d = declared[r["name"]]
        mark = "chunked" + ("" if "summary" in r["forms"] else ", no summary") if "chunked" in r["forms"] else "step by step"
        name = r["name"].replace("_", "\\_<wbr>")
        rows.append([f"[{name}]({r['name']}.md)", "<br>".join(f"`{s}`" for s in d.statements), mark, d.cite or "-"])
    return (f"# The catalogue\n\n`#include <deltaloom/rules.hpp>` brings {count} rules, each one declaration; {chunked} of them have chunked kernels for prefill and "
            "training, the others run step by step, and their page says why. None is known to the generator by name: they are inputs like yours. This table and the pages behind it are made from the "
            "declarations.\n\n<div class=\"catalogue\">\n\n" + table(["rule", "line", "kernels", "source"], rows)
            + "\n</div>\n\n*chunked*: `step`, `recurrent`, `chunked`, `parallel` and `summary`, forward and backward, but for what is named; *step by step*: `step` and `recurrent`, "
            "forward and backward.\n\n```{toctree}\n:hidden:\n:maxdepth: 1\n" + "\n".join(r["name"] for r in rules) + "\n```\n")


def by_name(path):
    return {r["name"]: r for r in json.loads(pathlib.Path(path).read_text())["rules"]} if path and pathlib.Path(path).exists() else {}


def main(given=None):
    arguments = argparse.ArgumentParser()
    for name in ("--tool", "--out"):
        arguments.add_argument(name, required=True)
    for name in ("--check", "--accuracy"):
        arguments.add_argument(name)
    arguments.add_argument("--rule", action="append")
    a = arguments.parse_args(given)
    rules = json.loads(said(a.tool, "list", "--json"))["rules"]
    unknown = set(a.rule or []) - {r["name"] for r in rules}
    if unknown:
        sys.exit(f"catalogue.py: no shipped rule {', '.join(sorted(unknown))}; there are: {', '.join(r['name'] for r in rules)}")
    rules = [r for r in rules if not a.rule or r["name"] in a.rule]
    only = [x for name in a.rule or [] for x in ("--rule", name)]
    text = said(a.tool, "explain", *only)
    places, parts = declaration.places(text)
    latex = formulas.rules(said(a.tool, "explain", "--latex", *only))
    check, measured = by_name(a.check), by_name(a.accuracy)
    out = pathlib.Path(a.out)
    out.mkdir(parents=True, exist_ok=True)
    declared = {r["name"]: declaration.read(*places[r["name"]]) for r in rules}
    for r in rules:
        n = r["name"]
        (out / f"{n}.md").write_text(page(r, declared[n], latex[n], blamed(parts[n]), check.get(n), measured.get(n)))
    (out / "index.md").write_text(index(rules, declared, len(rules)))
    print(f"catalogue: {len(rules)} rules in {out}")


if __name__ == "__main__":
    main()
