"""Models that write from a folder or the hub, or from memory: safetensors only, no remote code."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import torch
from torch import nn
from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
)

from pellucid.core.foundation.errors import BadFile, ModelCannot, PellucidError
from pellucid.core.foundation.files import readable
from pellucid.core.foundation.memory import check_memory
from pellucid.core.foundation.wording import listed
from pellucid.models.classifiers.hugging_face import load_tokenizer
from pellucid.models.classifiers.in_memory import check_of_library
from pellucid.models.classifiers.tokenizer import Tokenizer
from pellucid.models.classifiers.tokens import own_copy
from pellucid.models.composed.trained_texts_file import read_trained_texts
from pellucid.models.folders.hub import local_folder, why_not
from pellucid.models.folders.kinds_of_model import class_names
from pellucid.models.folders.library_network import Classes, read_network
from pellucid.models.folders.library_output import quiet
from pellucid.models.translation.translator_folder import is_translator, load_translator
from pellucid.models.writing.encoder_decoder import EncoderDecoder
from pellucid.models.writing.form import Form
from pellucid.models.writing.generation_settings import read_generation_settings
from pellucid.models.writing.language_model import LanguageModel
from pellucid.models.writing.languages import Languages
from pellucid.models.writing.marian_tokenizer import MarianTokenizer, is_marian_folder, load_marian_tokenizer
from pellucid.models.writing.writing_model import WritingModel

AS_THE_TOKENIZER_SAYS = Languages()
ENCODER_DECODERS = frozenset(MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES.values())
LANGUAGE_MODELS = frozenset(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values())


def writes(kind: str) -> bool:
    """Whether networks of a class of this name write texts."""
    return kind in ENCODER_DECODERS or kind in LANGUAGE_MODELS


def is_writing_source(source: str | Path) -> bool:
    """Whether the configuration of a folder, or of a model of the hub, names a class that writes; False where none can be read."""
    if is_translator(source):
        return True
    try:
        return any(writes(kind) for kind in class_names(local_folder(source)))
    except Exception:  # whoever loads it says what is wrong
        return False


def load_writing(
    source: str | Path, dtype: torch.dtype, languages: Languages = AS_THE_TOKENIZER_SAYS
) -> WritingModel:
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
        except (
            Exception
        ) as error:  # the library raises many kinds; each means that this source is no such model
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
    """A model that writes, from a network and a tokenizer in memory; raises `ModelCannot` for a tokenizer without offsets."""
    check_of_library(network)
    if type(tokenizer).__name__ == "MarianTokenizer" and not isinstance(tokenizer, MarianTokenizer):
        tokenizer = cast(Tokenizer, MarianTokenizer(tokenizer))
    if not getattr(tokenizer, "is_fast", False):
        raise ModelCannot(
            f"{type(tokenizer).__name__} does not say where in the text its pieces stand; fast tokenizers do, and Marian's."
        )
    config: Any = network.config  # Any: torch's modules declare no configuration
    title: str = name or config.name_or_path or type(network).__name__
    own = tokenizer if isinstance(tokenizer, MarianTokenizer) else own_copy(tokenizer)
    own = languages.of(own, title)
    form: Form = (
        EncoderDecoder(network, own, title)
        if config.is_encoder_decoder
        else LanguageModel(network, own, title)
    )
    return WritingModel(network, own, form, title)
