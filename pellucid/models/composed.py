"""A composed model: encoder x pooler x head, saved to one folder and loaded back.

The head is linear and the pooler's weights sum to 1, so the weighted units' logits sum to the logit.
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel

from pellucid.core.checks import of_kind, one_of
from pellucid.core.errors import BadFile, BadSetting
from pellucid.core.files import disk_errors, read_text, readable, write_text
from pellucid.core.kinds import encoders, poolers
from pellucid.core.target import Problem
from pellucid.core.wording import quoted, reason
from pellucid.models.classifier import Classifier, capabilities_of
from pellucid.models.final_full_stop import strip_final_full_stop
from pellucid.models.hugging_face import load_tokenizer
from pellucid.models.joined_windows import check_ends, joined_states, longest, window_of
from pellucid.models.labels import check_labels
from pellucid.models.output import Output
from pellucid.models.pretrained import load_encoder
from pellucid.models.quiet import quiet
from pellucid.models.rationale_network import RationaleNetwork
from pellucid.models.sizes import check_counts, check_sizes
from pellucid.models.tensors import save_tensors
from pellucid.models.trained_texts_file import read_trained_texts
from pellucid.models.word_vectors import EncoderConfig, begun, made_again

FORM = "pellucid-composed-1"
CONFIG, WEIGHTS = "config.json", "model.safetensors"
# Fields that folders of earlier versions do not have.
LATER = ("encoder_settings", "strip_final_full_stop", "started_from", "max_length")


@dataclass(frozen=True)
class Plan:
    """What a composed model is made of: enough to build it again.

    encoder: a registered one, or where a pretrained one was taken from. encoder_settings: of a registered one.
    max_length: the most pieces of a text that is read as one; above what the encoder reads, its windows are joined. None:
    what the encoder reads. strip_final_full_stop: a full stop at the end of a text is not read. started_from: the digest
    of the classifier whose encoder it is, where there was one.
    """

    encoder: str
    pooler: str
    pooler_settings: dict[str, Any]
    labels: tuple[str, ...]
    problem: Problem = "single_label"
    trained: dict[str, Any] = field(default_factory=dict)
    encoder_settings: dict[str, Any] = field(default_factory=dict)
    max_length: int | None = None
    strip_final_full_stop: bool = False
    started_from: str = ""

    def told(self) -> dict[str, Any]:
        """Every field, without those that came later and say nothing here: so plans of older versions stay the same."""
        return {name: held for name, held in asdict(self).items() if held or name not in LATER}


class ComposedNetwork(nn.Module):
    """Encoder, pooler, linear head; reads the word and the text of every piece besides its id."""

    def __init__(self, encoder: Any, plan: Plan) -> None:
        super().__init__()
        width: int = encoder.config.hidden_size
        self.config: Any = encoder.config
        self.encoder: Any = encoder
        self.pooler_settings = {"pooler": plan.pooler, **plan.pooler_settings}
        self.pooler = _pooler(width, plan)
        # A pooler whose vectors are not as wide as the encoder's says so.
        self.head = nn.Linear(getattr(self.pooler, "pooled_width", width), len(plan.labels))
        self._reads_types = getattr(encoder.config, "type_vocab_size", 0) > 1
        self.max_length = plan.max_length
        self.reads_sentences = getattr(self.pooler, "within", "text") == "sentence"
        self._window = window_of(encoder, plan.max_length)
        if plan.max_length is not None:
            self.pooler_settings["max_length"] = plan.max_length

    @property
    def joins(self) -> bool:
        """Whether it reads longer texts than its encoder, in windows that are joined."""
        return self._window is not None

    def get_input_embeddings(self) -> nn.Module:
        """The encoder's word-embedding module."""
        return self.encoder.get_input_embeddings()

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor,
        position_ids: Tensor,
        words: Tensor,
        segments: Tensor,
        token_type_ids: Tensor | None = None,
        sentences: Tensor | None = None,
    ) -> Output:
        """All [batch piece] -> logits [batch class] in the head's number type."""
        read = {"input_ids": input_ids, "attention_mask": attention_mask, "position_ids": position_ids}
        if token_type_ids is not None and self._reads_types:
            read["token_type_ids"] = token_type_ids
        states = self._states(read, segments)
        pooled = self.pooler(states, attention_mask, words, segments if sentences is None else sentences)
        with torch.autocast(states.device.type, enabled=False):
            return Output(self.head(pooled.vector.to(self.head.weight.dtype)), pooled.spans)

    def _states(self, read: dict[str, Tensor], segments: Tensor) -> Tensor:
        """[batch piece width]: what the encoder makes of each piece."""
        if self._window is not None and longest(read["position_ids"], self.encoder) > self._window:
            return joined_states(self.encoder, read | {"segments": segments}, self._window, self.training)
        return self.encoder(**read).last_hidden_state


def _pooler(width: int, plan: Plan) -> nn.Module:
    entry = poolers.get(plan.pooler)
    return entry.make(width, **entry.settings(plan.pooler_settings))


Composed = ComposedNetwork | RationaleNetwork


def composed_network(encoder: Any, plan: Plan) -> Composed:
    """A network on an encoder, its new parts drawn from torch's global random state."""
    if not poolers.get(plan.pooler).facts["chooses"]:
        return ComposedNetwork(encoder, plan)
    if plan.max_length is not None:
        raise BadSetting(f"pooler={plan.pooler!r} reads a text at once; give no max_length with it.")
    settings = {"pooler": plan.pooler, **plan.pooler_settings}
    pooler: Any = _pooler(encoder.config.hidden_size, plan)
    return RationaleNetwork(encoder, pooler, settings, len(plan.labels))


def compose(plan: Plan, seed: int) -> tuple[Composed, Any]:
    """A network whose new parts are drawn from the seed, and the tokenizer; raises `BadSetting` for parts that do not fit."""
    fresh = plan.encoder in encoders.names() and not plan.started_from
    if plan.encoder_settings and not fresh:
        raise BadSetting(
            f"encoder_settings belong to {', '.join(encoders.names())}; {plan.encoder} is trained already and has none."
        )
    pretrained = None if fresh else _pretrained(plan.encoder)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        encoder, tokenizer = pretrained or begun(plan.encoder, plan.encoder_settings)
        if plan.strip_final_full_stop:
            strip_final_full_stop(tokenizer)
        _check_reads_the_text(encoder.config.model_type, plan.pooler)
        network = composed_network(encoder, plan)
    if joins(network):
        check_ends(tokenizer, plan.encoder)
    return network, tokenizer


def joins(network: Any) -> bool:
    """Whether a network reads longer texts than its encoder, in windows that are joined."""
    return bool(getattr(network, "joins", False))


def _pretrained(source: str) -> tuple[Any, Any]:
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
            f"In a {encoder} a piece knows its neighbours alone, so pooler={pooler!r} would not read the text; give span, "
            "mean or maximum."
        )


def as_classifier(network: Composed, tokenizer: Any, plan: Plan, name: str) -> Classifier:
    """The network as the rooms see it."""
    explains = poolers.get(plan.pooler).facts["explains"]
    own = {explains} if explains else set()
    lacking = {"attention"} if isinstance(network.config, EncoderConfig) else set()
    # States and attention of windows are none of the whole text's.
    lost = {"hidden_states", "attention"} if joins(network) else set()
    capabilities = (capabilities_of(network) | own) - lacking - lost
    return Classifier(network, tokenizer, plan.labels, plan.problem, name, capabilities)


def save_composed(network: Composed, tokenizer: Any, plan: Plan, folder: str | Path) -> None:
    """Write config.json, model.safetensors and the tokenizer to one folder."""
    folder = Path(folder)
    with disk_errors("write", folder):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            tokenizer.save_pretrained(folder)
        except Exception as error:  # the tokenizer's writer raises nothing more precise
            raise BadFile(f"Cannot write the tokenizer to {folder}: {error}") from None
    save_tensors(network.state_dict(), folder / WEIGHTS)
    config = {"form": FORM, "encoder_config": network.config.to_dict(), **plan.told()}
    write_text(folder / CONFIG, json.dumps(config, indent=2, ensure_ascii=False))


def is_composed(folder: str | Path) -> bool:
    """Whether a folder holds a composed model."""
    path = Path(folder) / CONFIG
    if not path.is_file():
        return False
    try:
        held = json.loads(read_text(path))
    except ValueError:
        raise BadFile(f"{path} is not JSON.") from None
    return isinstance(held, dict) and held.get("form") == FORM


def load_composed(folder: str | Path) -> Classifier:
    """Load what `save_composed` wrote; raises `BadFile` when a part is missing or does not fit."""
    folder = Path(folder)
    held = json.loads(read_text(folder / CONFIG))
    try:
        plan = _plan(held)
        for told in (held["encoder_config"], held["encoder_config"].get("settings")):
            check_counts(told, folder)
        with quiet(), torch.random.fork_rng(devices=[]):  # what is drawn here is replaced by what was saved
            make = _maker(held["encoder_config"])
            check_sizes(make, folder)
            network = composed_network(make(), plan)
        with disk_errors("read", folder / WEIGHTS):
            network.load_state_dict(load_file(folder / WEIGHTS))
    except BadFile:
        raise
    except Exception as error:
        raise BadFile(f"{folder} does not hold a whole composed model: {reason(error)}.") from None
    tokenizer = load_tokenizer(folder)
    if plan.strip_final_full_stop:
        strip_final_full_stop(tokenizer)
    found = as_classifier(network.eval(), tokenizer, plan, readable(folder))
    return replace(found, trained_texts=read_trained_texts(folder))


def _maker(config: dict[str, Any]) -> Callable[[], Any]:
    """What makes an encoder of a saved configuration, without its weights."""
    if config.get("model_type") in encoders.names():
        return lambda: made_again(config)
    known = AutoConfig.for_model(**config)

    def make() -> Any:
        encoder = AutoModel.from_config(known)
        encoder.pooler = None
        return encoder

    return make


def _plan(held: dict[str, Any]) -> Plan:
    """The plan that a saved configuration tells, every field of its kind."""
    plan = Plan(
        **{name: held[name] for name in Plan.__dataclass_fields__ if name in held or name not in LATER}
    )
    for name in ("encoder", "pooler"):
        of_kind(name, getattr(plan, name), str)
    one_of("problem", of_kind("problem", plan.problem, str), ("single_label", "multi_label"))
    if not isinstance(plan.labels, list):
        raise BadSetting(f"labels={quoted(plan.labels)} is not possible; give a list of names.")
    check_labels(plan.labels)
    return replace(
        plan,
        labels=tuple(plan.labels),
        pooler_settings=dict(plan.pooler_settings),
        trained=dict(plan.trained),
        encoder_settings=dict(plan.encoder_settings),
        strip_final_full_stop=of_kind("strip_final_full_stop", plan.strip_final_full_stop, bool),
        started_from=of_kind("started_from", plan.started_from, str),
    )
