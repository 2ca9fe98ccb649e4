"""A random point of a rule of the catalogue, what its declaration says there, and how far somebody else's answer is from it."""
import subprocess

import numpy as np

T, DK, DV = 64, 16, 24


def unit(x):
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def draw(seed):
    """Inputs of one sequence and head, [tokens, width], and a state [dv, dk]; gates in [-1, 0], other scalars in [0, 1]."""
    r = np.random.default_rng(seed)
    n = lambda d: r.normal(size=(T, d)) / np.sqrt(d)
    u = lambda d: r.uniform(size=(T, d))
    return {"q": n(DK), "k": unit(n(DK)), "v": n(DV), "beta": u(1), "g": -u(1), "gk": -u(DK), "e": u(DK), "y": u(DV), "a": n(DK),
            "b": n(DK), "p": unit(n(DK)), "S": r.normal(size=(DV, DK)) / np.sqrt(DK), "d": np.zeros((1, 1))}


def declared(program, rule, point, names):
    """Outputs [tokens, dv] and the final state [dv, dk] that evaluate gives for the declaration."""
    text = [str(T)]
    for name in names:
        x = point[name]
        one = name in ("S", "d")
        rows, columns = x.shape if one else (x.shape[1], 1)
        text.append(f"{name} {1 if one else T} {rows} {columns} " + " ".join(repr(float(e)) for e in x.ravel()))
    said = subprocess.run([program, rule], input="\n".join(text), capture_output=True, text=True, check=True).stdout
    lines = [np.array(line.split(), float) for line in said.splitlines()]
    return np.stack(lines[:T]), lines[T].reshape(DV, DK)


def distance(want, got):
    """The largest error of outputs and final state, over 1 + the largest entry."""
    return max(np.abs(w - g).max() / (1 + np.abs(w).max()) for w, g in zip(want, got))


def table(rows, precision):
    """Prints (rule, oracle, distance, expected to agree) and returns the number of those that are not as expected."""
    wrong = 0
    for rule, oracle, error, agrees in rows:
        good = (error <= precision) == agrees
        wrong += not good
        word = "agrees" if error <= precision else "differs"
        print(f"{rule:15} {oracle:45} {error:8.1e}  {word}{'' if good else '   NOT AS EXPECTED'}")
    return wrong
