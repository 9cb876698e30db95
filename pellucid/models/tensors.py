"""Tensors on disk: one safetensors file, there whole or not at all."""

from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import save_file
from torch import Tensor

from pellucid.core.errors import BadFile
from pellucid.core.files import whole_file


def save_tensors(tensors: Mapping[str, Tensor], path: Path, metadata: dict[str, str] | None = None) -> None:
    """Write named tensors; raises `BadFile` when the disk says no, and leaves what was there."""
    held = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with whole_file(path) as temporary:
        try:
            save_file(held, temporary, metadata=metadata)
        except SafetensorError as error:
            raise BadFile(f"Cannot write {path}: {error}") from None
