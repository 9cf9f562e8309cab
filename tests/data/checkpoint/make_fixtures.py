"""Writes small weight files in every container that checkpoints come in.

Made with: python 3.11, torch 2.13.0, safetensors 0.8.0, numpy 2.4.6.
Run in this folder: python make_fixtures.py
All of them hold the tensors of expected.safetensors: three element types, a parameter, a scalar,
two names of one storage, and views (an offset, a transpose, an expansion).
"""

import json
import zipfile
from collections import OrderedDict

import torch
from safetensors.torch import save_file

base = torch.arange(24, dtype=torch.float32).reshape(4, 6) * 0.5 - 3
state = OrderedDict(
    f32=torch.tensor([[1.5, -2.25, 3.0], [0.0, 5.5, -1e-3]]),
    f16=torch.tensor([1.0, -0.5, 65504.0, 6e-8], dtype=torch.float16),
    bf16=torch.tensor([[1.0, 3.14], [-2.0, 1e30]], dtype=torch.bfloat16),
    i64=torch.tensor([1, -2, 1 << 40]),
    parameter=torch.nn.Parameter(torch.tensor([7.0, 8.0])),
    scalar=torch.tensor(2.5),
    empty=torch.zeros(0, 3),
    base=base,
    same_storage=base,
    offset=base[1:3],
    transposed=base.t(),
    expanded=base[:, :1].expand(4, 3),
)
save_file({name: tensor.detach().clone(memory_format=torch.contiguous_format).contiguous()
           for name, tensor in state.items()}, "expected.safetensors")
torch.save(state, "zip.bin")
torch.save(state, "stream.bin", _use_new_zipfile_serialization=False)
torch.save(state, "zip_protocol4.bin", pickle_protocol=4)
torch.save(state, "stream_protocol4.bin", _use_new_zipfile_serialization=False, pickle_protocol=4)
with zipfile.ZipFile("zip.bin") as stored, zipfile.ZipFile("deflated.bin", "w") as deflated:
    for entry in stored.infolist():
        deflated.writestr(zipfile.ZipInfo(entry.filename), stored.read(entry), zipfile.ZIP_DEFLATED)
