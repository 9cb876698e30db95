"""What a translator is built from, before it is trained: sizes, pieces and its layer of spans; or another
translator.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from typing import Any, Literal, TypedDict, get_args

import torch

from pellucid.base.checks import at_least, between, mapping, of_kind, one_of
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.base.kinds import penalties
from pellucid.base.torch_state import OwnDraws
from pellucid.models.classifiers.tokens import Tokenizer
from pellucid.models.load import load_writing
from pellucid.models.translation.source_spans import SpanSettings
from pellucid.models.translation.translator_folder import TranslatorParts, add_source_spans, source_spans_of
from pellucid.models.translation.untrained_network import (
    LstmSettings,
    NetworkSettings,
    learn_pieces,
    untrained_lstm,
    untrained_network,
)
from pellucid.models.writing.forms import EncoderDecoder
from pellucid.models.writing.tokenizing import two_texts
from pellucid.run.blank import HIGHEST_SEED
from pellucid.text.example import Example
from pellucid.training.recipe import Precision, computes_in

Pooler = Literal["span", "none"]
Network = Literal["transformer", "lstm"]
NETWORKS: Mapping[str, type[NetworkSettings] | type[LstmSettings]] = {
    "transformer": NetworkSettings,
    "lstm": LstmSettings,
}
MOST_PIECES = 200_000


@dataclass(frozen=True)
class TranslatorPlan:
    """pooler: "span" for the layer of source spans, "none" for the plain twin. spans: settings of that layer; those of
    special tokens are set by the tokenizer. network: sizes of a new Transformer, or of LSTMs. pieces: the most joint
    pieces to learn, for a new one. start_from: a folder or hub name of a translator to go on from, whose network and
    pieces stay; None: a new one.
    """

    pooler: Pooler = "span"
    spans: SpanSettings = field(default_factory=SpanSettings)
    network: NetworkSettings | LstmSettings = field(default_factory=NetworkSettings)
    pieces: int = 6000
    start_from: str | None = None

    def __post_init__(self) -> None:
        one_of("pooler", self.pooler, get_args(Pooler))
        between("pieces", of_kind("pieces", self.pieces, int), 300, MOST_PIECES)

    def record(self) -> dict[str, object]:
        """What names the plan."""
        return {
            "pooler": self.pooler,
            "spans": self.spans.record() if self.pooler == "span" else None,
            "network": self.network.record() if self.start_from is None else None,
            "pieces": self.pieces if self.start_from is None else None,
            "start_from": self.start_from,
        }


def untrained_translator(plan: TranslatorPlan, train: Sequence[Example], seed: int) -> TranslatorParts:
    """The network that is to be trained, and its tokenizer; new weights are drawn from the seed."""
    network, tokenizer = _begin(plan, train, seed)
    if plan.pooler == "span" and source_spans_of(network) is None:
        before, after = special_places(tokenizer)
        with OwnDraws(seed + 1):
            add_source_spans(network, replace(plan.spans, before=before, after=after))
    return TranslatorParts(network, tokenizer, {})


def _begin(
    plan: TranslatorPlan, train: Sequence[Example], seed: int
) -> tuple[Any, Tokenizer]:  # Any: an encoder–decoder of some family
    if plan.start_from is None:
        texts = chain.from_iterable(two_texts(example, "a translator (train)") for example in train)
        tokenizer: Any = learn_pieces(texts, plan.pieces)  # Any: the library's class says more than ours asks
        if isinstance(plan.network, LstmSettings):
            return untrained_lstm(plan.network, len(tokenizer), seed), tokenizer
        return untrained_network(plan.network, len(tokenizer), seed), tokenizer
    model = load_writing(plan.start_from, torch.float32)
    if not isinstance(model.form, EncoderDecoder):
        raise ModelCannot(
            f"{model.name} is a language model, which reads no text before it writes; give a translator (Marian, BART "
            f"and their kin)."
        )
    return model.network, model.tokenizer


def special_places(tokenizer: Tokenizer) -> tuple[int, int]:
    """How many special tokens the tokenizer puts before and after a text."""
    parts = tokenizer("a", return_offsets_mapping=True).sequence_ids(0)
    text = [index for index, part in enumerate(parts) if part is not None]
    return text[0], len(parts) - 1 - text[-1]


# How a translator is trained: every number that changes it, in one frozen record.

COUNTS = ("epochs", "batch_pieces", "warmup_steps", "averaged", "checkpoint_every")
FITTING = ("concentration", "entropy")  # penalties that read one weight a span and step
MOST = 10**9  # of each count


class TranslationRecipeChanges(TypedDict, total=False):
    """Fields of a `TranslationRecipe` that differ from their defaults."""

    epochs: int
    batch_pieces: int
    learning_rate: float
    warmup_steps: int
    label_smoothing: float
    clip: float
    penalties: Mapping[str, float]
    averaged: int
    precision: Precision
    seed: int
    checkpoint_every: int


@dataclass(frozen=True)
class TranslationRecipe:
    """Settings of one training of a translator.

    epochs: passes over the train pairs, 1 or more.
    batch_pieces: the most pieces a step, padding counted, of the longer of both languages.
    learning_rate: the highest of Adam, above 0 to 1; it rises in a line for `warmup_steps` steps, then falls with the
        inverse square root of the step.
    label_smoothing: the share of each piece that is spread over all pieces, 0 to below 1.
    clip: the largest norm of a step's gradient; 0 for no limit.
    penalties: "concentration" or "entropy" -> weight, 0 or more; the mean over written pieces is added to the loss.
    averaged: the weights at the ends of so many epochs, up to the one with the lowest loss on dev, make the model:
        their mean.
    precision: "float32", "bfloat16", or "auto" for bfloat16 where the processor has it.
    seed: of first weights, the order of pairs, and dropout.
    checkpoint_every: steps between checkpoints; there is one at the end of each epoch too.

    Raises `BadSetting` for a value out of its range, `UnknownName` for a penalty that does not exist.
    """

    epochs: int = 10
    batch_pieces: int = 2000
    learning_rate: float = 2e-3
    warmup_steps: int = 400
    label_smoothing: float = 0.1
    clip: float = 1.0
    penalties: Mapping[str, float] = field(default_factory=dict)
    averaged: int = 3
    precision: Precision = "auto"
    seed: int = 0
    checkpoint_every: int = 200

    def __post_init__(self) -> None:
        for name in COUNTS:
            between(name, of_kind(name, getattr(self, name), int), 1, MOST)
        between("seed", of_kind("seed", self.seed, int), 0, HIGHEST_SEED)
        between("learning_rate", self.learning_rate, 1e-9, 1.0)
        between("label_smoothing", self.label_smoothing, 0, 0.99)
        at_least("clip", self.clip, 0)
        one_of("precision", self.precision, ("auto", "float32", "bfloat16"))
        for name, weight in mapping("penalties", self.penalties).items():
            penalties.get(name)
            if name not in FITTING:
                raise BadSetting(f"The penalty {name} does not fit a translator; give {' or '.join(FITTING)}.")
            at_least(f"weight of {name}", weight, 0)

    def record(self) -> dict[str, object]:
        """Every field by its name; penalties of weight 0 change nothing and are left out."""
        return asdict(self) | {"penalties": {name: weight for name, weight in self.penalties.items() if weight}}

    def rate(self, done: int) -> float:
        """The learning rate after so many steps."""
        step = done + 1
        return self.learning_rate * min(step / self.warmup_steps, (self.warmup_steps / step) ** 0.5)

    def autocast(self, device: torch.device) -> torch.autocast:
        """The context that the forward pass of training runs in."""
        enabled = computes_in(self.precision, device) == "bfloat16"
        return torch.autocast(device.type, dtype=torch.bfloat16, enabled=enabled)
