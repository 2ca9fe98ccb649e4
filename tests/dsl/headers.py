#!/usr/bin/env python3
"""Every header of a layer compiles alone, twice included, without a warning; and includes only what its layer may.

    headers.py COMPILER FOLDER [INCLUDE_FOLDERS...]"""
import pathlib, re, subprocess, sys

cxx, folder, *further = sys.argv[1:]
failed = 0
headers = sorted(pathlib.Path(folder).rglob("*.hpp"))
for header in headers:
    name = header.relative_to(folder)
    text = f"#include <{name}>\n#include <{name}>\n"
    command = [cxx, "-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", *[x for f in (folder, *further) for x in ("-I", f)], "-xc++", "-fsyntax-only", "-MMD", "-MF", "/dev/stdout", "-"]
    r = subprocess.run(command, input=text, capture_output=True, text=True)
    own = [x for x in re.findall(r"\S+/include/(deltaloom/\S+)", r.stdout)]
    # Without evaluation the language stands on its own: no scalars of the runtime.
    stray = [x for x in own if x.startswith(("deltaloom/runtime", "deltaloom/evaluate"))] if "evaluate" not in str(name) else []
    if r.returncode or "deltaloom" in r.stderr or stray:
        failed += 1
        print(f"{name}: {' '.join(stray) or r.stderr[:2000]}")
print(f"{len(headers)} headers, {failed} failed")
sys.exit(failed != 0)
