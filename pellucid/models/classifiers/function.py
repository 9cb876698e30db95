"""Any function from texts to probabilities as a classifier: a service, a pipeline, rules.

Nothing inside is known, so only methods that edit texts work. A text's pieces are its words, each with
the blanks before it; an edited text is what is left of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from pellucid.core.foundation.checks import one_of
from pellucid.core.foundation.errors import BadInput, BadSetting, ModelCannot
from pellucid.core.foundation.lazy_properties import cached_property
from pellucid.core.passes.batch import Batch, Row, SpecialIds
from pellucid.core.passes.model import Packing
from pellucid.core.passes.target import Problem
from pellucid.core.passes.trace import NOTHING, Trace, Want
from pellucid.core.text.example import Example
from pellucid.core.text.units import SPECIAL, Units, text_units

Text = str | tuple[str, str]
Gives = Literal["probabilities", "logits"]
BETWEEN = 0  # the id of what stands between the texts of a pair
SMALLEST = 1e-30  # a probability below it counts as it: 0 has no logarithm
NEAREST = 1e-12  # to 1, where probabilities become logits
FIRST, LATER = 1, 0  # token types: whether a piece begins its text, and so keeps the blanks before it
PROBES = ("It was a fine day.", "Nobody liked the second part, and neither did I.", "42")


@dataclass(frozen=True, eq=False, repr=False)
class FunctionClassifier:
    """A function of texts with its class names; implements `core.Model`. See `from_function` for the fields."""

    predict: Callable[[list[Any]], Any]
    labels: tuple[str, ...]
    problem: Problem
    name: str
    gives: Gives
    mask: str | None
    capabilities: frozenset[str] = frozenset()
    n_layers: int = 0
    packings: dict[int, Packing] = field(default_factory=dict, init=False, repr=False)  # as far as tried
    unpadded: ClassVar[Packing] = "alone"  # what is one length to the function is not known
    _pieces: dict[int, str] = field(default_factory=lambda: {BETWEEN: ""}, repr=False)  # by number

    def __repr__(self) -> str:
        return f"<FunctionClassifier {self.name}: {', '.join(self.labels)}>"

    @property
    def device(self) -> torch.device:
        """Logits are made on the processor, wherever the function computes."""
        return torch.device("cpu")

    @cached_property
    def hash(self) -> str:
        """A digest of name, classes and answers to a few fixed sentences: all that can be known of a function."""
        try:
            answers = [[round(value, 5) for value in row] for row in self._predict(list(PROBES)).tolist()]
        except ModelCannot as error:
            answers = [str(error)]  # type: ignore[list-item]
        return blake2b(repr((self.name, self.labels, answers)).encode(), digest_size=16).hexdigest()

    def blank_ids(self) -> dict[str, int | None]:
        """There are no embeddings to blank."""
        return {"pad": None, "mask": None}

    def embed(self, ids: Tensor) -> Tensor:
        """Raises `ModelCannot`: a function has no embeddings."""
        raise ModelCannot(f"{self.name} is a function of texts; it has no word embeddings.")

    def encode(self, examples: Sequence[Example]) -> Batch:
        """Words as pieces."""
        pairs = [self._encode_one(example) for example in examples]
        mask = None if self.mask is None else self._numbered(" " + self.mask)
        rows, units = tuple(row for row, _ in pairs), tuple(unit for _, unit in pairs)
        return Batch(tuple(examples), rows, units, SpecialIds(mask, None))

    def _encode_one(self, example: Example) -> tuple[Row, Units]:
        columns: list[tuple[int, int, int, int, str]] = []  # id, segment, start, end, label
        for segment, text in enumerate(example.segments):
            if segment:
                columns.append((BETWEEN, SPECIAL, 0, 0, "⫽"))
            before, words = 0, text_units(text, "word")
            for number, (start, end) in enumerate(words, start=1):
                upto = len(text) if number == len(words) else end  # the last word keeps the blanks after it
                columns.append((self._numbered(text[before:upto]), segment, start, end, text[start:end]))
                before = end
        ids, segments, starts, ends, labels = zip(*columns, strict=True)
        word_index = tuple(SPECIAL if segment == SPECIAL else n for n, segment in enumerate(segments))
        types = tuple(FIRST if here != there else LATER for here, there in pairwise((None, *segments)))
        row = Row(ids, types, tuple(range(len(ids))), word_index, segments)
        return row, Units("piece", labels, segments, starts, ends)

    def _numbered(self, piece: str) -> int:
        """The number of a piece, under which `text_of` finds it again; raises `ModelCannot` where two share one."""
        number = number_of(piece)
        other = self._pieces.setdefault(number, piece)
        if other != piece:
            raise ModelCannot(
                f"{self.name}: the pieces {other!r} and {piece!r} have the same number and cannot be read by one model; "
                "explain their texts with two models."
            )
        return number

    def text_of(self, row: Row) -> Text:
        """What is left of an edited text, or of a pair."""
        texts = [""]
        for number, kind in zip(row.ids, row.types, strict=True):
            if number == BETWEEN:
                texts.append("")
            else:
                piece = self._pieces[number]
                texts[-1] += piece if texts[-1] or kind == FIRST else piece.lstrip()
        return texts[0] if len(texts) == 1 else (texts[0], texts[1])

    @property
    def vocabulary(self) -> Tensor:
        """Raises `ModelCannot`: a function has no embeddings."""
        raise ModelCannot(f"{self.name} is a function of texts; it has no word embeddings.")

    def trace(
        self,
        rows: Sequence[Row],
        want: Want = NOTHING,
        embeddings: Tensor | None = None,
        layer: int | None = None,
    ) -> Trace:
        """Run the function on the rows' texts; logits are logarithms of the probabilities, in float64."""
        texts = [self.text_of(row) for row in rows]
        logits = torch.empty(len(rows), self._width, dtype=torch.float64)
        for kind in (str, tuple):  # a function may treat texts and pairs alike, but not in one list
            alike = [number for number, text in enumerate(texts) if isinstance(text, kind)]
            if alike:
                logits[alike] = self._predict([texts[number] for number in alike])
        return Trace(logits, torch.zeros(len(rows), max(map(len, rows)), 0))

    def plain_logits(self, example: Example) -> Tensor:
        """[logit]: the function's own answer to the text as it was given."""
        segments = example.segments
        return self._predict([segments[0] if len(segments) == 1 else (segments[0], segments[1])])[0]

    def plain_window_logits(self, example: Example, windows: Sequence[Sequence[int]]) -> Tensor:
        """Raises `ModelCannot`: a function reads a text at once, however long."""
        raise ModelCannot(f"{self.name} is a function of texts; it reads them at once.")

    @property
    def _width(self) -> int:
        return 1 if self.problem == "one_logit" else len(self.labels)

    def _predict(self, texts: list[Text]) -> Tensor:
        """[text logit]"""
        try:
            answer = np.asarray(self.predict(texts), dtype=np.float64)
        except Exception as error:  # anything can happen in a user's function
            raise ModelCannot(
                f"{self.name}: the function failed on {len(texts)} texts (first: {texts[0]!r:.60}): "
                f"{type(error).__name__}: {error}"
            ) from error
        if answer.ndim == 1 and self._width == 1:
            answer = answer[:, None]
        self._check(answer, len(texts))
        if self.gives == "logits":
            return torch.from_numpy(answer)
        if self.problem == "multi_label":
            return torch.from_numpy(answer).logit(NEAREST)
        return torch.from_numpy(answer).clamp_min(SMALLEST).log()

    def _check(self, answer: np.ndarray, count: int) -> None:
        if answer.shape != (count, self._width):
            raise ModelCannot(
                f"{self.name}: for {count} texts the function must give {count} x {self._width} numbers, one a class "
                f"({', '.join(self.labels)}); {' x '.join(map(str, answer.shape))} came."
            )
        if not np.isfinite(answer).all():
            raise ModelCannot(f"{self.name}: the function gave something that is no finite number.")
        if self.gives == "probabilities":
            wrong = (answer < 0) | (answer > 1)
            sums = answer.sum(1) if self.problem == "single_label" else np.ones(count)
            if wrong.any() or (np.abs(sums - 1) > 1e-3).any():
                raise ModelCannot(
                    f"{self.name}: probabilities lie between 0 and 1"
                    f"{' and sum to 1' if self.problem == 'single_label' else ''}; "
                    f"{answer[0].tolist()} came. If these are scores, say gives='logits'."
                )


def number_of(piece: str) -> int:
    """A number from 0 to 2**63 - 1 by the piece's characters alone, so that random draws depend on nothing else."""
    digest = blake2b(piece.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") & (2**63 - 1)


def from_function(
    predict: Callable[[list[Any]], Any],
    labels: Sequence[str],
    *,
    gives: Gives = "probabilities",
    problem: Problem = "single_label",
    name: str = "function",
    mask: str | None = None,
) -> FunctionClassifier:
    """Any function from texts to probabilities as a classifier that can be explained, judged and compared.

    predict: a list of texts (of pairs, where pairs are explained) -> numbers [text class]; it is also called on
    texts with words taken out, and on the empty text. labels: the classes' names in that order. gives:
    "probabilities", or "logits" for any real scores. problem: "single_label", or "multi_label" for probabilities that
    do not sum to 1. mask: what stands for a word that is masked, if operator="mask" shall work.
    """
    one_of("gives", gives, ("probabilities", "logits"))
    one_of("problem", problem, ("single_label", "multi_label", "one_logit"))
    names = tuple(map(str, labels))
    if len(names) < 2 or len(set(names)) < len(names):
        raise BadSetting(
            f"labels must be two or more different names, one a class; {', '.join(names) or 'none'} came."
        )
    if not callable(predict):
        raise BadInput(f"predict must be a function of a list of texts; {type(predict).__name__} came.")
    return FunctionClassifier(predict, names, problem, name, gives, mask)


def from_pipeline(pipeline: Any, *, name: str | None = None) -> FunctionClassifier:
    """A fitted scikit-learn pipeline that reads texts: its probabilities, or its decision function where it has none."""
    title = name or type(pipeline).__name__
    classes = getattr(pipeline, "classes_", None)
    if classes is None:
        raise BadInput(f"{title} has no classes_: fit it first, and give a classifier.")
    labels = [str(label) for label in classes]
    if hasattr(pipeline, "predict_proba"):
        return from_function(pipeline.predict_proba, labels, name=title)
    if hasattr(pipeline, "decision_function"):
        problem: Problem = "one_logit" if len(labels) == 2 else "single_label"
        return from_function(pipeline.decision_function, labels, gives="logits", problem=problem, name=title)
    raise BadInput(f"{title} has neither predict_proba nor decision_function; give a classifier.")
