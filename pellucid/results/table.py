"""A comparison: methods x metrics, each number with its interval, its direction and its distance from chance."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import UnionType
from typing import Any

from pellucid.base.checks import known, reason
from pellucid.base.errors import BadFile, BadInput, UnknownName
from pellucid.base.files import read_text, write_text
from pellucid.base.json_text import nan_as_none, parsed, read_sealed, sealed
from pellucid.base.kinds import renderers
from pellucid.results.interval import (
    CheckOutcome,
    TrustCard,
    check_outcome_from,
    curve_from,
    interval_from,
    misplaced,
    word_from,
)
from pellucid.results.interval import Curve as Curve
from pellucid.results.interval import Interval as Interval
from pellucid.text.example import is_utf8

FORM = "pellucid-table-1"
_CELL: dict[str, type | UnionType] = {  # the kinds of a cell's plain fields
    "method": str,
    "metric": str,
    "better": str,
    "n": int,
    "spread": int | float | None,
    "settings": Mapping,
    "p": int | float | None,
}
UNMARKED = (
    "This table was saved by an earlier build, whose marks were not corrected for their number; all methods are "
    "undecided here. Compare again to see which are better than random scores."
)
CHANCE = "chance"
TABLE_FILE = "table.json"  # in the folder of a comparison
CEILING = "annotators"  # the method of a table's ceiling
LEVEL = 0.05
"""The probability that any method at all is wrongly marked as better or worse than random scores, over all methods and
metrics of a comparison.
"""
COST_SECONDS = "seconds a text"  # the measure of the check `cost` that pages draw beside metrics


@dataclass(frozen=True)
class Cell:
    """One method under one metric.

    value: the mean over examples. n: how many examples were judged. better: "higher" or "lower". over_chance: the
    paired difference method - chance (None for chance itself). spread: for several draws, the standard deviation of the
    draws' means. settings: the metric's. p: of the paired test that the method is no better and no worse than random
    scores, 0 to 1, with Holm's correction over all methods and metrics of the comparison; None for chance itself.
    """

    method: str
    metric: str
    value: Interval
    n: int
    better: str
    over_chance: Interval | None = None
    spread: float | None = None
    settings: Mapping[str, object] = field(default_factory=dict)
    p: float | None = None

    @property
    def verdict(self) -> str:
        """ "better than chance", "worse than chance" or "undecided", at 5 % over all tests of the comparison."""
        if self.over_chance is None or self.p is None or not self.p < LEVEL:
            return "undecided"
        good = (self.over_chance.mean > 0) == (self.better == "higher")
        return "better than chance" if good else "worse than chance"


@dataclass(frozen=True, repr=False)
class Table:
    """All cells and curves of one comparison, and what is needed to repeat it.

    cells: a method under a metric, each. curves: of metrics that have one. about: model, model_hash, examples, seed,
    resamples, target, method settings and costs. caveats: sentences. checks: what no single text can answer, one
    outcome a check. card: which methods it recommends; None without chance. ceiling: how far people agree among
    themselves under metrics that judge plausibility, cells of the method "annotators"; none where no text was marked by
    several.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> table = pellucid.compare(model, ["A good film.", "Good!", "Dull."], ["occlusion"], ["comprehensiveness"])
    >>> table.methods, table.metrics
    (('occlusion', 'chance'), ('comprehensiveness',))
    """

    cells: tuple[Cell, ...]
    curves: tuple[Curve, ...]
    about: Mapping[str, object]
    caveats: tuple[str, ...] = ()
    checks: tuple[CheckOutcome, ...] = ()
    card: TrustCard | None = None
    ceiling: tuple[Cell, ...] = ()

    def __repr__(self) -> str:
        sizes = f"{_counted(self.methods, 'method')} × {_counted(self.metrics, 'metric')}"
        model = f" of {self.about['model']}" if "model" in self.about else ""
        return f"<Table: {sizes}{model}>"

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_html_of_table").make(self)

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_table").make(self)

    @property
    def methods(self) -> tuple[str, ...]:
        """Methods in order of appearance."""
        return tuple(dict.fromkeys(cell.method for cell in self.cells))

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics in order of appearance."""
        return tuple(dict.fromkeys(cell.metric for cell in self.cells))

    def by(self, metric: str) -> "Table":
        """The table with the best method of a metric first; methods that it did not judge, then chance, are last.

        Raises `UnknownName` for a metric that is not there.

        >>> table.by("comprehensiveness").methods
        ('occlusion', 'chance')
        """
        known("metric of this table", metric, self.metrics)
        order = sorted(self.methods, key=lambda method: self._rank(method, metric))
        return replace(self, cells=tuple(sorted(self.cells, key=lambda cell: order.index(cell.method))))

    def _rank(self, method: str, metric: str) -> tuple[bool, bool, float]:
        """Lowest for the best method: whether it is chance, whether its value is unknown, and the value."""
        cells = [cell for cell in self.cells if (cell.method, cell.metric) == (method, metric)]
        value = cells[0].value.mean if cells else math.nan
        sign = -1 if cells and cells[0].better == "higher" else 1
        return (
            method.partition("(")[0] == CHANCE,
            math.isnan(value),
            0.0 if math.isnan(value) else sign * value,
        )

    def cell(self, method: str, metric: str) -> Cell:
        """One cell, by its method and its metric; raises `UnknownName` for a name that is not there, with the nearest.

        >>> print(table.cell("occlusion", "comprehensiveness").value)
        0.233 [0.000, 0.700]
        """
        known("method of this table", method, self.methods)
        known("metric of this table", metric, self.metrics)
        cells = [cell for cell in self.cells if (cell.method, cell.metric) == (method, metric)]
        if not cells:
            raise UnknownName(f"{method} was not judged by {metric} in this table.")
        return cells[0]

    def check(self, name: str) -> CheckOutcome:
        """The outcome of one check; raises `UnknownName` for one that is not there, with the nearest.

        >>> texts = ["A good film.", "Good!", "Dull."]
        >>> checked = pellucid.compare(model, texts, ["occlusion"], ["comprehensiveness"], checks=["dead_token"])
        >>> checked.check("dead_token").line("occlusion").passed
        True
        """
        known("check of this table", name, [outcome.check for outcome in self.checks])
        return next(outcome for outcome in self.checks if outcome.check == name)

    def save(self, path: str | Path, of: Mapping[str, object] | None = None) -> None:
        """Write the table as JSON.

        path: the file to write. of: what it belongs to, which `read` then compares; None: no seal is written.

        Raises `BadInput` for an `about` with other than plain values, `BadFile` where the file cannot be written.

        >>> table.save("table.json")
        """
        try:
            content = {"form": FORM, **nan_as_none(asdict(self))}  # JSON has no nan
            content = content if of is None else sealed(content, of)
            text = json.dumps(content, ensure_ascii=False, indent=1)
        except (TypeError, ValueError, RecursionError) as error:
            raise BadInput(f"The comparison cannot be saved: {reason(error)}; use plain values in about.") from None
        write_text(path, text)

    @staticmethod
    def read(path: str | Path, of: Mapping[str, object] | None = None) -> "Table":
        """Read what `save` wrote.

        path: the file. of: what the table must belong to; None: anything.

        Raises `BadFile` for another file, and for a table that belongs to something else.

        >>> table.save("table.json")
        >>> pellucid.Table.read("table.json") == table
        True
        """
        try:
            record = parsed(read_text(path)) if of is None else read_sealed(Path(path), of, indent=1)
            if record.get("form") != FORM:
                raise ValueError("it is of another form")
            return Table(
                tuple(_cell(cell) for cell in record["cells"]),
                tuple(curve_from(curve) for curve in record["curves"]),
                _about(record["about"]),
                (*_unmarked(record["cells"]), *(word_from(caveat) for caveat in record["caveats"])),
                tuple(check_outcome_from(outcome) for outcome in record.get("checks", ())),
                TrustCard.read(record["card"]) if record.get("card") is not None else None,
                tuple(_cell(cell) for cell in record.get("ceiling", ())),
            )
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            raise BadFile(f"{path} does not hold a comparison saved by Pellucid ({reason(error)}).") from None


def _counted(names: Sequence[str], kind: str) -> str:
    return f"{len(names):,} {kind}{'' if len(names) == 1 else 's'}"


def _cell(record: dict[str, Any]) -> Cell:  # the fields of a Cell, of these kinds; others raise `TypeError`
    record = {"p": None} | record
    for name, kind in _CELL.items():
        _check(record[name], kind)
    over = record["over_chance"]
    intervals = {
        "value": interval_from(record["value"]),
        "over_chance": interval_from(over) if over else None,
    }
    return Cell(**record | intervals)


def _unmarked(cells: Sequence[dict[str, Any]]) -> list[str]:
    """What a reader must know of a table whose cells have no p values."""
    return [UNMARKED] if any(cell["over_chance"] and "p" not in cell for cell in cells) else []


def _about(record: object) -> Mapping[str, object]:
    if not isinstance(record, Mapping):
        raise misplaced(record)
    return record


def _check(value: object, kind: type | UnionType) -> None:
    """Raise `ValueError` where a value is of another kind, or cannot be written again."""
    is_strange = isinstance(value, bool) or value in (math.inf, -math.inf)
    if not isinstance(value, kind) or is_strange or (isinstance(value, str) and not is_utf8(value)):
        raise misplaced(value)
