"""The pieces of models that are functions of texts: from a text to a row of numbers, and from an edited row back to a
text.

A text's pieces are its words, each with the white space before it; an edited text is what is left of them. Features
beside a text are pieces of their own; those that are taken out are drawn from background rows.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import pairwise
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from pellucid.base.checks import every, listed, of_class, one_of
from pellucid.base.errors import BadInput, BadSetting, ModelCannot, PellucidError
from pellucid.base.packages import cached_property
from pellucid.models.classifiers.linear_grams import LinearPipeline
from pellucid.models.classifiers.readable import Reader
from pellucid.models.classifiers.running import class_names
from pellucid.results.explanation import Prediction
from pellucid.run.batch import Batch, Row, SpecialIds
from pellucid.run.model import Packing, Parts
from pellucid.run.predicting import predictions
from pellucid.run.rounding import Rounding
from pellucid.run.target import Problem
from pellucid.run.trace import NOTHING, Trace, Want
from pellucid.text.example import Example, Texts
from pellucid.text.features import Background, Feature, FeatureColumns, background_of
from pellucid.text.units import SPECIAL, Units, text_units

Text = str | tuple[str, str]
BETWEEN = 0  # the id of what stands between the texts of a pair
LINE = re.compile(r"[^\n]+")
Pieces = Literal["word", "character"]
FIRST, LATER = 1, 0  # token types: whether a piece begins its text, and so keeps the white space before it


@dataclass(frozen=True)
class NumberedPieces:
    """The pieces that one model has read, by number. kind: what pieces are; a blank is a character of its own."""

    kind: Pieces = "word"
    by_number: dict[int, str] = field(default_factory=lambda: {BETWEEN: ""})

    def encode(self, example: Example, reader: str, *, has_features: bool = False) -> tuple[Row, Units]:
        """The row of an example and its units; reader: what messages call the model.

        has_features: whether the second text says features, whose lines are the pieces.
        """
        columns: list[tuple[int, int, int, int, str]] = []  # id, segment, start, end, label
        for segment, text in enumerate(example.segments):
            if segment:
                columns.append((BETWEEN, SPECIAL, 0, 0, "⫽"))
            is_line = has_features and segment
            parts = [match.span() for match in LINE.finditer(text)] if is_line else text_units(text, self.kind)
            before = 0
            for position, (start, end) in enumerate(parts, start=1):
                upto = len(text) if position == len(parts) else end  # the last word keeps the white space after it
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

    reader: says which words of a text the function knows; None where nothing is known of that. background: of a
    function of texts and features the rows that features are drawn from. linear: of a linear pipeline its parts.
    reads_single_texts: whether a vectorizer reads them, so that pairs make it fail.
    pack_tokens: padded tokens that it is given at once; None: as many as keep this machine busy.
    """

    function: Callable[[list[Any]], Any]
    labels: tuple[str, ...]
    problem: Problem
    name: str
    gives: Gives
    mask: str | None
    reader: Reader | None = field(default=None, repr=False)
    background: Background | None = field(default=None, repr=False)
    linear: LinearPipeline | None = field(default=None, repr=False)
    reads_single_texts: bool = False
    pack_tokens: int | None = None
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
    def capabilities(self) -> frozenset[str]:
        """Nothing inside a function is known, except of a linear pipeline its coefficients."""
        return frozenset() if self.linear is None else frozenset({"linear"})

    @property
    def columns(self) -> FeatureColumns | None:
        """The columns of the rows that a function of texts and features reads; None for one of texts."""
        return None if self.background is None else self.background.columns

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
        kind = () if self._pieces.kind == "word" else (self._pieces.kind,)
        if isinstance(digest, str):
            return blake2b(repr((digest, *kind)).encode(), digest_size=16).hexdigest() if kind else digest
        try:
            probes = self._answers(list(PROBES)) if self.background is None else self._means(PROBES, [{}] * len(PROBES))
            answers = [[round(value, 5) for value in row] for row in self._logits(probes).tolist()]
        except ModelCannot as error:
            answers = [str(error)]  # type: ignore[list-item]
        rows = () if self.background is None else (self.background.digest, len(self.background.frame))
        return blake2b(repr((self.name, self.labels, answers, *rows, *kind)).encode(), digest_size=16).hexdigest()

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
        """Words as pieces, and each feature beside a text; raises `BadInput` for rows without their features."""
        columns = self.columns
        if columns is not None:
            examples = [columns.beside(example) for example in examples]
        has_features = columns is not None
        pairs = [self._pieces.encode(example, self.name, has_features=has_features) for example in examples]
        mask = None if self.mask is None else self._pieces.remembered_number(self._mask_piece, self.name)
        rows, units = tuple(row for row, _ in pairs), tuple(self._with_readings(words) for _, words in pairs)
        return Batch(tuple(examples), rows, units, SpecialIds(mask, None))

    @property
    def _mask_piece(self) -> str:
        """The mask as a piece: a word has the blank before it, a character has none."""
        return f"{' ' if self._pieces.kind == 'word' else ''}{self.mask}"

    def _with_readings(self, words: Units) -> Units:
        if self.reader is None:
            return words
        read = words.content if self.columns is None else [word for word in words.content if not words.segment[word]]
        known = dict(zip(read, self.reader([words.labels[word] for word in read]), strict=False))
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
        """Run the function on the rows' texts; logits are logarithms of the probabilities, in float64.

        Of a row without some of its features the mean of what the function gives over all draws from the background.
        """
        nothing = torch.zeros(len(rows), max(map(len, rows)), 0)
        if self.background is not None:
            parts = [self._parts_of(row) for row in rows]
            means = self._means([text for text, _ in parts], [features for _, features in parts])
            return Trace(self._logits(means), nothing)
        texts = [self._pieces.text_of(row) for row in rows]
        logits = torch.empty(len(rows), self.width, dtype=torch.float64)
        for kind in (str, tuple):  # a function may read texts and pairs, but not in one list
            alike = [index for index, text in enumerate(texts) if isinstance(text, kind)]
            if alike:
                logits[alike] = self._logits(self._answers([texts[index] for index in alike]))
        return Trace(logits, nothing)

    def _parts_of(self, row: Row) -> tuple[str, dict[str, Feature]]:
        """The text of a row, and the features that are left of it; a mask stands for a feature that is taken out."""
        assert self.columns is not None
        mask = None if self.mask is None else number_of(self._mask_piece)
        pairs = enumerate(zip(row.ids, row.segments, strict=True))
        left = self._pieces.text_of(row.keep([n for n, pair in pairs if pair != (mask, 1)]))
        assert isinstance(left, tuple)  # features stand behind the mark between two texts, which no edit removes
        return left[0], self.columns.values(left[1])

    def _means(self, texts: Sequence[str], features: Sequence[Mapping[str, Feature]]) -> np.ndarray:
        """[row logit]: for each row the mean of the function's answers over the draws of what it lacks."""
        assert self.background is not None
        frame, counts = self.background.rows(texts, features)
        answers = self._answers(frame)
        return np.add.reduceat(answers, np.cumsum([0, *counts[:-1]])) / np.array(counts)[:, None]

    def without_each_draw(self, example: Example) -> Tensor:
        """[draw logit]: the answer to the example without all its features, each time by all draws but one."""
        assert self.background is not None
        frame, (count,) = self.background.rows(example.segments[:1], [{}])
        answers = self._answers(frame)
        return self._logits((answers.sum(0) - answers) / max(1, count - 1))

    def plain_logits(self, example: Example) -> Tensor:
        """[logit]: the function's own answer to the text as it was written."""
        segments = example.segments
        if self.background is not None:
            features = self.background.columns.values(segments[1])
            return self._logits(self._answers(self.background.rows(segments[:1], [features])[0]))[0]
        return self._logits(self._answers([segments[0] if len(segments) == 1 else (segments[0], segments[1])]))[0]

    def plain_window_logits(self, example: Example, windows: Sequence[Sequence[int]]) -> Tensor:
        """Raises `ModelCannot`: a function reads a text at once, however long."""
        raise ModelCannot(f"{self.name} is a function of texts; it reads them at once.")

    @property
    def width(self) -> int:
        """Numbers a text."""
        return 1 if self.problem in ("one_logit", "regression") else len(self.labels)

    def _answers(self, texts: Any) -> np.ndarray:
        """[text logit], what the function gives; texts: a list, or a data frame of rows."""
        is_list, count = isinstance(texts, list), len(texts)
        try:
            # A list of its own, to change at will.
            came = self.function(list(texts) if is_list else texts.copy())
            answer = None if came is None else np.asarray(came, dtype=np.float64)
        except PellucidError:  # of a service, which says what happened
            raise
        except Exception as error:  # anything can happen in a user's function
            if self.reads_single_texts and is_list and isinstance(texts[0], tuple):
                raise ModelCannot(f"{self.name} reads single texts, and a pair came; give one text.") from error
            first = repr(texts[0] if is_list else texts.iloc[0].to_dict())
            raise ModelCannot(
                f"{self.name}: the function failed on {count} {'texts' if is_list else 'rows'} (first: {first:.60}): "
                f"{type(error).__name__}: {error}"
            ) from error
        if answer is None:
            raise ModelCannot(
                f"{self.name}: the function returned None; for {count} texts it must return {count} x {self.width} "
                f"numbers, one a class ({', '.join(self.labels)}). Does it end without return?"
            )
        return self.checked(answer, count)

    def _logits(self, answer: np.ndarray) -> Tensor:
        """[text logit], from what the function gives."""
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
                f"({', '.join(self.labels)}); {' x '.join(map(str, answer.shape)) or 'a single value'} came."
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
    pieces: Pieces = "word",
    columns: Sequence[str] = (),
    text: str = "text",
    background: Any = None,
    draws: int = 64,
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
    pieces: "word", or "character", each character and blank as a piece of its own: then unit="character" works. Its
        edits are letters that are taken out (operator="delete") or masked (mask="_").
    columns: the feature columns that predict reads beside the text, such as ("age", "pressure"): predict then gets a
        pandas data frame with the text's column and these, rows in order. Features are explained as words are.
    text: the name of the text's column in that frame, and in tables that are explained.
    background: rows with these columns, such as those that a model was trained on. A feature that is taken out is
        replaced by that of background rows, and the answer is the mean of what predict gives for them.
    draws: how many background rows; the same for every text and edit, drawn once by the content of the background. All
        of them where there are no more; then the mean is exact.

    Returns the classifier. Raises `BadSetting` for settings that do not fit, `BadInput` where predict is no function.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> pellucid.explain(model, "A good film.", "occlusion")[0].top(1)[0].text
    'good'
    """
    one_of("gives", gives, ("probabilities", "logits"))
    one_of("problem", problem, get_args(Problem))
    one_of("pieces", pieces, get_args(Pieces))
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
    rows = _checked_background(columns, text, background, draws)
    return FunctionClassifier(
        predict, names, problem, name, gives, mask, background=rows, _pieces=NumberedPieces(pieces)
    )


def _checked_background(columns: Sequence[str], text: str, background: Any, draws: int) -> Background | None:
    """The background of a function of texts and features; None where it reads no columns."""
    of_class("text", text, str, "give the name of the text's column")
    names = every("columns", columns, str, "give a list of names")
    if not names and background is None:
        return None
    if not names:
        raise BadSetting("background= came without columns=; name the feature columns that the function reads.")
    if len(set(names)) < len(names) or text in names:
        raise BadSetting(f"columns= are different names, and none is that of the text; {listed(names)} came.")
    return background_of(background, names, text, draws)
