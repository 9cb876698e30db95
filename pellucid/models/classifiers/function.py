"""The pieces of models that are functions of texts: from a text to a row of numbers, and from an edited row back to a
text.

A text's pieces are its words, each with the white space before it; an edited text is what is left of them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import pairwise
from types import NoneType
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from pellucid.base.checks import clipped, of_class, one_of
from pellucid.base.errors import BadInput, BadSetting, ModelCannot, PellucidError
from pellucid.base.packages import cached_property
from pellucid.models.classifiers.readable import Reader, vocabulary_reader
from pellucid.models.classifiers.running import class_names
from pellucid.results.explanation import Prediction
from pellucid.run.batch import Batch, Row, SpecialIds
from pellucid.run.model import Packing, Parts
from pellucid.run.predicting import predictions
from pellucid.run.rounding import Rounding
from pellucid.run.target import Problem
from pellucid.run.trace import NOTHING, Trace, Want
from pellucid.text.example import Example, Texts
from pellucid.text.units import SPECIAL, Units, text_units

Text = str | tuple[str, str]
BETWEEN = 0  # the id of what stands between the texts of a pair
FIRST, LATER = 1, 0  # token types: whether a piece begins its text, and so keeps the white space before it


@dataclass(frozen=True)
class NumberedPieces:
    """The pieces that one model has read, by number."""

    by_number: dict[int, str] = field(default_factory=lambda: {BETWEEN: ""})

    def encode(self, example: Example, reader: str) -> tuple[Row, Units]:
        """The row of an example and its units; reader: what messages call the model."""
        columns: list[tuple[int, int, int, int, str]] = []  # id, segment, start, end, label
        for segment, text in enumerate(example.segments):
            if segment:
                columns.append((BETWEEN, SPECIAL, 0, 0, "⫽"))
            before, words = 0, text_units(text, "word")
            for position, (start, end) in enumerate(words, start=1):
                upto = len(text) if position == len(words) else end  # the last word keeps the white space after it
                piece = self.remembered_number(text[before:upto], reader)
                columns.append((piece, segment, start, end, text[start:end]))
                before = end
        ids, segments, starts, ends, labels = zip(*columns, strict=True)
        word_index = tuple(SPECIAL if segment == SPECIAL else n for n, segment in enumerate(segments))
        types = tuple(FIRST if here != there else LATER for here, there in pairwise((None, *segments)))
        row = Row(ids, types, tuple(range(len(ids))), word_index, segments)
        return row, Units("piece", labels, segments, starts, ends)

    def remembered_number(self, piece: str, reader: str) -> int:
        """The number of a piece, remembered for `text_of`; raises `ModelCannot` where two pieces have the same one."""
        piece_id = number_of(piece)
        known_piece = self.by_number.setdefault(piece_id, piece)
        if known_piece != piece:
            raise ModelCannot(
                f"{reader}: the pieces {known_piece!r} and {piece!r} have the same number and cannot be read by one "
                "model; explain their texts with two models."
            )
        return piece_id

    def text_of(self, row: Row) -> Text:
        """What is left of an edited text, or of a pair."""
        texts = [""]
        for piece_id, kind in zip(row.ids, row.types, strict=True):
            if piece_id == BETWEEN:
                texts.append("")
            else:
                piece = self.by_number[piece_id]
                texts[-1] += piece if texts[-1] or kind == FIRST else piece.lstrip()
        return texts[0] if len(texts) == 1 else (texts[0], texts[1])


def number_of(piece: str) -> int:
    """A number from 0 to 2**63 - 1 by the piece's characters alone, so that random draws depend on nothing else."""
    digest = blake2b(piece.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") & (2**63 - 1)


# Any function from texts to probabilities as a classifier: a service, a pipeline, rules.
#
# Nothing inside is known, so only methods that edit texts work. Its pieces are words (`numbered_pieces.py`).

Gives = Literal["probabilities", "logits"]
SMALLEST = 1e-30  # a probability below it counts as it: 0 has no logarithm
ROUNDED = 1e-3  # how far from 0, 1 or their sum probabilities may lie
NEAREST = 1e-12  # to 1, where probabilities become logits
PROBES = ("It was a fine day.", "Nobody liked the second part, and neither did I.", "42")


@dataclass(frozen=True, eq=False, repr=False)
class FunctionClassifier:
    """A function of texts with its class names; implements `core.Model`. See `from_function` for the fields.

    reader: says which words of a text the function knows; None where nothing is known of that. pack_tokens: padded
    tokens that it is given at once; None: as many as keep this machine busy.
    """

    function: Callable[[list[Any]], Any]
    labels: tuple[str, ...]
    problem: Problem
    name: str
    gives: Gives
    mask: str | None
    reader: Reader | None = field(default=None, repr=False)
    pack_tokens: int | None = None
    capabilities: frozenset[str] = frozenset()
    n_layers: int = 0
    packings: dict[int, Packing] = field(default_factory=dict, init=False, repr=False)  # filled by trials
    roundings: dict[tuple[object, ...], Rounding] = field(default_factory=dict, init=False, repr=False)
    state_parts: ClassVar[Mapping[int, Parts]] = {}
    unpadded: ClassVar[Packing] = "alone"  # nobody knows which texts have one length for the function
    language_head: ClassVar[None] = None
    _pieces: NumberedPieces = field(default_factory=NumberedPieces, repr=False)

    def __repr__(self) -> str:
        return f"<FunctionClassifier {self.name}: {', '.join(self.labels)}>"

    @property
    def device(self) -> torch.device:
        """Logits are made on the processor, wherever the function computes."""
        return torch.device("cpu")

    @cached_property
    def hash(self) -> str:
        """A digest of name, classes and answers to a few fixed sentences: all that can be known of a function; of a
        service (`remote`) that of its address.
        """
        digest = getattr(self.function, "digest", None)
        if isinstance(digest, str):
            return digest
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

    def predict(self, texts: Texts) -> list[Prediction]:
        """One prediction a text, in order, as explanations report it; see `pellucid.predict` for tables and files.

        texts: a string, a pair, an `Example`, or a list of them.
        """
        return predictions(self, texts)

    def encode(self, examples: Sequence[Example]) -> Batch:
        """Words as pieces."""
        pairs = [self._pieces.encode(example, self.name) for example in examples]
        mask = None if self.mask is None else self._pieces.remembered_number(" " + self.mask, self.name)
        rows, units = tuple(row for row, _ in pairs), tuple(self._with_readings(words) for _, words in pairs)
        return Batch(tuple(examples), rows, units, SpecialIds(mask, None))

    def _with_readings(self, words: Units) -> Units:
        if self.reader is None:
            return words
        known = dict(zip(words.content, self.reader([words.labels[word] for word in words.content]), strict=False))
        readings = tuple(known.get(word, "whole") for word in range(len(words)))
        return replace(words, readings=readings if "none" in readings else ())

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
        texts = [self._pieces.text_of(row) for row in rows]
        logits = torch.empty(len(rows), self.width, dtype=torch.float64)
        for kind in (str, tuple):  # a function may read texts and pairs, but not in one list
            alike = [index for index, text in enumerate(texts) if isinstance(text, kind)]
            if alike:
                logits[alike] = self._predict([texts[index] for index in alike])
        return Trace(logits, torch.zeros(len(rows), max(map(len, rows)), 0))

    def plain_logits(self, example: Example) -> Tensor:
        """[logit]: the function's own answer to the text as it was written."""
        segments = example.segments
        return self._predict([segments[0] if len(segments) == 1 else (segments[0], segments[1])])[0]

    def plain_window_logits(self, example: Example, windows: Sequence[Sequence[int]]) -> Tensor:
        """Raises `ModelCannot`: a function reads a text at once, however long."""
        raise ModelCannot(f"{self.name} is a function of texts; it reads them at once.")

    @property
    def width(self) -> int:
        """Numbers a text."""
        return 1 if self.problem in ("one_logit", "regression") else len(self.labels)

    def _predict(self, texts: list[Text]) -> Tensor:
        """[text logit]"""
        try:
            answer = np.asarray(self.function(list(texts)), dtype=np.float64)  # a list of its own, to change at will
        except PellucidError:  # of a service, which says what happened
            raise
        except Exception as error:  # anything can happen in a user's function
            raise ModelCannot(
                f"{self.name}: the function failed on {len(texts)} texts (first: {texts[0]!r:.60}): "
                f"{type(error).__name__}: {error}"
            ) from error
        answer = self.checked(answer, len(texts))
        if self.gives == "logits":
            return torch.from_numpy(answer)
        probabilities = torch.from_numpy(answer).clamp(0, 1)
        if self.problem == "single_label":
            return probabilities.clamp_min(SMALLEST).log()
        return probabilities.logit(NEAREST)

    def checked(self, answer: np.ndarray, count: int) -> np.ndarray:
        """[text number], of as many texts; raises `ModelCannot` for an answer of another shape, or that cannot be."""
        if answer.ndim == 1 and self.width == 1:
            answer = answer[:, None]
        if answer.shape != (count, self.width):
            raise ModelCannot(
                f"{self.name}: for {count} texts there must be {count} x {self.width} numbers, one a class "
                f"({', '.join(self.labels)}); {' x '.join(map(str, answer.shape))} came."
            )
        if not np.isfinite(answer).all():
            raise ModelCannot(f"{self.name}: its answer has something that is no finite number.")
        if self.gives == "probabilities":
            self._check_probabilities(answer)
        return answer

    def _check_probabilities(self, answer: np.ndarray) -> None:
        beyond = np.maximum(-answer, answer - 1).max(1)
        if (beyond > ROUNDED).any():
            came = answer[beyond.argmax()].tolist()
            raise ModelCannot(
                f"{self.name}: probabilities lie between 0 and 1; {came} came. If these are scores, say gives='logits'."
            )
        apart = np.abs(answer.sum(1) - 1)
        if self.problem == "single_label" and (apart > ROUNDED).any():
            came = answer[apart.argmax()].tolist()
            raise ModelCannot(
                f"{self.name}: the probabilities of classes sum to 1; {came} came. If a text may have several labels, "
                f"say problem='multi_label'; if these are scores, gives='logits'."
            )


def from_function(
    predict: Callable[[list[Any]], Any],
    labels: Sequence[str],
    *,
    gives: Gives = "probabilities",
    problem: Problem = "single_label",
    name: str = "function",
    mask: str | None = None,
) -> FunctionClassifier:
    """Any function from texts to probabilities, or to a value, as a model that can be explained, judged and compared.

    predict: a list of texts (of pairs, where pairs are explained) -> numbers [text class]; it is also called on texts
        without some of their words, and on the empty text.
    labels: the classes' names, in the order of the numbers.
    gives: "probabilities", or "logits" for any real scores.
    problem: "single_label", "multi_label" for probabilities that do not sum to 1, "one_logit" for one number a text,
        that of the second class, or "regression" for a value a text, such as stars; labels then is its name alone.
    name: what results call the model.
    mask: what stands for a masked word; None: operator="mask" does not work.

    Returns the classifier. Raises `BadSetting` for settings that do not fit, `BadInput` where predict is no function.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> pellucid.explain(model, "A good film.", "occlusion")[0].top(1)[0].text
    'good'
    """
    one_of("gives", gives, ("probabilities", "logits"))
    one_of("problem", problem, get_args(Problem))
    names = class_names("labels", labels)
    if problem == "regression":
        if len(names) != 1:
            raise BadSetting(f"A value has one name, such as labels=['stars']; {', '.join(names) or 'none'} came.")
        gives = "logits"
    elif len(names) < 2 or len(set(names)) < len(names):
        raise BadSetting(f"labels must be two or more different names, one a class; {', '.join(names) or 'none'} came.")
    if not callable(predict):
        raise BadInput(f"predict must be a function of a list of texts; {type(predict).__name__} came.")
    of_class("The name", name, str, "give a string")
    return FunctionClassifier(predict, names, problem, name, gives, mask)


def from_pipeline(pipeline: object, *, name: str | None = None) -> FunctionClassifier:
    """A fitted scikit-learn pipeline that reads texts as a model that can be explained, judged and compared.

    pipeline: its probabilities are used, or its decision function where it has none; of a regressor its value. One that
        predicts several labels a text counts as multi-label. Other objects with `predict_proba` and `labels`, such as
        SetFit's, are read too.
    name: what results call the model; None: the pipeline's class.

    Returns the classifier. Raises `BadInput` for a pipeline that is not fitted, does not classify or has several
    outputs with classes of their own.

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> pipeline = make_pipeline(CountVectorizer(), LogisticRegression())
    >>> fitted = pipeline.fit(["good film", "good book", "dull film", "dull book"], ["+", "+", "-", "-"])
    >>> pellucid.from_pipeline(fitted, name="words").predict(["A good evening"])[0]
    <Prediction + 0.66>
    """
    of_class("The name", name, str | NoneType, "give a string")
    title = name or type(pipeline).__name__
    if _is_regressor(pipeline):
        value: Any = pipeline
        model = from_function(value.predict, ["value"], problem="regression", name=title)
        return replace(model, reader=vocabulary_reader(pipeline))
    classes = getattr(pipeline, "classes_", getattr(pipeline, "labels", None))
    if not isinstance(classes, Iterable) or isinstance(classes, str):
        raise BadInput(
            f"The pipeline {clipped(title)} has no classes_: fit it first, and give a classifier; or name the classes "
            f"yourself: pellucid.from_function(pipeline.predict_proba, labels)."
        )
    if any(np.ndim(label) for label in classes):
        raise BadInput(
            f"The pipeline {clipped(title)} has several outputs, each with classes of its own; give from_function a "
            f"function of one of them."
        )
    labels = [str(label) for label in classes]
    problem: Problem = "multi_label" if _gives_several_labels(pipeline, len(labels)) else "single_label"
    if hasattr(pipeline, "predict_proba"):
        classifier = from_function(pipeline.predict_proba, labels, problem=problem, name=title)
        return replace(classifier, reader=vocabulary_reader(pipeline))
    if hasattr(pipeline, "decision_function"):
        if problem == "single_label" and len(labels) == 2:
            problem = "one_logit"
        classifier = from_function(pipeline.decision_function, labels, gives="logits", problem=problem, name=title)
        return replace(classifier, reader=vocabulary_reader(pipeline))
    raise BadInput(f"The pipeline {clipped(title)} has neither predict_proba nor decision_function; give a classifier.")


def _is_regressor(pipeline: object) -> bool:
    """Whether a fitted model of scikit-learn gives a value, as its own tags say."""
    tags = getattr(pipeline, "__sklearn_tags__", None)
    try:
        return tags is not None and tags().estimator_type == "regressor"
    except Exception:  # a model of another library that is built like one of scikit-learn
        return False


def _gives_several_labels(pipeline: object, count: int) -> bool:
    """Whether a pipeline says of each label whether a text has it; count: of labels."""
    predict = getattr(pipeline, "predict", None)
    try:
        return predict is not None and np.shape(predict([PROBES[0]])) == (1, count) and count > 1
    except Exception:  # anything can happen in a user's pipeline; explaining says what
        return False
