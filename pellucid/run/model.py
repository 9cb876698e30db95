"""The interface of every explainable model, its capabilities in words, and what a method returns."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import torch
from torch import Tensor

from pellucid.base.checks import between, in_syntax, listed, quoted
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.run.batch import Batch, Row
from pellucid.run.target import LanguageHead, Problem
from pellucid.run.trace import NOTHING, Trace, Want
from pellucid.text.example import Example
from pellucid.text.units import Spans, Units

Packing = Literal["padded", "equal", "alone"]
Parts = Mapping[str, slice]  # name -> where the part stands in a state
WRITING = "writing"  # the capability of translators and language models
# What is said of a model without a capability.
LACKS = {
    "gradient": "gives no gradients",
    "hidden_states": "shows no hidden states",
    "attention": "shows no attention weights",
    "span_weights": "has no span weights (it was not trained with pooler='span')",
    "unit_weights": "has no weights of units (it was not trained with pooler='additive' or 'dot')",
    "rationale": "does not choose the words that it reads (it was not trained with pooler='rationale')",
    "b_cos": "has no B-cos layers (it was not trained with form='b_cos')",
    "bert_layers": "is not built from BERT's layers",
    "language_head": "has no language head",
    "linear": "is no fitted scikit-learn pipeline of a vectorizer of words or characters and a linear model",
    WRITING: "writes no texts",
}
WAYS = {  # capability -> what gives it, in Python and on the command line
    "language_head": (
        "give language_head=: the checkpoint that it was fine-tuned from, or a trained lens",
        "give --language-head: the checkpoint that it was fine-tuned from, or a trained lens",
    ),
}


class Model(Protocol):
    """One interface for Hugging Face and composed models."""

    @property
    def name(self) -> str:
        """Its name in results."""
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
    def state_parts(self) -> Mapping[int, Parts]:
        """Layer -> the named parts of its hidden states; layers whose states have none are left out."""
        ...

    @property
    def capabilities(self) -> frozenset[str]:
        """A subset of the keys of LACKS; empty for a function, except of a linear pipeline."""
        ...

    @property
    def language_head(self) -> LanguageHead | None:
        """What reads its hidden states back as words, where it was loaded with one."""
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
        """How rows run where padding changes the answers: "equal" (rows of one length together) or "alone"."""
        ...

    @property
    def packings(self) -> dict[int, Packing]:
        """Most positions of a row -> how such rows may share a pass; `run/packing.py` fills it by trials."""
        ...

    @property
    def roundings(self) -> dict[tuple[object, ...], Any]:  # Any: a `Rounding`, whose file reads this one
        """How it computes -> what rounding may change; `run/rounding.py` fills it by trials."""
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
        """Run rows, padded together.

        want: what the trace shall contain besides logits. embeddings: [example unit width], instead of the word
        embeddings, or, with a layer, instead of that layer's states. Of rows with gaps the trace has logits and hidden
        states alone.
        """
        ...

    def plain_logits(self, example: Example) -> Tensor:
        """[logit]: from the user's own call of the model with the single, unpadded text."""
        ...

    def plain_window_logits(self, example: Example, windows: Sequence[Sequence[int]]) -> Tensor:
        """[window logit]: the same for windows of a longer text; a window is the numbers of its pieces."""
        ...

    def blank_ids(self) -> dict[str, int | None]:
        """The ids of the "pad" and "mask" tokens, for baselines; None where the tokenizer has no such token."""
        ...

    @property
    def vocabulary(self) -> Tensor:
        """[piece]: all ids that can occur in a text, without special tokens."""
        ...

    def embed(self, ids: Tensor) -> Tensor:
        """[... width]: the word embeddings of ids [...]."""
        ...


class InTurn(Protocol):
    """What runs edited rows of a model one after another, each after what it begins with like the one before: a model
    that can has a method `in_turn(want)`, which returns one, or None.
    """

    def packs(self, rows: Sequence[Row], usual: Sequence[Sequence[int]], budget: int) -> list[list[int]] | None:
        """The order in which rows run, each by itself; None where it gains nothing or changes an answer."""
        ...

    def trace(self, rows: Sequence[Row], want: Want = NOTHING) -> Trace:
        """Run one row."""
        ...


RowFacts = tuple[dict[str, float], tuple[str, ...]]  # diagnostics, caveats


@dataclass(frozen=True)
class Scores:
    """What an attribution method returns: one tensor an example, cropped to its units.

    values: for each example [*rows, unit]. rows: kind and labels of each leading axis, outermost first. units: what
    each example's scores belong to (None: its pieces). diagnostics, caveats: one entry an example (empty: none).
    of_rows: for each example the diagnostics and caveats of each row of the first axis by itself (empty: each row has
        those of the example).
    rows_of: the rows of each example, where examples have different ones (empty: `rows`).
    """

    values: tuple[Tensor, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...] = ()
    units: tuple[Units | Spans, ...] | None = None
    diagnostics: tuple[dict[str, float], ...] = ()
    caveats: tuple[tuple[str, ...], ...] = ()
    of_rows: tuple[tuple[RowFacts, ...], ...] = ()
    rows_of: tuple[tuple[tuple[str, tuple[str, ...]], ...], ...] = ()

    def facts(self, example: int) -> RowFacts:
        """The diagnostics and caveats of one example."""
        diagnostics = dict(self.diagnostics[example]) if self.diagnostics else {}
        return diagnostics, self.caveats[example] if self.caveats else ()


def answers_for_places(model: Model) -> bool:
    """Whether a model answers for places in a text (entities, an answer, a masked word) and not for the whole."""
    return getattr(model, "piece_answers", None) is not None


def plain_logits(model: Any, examples: Sequence[Example]) -> list[Tensor]:
    """For each example [logit]: from the user's own call; places of one text are read off one call with it."""
    if not answers_for_places(model):
        return [model.plain_logits(example) for example in examples]
    by_text: dict[tuple[str, ...], list[Example]] = {}
    for example in examples:
        by_text.setdefault(example.segments, []).append(example)
    answers = {text: iter(model.plain_logits_of(of_text)) for text, of_text in by_text.items()}
    return [next(answers[example.segments]) for example in examples]


def lacking(model: Model, needs: AbstractSet[str]) -> str:
    """What the model lacks of these capabilities, in words: "shows no hidden states"; empty where it lacks nothing."""
    return " and ".join(_lack(model, name) for name in sorted(needs - model.capabilities))


def _lack(model: Model, capability: str) -> str:
    """What it lacks; with what gives it, or with why it is missing where the model knows."""
    what = LACKS.get(capability, f"has no {capability}")
    why = getattr(getattr(model, "structure", None), "lacks", {}).get(capability, "")
    more = in_syntax(*WAYS[capability]) if capability in WAYS else why
    return f"{what} ({more})" if more else what


def part_of(model: Model, layer: int, part: str) -> slice:
    """Where a named part stands in the states of a layer; raises `BadSetting` with the names where there is no such
    part.
    """
    parts = model.state_parts.get(layer, {})
    if part in parts:
        return parts[part]
    if parts:
        raise BadSetting(
            f"part={quoted(part)}, but the states of layer {layer} of {model.name} have the parts "
            f"{listed(list(parts))}."
        )
    others = [layer_index for layer_index, named in model.state_parts.items() if named]
    where = f"; layers with parts: {', '.join(map(str, others))}" if others else ""
    raise BadSetting(
        f"part={quoted(part)} is not possible: the states of layer {layer} of {model.name} have no parts{where}; leave "
        f"part away."
    )


def check_layer(model: Model, layer: int | None) -> None:
    """Raises `ModelCannot` where the model shows no hidden states, `BadSetting` where it has no such layer."""
    if layer is None:
        return
    if "hidden_states" not in model.capabilities:
        raise ModelCannot(
            f"layer={layer} is not possible: {model.name} shows no hidden states. Leave layer away to read the word "
            "embeddings."
        )
    between("layer", layer, 0, model.n_layers)
