"""Language heads from folders: that of a masked language model, or a lens with its weights and table."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_MASKED_LM_MAPPING

from pellucid.base.checks import kind_in_words, listed, reason
from pellucid.base.errors import BadFile, BadInput, ModelCannot, PellucidError
from pellucid.base.files import disk_errors, possible_path, readable, write_text
from pellucid.base.memory import check_memory
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.hugging_face import load_tokenizer
from pellucid.models.composed.composed import is_composed
from pellucid.models.folders.configuration import (
    check_files,
    class_names,
    configuration,
    read_configuration,
    read_object,
)
from pellucid.models.folders.library_network import local_folder, quiet, read_network, why_not
from pellucid.models.folders.weight_files import save_tensors, weight_sizes
from pellucid.models.language_heads.lens import (
    Lens,
    LensRecord,
    check_lens_fits,
    read_lens_record,
    tensors_digest,
)
from pellucid.models.language_heads.masked_head import MaskedHead, MaskedLMHead, vocabulary_digest
from pellucid.run.target import LanguageHead
from pellucid.run.trace import Want

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
        **{f"head.{name}": tensor for name, tensor in head.state_dict().items()},
    }
    for layer, translator in translators.items():
        tensors |= {f"translator.{layer}.{name}": tensor for name, tensor in translator.state_dict().items()}
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
        translators = {layer: nn.Linear(record.widths[layer], record.widths[-1]) for layer in record.translated}
    head.word_vectors = tensors["word_vectors"]
    head.load_state_dict(_under("head.", tensors), assign=True)
    for layer, translator in translators.items():
        translator.load_state_dict(_under(f"translator.{layer}.", tensors), assign=True)
    for module in (head, *translators.values()):
        module.requires_grad_(False).eval()
    return Lens(head, translators, record)


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


# A language head for a classifier: a pretrained checkpoint's own, or a lens that was trained for it.

LENS = "lens.json"
INSTEAD = "train a lens instead: pellucid.lens(model, texts, out=...), pellucid lens MODEL --texts FILE --out FOLDER"
NEXT_TOKEN = ("ForCausalLM", "LMHeadModel")  # how the names of such classes end


def language_head_for(classifier: Classifier, source: str | Path | LanguageHead) -> LanguageHead:
    """The head of a source, on the classifier's device and in its number type, in float32 at least.

    source: a lens folder, the folder or hub name of a pretrained checkpoint, or a head. Raises `BadFile` where nothing
    can be read, `ModelCannot` where there is no head or it is one for states of another width or for another
    vocabulary.
    """
    dtype = next(classifier.network.parameters()).dtype
    head = _read(source, classifier.device, torch.promote_types(dtype, torch.float32))
    if isinstance(head, Lens):
        check_lens_fits(head, classifier)
        return head
    if "hidden_states" not in classifier.capabilities:
        raise ModelCannot(
            f"{classifier.name} shows no hidden states, so a language head has nothing to read; leave language_head "
            f"away."
        )
    row = classifier.facts.trial_row
    with torch.no_grad():
        width = classifier.trace([row], Want(hidden=True)).hidden[-1].shape[-1]
    title = source if isinstance(source, str | Path) else head.description
    if head.width != width:
        raise ModelCannot(
            f"The language head {title} reads states of width {head.width}, and those of {classifier.name} have width "
            f"{width}; give the head of the checkpoint that it was fine-tuned from, or {INSTEAD}."
        )
    if head.vocabulary != vocabulary_digest(classifier.tokenizer):
        raise ModelCannot(
            f"The language head {title} has another vocabulary than {classifier.name}; give the head of the checkpoint "
            f"that it was fine-tuned from, or {INSTEAD}."
        )
    return head


def _read(source: str | Path | LanguageHead, device: torch.device, dtype: torch.dtype) -> LanguageHead:
    if not isinstance(source, str | Path):
        if hasattr(source, "name_tokens"):
            return source
        raise BadInput(f"A language head came as {kind_in_words(source)}; give a folder, a hub name or a head.")
    with disk_errors("read", Path(source)):
        if (possible_path(source) / LENS).is_file():
            return load_lens(Path(source)).to(device, dtype)
    return load_masked_lm_head(source).to(device, dtype)


def load_masked_lm_head(source: str | Path) -> MaskedLMHead:
    """The masked-LM head of a checkpoint: a folder as `save_pretrained` leaves it, or a hub name.

    Raises `BadFile` where it cannot be read, `ModelCannot` where it has no trained masked-LM head.
    """
    with quiet():
        try:
            folder = local_folder(source)
            _check_kind(folder, source)
            network, missing = read_network(folder, MODEL_FOR_MASKED_LM_MAPPING, torch.float32)
        except PellucidError:
            raise
        except Exception as error:  # the library raises many kinds; each means that it is no such checkpoint
            check_memory(error, f"load {source}")
            raise BadFile(
                f"Cannot load a language head from {source}: {why_not(source, error)}. Give a pretrained checkpoint or "
                f"a lens folder."
            ) from None
    if missing := _untrained(network, missing):
        raise ModelCannot(
            f"{source} has no trained masked-language-model head ({listed(missing)} would be random); give the "
            f"pretrained checkpoint, or {INSTEAD}."
        )
    return MaskedLMHead(network, load_tokenizer(folder, source), readable(source))


def _check_kind(folder: Path, source: str | Path) -> None:
    """Raise `ModelCannot` for checkpoints whose heads name something else than the token in its place."""
    if is_composed(folder):
        raise ModelCannot(f"{source} is a classifier that Pellucid trained, which has no language head; {INSTEAD}.")
    kinds = class_names(folder)
    known = configuration(read_configuration(folder))
    masked = type(known) in MODEL_FOR_MASKED_LM_MAPPING
    if any(kind.endswith(NEXT_TOKEN) for kind in kinds) or (not masked and type(known) in MODEL_FOR_CAUSAL_LM_MAPPING):
        raise ModelCannot(f"The head of {source} names the next token, not the one in its place; {INSTEAD}.")
    if not masked:
        raise ModelCannot(
            f"Models of the type {known.model_type}, such as {source}, have no masked-language-model head; {INSTEAD}."
        )
    if any(kind == "ElectraForPreTraining" for kind in kinds):
        raise ModelCannot(
            f"{source} is an ELECTRA discriminator, which says which tokens were replaced and names none; give its "
            f"generator, or {INSTEAD}."
        )


def _untrained(network: Any, missing: list[str]) -> list[str]:  # Any: a network of Hugging Face
    """Missing weights of the head, sorted; an encoder's own pooler, which no head reads, may be missing."""
    pooler = f"{network.base_model_prefix}.pooler."
    return sorted(name for name in missing if not name.startswith(pooler))
