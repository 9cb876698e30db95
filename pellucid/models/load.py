"""From a folder or a name to a model: a classifier, a composed model, or one that writes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import torch
from torch import nn
from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)

from pellucid.base.checks import listed, one_of, quoted, reason
from pellucid.base.errors import BadFile, BadSetting, ModelCannot, PellucidError
from pellucid.base.files import disk_errors, possible_path, readable
from pellucid.base.memory import check_memory
from pellucid.base.packages import optional_package
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.hugging_face import load_hugging_face, load_tokenizer
from pellucid.models.classifiers.in_memory import check_of_library
from pellucid.models.classifiers.tokens import Tokenizer, own_copy
from pellucid.models.composed.composed import is_composed, load_composed, read_trained_texts
from pellucid.models.folders.configuration import class_names
from pellucid.models.folders.library_network import Classes, guarded, local_folder, quiet, read_network, why_not
from pellucid.models.mixed_precision import in_mixed_precision_if_ranks_stay
from pellucid.models.translation.translator_folder import is_translator, load_translator
from pellucid.models.writing.continuing import Languages, read_generation_settings
from pellucid.models.writing.forms import EncoderDecoder, LanguageModel
from pellucid.models.writing.tracks import Form
from pellucid.models.writing.writing_model import WritingModel
from pellucid.run.target import Problem

AS_THE_TOKENIZER_SAYS = Languages()
ENCODER_DECODERS = frozenset(MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES.values())
LANGUAGE_MODELS = frozenset(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values())


def writes(kind: str) -> bool:
    """Whether networks of a class of this name write texts."""
    return kind in ENCODER_DECODERS or kind in LANGUAGE_MODELS


def is_writing_source(source: str | Path) -> bool:
    """Whether the configuration of a folder, or of a model of the hub, names a class that writes; False where none can
    be read.
    """
    if is_translator(source):
        return True
    try:
        return any(writes(kind) for kind in class_names(local_folder(source)))
    except Exception:  # whoever loads it says what is wrong
        return False


def load_writing(source: str | Path, dtype: torch.dtype, languages: Languages = AS_THE_TOKENIZER_SAYS) -> WritingModel:
    """A model that writes, from a folder or the hub; raises `BadFile` when it cannot be read or lacks weights."""
    if is_translator(source):
        parts = load_translator(Path(source))
        model = wrap_writing(parts.network.to(dtype), parts.tokenizer, readable(source))
        return replace(model, trained_texts=read_trained_texts(source))
    with quiet():
        try:
            folder = local_folder(source)
            both = any(kind in ENCODER_DECODERS for kind in class_names(folder))
            classes: Classes = MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING if both else MODEL_FOR_CAUSAL_LM_MAPPING
            network, missing = read_network(folder, classes, dtype)
            read_generation_settings(folder, network)
        except PellucidError:
            raise
        except Exception as error:  # the library raises many kinds; each means that this source is no such model
            check_memory(error, f"load {source}")
            raise BadFile(
                f"Cannot load a model that writes from {source}: {why_not(source, error)}. Give a folder as "
                "`save_pretrained` leaves it, or a hub name."
            ) from None
    if missing:
        raise BadFile(
            f"{source} lacks weights that its config.json asks for ({listed(sorted(missing))}); save it anew."
        )
    name = readable(source)
    marian = is_marian_folder(folder)
    tokenizer: Any = load_marian_tokenizer(folder, name) if marian else load_tokenizer(folder, source)
    return wrap_writing(network.eval(), tokenizer, name, languages)


def wrap_writing(
    network: nn.Module,
    tokenizer: Tokenizer,
    name: str | None = None,
    languages: Languages = AS_THE_TOKENIZER_SAYS,
) -> WritingModel:
    """A model that writes, from a network and a tokenizer in memory; raises `ModelCannot` for a tokenizer without
    offsets.
    """
    check_of_library(network)
    if type(tokenizer).__name__ == "MarianTokenizer" and not isinstance(tokenizer, MarianTokenizer):
        tokenizer = cast(Tokenizer, MarianTokenizer(tokenizer))
    if not getattr(tokenizer, "is_fast", False):
        raise ModelCannot(
            f"{type(tokenizer).__name__} does not say where in the text its pieces stand; fast tokenizers do, and "
            f"Marian's."
        )
    config: Any = network.config  # Any: torch's modules declare no configuration
    title: str = name or config.name_or_path or type(network).__name__
    own_tokenizer = tokenizer if isinstance(tokenizer, MarianTokenizer) else own_copy(tokenizer)
    own_tokenizer = languages.applied_to(own_tokenizer, title)
    form: Form = (
        EncoderDecoder(network, own_tokenizer, title)
        if config.is_encoder_decoder
        else LanguageModel(network, own_tokenizer, title)
    )
    return WritingModel(network, own_tokenizer, form, title)


# Marian's tokenizer with places in the text: the library's has none, SentencePiece, which it calls, has.
#
# The ids are those of the library's tokenizer, or there is an error: what a user's own call reads is what is
# explained.

FILES = ("source.spm", "target.spm", "vocab.json")


@dataclass(frozen=True)
class EncodedPieces:
    """A text's pieces: ids, places in its characters, and for each 0, or None for a special token."""

    columns: dict[str, list[Any]]
    segments: tuple[int | None, ...]

    def __getitem__(self, name: str) -> list[Any]:
        return self.columns[name]

    def sequence_ids(self, index: int) -> Sequence[int | None]:
        """Each piece's segment; None for special tokens."""
        return self.segments


@dataclass(frozen=True, eq=False)
class MarianTokenizer:
    """The library's tokenizer, asked for a text or, as `text_target`, for what is written; everything else is the
    library's.

    Two languages have two lists of pieces. A language's code at the beginning of a text (`>>fra<<`) is a piece of its
    own.
    """

    wrapped: Any  # the library's: it is loaded where sentencepiece is there
    is_fast = True  # it gives offsets, which is what is asked of fast ones

    def __call__(self, *texts: str, text_target: str | None = None, **settings: object) -> EncodedPieces:
        """The pieces with their places; settings: those of fast tokenizers, which change nothing here."""
        is_target = text_target is not None
        text = texts[0] if text_target is None else text_target
        ids = self.wrapped(text_target=text)["input_ids"] if is_target else self.wrapped(text)["input_ids"]
        places = self._places(text, self.wrapped.spm_target if is_target else self.wrapped.spm_source)
        special = len(ids) - len(places)
        if special != 1 or ids[-1] != self.wrapped.eos_token_id:
            raise ModelCannot(
                f"The tokenizer reads {quoted(text)} as {len(ids)} pieces, and SentencePiece finds {len(places)} of "
                f"them in the text; it changes the text before it reads it (is sacremoses installed?)."
            )
        columns = {"input_ids": ids, "offset_mapping": [*places, (0, 0)]}
        return EncodedPieces(columns, (*(0 for _ in places), None))

    def _places(self, text: str, pieces: Any) -> list[tuple[int, int]]:
        codes, rest = self.wrapped.remove_language_code(text)
        start = len(text) - len(rest)
        of_rest = pieces.encode(rest, return_type="offset_mapping")["offsets"]
        return [(0, start)] * len(codes) + [(first + start, last + start) for first, last in of_rest]

    def __getattr__(self, name: str) -> Any:
        if name == "wrapped":  # not there yet, while a copy is made
            raise AttributeError(name)
        return getattr(self.wrapped, name)

    def __len__(self) -> int:
        return len(self.wrapped)

    @property
    def contents(self) -> str:
        """Everything that the ids depend on, for a digest."""
        models = [
            pieces.serialized_model_proto().hex() for pieces in (self.wrapped.spm_source, self.wrapped.spm_target)
        ]
        return json.dumps([self.wrapped.get_vocab(), *models], sort_keys=True)


def is_marian_folder(folder: Path) -> bool:
    """Whether a folder has the files of Marian's tokenizer and no fast one."""
    return all((folder / name).is_file() for name in FILES) and not (folder / "tokenizer.json").is_file()


def load_marian_tokenizer(folder: Path, name: str) -> MarianTokenizer:
    """The tokenizer of a folder; raises `MissingPackage` without sentencepiece, `BadFile` where the files cannot be
    read.
    """
    optional_package("sentencepiece")
    from transformers import MarianTokenizer as LibraryTokenizer

    with quiet(), guarded():
        try:
            library_tokenizer = LibraryTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        except Exception as error:
            check_memory(error, f"load a tokenizer from {name}")
            raise BadFile(f"Cannot load a tokenizer from {name}: {reason(error)}.") from None
    return MarianTokenizer(library_tokenizer)


# One door for every model: a composed model's folder, a Hugging Face folder, or a hub name.

AUTO = "auto"
DTYPES = ("float32", "bfloat16", "float16", "float64", "mixed_bfloat16", AUTO)


def load_classifier(
    source: str | Path, *, device: str = "cpu", dtype: str = "float32", problem: Problem | None = None
) -> Classifier:
    """Load a classifier; a path that looks local but is not there raises `BadFile` instead of asking the hub.

    dtype: of weights and computation; "mixed_bfloat16" keeps weights, attention, sums and the head in float32 and lets
    the feed-forward layers behind the first block multiply in bfloat16. "auto" is that where words keep their
    ranks in a trial, else float32.
    """
    one_of("dtype", dtype, DTYPES)
    mixed = torch.bfloat16 if dtype == "mixed_bfloat16" else None
    kind = torch.float32 if mixed or dtype == AUTO else getattr(torch, dtype)
    with disk_errors("read", Path(source)):
        path = _expanded(possible_path(source))
        is_folder = path.is_dir()
        if path.is_file():
            raise BadFile(f"{source} is a file, no model's folder; give the folder that `save_pretrained` wrote.")
    if not is_folder and _looks_local(str(source)):
        raise BadFile(f"There is no folder {source}; give a folder with a saved classifier, or a hub name.")
    composed = is_composed(path)
    if composed and problem is not None:
        raise BadSetting(f"{source} knows its own problem; leave problem= away.")
    classifier = (
        load_composed(path) if composed else load_hugging_face(path if path.is_dir() else source, problem, kind)
    )
    classifier.network.to(dtype=kind)
    classifier = on_device(replace(classifier, computes_in=mixed), device)
    return in_mixed_precision_if_ranks_stay(classifier) if dtype == AUTO else classifier


def load_model(
    source: str | Path,
    *,
    device: str = "cpu",
    dtype: str = "float32",
    problem: Problem | None = None,
    languages: Languages | None = None,
) -> Classifier | WritingModel:
    """A classifier, or a model that writes where the source's configuration says so; see `load_classifier`.

    languages: those of a translator of many; None: as its tokenizer says.
    """
    one_of("dtype", dtype, DTYPES)
    path = _expanded(possible_path(source))
    local = path.is_dir() or _looks_local(str(source))
    if (local and not path.is_dir()) or is_composed(path) or not is_writing_source(path if local else source):
        return load_classifier(source, device=device, dtype=dtype, problem=problem)
    if problem is not None or dtype in ("mixed_bfloat16", AUTO):
        raise BadSetting(f"{source} writes texts; leave problem= away, and give a plain number type as dtype=.")
    model = load_writing(path if local else source, getattr(torch, dtype), languages or Languages())
    move(model.network, device)
    return model


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:  # there is no user of that name
        return path


def on_device(classifier: Classifier, device: str) -> Classifier:
    """Move a classifier's weights; raises `BadSetting` for a device that is not there."""
    move(classifier.network, device)
    return classifier


def move(network: torch.nn.Module, device: str) -> None:
    """Move a network's weights; raises `BadSetting` for a device that is not there."""
    try:
        target = torch.device(device)
    except (RuntimeError, TypeError):
        target = torch.device("meta")  # where nothing is computed
    if target.type == "meta":
        raise BadSetting(f"device={quoted(device)} is not possible; give 'cpu', 'cuda' or 'cuda:1'.")
    try:
        network.to(target)
    except (RuntimeError, AssertionError) as error:
        raise BadSetting(f"device={quoted(device)} cannot be used here: {reason(error)}.") from None


def _looks_local(source: str) -> bool:
    return Path(source).exists() or source.startswith((".", "/", "~")) or source.count("/") > 1
