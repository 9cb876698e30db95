"""Features beside a text: the other columns of its row, such as age; a second text says them, one a line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import isfinite
from typing import Any, Literal

import numpy as np

from pellucid.base.checks import known, listed, quoted, whole
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.packages import optional_package
from pellucid.text.example import Example

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


# A row without some of them is as many rows as there are draws, each with those of a draw.


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
