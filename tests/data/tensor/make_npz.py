"""Writes plain.npz and packed.npz beside this file, which tests of the npz reader read.

    python -m pip install numpy==2.4.6
    python tests/data/tensor/make_npz.py
"""

from pathlib import Path

import numpy as np

folder = Path(__file__).parent
arrays = {
    "input_ids": np.array([[3, 5, 0], [7, 0, 65000]], dtype=np.int64),
    "attention_mask": np.array([[True, True, True], [True, True, False]]),
    "columns": np.asfortranarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4)),
    "half": np.array([1.0, -2.0, 65504.0], dtype=np.float16),
    "double": np.array(0.1),
    "bytes": np.array([-128, 127], dtype=np.int8),
    "short": np.array([-32768, 32767], dtype=np.int16),
    "int": np.array([[-2147483648]], dtype=np.int32),
    "unsigned": np.array([255], dtype=np.uint8),
    "empty": np.zeros((2, 8, 0, 64), dtype=np.float32),
    "text": np.array(["not a number"]),
    "swapped": np.array([1, 2], dtype=">i4"),
    "record": np.zeros(2, dtype=[("a", np.float32), ("b", np.int8)]),
}
np.savez(folder / "plain.npz", **arrays)
np.savez_compressed(folder / "packed.npz", **arrays)
