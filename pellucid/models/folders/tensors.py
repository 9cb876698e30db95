"""Tensors on disk: one safetensors file, there whole or not at all.

The library's own writer renames a temporary file, which stays behind when the process is killed and which only its user
may read. So the format, a header of JSON before the bytes, is written here, into a file that the caller opens.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import torch
from torch import Tensor

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import whole_file

# By what the format calls them, in the order in which the library writes them.
_KINDS = {
    torch.int64: "I64",
    torch.float64: "F64",
    torch.float32: "F32",
    torch.int32: "I32",
    torch.bfloat16: "BF16",
    torch.float16: "F16",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}


def save_tensors(tensors: Mapping[str, Tensor], path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write named tensors; raises `BadFile` when it cannot, and the earlier file stays."""
    strange = {str(tensor.dtype) for tensor in tensors.values()} - set(map(str, _KINDS))
    if strange:
        raise BadFile(f"Cannot write {path}: no file holds numbers of type {', '.join(sorted(strange))}.")
    order = list(_KINDS)
    names = sorted(tensors, key=lambda name: (order.index(tensors[name].dtype), name))
    with whole_file(path) as file:
        _write_header(file, {name: tensors[name] for name in names}, metadata)
        for name in names:
            if tensors[name].numel():
                flat = tensors[name].detach().cpu().contiguous().reshape(-1)
                file.write(flat.view(torch.uint8).numpy().data)


def _write_header(file: BinaryIO, tensors: Mapping[str, Tensor], metadata: dict[str, str] | None) -> None:
    entries: dict[str, object] = {} if metadata is None else {"__metadata__": metadata}
    end = 0
    for name, tensor in tensors.items():
        start, end = end, end + tensor.numel() * tensor.element_size()
        entries[name] = {
            "dtype": _KINDS[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [start, end],
        }
    header = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    header += b" " * (-len(header) % 8)
    file.write(len(header).to_bytes(8, "little") + header)
