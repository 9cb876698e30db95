"""A model's safetensors files, and what their headers say; they are read before a network is built."""

import contextlib
import json
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import BinaryIO

import torch
from torch import Tensor

from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors, whole_file
from pellucid.base.json_text import Json
from pellucid.base.wording import quoted
from pellucid.models.folders.configuration import read_object
from pellucid.models.folders.contained_paths import file_inside

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
LARGEST_HEADER = 16 << 20  # bytes, of all files together: 100,000 tensors
BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}


@dataclass(frozen=True)
class WeightSizes:
    """numbers: how many the files really contain. tensors: how many. largest: the longest side of any that has numbers."""

    numbers: int
    tensors: int
    largest: int


def weight_files(folder: Path, config: dict[str, Json], fetched: bool = True) -> list[Path]:
    """The files with a folder's weights: the one its config.json names, else model.safetensors, else an index's.

    fetched: they must be there, else `ValueError`. Raises `BadFile` for files in another form, and for names that lead
    out of the folder.
    """
    name = config.get("transformers_weights")
    if name is None:
        name = INDEX if not (folder / WEIGHTS).exists() and (folder / INDEX).exists() else WEIGHTS
    path = file_inside(folder, name, "config.json")
    if path.name.endswith(".safetensors.index.json"):
        return _shards(path, fetched)
    return [_safetensors(path, "config.json", fetched)]


def _shards(index: Path, fetched: bool) -> list[Path]:
    places = read_object(index).get("weight_map")
    if not isinstance(places, dict) or not places:
        raise BadFile(f"{index} names no weights; save the model anew with save_pretrained.")
    names = sorted({name if isinstance(name, str) else repr(name) for name in places.values()})
    return [_safetensors(file_inside(index.parent, name, index.name), index.name, fetched) for name in names]


def _safetensors(path: Path, where: str, fetched: bool) -> Path:
    if path.suffix != ".safetensors":
        raise BadFile(
            f"{path.parent / where} names the weights {quoted(path.name)}; only safetensors are read. "
            "Save the model anew with save_pretrained."
        )
    if fetched and not path.is_file():
        raise ValueError(f"it has no file {path.name} with weights")
    return path


def weight_sizes(paths: list[Path]) -> WeightSizes:
    """The sizes in the headers of weight files, as far as the files have the bytes for them."""
    numbers = tensors = largest = 0
    left = LARGEST_HEADER
    for path in paths:
        with disk_errors("read", path), path.open("rb") as file:
            length = struct.unpack("<Q", file.read(8).ljust(8, b"\0"))[0]
            if length > left:
                raise BadFile(
                    f"{path} begins with {length:,} bytes of names, which no model has; it is spoilt."
                )
            header = _tensors(path, file.read(length))
            left -= length
            size = _bytes_on_disk(file.fileno())
        shapes = [tensor.shape for tensor in header]
        # Each number takes the bytes of its type, whatever a shape says.
        numbers += min(sum(map(prod, shapes)), size // _bytes_a_number(header))
        tensors += len(shapes)
        largest = max([largest, *(side for shape in shapes if prod(shape) for side in shape)])
    return WeightSizes(numbers, tensors, largest)


@dataclass(frozen=True)
class _TensorSize:
    """dtype: the number type, by the format's name. shape: the lengths of its sides, each 0 or more."""

    dtype: str
    shape: list[int]


def _tensors(path: Path, header: bytes) -> list[_TensorSize]:
    """The header's tensors; raises `ValueError` where it is none."""
    try:
        entries = [entry for name, entry in json.loads(header).items() if name != "__metadata__"]
        tensors = [_TensorSize(str(entry["dtype"]), list(entry["shape"])) for entry in entries]
        sides = [side for tensor in tensors for side in tensor.shape]
        if not tensors or not all(type(side) is int and side >= 0 for side in sides):
            raise ValueError
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ValueError(f"{path.name} is not a whole safetensors file") from None
    return tensors


def _bytes_a_number(header: list[_TensorSize]) -> int:
    """Bytes of the smallest number type in a header."""
    return min(BYTES.get(tensor.dtype, 1) for tensor in header)


def _bytes_on_disk(file: int) -> int:
    """A file's size without its holes, where the file system reports them."""
    size = os.fstat(file).st_size
    if not hasattr(os, "SEEK_HOLE"):
        return size
    size_on_disk, offset = 0, 0
    with contextlib.suppress(OSError):  # no data behind this offset
        for _ in range(10_000):
            start = os.lseek(file, offset, os.SEEK_DATA)
            offset = os.lseek(file, start, os.SEEK_HOLE)
            size_on_disk += offset - start
    return size_on_disk


# Tensors on disk: one safetensors file, there whole or not at all.
#
# The library's own writer renames a temporary file, which stays behind when the process is killed and
# which only its user may read. So the format, a header of JSON before the bytes, is written here, into a
# file that the caller opens.


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
