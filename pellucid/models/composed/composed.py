"""A composed model as a classifier, saved to one folder and loaded back."""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from safetensors.torch import load_file
from tokenizers import Regex, normalizers
from transformers import MODEL_MAPPING

from pellucid.base.checks import reason
from pellucid.base.errors import BadFile, BadSetting
from pellucid.base.files import disk_errors, read_text, readable, whole_files, write_text
from pellucid.base.json_text import Json
from pellucid.base.kinds import encoders, poolers
from pellucid.base.memory import check_memory
from pellucid.base.torch_state import OwnDraws, UndrawnParameters
from pellucid.models.classifiers.classifier import POSSIBLE, Classifier
from pellucid.models.classifiers.hugging_face import load_encoder, load_tokenizer, without_pooler
from pellucid.models.classifiers.tokens import Tokenizer
from pellucid.models.composed.joined_windows import check_ends
from pellucid.models.composed.lower_layers import (
    B_COS,
    fitting_poolers,
    has_b_cos_layers,
    remove_upper_blocks,
)
from pellucid.models.composed.networks import ComposedNetwork, Plan, composed_network, read_plan
from pellucid.models.composed.word_vectors import new_encoder, rebuild_encoder
from pellucid.models.families.encoder import Encoder
from pellucid.models.folders.configuration import (
    CLASSIFIER,
    check_files,
    check_values,
    class_names,
    configuration,
    read_object,
)
from pellucid.models.folders.library_network import guarded, new_network, quiet
from pellucid.models.folders.weight_files import check_numbers, check_sizes, save_tensors, weight_sizes

FORM = "pellucid-composed-1"
CONFIG, WEIGHTS = "config.json", "model.safetensors"


def as_classifier(network: ComposedNetwork, tokenizer: Tokenizer, plan: Plan, name: str) -> Classifier:
    """The network as the rooms see it."""
    explains = poolers.get(plan.pooler).facts["explains"]
    own_capabilities = {explains} if explains else set()
    if plan.layer_form == B_COS:
        own_capabilities |= {B_COS}
    # States and attention of windows do not belong to the whole text.
    lost = {"hidden_states", "attention"} if network.joins else set()
    possible = (POSSIBLE | own_capabilities) - lost
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
# The tokenizer skips it, so training, explaining and judging all do; offsets still belong to the text as written.

FINAL_FULL_STOP = r"(?<=\S)\s*\.\s*\z"  # a text of a full stop alone is read


def strip_final_full_stop(tokenizer: Tokenizer) -> None:
    """Make the tokenizer skip one full stop at the end of each text, and the white space around it."""
    if strips_final_full_stop(tokenizer):  # some tokenizers keep it when they are saved, some do not
        return
    backend = tokenizer.backend_tokenizer
    existing = [] if backend.normalizer is None else [backend.normalizer]
    backend.normalizer = normalizers.Sequence([normalizers.Replace(Regex(FINAL_FULL_STOP), ""), *existing])


def strips_final_full_stop(tokenizer: Tokenizer) -> bool:
    """Whether the tokenizer already skips it."""
    normalizer = json.loads(tokenizer.backend_tokenizer.to_str())["normalizer"] or {}
    steps = [step.get("pattern", {}) for step in normalizer.get("normalizers", [])]
    return any(step.get("Regex") == FINAL_FULL_STOP for step in steps)


# From a plan to a network that is not trained yet, and its tokenizer.


def compose(plan: Plan, seed: int, texts: Sequence[Sequence[str]] = ()) -> tuple[ComposedNetwork, Tokenizer]:
    """A network whose new parts are drawn from the seed, and the tokenizer; raises `BadSetting` for parts that do not
    fit.

    texts: the train texts and pairs; an encoder on a file of word vectors knows their words.
    """
    fresh = plan.encoder in encoders.names() and not plan.started_from
    if plan.encoder_settings and not fresh:
        raise BadSetting(
            f"encoder_settings belong to {', '.join(encoders.names())}; {plan.encoder} is trained already and has none."
        )
    pretrained = None if fresh else _pretrained(plan.encoder)
    with OwnDraws(seed):
        encoder, tokenizer = pretrained or new_encoder(plan.encoder, plan.encoder_settings, texts)
        if plan.strip_final_full_stop:
            strip_final_full_stop(tokenizer)
        _check_reads_the_text(encoder.config.model_type, plan.pooler)
        layer = plan.pooler_settings.get("layer")
        if isinstance(layer, int):
            remove_upper_blocks(encoder, layer, plan.encoder)
        if has_b_cos_layers(encoder) and plan.layer_form != B_COS:
            raise BadSetting(
                f"{plan.encoder} has B-cos layers; give form='b_cos' with {fitting_poolers()}, or begin with another "
                f"model."
            )
        network = composed_network(encoder, plan)
    if network.joins and plan.layer_form == B_COS:
        raise BadSetting(
            f"form='b_cos' explains texts that are read as one, and max_length={plan.max_length} joins windows; leave "
            f"one of them away."
        )
    if network.joins:
        check_ends(tokenizer, plan.encoder)
    return network, tokenizer


def _pretrained(source: str) -> tuple[Encoder, Tokenizer]:
    """The encoder of a composed model or of Hugging Face's, and its tokenizer."""
    if is_composed(source):
        started = load_composed(source)
        return started.network.encoder, started.tokenizer
    return load_encoder(source)


def _check_reads_the_text(encoder: str, pooler: str) -> None:
    """Raise `BadSetting` where the pooler reads one piece alone and a piece knows its neighbours alone."""
    alone = encoder in encoders.names() and poolers.get(pooler).facts["alone"]
    if alone and encoders.get(encoder).facts["sees"] != "text":
        raise BadSetting(
            f"In a {encoder} a piece knows its neighbours alone, so pooler={pooler!r} would not read the text; give "
            f"span, mean or maximum."
        )


# A pretrained encoder as a model, before it is fine-tuned: its states can be read, and its answers mean nothing.

LABELS = ("first", "second")  # of a head that nothing reads


def encoder_model(source: str | Path) -> Classifier:
    """The encoder of a name or folder under a head that nobody trained; of a composed model, the one that it began
    with, in its own form (without B-cos layers).

    Raises `BadSetting` for a classifier whose encoder before fine-tuning is not known, `BadFile` where there is none.
    """
    name = _beginning(source)
    encoder, tokenizer = load_encoder(name)
    plan = Plan(str(name), "mean", {}, LABELS)
    with OwnDraws(0):
        network = composed_network(encoder, plan)
    return as_classifier(network.eval(), tokenizer, plan, str(name))


def is_encoder(source: str | Path) -> bool:
    """Whether a source plainly is an encoder without a classifier: "minilm", or the folder of one."""
    if str(source) == "minilm":
        return True
    folder = Path(source)
    if not folder.is_dir() or is_composed(folder) or not (folder / CONFIG).is_file():
        return False
    return not any(name.endswith(CLASSIFIER) for name in class_names(folder))


def _beginning(source: str | Path) -> str | Path:
    """What an encoder is loaded from; of a composed model's folder, what its plan names."""
    if is_composed(source):
        plan = read_plan(read_object(Path(source) / CONFIG))
        if plan.started_from or plan.encoder in encoders.names():
            raise BadSetting(
                f"{source} was not begun with a pretrained encoder, so there is none before fine-tuning; leave "
                "on='encoder' (--on encoder) away."
            )
        return plan.encoder
    if Path(source).is_dir() and any(name.endswith(CLASSIFIER) for name in class_names(Path(source))):
        raise BadSetting(
            f"{source} is fine-tuned, and does not say from which encoder; give that encoder's folder or name in its "
            f"place, or leave on='encoder' (--on encoder) away."
        )
    return source
