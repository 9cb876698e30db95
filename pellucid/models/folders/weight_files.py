"""Files of weights: their tensors, sizes and what fits the memory, known before they are loaded."""

import contextlib
import json
import os
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from pellucid.base.checks import quoted
from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors, whole_file
from pellucid.base.json_text import Json
from pellucid.models.folders.configuration import entries, file_inside, read_object

# A model's safetensors files, and what their headers say; they are read before a network is built.

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
LARGEST_HEADER = 16 << 20  # bytes, of all files together: 100,000 tensors
BYTES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}


@dataclass(frozen=True)
class WeightSizes:
    """numbers: how many the files really contain. tensors: how many. largest: the longest side of any that has
    numbers.
    """

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
                raise BadFile(f"{path} begins with {length:,} bytes of names, which no model has; it is spoilt.")
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
# The library's own writer renames a temporary file, which stays behind when the process is killed and which only its
# user may read. So the format, a header of JSON before the bytes, is written here, into a file that the caller opens.

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


SLACK = 10_000_000  # numbers that may be missing from the weights, as those of a head may be
COUNT = 20_000  # any number of a configuration may be as large as this, whatever the weights
LAYERS = 1_000, 10_000  # numbers of layers: allowed whatever the weights, and the most that is ever allowed
DEPTHS = ("layer", "layers", "depth", "depths", "blocks", "repeats")
TOTAL = 20_000_000  # the most that they may add up to: each can be a loop in the library
LENGTH = 1 << 28  # for lengths in tokens and bases of rotations, which allocate nothing
LENGTHS = ("position", "theta", "length", "window", "base", "n_ctx", "context", "distance", "seq_len")
IDS = ("_id", "_ids", "_index", "_token")
BUFFERS = 512 << 20  # bytes of tables that are not weights
# Calls of torch while a network is built: for any network, more for each tensor of its weights, and at most. A tensor
# takes 7.
CALLS = 1_000, 30, 100_000
DRAWS = (
    "normal_",
    "uniform_",
    "trunc_normal_",
    "kaiming_uniform_",
    "xavier_uniform_",
    "xavier_normal_",
    "fill_",
    "zero_",
)


def check_numbers(config: dict[str, Json], sizes: WeightSizes, path: Path) -> None:
    """Raise `BadFile` when a number of a configuration, however deep, is out of proportion to its weights."""
    total = 0
    for name, value in entries({key: part for key, part in config.items() if key not in ("id2label", "label2id")}):
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
            continue
        most = _most(name, sizes)
        if not value <= most:
            raise BadFile(
                f"{path} says {name}={value}, which cannot be; beside these weights at most {most:,} is read."
            )
        total += max(int(value), 0) if most < LENGTH else 0
    if total > TOTAL + 64 * sizes.largest:
        raise BadFile(f"The numbers in {path} add up to {total:,}, which no model of this size needs; it is spoilt.")


def _most(name: str, sizes: WeightSizes) -> int:
    """The largest value that a number of this name may have."""
    if name.endswith(IDS) or any(part in name for part in LENGTHS):
        return LENGTH
    if name.endswith(DEPTHS):
        return min(max(LAYERS[0], 2 * sizes.tensors), LAYERS[1])
    return max(COUNT, 2 * sizes.largest)


class WithTensors(Protocol):
    """A network."""

    def parameters(self) -> Iterator[nn.Parameter]:
        """Its weights."""
        ...

    def buffers(self) -> Iterator[Tensor]:
        """Its tables of numbers that are no weights."""
        ...


def check_sizes(make: Callable[[], WithTensors], sizes: WeightSizes, path: Path) -> None:
    """Raise `BadFile` when a network is far larger than the weights beside its configuration.

    make: builds the network; it is called where tensors have sizes and no memory.
    """
    with torch.device("meta"), _Bounded(sizes, path):
        network = make()
    needed = sum(parameter.numel() for parameter in network.parameters())
    if needed > 2 * sizes.numbers + SLACK:
        raise BadFile(
            f"{path} describes a model of {needed:,} numbers, but the weights beside it have {sizes.numbers:,}; "
            "they do not belong together."
        )
    tables = sum(buffer.numel() * buffer.element_size() for buffer in network.buffers())
    if tables > 16 * sizes.numbers + BUFFERS:
        raise BadFile(f"{path} describes a model with tables of {tables:,} bytes, which its weights do not need.")


class _Bounded(TorchFunctionMode):
    """Counts the calls of torch in this thread, and refuses tensors that would take memory."""

    def __init__(self, sizes: WeightSizes, path: Path) -> None:
        super().__init__()
        self.left = min(CALLS[0] + CALLS[1] * sizes.tensors, CALLS[2])
        self.most = sizes.numbers + 5 * SLACK
        self.path = path

    def __torch_function__(
        self,
        function: Callable[..., Any],
        types: object,
        args: tuple[Any, ...] = (),
        kwargs: dict[Any, Any] | None = None,
    ) -> object:
        self.left -= 1
        if self.left < 0:
            raise BadFile(f"{self.path} describes a model of many more parts than the weights beside it have.")
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        drawn = args[0] if args else kwargs.get("tensor")
        if name in DRAWS and isinstance(drawn, Tensor) and drawn.is_meta:
            return drawn  # there is nothing to fill, and the library takes milliseconds to see that
        allocates = str(kwargs.get("device") or "meta") != "meta"
        if allocates and _most_numbers(name, args) > self.most:
            self._refuse()
        answer = function(*args, **kwargs)
        if isinstance(answer, Tensor) and answer.numel() > self.most and not answer.is_meta:
            self._refuse()
        return answer

    def _refuse(self) -> None:
        raise BadFile(f"{self.path} describes a model with larger tables than the weights beside it.")


def _most_numbers(name: str, args: Sequence[object]) -> int:
    """The most numbers of a tensor that a function builds from these whole numbers."""
    if name in ("arange", "range", "linspace"):
        return max([1, *(abs(value) for value in args if isinstance(value, int))])
    sizes = args[:1] if name == "full" else args
    flat = [side for size in sizes for side in (size if isinstance(size, list | tuple) else [size])]
    return prod(max(side, 1) for side in flat if isinstance(side, int))
