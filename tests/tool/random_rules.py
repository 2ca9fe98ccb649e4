#!/usr/bin/env python3
"""Random rules through `check`: random_rules.py COUNT SEED LEVELS SCALARS. Every form and direction of every rule is there and equal to its line.
Replay: deltaloom random --seed SEED --count COUNT --chunkable > rules.hpp; deltaloom check rules.hpp --seed SEED --level LEVELS --scalar SCALARS"""
import json, os, pathlib, resource, subprocess, sys, tempfile

count, seed, levels, scalars = sys.argv[1:]
tool = os.environ["DELTALOOM"]
with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    text = subprocess.run([tool, "random", "--seed", seed, "--count", count, "--chunkable"], capture_output=True, text=True, check=True).stdout
    (folder / "rules.hpp").write_text(text)
    r = subprocess.run([tool, "check", folder / "rules.hpp", "--seed", seed, "--level", levels, "--scalar", scalars, "--json", folder / "report.json"],
                       capture_output=True, text=True, env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")})
    report = json.loads((folder / "report.json").read_text())
wrong = [x for x in r.stdout.splitlines() if x.startswith("differs")]
for one in report["rules"]:
    seen = {(x["form"], x["direction"], x["level"], x["scalar"] if x["level"] == "float" else "") for x in one["results"] if x["pass"]}
    wrong += [f"{one['name']}: {x['reason']}" for x in one["results"] if "reason" in x]
    for level in levels.split(","):
        for scalar in scalars.split(",") if level == "float" else [""]:
            for form in ("step", "recurrent", "chunked", "parallel", "summary"):
                if form == "summary" and form in one["missing"]:
                    continue
                wrong += [f"{one['name']}: no {form} {d} {level} {scalar}" for d in ("forward", "backward") if (form, d, level, scalar) not in seen]
wrong += [f"{x['level']}: bound 2^{x['bound_log2']}" for one in report["rules"] for x in one["results"] if x.get("bound_log2", -61) > -40]
if len(report["rules"]) != int(count) or r.returncode:
    wrong.append(f"{len(report['rules'])} rules, exit {r.returncode}")
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(*wrong[:20], sep="\n")
print(f"{count} rules, seed {seed}, levels {levels}, {scalars}: {report['passed']} results, {len(wrong)} wrong, {used.ru_utime + used.ru_stime:.0f} s of processor time")
sys.exit(bool(wrong))
