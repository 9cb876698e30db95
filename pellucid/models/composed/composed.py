"""A composed model as a classifier, saved to one folder and loaded back."""

import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path

from safetensors.torch import load_file
from tokenizers import Regex, normalizers
from transformers import MODEL_MAPPING

from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors, read_text, readable, whole_files, write_text
from pellucid.base.json_text import Json
from pellucid.base.kinds import encoders, poolers
from pellucid.base.local_random import OwnDraws, UndrawnParameters
from pellucid.base.memory import check_memory
from pellucid.base.wording import reason
from pellucid.models.classifiers.classifier import POSSIBLE, Classifier
from pellucid.models.classifiers.hugging_face import load_tokenizer
from pellucid.models.classifiers.source_digest import without_pooler
from pellucid.models.classifiers.tokens import Tokenizer
from pellucid.models.composed.composed_network import ComposedNetwork, composed_network
from pellucid.models.composed.lower_layers import B_COS
from pellucid.models.composed.plan import Plan, read_plan
from pellucid.models.composed.word_vectors import rebuild_encoder
from pellucid.models.families.encoder import Encoder
from pellucid.models.folders.configuration import check_values, configuration, read_object
from pellucid.models.folders.contained_paths import check_files
from pellucid.models.folders.library_network import guarded, new_network, quiet
from pellucid.models.folders.sizes import check_numbers, check_sizes
from pellucid.models.folders.weight_files import save_tensors, weight_sizes

FORM = "pellucid-composed-1"
CONFIG, WEIGHTS = "config.json", "model.safetensors"


def as_classifier(network: ComposedNetwork, tokenizer: Tokenizer, plan: Plan, name: str) -> Classifier:
    """The network as the rooms see it."""
    explains = poolers.get(plan.pooler).facts["explains"]
    own = {explains} if explains else set()
    if plan.layer_form == B_COS:
        own |= {B_COS}
    # States and attention of windows do not belong to the whole text.
    lost = {"hidden_states", "attention"} if network.joins else set()
    possible = (POSSIBLE | own) - lost
    return Classifier(network, tokenizer, plan.labels, plan.problem, name, possible)


def save_composed(network: ComposedNetwork, tokenizer: Tokenizer, plan: Plan, folder: str | Path) -> None:
    """Write config.json, model.safetensors and the tokenizer to one folder."""
    folder = Path(folder)
    save_tokenizer(tokenizer, folder)
    save_tensors(network.state_dict(), folder / WEIGHTS)
    config = {"form": FORM, "encoder_config": network.config.to_dict(), **plan.record()}
    write_text(folder / CONFIG, json.dumps(config, indent=2, ensure_ascii=False))


def is_composed(folder: str | Path) -> bool:
    """Whether a folder holds a composed model."""
    path = Path(folder) / CONFIG
    return path.is_file() and read_object(path).get("form") == FORM


def encoder_kind(source: str) -> str:
    """The kind of encoder, such as "bilstm", in a composed model's folder; any other source as it is."""
    if not is_composed(source):
        return source
    config = read_object(Path(source) / CONFIG).get("encoder_config")
    return str(config.get("model_type", source)) if isinstance(config, dict) else source


def load_composed(folder: str | Path) -> Classifier:
    """Load what `save_composed` wrote; raises `BadFile` when a part is missing or does not fit."""
    folder = Path(folder)
    check_files(folder)
    values = read_object(folder / CONFIG)
    check_values(values, folder / CONFIG)
    try:
        plan = read_plan(values)
        sizes = weight_sizes([folder / WEIGHTS])
        built = {name: value for name, value in values.items() if name != "trained"}
        check_numbers(built, sizes, folder / CONFIG)  # a recipe's numbers build nothing
        with quiet(), guarded(), OwnDraws(0), UndrawnParameters():  # the weights are those of the file
            build = _encoder_builder(values["encoder_config"])
            check_sizes(build, sizes, folder / CONFIG)
            network = composed_network(build(), plan)
        with disk_errors("read", folder / WEIGHTS):
            network.load_state_dict(load_file(folder / WEIGHTS))
    except BadFile:
        raise
    except Exception as error:
        check_memory(error, f"load {folder}")
        raise BadFile(f"{folder} does not hold a whole composed model: {reason(error)}.") from None
    tokenizer = load_tokenizer(folder)
    if plan.strip_final_full_stop:
        strip_final_full_stop(tokenizer)
    classifier = as_classifier(network.eval(), tokenizer, plan, readable(folder))
    segments = plan.trained.get("segments")
    return replace(
        classifier,
        trained_texts=read_trained_texts(folder),
        trained_segments=segments if isinstance(segments, int) else None,
    )


def _encoder_builder(config: Json) -> Callable[[], Encoder]:
    """A function that builds the encoder of a saved configuration, without its weights."""
    if not isinstance(config, dict):
        raise ValueError("the encoder_config in its config.json is no object")
    if config.get("model_type") in encoders.names():
        return lambda: rebuild_encoder(config)
    known = configuration(config)

    return lambda: without_pooler(new_network(known, MODEL_MAPPING))


# The file in a trained model's folder that lists its train and dev texts, one digest a line.


FILE = "trained_texts.txt"


def read_trained_texts(folder: str | Path) -> frozenset[str]:
    """The digests in a folder; none where there is no such file, as in folders of earlier versions."""
    path = Path(folder) / FILE
    return frozenset(read_text(path).split()) if path.is_file() else frozenset()


def write_trained_texts(digests: Iterable[str], folder: str | Path) -> None:
    """Write them sorted, each once."""
    write_text(Path(folder) / FILE, "".join(f"{digest}\n" for digest in sorted(set(digests))))


# The tokenizer's files in a trained model's folder: written, and made again where some are missing.


ALWAYS = ("tokenizer.json", "tokenizer_config.json")  # what every tokenizer of ours leaves
TOKENIZER_FILES = (  # and what else the library's tokenizers leave, by kind
    *ALWAYS,
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "target_vocab.json",
    "bpe.codes",
    "spiece.model",
    "spm.model",
    "sentencepiece.bpe.model",
    "tokenizer.model",
    "source.spm",
    "target.spm",
)


def save_tokenizer(tokenizer: Tokenizer, folder: Path, only: Collection[str] | None = None) -> None:
    """Write a tokenizer's files to a folder. only: the names of those to write; None: all."""
    with whole_files(folder) as temporary:
        try:
            tokenizer.save_pretrained(temporary)
        except Exception as error:  # the tokenizer's writer raises nothing more precise
            raise BadFile(f"Cannot write the tokenizer to {folder}: {reason(error)}.") from None
        for path in list(temporary.iterdir()):
            if only is not None and path.name not in only:
                path.unlink()


def missing_tokenizer_files(folder: Path, damaged: Collection[str]) -> list[str]:
    """The tokenizer's files that are not there, of those that every one leaves and of those that were damaged."""
    expected = {*ALWAYS, *(name for name in damaged if name in TOKENIZER_FILES)}
    return sorted(name for name in expected if not (folder / name).exists())


# Texts read without their final full stop, as in the release of Sun et al. (2020) (corrections.md A0.7).
#
# The tokenizer skips it, so training, explaining and judging all do; offsets still belong to the text as
# written.


FINAL_FULL_STOP = r"(?<=\S)\s*\.\s*\z"  # a text of a full stop alone is read


def strip_final_full_stop(tokenizer: Tokenizer) -> None:
    """Make the tokenizer skip one full stop at the end of each text, and the white space around it."""
    if strips_final_full_stop(tokenizer):  # some tokenizers keep it when they are saved, some do not
        return
    backend = tokenizer.backend_tokenizer
    own = [] if backend.normalizer is None else [backend.normalizer]
    backend.normalizer = normalizers.Sequence([normalizers.Replace(Regex(FINAL_FULL_STOP), ""), *own])


def strips_final_full_stop(tokenizer: Tokenizer) -> bool:
    """Whether the tokenizer already skips it."""
    normalizer = json.loads(tokenizer.backend_tokenizer.to_str())["normalizer"] or {}
    steps = [step.get("pattern", {}) for step in normalizer.get("normalizers", [])]
    return any(step.get("Regex") == FINAL_FULL_STOP for step in steps)
