"""Writes small.onnx, small.npz, wrong.npz and incomplete.npz beside this file: a model of many number types.

    python -m pip install onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
    python tests/data/verify/make_models.py
"""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

folder = Path(__file__).parent


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


nodes = [
    helper.make_node("Cast", ["half"], ["wide"], "widen", to=TensorProto.FLOAT),
    helper.make_node("Mul", ["wide", "factor"], ["scaled"], "scale"),
    helper.make_node("Gather", ["table", "ids"], ["rows"], "look_up"),
    helper.make_node("Add", ["scaled", "rows"], ["sum"], "add"),
    helper.make_node("Cast", ["sum"], ["half_sum"], "narrow", to=TensorProto.FLOAT16),
    helper.make_node("Cast", ["double"], ["single"], "shorten", to=TensorProto.FLOAT),
    helper.make_node("Where", ["chosen", "single", "sum"], ["choice"], "choose"),
    helper.make_node("Add", ["ids", "ids"], ["twice"], "double"),
]
graph = helper.make_graph(
    nodes,
    "small",
    [
        value("half", TensorProto.FLOAT16, ["batch", 3]),
        value("ids", TensorProto.INT32, ["batch"]),
        value("double", TensorProto.DOUBLE, ["batch", 3]),
        value("chosen", TensorProto.BOOL, ["batch", 3]),
    ],
    [
        value("half_sum", TensorProto.FLOAT16, ["batch", 3]),
        value("choice", TensorProto.FLOAT, ["batch", 3]),
        value("twice", TensorProto.INT32, ["batch"]),
    ],
    [
        helper.make_tensor("factor", TensorProto.FLOAT, [], [1.5]),
        helper.make_tensor("table", TensorProto.FLOAT, [3, 3], np.arange(9) / 8),
    ],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.checker.check_model(model)
onnx.save(model, folder / "small.onnx")

inputs = {
    "half": np.array([[1, 2, 3], [-1, 0.5, 0]], dtype=np.float16),
    "ids": np.array([2, 0], dtype=np.int32),
    "double": np.array([[9, 8, 7], [6, 5, 4]], dtype=np.float64),
    "chosen": np.array([[True, False, True], [False, False, True]]),
}
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, inputs)))
inner = {"wide": inputs["half"].astype(np.float32)}
inner["scaled"] = inner["wide"] * 1.5
np.savez_compressed(folder / "small.npz", **inputs, **outputs, **inner)
wrong = dict(outputs, choice=outputs["choice"] + 1)
np.savez_compressed(folder / "wrong.npz", **inputs, **wrong, wide=inner["wide"], scaled=inner["scaled"] + 1)
np.savez_compressed(folder / "incomplete.npz", ids=inputs["ids"])
