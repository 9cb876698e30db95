"""A mean with its 95 % interval, a curve of such means, and how both are read from a file."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, get_args

from pellucid.base.checks import known, quoted
from pellucid.base.errors import UnknownName
from pellucid.base.kinds import renderers
from pellucid.text.example import is_utf8

LARGEST = 3.5e38  # about the largest number of float32; a page cannot draw larger ones


@dataclass(frozen=True)
class Interval:
    """A mean with the bounds of its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:z.3f} [{self.low:z.3f}, {self.high:z.3f}]"  # z: no minus before zero

    @property
    def excludes_zero(self) -> bool:
        """Whether 0 lies outside the interval."""
        return self.low > 0 or self.high < 0


class CurveRecord(TypedDict):
    """A curve in a table's file."""

    method: str
    metric: str
    grid: list[float]
    mean: list[float]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class Curve:
    """A metric's curve for one method: at each point of the grid the mean over examples and its 95 % interval."""

    method: str
    metric: str
    grid: tuple[float, ...]
    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def interval_from(record: Mapping[str, object]) -> Interval:
    """The interval of a record; raises `ValueError` for values that are no numbers."""
    return Interval(**{name: number_from(value) for name, value in record.items()})


def curve_from(record: CurveRecord) -> Curve:
    """The curve of a record; raises `ValueError` for lines that differ in length or cannot be drawn."""
    lines = [tuple(map(number_from, line)) for line in (record["grid"], record["mean"], record["low"], record["high"])]
    if len(set(map(len, lines))) > 1:
        raise ValueError("the lines of a curve differ in length")
    grid = lines[0]
    if not grid or not all(map(_plottable, grid)):
        raise ValueError("a curve lies over no points, or over points that are no numbers")
    return Curve(word_from(record["method"]), word_from(record["metric"]), *lines)


def word_from(value: object) -> str:
    """A string of a record; raises `ValueError` for anything else."""
    if not isinstance(value, str) or not is_utf8(value):
        raise misplaced(value)
    return value


def number_from(value: object) -> float:
    """A number that can be drawn, or nan where it is not known, for which JSON has null."""
    if value is None:
        return math.nan
    if not isinstance(value, int | float) or isinstance(value, bool) or value in (math.inf, -math.inf):
        raise misplaced(value)
    as_float = float(value)
    if not (math.isnan(as_float) or _plottable(as_float)):
        raise ValueError(f"{quoted(value)} is larger than any score")
    return as_float


def _plottable(value: float) -> bool:
    return abs(value) <= LARGEST


def misplaced(value: object) -> ValueError:
    """The error for a value of another kind than its field's."""
    return ValueError(f"{quoted(value)} stands where it cannot")


# What a check says of methods: lines with values, a pass or a fail where the check has one, and curves.


@dataclass(frozen=True)
class CheckLine:
    """One number of a check.

    method: the judged method. measure: what the number is, such as "Kendall's tau". value: the number. n: over how many
    texts, or words. beside: what the method is compared with, or what is counted: another method, a twin, a word; ""
    for none. passed: whether the method passes; None where the check has no pass, or the interval lies on both sides of
    the limit.
    """

    method: str
    measure: str
    value: Interval
    n: int
    beside: str = ""
    passed: bool | None = None


@dataclass(frozen=True)
class CheckOutcome:
    """What one check gave.

    check: its name, with the settings that were changed. meaning: what it asks, in one sentence. lines: in the order of
    the methods. curves: of checks that have one; their metric is the check. curve_axis: what curves run along.
    settings: all of the check's. notes: what could not be judged, in sentences. rule: when a method passes; "" where
    there is no pass.
    """

    check: str
    meaning: str
    lines: tuple[CheckLine, ...]
    curves: tuple[Curve, ...] = ()
    curve_axis: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    rule: str = ""

    @property
    def methods(self) -> tuple[str, ...]:
        """Methods in order of appearance."""
        return tuple(dict.fromkeys(line.method for line in self.lines))

    def of_method(self, method: str) -> tuple[CheckLine, ...]:
        """The lines of one method; raises `UnknownName` for a method that was not checked."""
        known("method of this check", method, self.methods)
        return tuple(line for line in self.lines if line.method == method)

    def line(self, method: str, measure: str | None = None, beside: str | None = None) -> CheckLine:
        """The first line of a method, or that of this measure, or beside this; raises `UnknownName` where there is
        none.
        """
        for line in self.of_method(method):
            if measure in (None, line.measure) and beside in (None, line.beside):
                return line
        measures = sorted({f"{line.measure} {line.beside}".strip() for line in self.of_method(method)})
        raise UnknownName(f"{self.check} has no such line of {method}; there are: {', '.join(measures)}.")


def check_outcome_from(record: Mapping[str, Any]) -> CheckOutcome:  # the fields of an outcome, in any state
    """The outcome of a record; raises `ValueError`, `TypeError` or `LookupError` for what is none."""
    if not isinstance(record["settings"], Mapping):
        raise misplaced(record["settings"])
    return CheckOutcome(
        word_from(record["check"]),
        word_from(record["meaning"]),
        tuple(map(_line, record["lines"])),
        tuple(map(curve_from, record["curves"])),
        word_from(record["curve_axis"]),
        dict(record["settings"]),
        tuple(map(word_from, record["notes"])),
        word_from(record["rule"]),
    )


def _line(record: Mapping[str, Any]) -> CheckLine:
    n, passed = record["n"], record["passed"]
    if isinstance(n, bool) or not isinstance(n, int):
        raise misplaced(n)
    if not isinstance(passed, bool | None):
        raise misplaced(passed)
    names = (word_from(record[name]) for name in ("method", "measure", "beside"))
    method, measure, beside = names
    return CheckLine(method, measure, interval_from(record["value"]), n, beside, passed)


# The trust card of a comparison: which methods to use for this model, which not, and on what evidence.

Kind = Literal["shortcut", "use", "fast", "second", "people", "unclear", "avoid", "untested", "limits"]


@dataclass(frozen=True)
class Advice:
    """One point of the card.

    kind: "shortcut" (what decides by itself), "use", "fast" (where speed matters), "second" (faithful, but less),
    "people" (agrees with what people marked), "unclear", "avoid", "untested" (what was not measured) or "limits"
    (what the numbers cannot say). methods: those that it is about. sentence: the advice, with its reason. evidence:
    the tests behind it, one sentence each.
    """

    kind: Kind
    methods: tuple[str, ...]
    sentence: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class TrustCard:
    """What a comparison advises for one model.

    model: its name. n_texts: how many texts were compared. advice: the points, most important first. tests: how they
    were tested, in a sentence.
    """

    model: str
    n_texts: int
    advice: tuple[Advice, ...]
    tests: str

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_trust_card").make(self)

    def __repr__(self) -> str:
        return (
            f"<TrustCard of {self.model}: {self.n_texts:,} texts, recommended: {', '.join(self.recommended) or 'none'}>"
        )

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_html_of_trust_card").make(self)

    def points(self, kind: Kind) -> tuple[Advice, ...]:
        """The points of one kind."""
        return tuple(point for point in self.advice if point.kind == kind)

    @property
    def recommended(self) -> tuple[str, ...]:
        """The methods to use for faithful reading, the best one first; none where the evidence does not suffice."""
        return tuple(method for point in self.points("use") for method in point.methods)

    @staticmethod
    def read(record: Mapping[str, Any]) -> "TrustCard":
        """The card from the record that `dataclasses.asdict` makes; raises `ValueError`, `LookupError` or `TypeError`
        for another.
        """
        advice = tuple(_advice(point) for point in record["advice"])
        n_texts = record["n_texts"]
        if not isinstance(n_texts, int) or isinstance(n_texts, bool):
            raise TypeError("the number of texts is no whole number")
        return TrustCard(_word(record["model"]), n_texts, advice, _word(record["tests"]))


def _advice(record: Mapping[str, Any]) -> Advice:
    if record["kind"] not in get_args(Kind):
        raise ValueError("a point of the card is of no known kind")
    methods, evidence = _words(record["methods"]), _words(record["evidence"])
    return Advice(record["kind"], methods, _word(record["sentence"]), evidence)


def _words(record: Sequence[object]) -> tuple[str, ...]:
    if isinstance(record, str):
        raise TypeError("a text stands where a list of texts belongs")
    return tuple(map(_word, record))


def _word(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("something else stands where a text belongs")
    return value
