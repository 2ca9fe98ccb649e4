#!/usr/bin/env python3
"""What a compiler says to a wrong rule: one error of at most ten lines, at the user's own line, with the words; and its right twin compiles.

    misfits.py INCLUDE_FOLDERS... -- COMPILERS...
All cases are compiled at once, a line each; those of ALONE also by themselves, so that nothing of a message is missed."""
import pathlib, re, subprocess, sys, tempfile

PRELUDE = """#include <deltaloom/dsl.hpp>
namespace mine {
using namespace deltaloom::dsl;
DELTALOOM_GATE(w, log, dk);
DELTALOOM_GATE(h, log, dv);
DELTALOOM_PARAMETER(log_a, log);
DELTALOOM_PARAMETER(u, linear, dk);
DELTALOOM_DIM(dr);
DELTALOOM_PARAMETER(W, dr, dk);
DELTALOOM_STATE(P, dv, dpfp_dim<2, dk>);
DELTALOOM_STATE(F, dv, taylor2_dim<dk>);
DELTALOOM_STATE(R, dv, dr);
template<class E> constexpr auto project(E e) { return S * e; }
#define ERASED(x) (S - beta * (S * x) * T(x))
}
"""
TURN, LOG, NUMBER, ITEMS = "transpose", "exp", "number", "statement"
# wrong statements, the right twin, what the message must say (all of it; the shapes are said in words of the dimensions)
CASES = [
    ("S <<= S + v * k", "S <<= S + v * T(k)", "dv dk transpose"),
    ("S <<= S + (S * v) * T(k)", "S <<= S + (S * k) * T(k)", "dv dk transpose"),
    ("o <<= S * q + k", "o <<= S * q + v", "dv dk shape"),
    ("o <<= v + k", "o <<= v + S * k", "dv dk shape"),
    ("S <<= k * T(v)", "S <<= v * T(k)", "dv dk transpose"),
    ("S <<= S * T(k)", "S <<= S * k * T(k)", "dv dk transpose"),
    ("S <<= S * diag(v)", "S <<= diag(v) * S", "dv dk transpose"),
    ("S <<= v * T(diag(k) * v)", "S <<= v * T(diag(k) * k)", "dv dk columns"),
    ("S <<= S - T(S)", "S <<= S - T(T(S))", "dv dk transpose"),
    ("S <<= S % T(S)", "S <<= S % S", "dv dk transpose"),
    ("S <<= S + (v % k) * T(k)", "S <<= S + (v % v) * T(k)", "dv dk shape"),
    ("S <<= S * k", "S <<= S * k * T(k)", "dv dk shape"),
    ("z <<= T(k)", "z <<= k", "dk transpose"),
    ("S <<= 0", "S <<= 0 * S", "number dv dk"),
    ("z <<= 1.5", "z <<= 0 * z + 1.5", "number"),
    ("2 * S <<= S", "S <<= 2 * S", "state output"),
    ("k <<= T(S) * v", "z <<= T(S) * v", "state output"),
    ("alpha <<= alpha", "S <<= alpha * S", "state output"),
    ("w <<= w", "z <<= exp(w)", "state output"),
    ("S <<= S / k", "S <<= S / dot(k, k)", "dv dk scalar"),
    ("S <<= 1 / S", "S <<= S / 1", "dv dk scalar"),
    ("S <<= S + 1.0", "S <<= S + (v + 1.0) * T(k)", "dv dk number"),
    ("S <<= 1 + S", "S <<= (1 + beta) * S", "dv dk number"),
    ("S <<= S - 1", "S <<= S * (beta - 1)", "dv dk number"),
    ("S <<= 1 - S", "S <<= (1 - beta) * S", "dv dk number"),
    ("S <<= 2 % S", "S <<= 2 * S", "number"),
    ("S <<= S % 2.0", "S <<= S * 2.0", "number"),
    # a log gate outside exp
    ("S <<= g * S + v * T(k)", "S <<= exp(g) * S + v * T(k)", LOG),
    ("S <<= S * diag(w)", "S <<= S * diag(exp(w))", LOG),
    ("S <<= S * diag(exp(T(w)))", "S <<= S * diag(exp(w))", LOG),
    ("S <<= exp(0.5 * g) * S", "S <<= exp(2 * g) * S", LOG),
    ("S <<= exp(g * 2.0) * S", "S <<= exp(g * 2) * S", LOG),
    ("S <<= exp(g + 1) * S", "S <<= exp(g + log_a) * S", LOG),
    ("S <<= exp(1 + g) * S", "S <<= exp(g + g) * S", LOG),
    ("S <<= exp(g + beta) * S", "S <<= exp(g) * beta * S", LOG),
    ("S <<= exp(g - 1) * S", "S <<= exp(g) * S", LOG),
    ("S <<= exp(1 - g) * S", "S <<= (1 - exp(g)) * S", LOG),
    ("S <<= exp(g - g) * S", "S <<= exp(g) / exp(g) * S", LOG),
    ("S <<= exp(-g) * S", "S <<= -exp(g) * S", LOG),
    ("S <<= g / 2 * S", "S <<= exp(g) / 2 * S", LOG),
    ("S <<= 1 / g * S", "S <<= 1 / exp(g) * S", LOG),
    ("S <<= S / log_a", "S <<= S / exp(log_a)", LOG),
    ("S <<= S * diag(exp(w + h))", "S <<= S * diag(exp(w + w))", "exp dk dv"),
    ("S <<= S * diag(exp(w + g))", "S <<= exp(g) * S * diag(exp(w))", LOG),
    ("S <<= S * diag(w % k)", "S <<= S * diag(exp(w) % k)", LOG),
    ("S <<= S * diag(w % 2)", "S <<= S * diag(exp(w) * 2)", LOG),
    ("S <<= S * dot(w, k)", "S <<= S * dot(exp(w), k)", LOG),
    ("z <<= w", "z <<= exp(w)", LOG),
    *[(f"S <<= {f}(g) * S", f"S <<= {f}(exp(g)) * S", LOG) for f in "log abs neg sqrt tanh sigmoid softplus relu elu1 silu".split()],
    *[(f"z <<= {f}(w)", f"z <<= {f}(exp(w))", LOG) for f in "l2norm sum_norm softmax".split()],
    *[(f"S <<= {f}(w) * S", f"S <<= {f}(exp(w)) * S", LOG) for f in "norm sum".split()],
    ("S <<= S * max(g, 1.0)", "S <<= S * max(exp(g), 1.0)", LOG),
    ("S <<= S * min(1, g)", "S <<= S * min(1, exp(g))", LOG),
    ("S <<= S * min(g, g)", "S <<= S * min(exp(g), exp(g))", LOG),
    ("S <<= S * max(g, beta)", "S <<= S * max(exp(g), beta)", LOG),
    # functions
    ("S <<= S * max(v, k)", "S <<= S * norm(max(v, v))", "dv dk shape"),
    ("S <<= min(S, T(S))", "S <<= min(S, S)", "dv dk"),
    ("S <<= S * diag(S)", "S <<= S * diag(k)", "dv dk vector"),
    ("S <<= S * diag(T(k))", "S <<= S * diag(T(T(k)))", "dk column"),
    ("S <<= S * diag(beta)", "S <<= S * beta", "column"),
    ("S <<= S * dot(v, k)", "S <<= S * dot(v, v)", "dv dk column"),
    ("S <<= S * dot(T(k), k)", "S <<= S * dot(k, k)", "dk transpose"),
    ("S <<= l2norm(S)", "S <<= S / norm(S)", "dv dk vector"),
    ("S <<= l2norm(S, 1e-3)", "S <<= v * T(l2norm(k, 1e-3))", "dv dk vector"),
    ("S <<= sum_norm(S)", "S <<= S / sum(S)", "dv dk vector"),
    ("S <<= softmax(S)", "S <<= softmax(v) * T(softmax(k))", "dv dk vector"),
    ("S <<= norm(beta) * S", "S <<= abs(beta) * S", "vector"),
    ("S <<= sum(beta) * S", "S <<= beta * S", "vector"),
    ("S <<= previous(S)", "S <<= previous(beta) * S", "previous"),
    ("S <<= previous(g) * S", "S <<= previous(alpha) * S", "previous"),
    ("S <<= S * diag(previous(u))", "S <<= S * diag(u)", "previous"),
    ("S <<= v * T(previous(2 * k))", "S <<= v * T(2 * previous(k))", "previous"),
    # feature maps
    ("P <<= P + v * T(dpfp<0>(k))", "P <<= P + v * T(dpfp<2>(k))", "dpfp at.least"),
    ("P <<= P + v * T(dpfp<-1>(k))", "P <<= P + v * T(dot(dpfp<1>(k), dpfp<1>(k)) * dpfp<2>(k))", "dpfp at.least"),
    ("P <<= P + v * T(dpfp<2>(S))", "P <<= P + v * T(dpfp<2>(T(S) * v))", "dv dk column"),
    ("P <<= P + v * dpfp<2>(T(k))", "P <<= P + v * T(dpfp<2>(k))", "dk column"),
    ("P <<= P + v * T(dpfp<2>(beta))", "P <<= P + v * T(dpfp<2>(beta * k))", "column"),
    ("P <<= P + v * T(dpfp<2>(w))", "P <<= P + v * T(dpfp<2>(exp(w)))", LOG),
    ("S <<= S + v * T(dpfp<2>(k))", "P <<= P + v * T(dpfp<2>(k))", "dpfp_dim dk shape"),
    ("P <<= P + v * T(dpfp<1>(k))", "P <<= P + v * T(dpfp<2>(k))", "dpfp_dim shape"),
    ("F <<= F + v * T(taylor2(S))", "F <<= F + v * T(taylor2(k))", "dv dk column"),
    ("F <<= F + v * T(taylor2(w))", "F <<= F + v * T(taylor2(exp(w)))", LOG),
    ("F <<= F + v * T(taylor2(v))", "F <<= F + v * T(taylor2(k))", "taylor2_dim dv dk shape"),
    ("R <<= R + v * T(random_features(v, W))", "R <<= R + v * T(random_features(k, W))", "dv dr dk columns"),
    ("R <<= R + v * T(random_features(k, T(W)))", "R <<= R + v * T(random_features(k, W))", "dr dk transpose"),
    ("R <<= R + v * T(random_features(T(k), W))", "R <<= R + v * T(random_features(k, W))", "dr dk transpose"),
    ("R <<= R + v * T(random_features(k, k))", "R <<= R + v * T(random_features(k, W))", "dk columns"),
    ("R <<= R + v * T(random_features(w, W))", "R <<= R + v * T(random_features(exp(w), W))", LOG),
    # statements
    ("S = S + v * T(k)", "S <<= S + v * T(k)", "statement written.with|write.the.statement"),
    ("S * q", "o <<= S * q", ITEMS),
    ("repeat<2>(S * q)", "repeat<2>(S <<= beta * S)", ITEMS),
    ("repeat<2>()", "repeat<2>(S <<= S)", ITEMS),
    ("repeat<0>(S <<= S + v * T(k))", "repeat<1>(S <<= S + v * T(k))", "repeat at.least"),
    ("repeat<-1>(S <<= S)", "repeat<3>(S <<= S)", "repeat at.least"),
    ("repeat<2>(repeat<2>(S <<= S))", "repeat<4>(S <<= S)", ITEMS),
    # deep inside, twice wrong: the first fault only
    ("repeat<2>(S <<= -(S * v) * T(k) + tanh(exp(g)) * 2 * v)", "repeat<2>(S <<= -(S * k) * T(k) + tanh(exp(g)) * 2 * v * T(k))", "dv dk transpose"),
    ("S <<= alpha * (S - beta * (S * v) * T(k)) + beta * v * T(k)", "S <<= alpha * (S - beta * (S * k) * T(k)) + beta * v * T(k)", "dv dk transpose"),
]
ALONE = [CASES[0], CASES[1], CASES[3], ("S <<= tanh(g) * S", "", LOG), ("S <<= S * max(v, k)", "", "dv dk shape")]
# Through the user's own helper or macro the compiler adds lines of its own, to still one error.
THROUGH = [("S <<= S + project(v) * T(k)", "S <<= S + project(k) * T(k)", "dv dk transpose"), ("S <<= ERASED(v)", "S <<= ERASED(k)", "dv dk transpose")]
# Declarations: what a macro of the language says about its arguments.
DECLARATIONS = [
    ("DELTALOOM_GATE(x)", "DELTALOOM_GATE(x, log)", "a.gate log linear"),
    ("DELTALOOM_GATE(x, dk)", "DELTALOOM_GATE(x, linear, dk)", "a.gate log linear"),
    ("DELTALOOM_STATE(x)", "DELTALOOM_STATE(x, dk)", "a.state one.or.two"),
    ("DELTALOOM_STATE(x, dk, dv, dk)", "DELTALOOM_STATE(x, dk, dv)", "a.state one.or.two"),
    ("DELTALOOM_INPUT(x, log)", "DELTALOOM_INPUT(x)", "an.input no.domain"),
    ("DELTALOOM_PARAMETER(x, dk, log)", "DELTALOOM_PARAMETER(x, log, dk)", "a.parameter domain first"),
]
ALLOWED, ALLOWED_IN_A_MACRO = 10, 14


def rule(i, statement):
    if statement.startswith("DELTALOOM_"):
        return f"namespace n{i} {{ using namespace deltaloom::dsl; {statement}; }}\n"
    return f'namespace mine {{ constexpr auto r{i} = rule("r", {statement}, o <<= S * q); }}\n'


def compiled(cxx, folders, source):
    flags = ["-ferror-limit=0"] if "clang" in cxx else ["-fmax-errors=0"]
    warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wno-unused-const-variable", "-Wno-unused-variable"]
    command = [cxx, "-std=c++20", *warnings, *flags, "-fsyntax-only", *[x for f in folders for x in ("-isystem" if "boost" in f else "-I", f)], source]
    r = subprocess.run(command, capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin:/usr/local/bin"})
    return r.returncode, [x for x in r.stderr.splitlines() if not re.match(r"In file included|\s+from |\S+: In ", x)]


def faults(lines, words, allowed=ALLOWED):
    """Why this message is not what a user should read."""
    said = " ".join(x for x in lines if not re.match(r"\s*\d* *\|", x))  # without the echo of the source
    errors = sum(" error: " in x for x in lines)
    found = [f"{errors} errors"] if errors != 1 else []
    found += [f"{len(lines)} lines"] if len(lines) > allowed else []
    return found + [f"does not say {w}" for w in words.split() if not re.search(w, said, re.I)]


def check(cxx, folders, folder):
    failed, longest, source = [], 0, pathlib.Path(folder) / "case.cpp"

    def expect(what, lines, words, allowed=ALLOWED):
        nonlocal longest
        longest = max(longest, len(lines))
        failed.extend("\n".join([f"{cxx}: {what}: {why}", *lines]) for why in faults(lines, words, allowed)[:1])

    source.write_text(PRELUDE + "".join(rule(i, good) for i, (_, good, _) in enumerate(CASES + THROUGH + DECLARATIONS)))
    status, lines = compiled(cxx, folders, source)
    if status or lines:
        failed.append("\n".join([f"{cxx}: the right twins do not compile cleanly", *lines[:20]]))
    source.write_text(PRELUDE + "".join(rule(i, bad) for i, (bad, _, _) in enumerate(CASES)))
    _, lines = compiled(cxx, folders, source)
    said, case = {}, None  # the lines of each case: from its error on
    for x in lines:
        if at := re.match(r".*case\.cpp:(\d+):\d+: error: ", x):
            case = int(at[1]) - PRELUDE.count("\n") - 1
        if not re.match(r"\d+ errors? generated", x):
            said.setdefault(case, []).append(x)
    for i, (bad, _, words) in enumerate(CASES):
        expect(bad, said.pop(i, []) + ["1 error generated."] * ("clang" in cxx), words)
    failed += [f"{cxx}: said of no case: {x}" for x in said.values()]
    for cases, allowed in ((ALONE, ALLOWED), (THROUGH, ALLOWED_IN_A_MACRO), (DECLARATIONS, ALLOWED_IN_A_MACRO)):
        for bad, _, words in cases:
            source.write_text(PRELUDE + rule(0, bad))
            expect(f"alone: {bad}", compiled(cxx, folders, source)[1], words, allowed)
    print(f"{cxx}: {len(CASES) + len(THROUGH) + len(DECLARATIONS)} refusals and their twins, longest {longest} lines, {len(failed)} failed")
    return failed


if __name__ == "__main__":
    divide = sys.argv.index("--")
    with tempfile.TemporaryDirectory() as folder:
        failed = [x for cxx in sys.argv[divide + 1:] for x in check(cxx, sys.argv[1:divide], folder)]
    print(*failed, sep="\n\n")
    sys.exit(bool(failed))
