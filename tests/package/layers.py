#!/usr/bin/env python3
"""Who includes whom: layers.py ROOT. The language: std, Boost, its own and the runtime's scalars. The runtime: std and its own. The generator: Clang in
three files only, of Boost its exact integers, of the runtime what it needs, and no type name twice. Emitted text (the goldens): the runtime only. The examples: installed headers."""
import pathlib, re, sys

ROOT = pathlib.Path(sys.argv[1])
STD = r"[a-z_0-9]+|c?(sys|arpa)/[a-z_]+\.h|[a-z_0-9]+\.h"
# folder -> what an include there may be, as one expression over its whole name
LAYERS = {
    "dsl": rf"{STD}|boost/.+|deltaloom/(dsl|evaluate|rules|ast).*|deltaloom/runtime/scalar.*",
    "runtime": rf"{STD}|deltaloom/runtime/.+",
    "tests/golden": r"deltaloom/runtime/.+|[a-z_0-9]+\.hpp|c?stdint\.h",
    "examples": rf"{STD}|[a-z_]+\.hpp|[a-z_]+/[a-z_]+\.h(pp)?|deltaloom/(dsl|evaluate|rules|runtime/(abi|scalar)/.+|runtime/cpu/features)\.?(hpp|h)?|fmt/.+|Eigen/.+|CLI/CLI\.hpp|nlohmann/json\.hpp",
    "codegen": rf"{STD}|codegen/.+|deltaloom/(runtime|check|evaluate|dsl).*|boost/multiprecision/cpp_int\.hpp|fmt/.+|CLI/CLI\.hpp|nlohmann/json\.hpp|(clang|llvm)/.+|sys/.+",
}
# The stages of the generator, each with those whose headers it may include.
STAGES = {"read": "read", "rule": "read rule", "program": "read rule program", "kernel": "read rule program kernel", "emit": "read rule program kernel emit"}
CLANG_FILES = 3
failed, files, with_clang = [], 0, set()


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if m := re.match(r'\s*#\s*include\s*[<"]([^>"{]+)[>"]', line):
            yield number, m[1]


for folder, allowed in LAYERS.items():
    for path in sorted(p for p in (ROOT / folder).rglob("*") if p.suffix in (".hpp", ".cpp", ".h")):
        name = path.relative_to(ROOT)
        files += 1
        for number, header in includes(path):
            if not re.fullmatch(allowed, header):
                failed.append(f"{name}:{number}: {folder}/ may not include {header}")
            if re.match(r"(clang|llvm)/", header):
                with_clang.add(str(name))
            stage = name.parts[1] if folder == "codegen" else ""
            of = re.match(r"codegen/(\w+)/", header)
            if stage in STAGES and of and of[1] not in STAGES[stage].split():
                failed.append(f"{name}:{number}: the stage {stage} comes before {of[1]}")
# One name, one type: two headers that are never included together would not be told by a compiler, and crash.
types = {}
for path in sorted((ROOT / "codegen").rglob("*.hpp")):
    for name in re.findall(r"(?m)^(?:struct|class|enum class|enum) (\w+)(?: : .*)? \{", path.read_text()):
        types.setdefault(name, []).append(str(path.relative_to(ROOT)))
failed += [f"{' and '.join(where)} define {name}" for name, where in types.items() if len(where) > 1]
clang = {re.sub(r"\.[ch]pp$", "", x) for x in with_clang}
if len(clang) > CLANG_FILES:
    failed.append(f"Clang's headers in {len(clang)} files, not {CLANG_FILES}: {' '.join(sorted(clang))}")
print(*failed, sep="\n")
print(f"{files} files, {len(types)} types, {len(failed)} includes that cross a layer or names taken twice; Clang in {' '.join(sorted(clang))}")
sys.exit(bool(failed) or files < 100)
