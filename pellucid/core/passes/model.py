"""What every explainable model offers, and what a method returns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import torch
from torch import Tensor

from pellucid.core.foundation.checks import between
from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.passes.batch import Batch, Row
from pellucid.core.passes.target import Problem
from pellucid.core.passes.trace import NOTHING, Trace, Want
from pellucid.core.text.example import Example
from pellucid.core.text.units import Spans, Units

Packing = Literal["padded", "equal", "alone"]


class Model(Protocol):
    """One interface for Hugging Face and composed models."""

    @property
    def name(self) -> str:
        """What results call it."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes' names."""
        ...

    @property
    def problem(self) -> Problem:
        """How logits become probabilities."""
        ...

    @property
    def n_layers(self) -> int:
        """Blocks of the encoder."""
        ...

    @property
    def capabilities(self) -> frozenset[str]:
        """Of "gradient", "hidden_states", "attention", "span_weights", "rationale" and "bert_layers", what it has; none for a function."""
        ...

    @property
    def hash(self) -> str:
        """A digest of weights, configuration and tokenizer."""
        ...

    @property
    def device(self) -> torch.device:
        """Where it computes."""
        ...

    @property
    def unpadded(self) -> Packing:
        """How rows run where padding moves the answers: "equal" (rows of one length together) or "alone"."""
        ...

    @property
    def packings(self) -> dict[int, Packing]:
        """How rows of up to so many positions may share a pass, as far as `core/passes/packing.py` has tried it."""
        ...

    def encode(self, examples: Sequence[Example]) -> Batch:
        """Tokenise; a row longer than the model reads gets windows."""
        ...

    def trace(
        self,
        rows: Sequence[Row],
        want: Want = NOTHING,
        embeddings: Tensor | None = None,
        layer: int | None = None,
    ) -> Trace:
        """Run rows, padded together; embeddings [example unit width] replace the word embeddings, or a layer's states.

        Rows with gaps leave logits and hidden states behind and nothing else.
        """
        ...

    def plain_logits(self, example: Example) -> Tensor:
        """[logit]: what the user's own call of the model gives for the single, unpadded text."""
        ...

    def plain_window_logits(self, example: Example, windows: Sequence[Sequence[int]]) -> Tensor:
        """[window logit]: likewise for windows of a longer text, each given by the numbers of its pieces."""
        ...

    def blank_ids(self) -> dict[str, int | None]:
        """Ids of the tokens that baselines are made of: pad and mask."""
        ...

    @property
    def vocabulary(self) -> Tensor:
        """[piece]: the ids that texts are made of, without special tokens."""
        ...

    def embed(self, ids: Tensor) -> Tensor:
        """The word embeddings of ids."""
        ...


@dataclass(frozen=True)
class Scores:
    """What an attribution method returns: one tensor an example, cropped to its units.

    values: [*rows, unit] each. rows: the kinds and labels of the leading axes, outermost first. units: what is
    scored in each example (None: its pieces). diagnostics, caveats: one an example (empty: none).
    """

    values: tuple[Tensor, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...] = ()
    units: tuple[Units | Spans, ...] | None = None
    diagnostics: tuple[dict[str, float], ...] = ()
    caveats: tuple[tuple[str, ...], ...] = ()


def check_layer(model: Model, layer: int | None) -> None:
    """Raises `ModelCannot` where the model shows no hidden states, `BadSetting` where it has no such layer."""
    if layer is None:
        return
    if "hidden_states" not in model.capabilities:
        raise ModelCannot(
            f"layer={layer} needs hidden_states, which {model.name} does not have; leave layer away to read the word "
            "embeddings."
        )
    between("layer", layer, 0, model.n_layers)
