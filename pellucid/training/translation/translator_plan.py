"""What a translator is built from, before it is trained: sizes, pieces and its layer of spans; or another translator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal, get_args

import torch

from pellucid.core.foundation.checks import between, of_kind, one_of
from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.foundation.local_random import OwnDraws
from pellucid.core.text.example import Example
from pellucid.models.classifiers.tokenizer import Tokenizer
from pellucid.models.translation.explained_decoder import add_source_spans, source_spans_of
from pellucid.models.translation.joint_pieces import learn_pieces
from pellucid.models.translation.source_spans import SpanSettings
from pellucid.models.translation.translator_folder import TranslatorParts
from pellucid.models.translation.untrained_lstm import LstmSettings, untrained_lstm
from pellucid.models.translation.untrained_network import NetworkSettings, untrained_network
from pellucid.models.writing.encoder_decoder import EncoderDecoder
from pellucid.models.writing.load import load_writing
from pellucid.models.writing.written_pieces import two_texts

Pooler = Literal["span", "none"]
Network = Literal["transformer", "lstm"]
NETWORKS: Mapping[str, type[NetworkSettings] | type[LstmSettings]] = {
    "transformer": NetworkSettings,
    "lstm": LstmSettings,
}
MOST_PIECES = 200_000


@dataclass(frozen=True)
class TranslatorPlan:
    """pooler: "span" for the layer of source spans, "none" for the plain twin. spans: settings of that layer; those of special
    tokens are set by the tokenizer. network: sizes of a new Transformer, or of LSTMs. pieces: the most joint pieces to learn, for a new one.
    start_from: a folder or hub name of a translator to go on from, whose network and pieces stay; None: a new one.
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
            f"{model.name} is a language model, which reads no text before it writes; give a translator (Marian, BART and their kin)."
        )
    return model.network, model.tokenizer


def special_places(tokenizer: Tokenizer) -> tuple[int, int]:
    """How many special tokens the tokenizer puts before and after a text."""
    parts = tokenizer("a", return_offsets_mapping=True).sequence_ids(0)
    text = [number for number, part in enumerate(parts) if part is not None]
    return text[0], len(parts) - 1 - text[-1]
