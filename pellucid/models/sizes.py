"""Whether a configuration can be meant: sizes that its weights could never fill are refused before anything is made.

A configuration is a stranger's file too, and one number in it is enough to ask for all memory, or to build for hours.
"""

import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import AutoConfig

from pellucid.core.errors import BadFile
from pellucid.core.files import disk_errors
from pellucid.core.json_text import read_json

# Things that are made one by one, while the configuration is read or the network is built, and the most that may be meant.
COUNTS = {"num_hidden_layers": 1000, "n_layers": 1000, "num_hidden_groups": 1000, "inner_group_num": 1000}
COUNTS |= {"layers": 1000, "num_labels": 1_000_000}
SLACK = 10_000_000  # numbers that weights may lack, as a model without its head does


def check_folder(source: str | Path, kind: Any) -> None:
    """Both checks for a folder of Hugging Face's; kind: the class that makes networks of a configuration."""
    folder = Path(source)
    if not (folder / "config.json").is_file() or not any(folder.glob("*.safetensors")):
        return  # loading says what is missing
    told = read_json(folder / "config.json")
    check_counts(told, folder)
    if isinstance(told, Mapping) and told.get("id2label") == {}:
        raise BadFile(f"{folder}/config.json names no class; name every class in its id2label.")
    config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    check_sizes(lambda: kind.from_config(config), folder)


def check_counts(config: Any, folder: Path) -> None:
    """Raise `BadFile` when a configuration asks for more blocks or classes than any model has."""
    for name, most in COUNTS.items():
        value = config.get(name) if isinstance(config, Mapping) else None
        if isinstance(value, int | float) and not value <= most:
            raise BadFile(
                f"{folder}/config.json says {name}={value}, which cannot be; at most {most:,} are read."
            )


def check_sizes(make: Callable[[], nn.Module], folder: Path) -> None:
    """Raise `BadFile` when a network is far larger than the weights beside its configuration.

    make: builds the network; it is called where tensors have sizes and no memory.
    """
    with torch.device("meta"):
        needed = sum(parameter.numel() for parameter in make().parameters())
    held = sum(map(_numbers_in, folder.glob("*.safetensors")))
    if needed > 2 * held + SLACK:
        raise BadFile(
            f"{folder}/config.json describes a model of {needed:,} numbers, but the weights beside it have {held:,}; "
            "they do not belong together."
        )


def _numbers_in(path: Path) -> int:
    """How many numbers a safetensors file can hold, by its size and what its header says of their type."""
    with disk_errors("read", path):
        size = path.stat().st_size
        with path.open("rb") as file:
            length = struct.unpack("<Q", file.read(8).ljust(8, b"\0"))[0]
            header = file.read(min(length, size))
    return size // _bytes_a_number(header)


def _bytes_a_number(header: bytes) -> int:
    """Bytes of the smallest number type in a header: one where it cannot be read, so that nothing is refused for it."""
    try:
        types = {held["dtype"] for name, held in json.loads(header).items() if name != "__metadata__"}
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return 1
    return min(({"F64": 8, "F32": 4, "F16": 2, "BF16": 2}.get(name, 1) for name in types), default=1)
