"""fla.py PROGRAM FOLDER: the naive files of flash-linear-attention (installed in FOLDER) against `evaluate`. They compute in float32 with the
state as dk x dv and a query scaled by dk^-1/2; the scale is divided out of what they return."""
import importlib.util
import pathlib
import sys

import numpy as np
import torch

import point

PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(FOLDER))
PRECISION = 5e-6  # float32 over 64 tokens


def naive(folder, function):
    spec = importlib.util.spec_from_file_location(folder.replace("/", "_"), FOLDER / "fla/ops" / folder / "naive.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, function)


def call(p, folder, function, names, head_first=False, scalars=("beta", "g")):
    def tensor(name):
        x = torch.tensor(p[name]).float()[None, :, None]  # [batch, token, head, width]
        if name in scalars:
            x = x[..., 0]
        return x.transpose(1, 2) if head_first else x
    o, state = naive(folder, function)(*map(tensor, names), initial_state=torch.tensor(p["S"].T.copy())[None, None].float(), output_final_state=True)
    o = o.transpose(1, 2) if head_first else o
    return o[0, :, 0].double().numpy() * np.sqrt(point.DK), state[0, 0].double().numpy().T


p = point.draw(7)
p["alpha"] = np.exp(p["g"])
ROWS = [  # rule, its operands, folder, function, arguments in their order, head first, agrees
    ("delta", "q k v beta S", "delta_rule", "delta_rule_recurrence", "q k v beta", True, True),
    ("gated_delta", "q k v beta alpha S", "gated_delta_rule", "naive_recurrent_gated_delta_rule", "q k v beta g", False, True),
    ("gated_delta", "q k v beta alpha S", "gated_delta_rule", "naive_chunk_gated_delta_rule", "q k v g beta", False, True),
    ("kda", "q k v beta gk S", "kda", "naive_recurrent_kda", "q k v gk beta", False, True),
    ("kda", "q k v beta gk S", "kda", "naive_chunk_kda", "q k v gk beta", False, True),
    ("gla", "q k v gk S", "gla", "naive_recurrent_gla", "q k v gk", False, True),
    ("simple_gla", "q k v g S", "simple_gla", "naive_recurrent_simple_gla", "q k v g", False, True),
    ("dplr", "q k v a b gk S", "generalized_delta_rule/dplr", "dplr_recurrence", "q k v a b gk", True, True),
    ("iplr", "q k v a b S", "generalized_delta_rule/iplr", "iplr_recurrence", "q k v a b", True, True),
    ("gated_delta2", "q k v e y gk S", "gdn2", "naive_recurrent_gdn2", "q k v gk e y", False, True),
    ("gated_delta2", "q k v e y gk S", "gdn2", "naive_chunk_gdn2", "q k v gk e y", False, True),
    ("comba", "q k v p beta g d S", "comba", "naive_chunk_comba", "q k v p g beta", False, True),
    ("comba", "q k v p beta g d S", "comba", "naive_recurrent_comba", "q k v p beta g", False, False),
    ("comba_decayed", "q k v p beta g d S", "comba", "naive_recurrent_comba", "q k v p beta g", False, True),
]
rows = [(rule, f"{function} of FLA", point.distance(point.declared(PROGRAM, rule, p, operands.split()), call(p, folder, function, names.split(), first)), agrees)
        for rule, operands, folder, function, names, first, agrees in ROWS]
sys.exit(point.table(rows, PRECISION))
