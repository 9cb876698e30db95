"""Parts of a text: passages, the turns of a chat, the place of an answer, what stays, and features beside a text."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from math import isfinite
from typing import Any, Literal

import numpy as np

from pellucid.base.checks import known, listed, listed_members, quoted, whole
from pellucid.base.errors import BadInput, BadSetting, InputReading, notify
from pellucid.base.packages import optional_package
from pellucid.text.example import Example, text_digest
from pellucid.text.units import SPECIAL, Units, text_units

Place = tuple[int, int]  # characters [start, end)
Rest = Literal["together", "words"]

# Passages: parts of a text that the user names by their words, such as those that a search has put into a prompt.


def passages_in(example: Example, passages: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """The characters [start, end) of each passage in the example's first text, in reading order.

    Blanks around a passage do not count. One that is named twice has to stand there twice. Raises `BadInput` for
    passages that are blank, missing, ambiguous, or overlap.
    """
    text, where = example.segments[0], f"the first text of example {quoted(example.id)}"
    turns = turns_of(example)
    if turns and list(passages) == [text[turn.start : turn.end] for turn in turns]:
        return tuple((turn.start, turn.end) for turn in turns)  # a chat may say the same twice
    places = []
    for passage, wanted in Counter(passage.strip() for passage in passages).items():
        if not passage:
            raise BadInput(f"A passage of example {quoted(example.id)} is blank; name parts of its first text.")
        starts = _starts(text, passage)
        if len(starts) != wanted:
            raise BadInput(_not_there(passage, len(starts), wanted, where))
        places += [(start, start + len(passage)) for start in starts]
    for (first, end), (start, last) in pairwise(sorted(places)):
        if start < end:
            raise BadInput(
                f"The passages {quoted(text[first:end])} and {quoted(text[start:last])} overlap in {where}; name parts "
                f"that do not."
            )
    return tuple(sorted(places))


def with_rest(example: Example, places: Sequence[Place], rest: Rest) -> tuple[Place, ...]:
    """The places of passages, and as "words" those of all words of the first text that stand between them."""
    if rest == "together":
        return tuple(places)
    text, begin, words = example.segments[0], 0, []
    for start, end in (*places, (len(text), len(text))):
        words += [(begin + first, begin + last) for first, last in text_units(text[begin:start], "word")]
        begin = end
    return tuple(sorted((*places, *words)))


def _starts(text: str, passage: str) -> list[int]:
    """Where a passage begins; places that overlap one another are counted once."""
    starts, start = [], text.find(passage)
    while start >= 0:
        starts.append(start)
        start = text.find(passage, start + len(passage))
    return starts


def _not_there(passage: str, count: int, wanted: int, where: str) -> str:
    if not count:
        return f"The passage {quoted(passage)} is not in {where}; give parts of that text as they stand there."
    if count < wanted:
        return f"The passage {quoted(passage)} stands {count} times in {where} and was named {wanted} times."
    return (
        f"The passage {quoted(passage)} stands {count} times in {where}; give more of the text around it, or name "
        f"it {count} times."
    )


# A chat: the first text is what the model's template makes of the messages, and `meta["chat"]` says where each stands.

CHAT = "chat"  # its name in meta


@dataclass(frozen=True)
class Turn:
    """Characters [start, end) of the first text that are what a role said: "system", "user", "assistant", "tool"."""

    role: str
    start: int
    end: int


def turns_of(example: Example) -> tuple[Turn, ...]:
    """The turns of a chat, in order; none for other texts, and where the meta has something else under that name."""
    try:
        turns = tuple(Turn(role, start, end) for role, start, end in example.meta.get(CHAT) or ())
        borders = [0, *(border for turn in turns for border in (turn.start, turn.end)), len(example.segments[0])]
    except (TypeError, ValueError):
        return ()
    kinds = all(type(border) is int for border in borders) and all(isinstance(turn.role, str) for turn in turns)
    return turns if kinds and borders == sorted(borders) else ()


# The place that an answer is about, of a model that answers for each piece of a text: an entity, an answer that stands
# in the text, a masked word. `meta["place"]` says where it stands, as plain values.

PLACE = "place"  # its name in meta


@dataclass(frozen=True)
class AnswerPlace:
    """Characters [start, end) of a segment that a model's answer is about; text: what stands there.

    pieces: for each piece of the row, by its number, that the answer is read from, what is read there
    (`models/classifiers/piece_answers.py`). digest: of the whole texts, of whose pieces these are the numbers.
    """

    segment: int
    start: int
    end: int
    text: str
    pieces: tuple[tuple[int, int], ...]
    digest: str

    def record(self) -> list[Any]:
        """As `meta` keeps it."""
        return [self.segment, self.start, self.end, self.text, [list(pair) for pair in self.pieces], self.digest]


def place_of(example: Example) -> AnswerPlace | None:
    """The place that is asked about; None where there is none. Raises `BadInput` where the text is another one now."""
    record = example.meta.get(PLACE)
    if record is None:
        return None
    try:
        segment, start, end, text, pieces, digest = record
        place = AnswerPlace(segment, start, end, text, tuple((int(piece), int(code)) for piece, code in pieces), digest)
    except (TypeError, ValueError):
        return None
    if digest != text_digest(example):
        raise BadInput(
            f"Example {quoted(example.id)} asks about {quoted(text)} in another text than the one that it has now; "
            f"give the new text without meta['place'], and its places are looked for anew."
        )
    return place


# Words that are never taken out of a text: a template, an instruction, what a role of a chat said. `meta["keep"]` says
# where they stand, as plain values.

KEEP = "keep"  # its name in meta
FixedPart = str | re.Pattern[str] | Mapping[str, str]
FORMS = "parts of the texts, re.compile(…), or {'role': 'system'}"


def with_fixed_parts(examples: Sequence[Example], keep: FixedPart | Sequence[FixedPart] | None) -> tuple[Example, ...]:
    """The examples with the parts that stay noted in their meta; raises `BadInput` for a part that is in no text."""
    if keep is None:
        return tuple(examples)
    parts = [keep] if isinstance(keep, str | re.Pattern | Mapping) else listed_members(keep)
    if not parts:
        raise BadInput(f"keep={quoted(keep)} names no part of a text; give {FORMS}.")
    checked = [_checked_part(part) for part in parts]
    places = [[_places_of(example, part) for part in checked] for example in examples]
    for index, part in enumerate(checked):
        if not any(of_example[index] for of_example in places):
            raise BadInput(f"keep={quoted(_written(part))} is in none of the {len(examples):,} texts; give {FORMS}.")
        without = [example.id for example, of_example in zip(examples, places, strict=True) if not of_example[index]]
        if without:
            notify(
                f"keep={quoted(_written(part))} is not in {len(without):,} of {len(examples):,} texts "
                f"({listed(without[:5])}), where nothing of it stays.",
                InputReading,
            )
    return tuple(
        replace(example, meta={**example.meta, KEEP: sorted(place for of_part in of_example for place in of_part)})
        for example, of_example in zip(examples, places, strict=True)
    )


def _checked_part(part: object) -> FixedPart:
    is_role = isinstance(part, Mapping) and set(part) == {"role"} and isinstance(part["role"], str)
    if not (is_role or (isinstance(part, str) and part.strip()) or isinstance(part, re.Pattern)):
        raise BadInput(f"keep={quoted(part)} names no part of a text; give {FORMS}.")
    return part  # type: ignore[return-value]


def _written(part: FixedPart) -> str:
    """A part as the user wrote it."""
    return part.pattern if isinstance(part, re.Pattern) else part if isinstance(part, str) else f"role {part['role']}"


def _places_of(example: Example, part: FixedPart) -> list[list[Any]]:
    """[segment, start, end, text] of each place where a part stands."""
    if isinstance(part, Mapping):
        turns = [turn for turn in turns_of(example) if turn.role == part["role"]]
        return [[0, turn.start, turn.end, example.segments[0][turn.start : turn.end]] for turn in turns]
    pattern = re.compile(re.escape(part)) if isinstance(part, str) else part
    return [
        [segment, *match.span(), match[0]]
        for segment, text in enumerate(example.segments)
        for match in pattern.finditer(text)
        if match[0]
    ]


def fixed_units(units: Units, example: Example) -> Units:
    """The units, those of parts that stay as special tokens: no method takes them out, and no view scores them.

    Raises `BadInput` where the text is another one now.
    """
    places = example.meta.get(KEEP)
    if not places:
        return units
    segments = list(units.segment)
    for segment, start, end, text in places:
        if example.segments[segment][start:end] != text:
            raise BadInput(
                f"Example {quoted(example.id)} keeps {quoted(text)}, and another text stands there now; give the new "
                f"text without meta['keep']."
            )
        for unit, at in enumerate(units.segment):
            if at == segment and units.start[unit] < end and units.end[unit] > start:
                segments[unit] = SPECIAL
    ends = [
        (0, 0) if segment == SPECIAL else pair for segment, *pair in zip(segments, units.start, units.end, strict=True)
    ]
    return replace(units, segment=tuple(segments), start=tuple(a for a, _ in ends), end=tuple(b for _, b in ends))


# Features beside a text: the other columns of its row, such as age and pressure. A second text says them, one a line.

FeatureKind = Literal["number", "truth", "string"]
Feature = int | float | bool | str
TRUTHS = {"True": True, "False": False}
EXACT = 2**53  # up to it a float that is whole can be written as a whole number


@dataclass(frozen=True)
class FeatureColumns:
    """The columns of a row: text, the name of its text's column; kinds, name -> what its values are, in order."""

    text: str
    kinds: Mapping[str, FeatureKind]

    def beside(self, example: Example) -> Example:
        """The example with its features as a second text, from its meta; as it is where it has that text already.

        Raises `BadInput` for a feature that is missing, or of another kind.
        """
        if len(example.segments) == 2 and self.values(example.segments[1]).keys() == self.kinds.keys():
            return example
        lines = [self._line(name, example) for name in self.kinds]
        return replace(example, segments=(example.segments[0], "\n".join(lines)))

    def values(self, lines: str) -> dict[str, Feature]:
        """Name -> value, of the features that a text says; raises `BadInput` for a line that says none."""
        values = {}
        for line in filter(str.strip, lines.split("\n")):
            name = next((name for name in self.kinds if line.startswith(f"{name} = ")), None)
            if name is None:
                raise BadInput(
                    f"The second text has the line {quoted(line)}, and the model reads one text with the columns "
                    f"{listed(self.kinds)}; give a table with these columns, and no pairs of texts."
                )
            values[name] = self._value(name, line.removeprefix(f"{name} = "))
        return values

    def _line(self, name: str, example: Example) -> str:
        row = f"row {quoted(example.id)}"
        if name not in example.meta:
            raise BadInput(
                f"R{row[1:]} has no column {quoted(name)}; the model reads {listed(self.kinds)} beside the "
                f"text: give a table with these columns, or pellucid.Example((text,), meta={{{name!r}: ...}})."
            )
        value = example.meta[name]
        value = value.item() if callable(getattr(value, "item", None)) else value
        if _is_missing(value):
            raise BadInput(
                f"The column {quoted(name)} is empty in {row}; fill it in, or leave such rows out: skip_bad_rows=True."
            )
        value = self._value(name, str(value), f" in {row}")
        is_whole = isinstance(value, float) and value.is_integer() and abs(value) <= EXACT
        return f"{name} = {int(value) if is_whole else value}"

    def _value(self, name: str, text: str, where: str = "") -> Feature:
        """The value that a text stands for."""
        kind = self.kinds[name]
        if kind == "string" and "\n" not in text and text.strip():
            return text
        if kind == "truth" and text in TRUTHS:
            return TRUTHS[text]
        value = _number(text) if kind == "number" else None
        if value is None:
            wanted = {"number": "a finite number", "truth": "True or False", "string": "one line of text"}[kind]
            raise BadInput(f"The column {quoted(name)} is {quoted(text)}{where}; give {wanted}, as in the background.")
        return value


def has_features(example: Example) -> bool:
    """Whether the second text of an example says features of its row."""
    lines = example.segments[1].split("\n") if len(example.segments) == 2 else []
    return bool(lines) and all(line.partition(" = ")[0] in example.meta for line in lines)


def _is_missing(value: Any) -> bool:
    """Whether a value stands for none: None, not-a-number, or a sign of pandas whose equality is none either."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True


def _number(text: str) -> int | float | None:
    """The number that a text stands for; None where it is none, or is not finite."""
    for kind in (int, float):
        try:
            value: Any = kind(text)
        except ValueError:
            continue
        return value if isfinite(value) else None
    return None


# Features beside a text: a row without some of them is as many rows as there are draws, each with those of a draw.


@dataclass(frozen=True, eq=False)
class Background:
    """The rows that features are drawn from: all features that are missing of one row come from the same draw.

    columns: of the rows that are explained. frame: a pandas data frame with the draws, the same for every text.
    n_rows: of the background. digest: of all its rows.
    """

    columns: FeatureColumns
    frame: Any
    n_rows: int
    digest: str

    def rows(self, texts: Sequence[str], features: Sequence[Mapping[str, Feature]]) -> tuple[Any, list[int]]:
        """A data frame for the function, and how many of its rows each text has; features: those that each has left."""
        draws = self.frame.to_dict("list")
        counts = [1 if len(left) == len(draws) else len(self.frame) for left in features]
        table: dict[str, list[Any]] = {self.columns.text: []}
        table[self.columns.text] = [text for text, count in zip(texts, counts, strict=True) for _ in range(count)]
        for name, drawn in draws.items():
            pairs = zip(features, counts, strict=True)
            table[name] = [
                value for left, count in pairs for value in ([left[name]] * count if name in left else drawn)
            ]
        return self._typed(table), counts

    def _typed(self, table: Mapping[str, list[Any]]) -> Any:
        """The data frame of a table; a column has the type that it has in the background wherever that holds its
        values.
        """
        frame = optional_package("pandas").DataFrame(dict(table))
        for name, kind in self.frame.dtypes.items():
            try:
                typed = frame[name].astype(kind)
            except (TypeError, ValueError):
                continue
            if typed.tolist() == table[name]:
                frame[name] = typed
        return frame


def background_of(background: Any, columns: Sequence[str], text: str, draws: int) -> Background:
    """The draws from background rows; raises `BadInput` for rows that are none, or lack a column or a value."""
    whole("draws", draws, 1, 2**20)
    if background is None:
        raise BadSetting(
            "A model of texts and numbers needs rows that stand for a number that is taken out, such as those that it "
            "was trained on: from_function(..., background=rows), or from_pipeline(pipeline, background=rows)."
        )
    pandas = optional_package("pandas")
    try:
        frame = pandas.DataFrame(background)
    except Exception as error:  # of another library's table
        raise BadInput(f"The background came as {type(background).__name__}; give a data frame.") from error
    for name in columns:
        known("column of the background", name, [str(column) for column in frame.columns])
    if not len(frame):
        raise BadInput("The background has no rows; give rows that the model was trained on.")
    frame = frame[list(columns)].reset_index(drop=True)
    kinds = {name: _kind_of(name, frame[name].tolist()) for name in columns}
    hashes = pandas.util.hash_pandas_object(frame, index=False).to_numpy()
    digest = blake2b(hashes.tobytes(), digest_size=16)
    if draws < len(frame):
        generator = np.random.default_rng(int.from_bytes(digest.digest(), "big"))
        rows = np.sort(generator.choice(len(frame), draws, replace=False))
        return Background(FeatureColumns(text, kinds), frame.iloc[rows], len(frame), digest.hexdigest())
    return Background(FeatureColumns(text, kinds), frame, len(frame), digest.hexdigest())


def _kind_of(name: str, values: Sequence[Any]) -> FeatureKind:
    """What the values of a background column are."""
    if "\n" in name or " = " in name:
        raise BadInput(f"The column {quoted(name)} has a name that is no line without ' = '; rename it.")
    if any(map(_is_missing, values)):
        raise BadInput(
            f"The column {quoted(name)} of the background has empty values; fill them in, or leave them out."
        )
    if all(isinstance(value, bool) for value in values):
        return "truth"
    if all(isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) for value in values):
        return "number"
    if all(isinstance(value, str) for value in values):
        return "string"
    kinds = sorted({type(value).__name__ for value in values})
    raise BadInput(
        f"The column {quoted(name)} of the background has values of the types {listed(kinds)}; give finite numbers, "
        "strings, or True and False."
    )
