"""A lens on disk: lens.json, and its weights with the table of word vectors, once, as lens.safetensors.

The table stands beside the head because a classifier's own word vectors may have moved since: a head that was trained on the
encoder before fine-tuning is read with the vectors that it was trained with (corrections.md A1.8).
"""

import json
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn

from pellucid.base.errors import BadFile
from pellucid.base.files import write_text
from pellucid.base.memory import check_memory
from pellucid.base.wording import reason
from pellucid.models.folders.configuration import read_object
from pellucid.models.folders.contained_paths import check_files
from pellucid.models.folders.weight_files import save_tensors, weight_sizes
from pellucid.models.language_heads.lens import Lens, LensRecord, read_lens_record
from pellucid.models.language_heads.lens_weights import tensors_digest
from pellucid.models.language_heads.masked_head import MaskedHead

RECORD, WEIGHTS = "lens.json", "lens.safetensors"


def save_lens(lens: Lens, folder: str | Path) -> None:
    """Write lens.safetensors and then lens.json; the lens is whole when the latter is there."""
    folder = Path(folder)
    save_tensors(lens_tensors(lens.head, lens.translators), folder / WEIGHTS)
    write_text(folder / RECORD, json.dumps(lens.record.record(), indent=1, ensure_ascii=False) + "\n")


def is_lens(folder: str | Path) -> bool:
    """Whether a folder holds a lens."""
    return (Path(folder) / RECORD).is_file()


def load_lens(folder: str | Path) -> Lens:
    """The lens that `save_lens` wrote; raises `BadFile` where a part is missing, was changed or does not fit."""
    folder = Path(folder)
    if not is_lens(folder):
        raise BadFile(
            f"There is no {RECORD} in {folder}; make a lens: pellucid lens MODEL --texts FILE --out {folder}."
        )
    check_files(folder)
    values = read_object(folder / RECORD)
    try:
        record = read_lens_record(values)
        weight_sizes([folder / WEIGHTS])  # whole, and with a header of bounded size
        _check_shapes(folder / WEIGHTS, record)
        tensors = load_file(folder / WEIGHTS)
        _check_tensors(tensors, record)
    except BadFile:
        raise
    except (
        SafetensorError,
        OSError,
        LookupError,
        ValueError,
        TypeError,
        OverflowError,
        RuntimeError,
        MemoryError,
    ) as error:
        check_memory(error, f"load {folder}")
        raise BadFile(
            f"{folder} does not hold a whole lens: {reason(error)}; make it again with pellucid lens."
        ) from None
    return _assembled(tensors, record)


def lens_tensors(head: MaskedHead, translators: Mapping[int, nn.Module]) -> dict[str, Tensor]:
    """All tensors of a lens by their names in its file."""
    tensors = {
        "word_vectors": head.word_vectors,
        **{f"head.{name}": one for name, one in head.state_dict().items()},
    }
    for layer, translator in translators.items():
        tensors |= {f"translator.{layer}.{name}": one for name, one in translator.state_dict().items()}
    return tensors


def _shapes(record: LensRecord) -> dict[str, list[int]]:
    """The shape that each tensor must have."""
    width, vector = record.widths[-1], record.vector_width
    shapes = {
        "word_vectors": [record.n_tokens, vector],
        "head.bias": [record.n_tokens],
        "head.dense.weight": [vector, width],
        "head.dense.bias": [vector],
        "head.norm.weight": [vector],
        "head.norm.bias": [vector],
    }
    for layer in record.translated:
        shapes |= {
            f"translator.{layer}.weight": [width, record.widths[layer]],
            f"translator.{layer}.bias": [width],
        }
    return shapes


def _check_shapes(path: Path, record: LensRecord) -> None:
    """Raise `ValueError` unless the file has the tensors that its record describes; nothing is read into memory."""
    expected = _shapes(record)
    with safe_open(path, framework="pt") as file:
        names = list(file.keys())
        strange = sorted(set(names) ^ set(expected))
        if strange:
            raise ValueError(f"{WEIGHTS} lacks a tensor, or has one too many: {', '.join(strange[:3])}")
        for name in names:
            part = file.get_slice(name)
            if part.get_shape() != expected[name] or part.get_dtype() != "F32":
                raise ValueError(
                    f"{name} is {part.get_dtype()} {part.get_shape()}, and {RECORD} says F32 {expected[name]}"
                )


def _check_tensors(tensors: Mapping[str, Tensor], record: LensRecord) -> None:
    if not all(bool(torch.isfinite(tensor).all()) for tensor in tensors.values()):
        raise ValueError("a weight is not a finite number")
    if tensors_digest(tensors) != record.weights:
        raise ValueError(f"{WEIGHTS} is not of this {RECORD}; one of them was changed")


def _assembled(tensors: dict[str, Tensor], record: LensRecord) -> Lens:
    with torch.device("meta"):  # the tensors of the file take the place of new ones
        head = MaskedHead(record.widths[-1], torch.empty(record.n_tokens, record.vector_width))
        translators = {
            layer: nn.Linear(record.widths[layer], record.widths[-1]) for layer in record.translated
        }
    head.word_vectors = tensors["word_vectors"]
    head.load_state_dict(_under("head.", tensors), assign=True)
    for layer, translator in translators.items():
        translator.load_state_dict(_under(f"translator.{layer}.", tensors), assign=True)
    for module in (head, *translators.values()):
        module.requires_grad_(False).eval()
    return Lens(head, translators, record)


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): one for name, one in tensors.items() if name.startswith(prefix)}
