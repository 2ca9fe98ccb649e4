"""onnx_reference.py PROGRAM: LinearAttention of the ONNX reference evaluator against `evaluate`: its four update rules, and gated_delta with a
decay of every key channel, which is kda."""
import sys

import numpy as np
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

import point

PROGRAM = sys.argv[1]
PRECISION = 5e-6  # float32 over 64 tokens


def call(p, rule, decay, beta):
    inputs = {"query": p["q"], "key": p["k"], "value": p["v"], "past_state": p["S"].T[None]}
    inputs |= {"decay": p[decay]} if decay else {}
    inputs |= {"beta": p["beta"]} if beta else {}
    inputs = {name: x[None].astype(np.float32) for name, x in inputs.items()}
    names = [n if n in inputs else "" for n in ("query", "key", "value", "past_state", "decay", "beta")]
    node = helper.make_node("LinearAttention", names, ["output", "state"], q_num_heads=1, kv_num_heads=1, update_rule=rule, scale=1.0)
    graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(n, TensorProto.FLOAT, x.shape) for n, x in inputs.items()],
                              [helper.make_tensor_value_info("output", TensorProto.FLOAT, (1, point.T, point.DV)),
                               helper.make_tensor_value_info("state", TensorProto.FLOAT, (1, 1, point.DK, point.DV))])
    o, state = ReferenceEvaluator(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 27)])).run(None, inputs)
    return o[0], state[0, 0].T


p = point.draw(11)
p["alpha"] = np.exp(p["g"])
ROWS = [("sum", "q k v S", "linear", None, False), ("simple_gla", "q k v g S", "gated", "g", False), ("gla", "q k v gk S", "gated", "gk", False),
        ("delta", "q k v beta S", "delta", None, True), ("gated_delta", "q k v beta alpha S", "gated_delta", "g", True),
        ("kda", "q k v beta gk S", "gated_delta", "gk", True)]
rows = [(rule, f"{update}{', a decay a channel' if decay == 'gk' else ''} of ONNX",
         point.distance(point.declared(PROGRAM, rule, p, operands.split()), call(p, update, decay, beta)), True)
        for rule, operands, update, decay, beta in ROWS]
sys.exit(point.table(rows, PRECISION))
