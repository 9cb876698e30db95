"""Models that write from a folder or the hub, or from memory: safetensors only, no remote code."""

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

from pellucid.base.checks import listed, quoted, reason
from pellucid.base.errors import BadFile, ModelCannot, PellucidError
from pellucid.base.files import readable
from pellucid.base.memory import check_memory
from pellucid.base.packages import optional_package
from pellucid.models.classifiers.hugging_face import load_tokenizer
from pellucid.models.classifiers.in_memory import check_of_library
from pellucid.models.classifiers.tokens import Tokenizer, own_copy
from pellucid.models.composed.composed import read_trained_texts
from pellucid.models.folders.configuration import class_names
from pellucid.models.folders.library_network import (
    Classes,
    guarded,
    local_folder,
    quiet,
    read_network,
    why_not,
)
from pellucid.models.translation.translator_folder import is_translator, load_translator
from pellucid.models.writing.continuing import Languages, read_generation_settings
from pellucid.models.writing.forms import EncoderDecoder, LanguageModel
from pellucid.models.writing.tracks import Form
from pellucid.models.writing.writing_model import WritingModel

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
    own = tokenizer if isinstance(tokenizer, MarianTokenizer) else own_copy(tokenizer)
    own = languages.of(own, title)
    form: Form = (
        EncoderDecoder(network, own, title) if config.is_encoder_decoder else LanguageModel(network, own, title)
    )
    return WritingModel(network, own, form, title)


# Marian's tokenizer with places in the text: the library's has none, SentencePiece, which it calls, has.
#
# The ids are those of the library's tokenizer, or there is an error: what a user's own call reads is what
# is explained.


FILES = ("source.spm", "target.spm", "vocab.json")


@dataclass(frozen=True)
class EncodedPieces:
    """A text's pieces: ids, places in its characters, and for each 0, or None for a special token."""

    columns: dict[str, list]
    segments: tuple[int | None, ...]

    def __getitem__(self, name: str) -> list:
        return self.columns[name]

    def sequence_ids(self, number: int) -> Sequence[int | None]:
        """Each piece's segment; None for special tokens."""
        return self.segments


@dataclass(frozen=True, eq=False)
class MarianTokenizer:
    """The library's tokenizer, asked for a text or, as `text_target`, for what is written; everything else is the
    library's.

    Two languages have two lists of pieces. A language's code at the beginning of a text (`>>fra<<`) is a piece of its
    own.
    """

    own: Any  # the library's: it is loaded where sentencepiece is there
    is_fast = True  # it gives offsets, which is what is asked of fast ones

    def __call__(self, *texts: str, text_target: str | None = None, **settings: object) -> EncodedPieces:
        """The pieces with their places; settings: those of fast tokenizers, which change nothing here."""
        is_target = text_target is not None
        text = texts[0] if text_target is None else text_target
        ids = self.own(text_target=text)["input_ids"] if is_target else self.own(text)["input_ids"]
        places = self._places(text, self.own.spm_target if is_target else self.own.spm_source)
        special = len(ids) - len(places)
        if special != 1 or ids[-1] != self.own.eos_token_id:
            raise ModelCannot(
                f"The tokenizer reads {quoted(text)} as {len(ids)} pieces, and SentencePiece finds {len(places)} of "
                f"them in the text; it changes the text before it reads it (is sacremoses installed?)."
            )
        columns = {"input_ids": ids, "offset_mapping": [*places, (0, 0)]}
        return EncodedPieces(columns, (*(0 for _ in places), None))

    def _places(self, text: str, pieces: Any) -> list[tuple[int, int]]:
        codes, rest = self.own.remove_language_code(text)
        start = len(text) - len(rest)
        of_rest = pieces.encode(rest, return_type="offset_mapping")["offsets"]
        return [(0, start)] * len(codes) + [(first + start, last + start) for first, last in of_rest]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.own, name)

    def __len__(self) -> int:
        return len(self.own)

    @property
    def contents(self) -> str:
        """Everything that the ids depend on, for a digest."""
        models = [pieces.serialized_model_proto().hex() for pieces in (self.own.spm_source, self.own.spm_target)]
        return json.dumps([self.own.get_vocab(), *models], sort_keys=True)


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
            own = LibraryTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        except Exception as error:
            check_memory(error, f"load a tokenizer from {name}")
            raise BadFile(f"Cannot load a tokenizer from {name}: {reason(error)}.") from None
    return MarianTokenizer(own)
