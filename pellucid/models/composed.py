"""A composed model: encoder x pooler x head, saved to one folder and loaded back.

The head is linear and the pooler's weights sum to 1, so the weighted units' logits sum to the logit.
"""

import json
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
from pellucid.core.kinds import poolers
from pellucid.core.target import Problem
from pellucid.core.wording import quoted, reason
from pellucid.models.classifier import Classifier, capabilities_of
from pellucid.models.encoders import load_encoder
from pellucid.models.hugging_face import load_tokenizer
from pellucid.models.labels import check_labels
from pellucid.models.output import Output
from pellucid.models.quiet import quiet
from pellucid.models.rationale_network import RationaleNetwork
from pellucid.models.sizes import check_counts, check_sizes
from pellucid.models.tensors import save_tensors

FORM = "pellucid-composed-1"
CONFIG, WEIGHTS = "config.json", "model.safetensors"


@dataclass(frozen=True)
class Plan:
    """What a composed model is made of: enough to build it again."""

    encoder: str
    pooler: str
    pooler_settings: dict[str, Any]
    labels: tuple[str, ...]
    problem: Problem = "single_label"
    trained: dict[str, Any] = field(default_factory=dict)


class ComposedNetwork(nn.Module):
    """Encoder, pooler, linear head; reads the word and the text of every piece besides its id."""

    def __init__(self, encoder: Any, plan: Plan) -> None:
        super().__init__()
        width: int = encoder.config.hidden_size
        self.config: Any = encoder.config
        self.encoder: Any = encoder
        self.pooler_settings = {"pooler": plan.pooler, **plan.pooler_settings}
        self.pooler = _pooler(width, plan)
        self.head = nn.Linear(width, len(plan.labels))
        self._reads_types = getattr(encoder.config, "type_vocab_size", 0) > 1

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
    ) -> Output:
        """All [batch piece] -> logits [batch class] in the head's number type."""
        extra = {} if token_type_ids is None or not self._reads_types else {"token_type_ids": token_type_ids}
        states = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, position_ids=position_ids, **extra
        ).last_hidden_state
        pooled = self.pooler(states, attention_mask, words, segments)
        with torch.autocast(states.device.type, enabled=False):
            return Output(self.head(pooled.vector.to(self.head.weight.dtype)), pooled.spans)


def _pooler(width: int, plan: Plan) -> nn.Module:
    entry = poolers.get(plan.pooler)
    return entry.make(width, **entry.settings(plan.pooler_settings))


Composed = ComposedNetwork | RationaleNetwork


def composed_network(encoder: Any, plan: Plan) -> Composed:
    """A network on an encoder, its new parts drawn from torch's global random state."""
    if not poolers.get(plan.pooler).facts["chooses"]:
        return ComposedNetwork(encoder, plan)
    settings = {"pooler": plan.pooler, **plan.pooler_settings}
    pooler: Any = _pooler(encoder.config.hidden_size, plan)
    return RationaleNetwork(encoder, pooler, settings, len(plan.labels))


def compose(plan: Plan, seed: int) -> tuple[Composed, Any]:
    """A network on a pretrained encoder, its new parts drawn from the seed, and the tokenizer."""
    encoder, tokenizer = load_encoder(plan.encoder)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return composed_network(encoder, plan), tokenizer


def as_classifier(network: Composed, tokenizer: Any, plan: Plan, name: str) -> Classifier:
    """The network as the rooms see it."""
    explains = poolers.get(plan.pooler).facts["explains"]
    own = {explains} if explains else set()
    return Classifier(network, tokenizer, plan.labels, plan.problem, name, capabilities_of(network) | own)


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
    config = {"form": FORM, "encoder_config": network.config.to_dict(), **asdict(plan)}
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
        check_counts(held["encoder_config"], folder)
        with quiet(), torch.random.fork_rng(devices=[]):  # what is drawn here is replaced by what was saved
            config = AutoConfig.for_model(**held["encoder_config"])
            check_sizes(lambda: AutoModel.from_config(config), folder)
            encoder = AutoModel.from_config(config)
            encoder.pooler = None
            network = composed_network(encoder, plan)
        with disk_errors("read", folder / WEIGHTS):
            network.load_state_dict(load_file(folder / WEIGHTS))
    except BadFile:
        raise
    except Exception as error:
        raise BadFile(f"{folder} does not hold a whole composed model: {reason(error)}.") from None
    return as_classifier(network.eval(), load_tokenizer(folder), plan, readable(folder))


def _plan(held: dict[str, Any]) -> Plan:
    """The plan that a saved configuration tells, every field of its kind."""
    plan = Plan(**{name: held[name] for name in Plan.__dataclass_fields__})
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
    )
