"""A language head for a classifier: a pretrained checkpoint's own, or a lens that was trained for it."""

from pathlib import Path
from typing import Any

import torch
from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_MASKED_LM_MAPPING

from pellucid.base.checks import kind_in_words
from pellucid.base.errors import BadFile, BadInput, ModelCannot, PellucidError
from pellucid.base.files import disk_errors, possible_path, readable
from pellucid.base.memory import check_memory
from pellucid.base.wording import listed
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.hugging_face import load_tokenizer
from pellucid.models.composed.composed import is_composed
from pellucid.models.folders.configuration import configuration, read_configuration
from pellucid.models.folders.hub import local_folder, why_not
from pellucid.models.folders.kinds_of_model import class_names
from pellucid.models.folders.library_network import quiet, read_network
from pellucid.models.language_heads.lens import Lens, check_lens_fits
from pellucid.models.language_heads.lens_folder import load_lens
from pellucid.models.language_heads.masked_lm_head import MaskedLMHead, vocabulary_digest
from pellucid.run.language_head import LanguageHead
from pellucid.run.trace import Want

LENS = "lens.json"
INSTEAD = "train a lens instead: pellucid.lens(model, texts, out=...), pellucid lens MODEL --texts FILE --out FOLDER"
NEXT_TOKEN = ("ForCausalLM", "LMHeadModel")  # how the names of such classes end


def language_head_for(classifier: Classifier, source: str | Path | LanguageHead) -> LanguageHead:
    """The head of a source, on the classifier's device and in its number type, in float32 at least.

    source: a lens folder, the folder or hub name of a pretrained checkpoint, or a head. Raises `BadFile` where nothing can
    be read, `ModelCannot` where there is no head or it is one for states of another width or for another vocabulary.
    """
    dtype = next(classifier.network.parameters()).dtype
    head = _read(source, classifier.device, torch.promote_types(dtype, torch.float32))
    if isinstance(head, Lens):
        check_lens_fits(head, classifier)
        return head
    if "hidden_states" not in classifier.capabilities:
        raise ModelCannot(
            f"{classifier.name} shows no hidden states, so a language head has nothing to read; leave language_head away."
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
        raise BadInput(
            f"A language head came as {kind_in_words(source)}; give a folder, a hub name or a head."
        )
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
                f"Cannot load a language head from {source}: {why_not(source, error)}. Give a pretrained checkpoint or a "
                "lens folder."
            ) from None
    if missing := _untrained(network, missing):
        raise ModelCannot(
            f"{source} has no trained masked-language-model head ({listed(missing)} would be random); give the pretrained "
            f"checkpoint, or {INSTEAD}."
        )
    return MaskedLMHead(network, load_tokenizer(folder, source), readable(source))


def _check_kind(folder: Path, source: str | Path) -> None:
    """Raise `ModelCannot` for checkpoints whose heads name something else than the token in its place."""
    if is_composed(folder):
        raise ModelCannot(
            f"{source} is a classifier that Pellucid trained, which has no language head; {INSTEAD}."
        )
    kinds = class_names(folder)
    known = configuration(read_configuration(folder))
    masked = type(known) in MODEL_FOR_MASKED_LM_MAPPING
    if any(kind.endswith(NEXT_TOKEN) for kind in kinds) or (
        not masked and type(known) in MODEL_FOR_CAUSAL_LM_MAPPING
    ):
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
