"""A composed model as a classifier, saved to one folder and loaded back."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from safetensors.torch import load_file
from transformers import MODEL_MAPPING

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import disk_errors, readable, write_text
from pellucid.core.foundation.json_text import Json
from pellucid.core.foundation.kinds import encoders, poolers
from pellucid.core.foundation.local_random import OwnDraws, UndrawnParameters
from pellucid.core.foundation.memory import check_memory
from pellucid.core.foundation.wording import reason
from pellucid.models.classifiers.classifier import POSSIBLE, Classifier
from pellucid.models.classifiers.hugging_face import load_tokenizer
from pellucid.models.classifiers.pretrained import without_pooler
from pellucid.models.classifiers.tokenizer import Tokenizer
from pellucid.models.composed.b_cos_layers import B_COS
from pellucid.models.composed.composed_network import ComposedNetwork, composed_network
from pellucid.models.composed.final_full_stop import strip_final_full_stop
from pellucid.models.composed.plan import Plan, read_plan
from pellucid.models.composed.tokenizer_files import save_tokenizer
from pellucid.models.composed.trained_texts_file import read_trained_texts
from pellucid.models.composed.word_vectors import rebuild_encoder
from pellucid.models.families.encoder import Encoder
from pellucid.models.folders.configuration import check_values, configuration
from pellucid.models.folders.contained_paths import check_files
from pellucid.models.folders.json_object import read_object
from pellucid.models.folders.library_network import new_network
from pellucid.models.folders.library_output import quiet
from pellucid.models.folders.sizes import check_numbers, check_sizes
from pellucid.models.folders.tensors import save_tensors
from pellucid.models.folders.unattended import guarded
from pellucid.models.folders.weight_files import weight_sizes

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
