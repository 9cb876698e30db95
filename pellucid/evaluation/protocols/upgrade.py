"""Upgrade: how often a classifier was right before and after its encoder was given a new pooler and head."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from pellucid.base.errors import BadFile
from pellucid.base.files import read_text, write_text
from pellucid.base.json_text import parsed
from pellucid.evaluation.shared.summary import accuracy_interval, paired_difference
from pellucid.results.table import Interval

FILE = "upgrade.json"


@dataclass(frozen=True)
class Change:
    """Accuracy on the same texts, 0 to 1. n: how many texts; difference: after - before, text by text."""

    n: int
    before: Interval
    after: Interval
    difference: Interval

    @property
    def verdict(self) -> str:
        """The difference in words, as far as its interval allows."""
        if not self.difference.excludes_zero:
            return "too close to tell apart"
        return "better than before" if self.difference.mean > 0 else "worse than before"


def change(before: Sequence[bool], after: Sequence[bool]) -> Change:
    """The change of accuracy between two models.

    before, after: [example], whether each model classified the example correctly; the same texts in the same order.
    """
    sides = [np.asarray(right, dtype=float) for right in (before, after)]
    was, now = (accuracy_interval(right) for right in sides)
    return Change(len(before), was, now, paired_difference(sides[1], sides[0]))


@dataclass(frozen=True)
class Upgrade:
    """What an upgrade changed, for each part of the data; `train(…, start_from=…)` writes it to the model's folder.

    started_from: the classifier whose encoder was used again. parts: part -> its change. left_out: part -> why it was not
    judged.

    >>> upgraded = pellucid.train("reviews.csv", start_from="my-classifier", out="my-upgraded-classifier", epochs=1)
    >>> upgrade = pellucid.Upgrade.read("my-upgraded-classifier")
    >>> upgrade.started_from, list(upgrade.parts)
    ('my-classifier', ['dev', 'test'])
    """

    started_from: str
    parts: Mapping[str, Change]
    left_out: Mapping[str, str]

    def in_words(self) -> list[str]:
        """One line for each part, accuracy in per cent and differences in points."""
        lines = [
            f"Accuracy on {part} ({change.n} texts): {_percent(change.before)} before, {_percent(change.after)} after; "
            f"{100 * change.difference.mean:+.1f} points [{100 * change.difference.low:+.1f}, "
            f"{100 * change.difference.high:+.1f}]: {change.verdict}."
            for part, change in self.parts.items()
        ]
        lines += [f"The {part} part was not judged: {why}" for part, why in self.left_out.items()]
        return [*lines, "The epoch was chosen on dev, which favours the new model there."]

    def save(self, folder: str | Path) -> Path:
        """Write upgrade.json to a model's folder."""
        path = Path(folder) / FILE
        write_text(path, json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n")
        return path

    @classmethod
    def read(cls, folder: str | Path) -> "Upgrade":
        """What `save` wrote; raises `BadFile` where there is no such file or it is broken."""
        path = Path(folder) / FILE
        try:
            record = parsed(read_text(path))
            parts = {part: _change(of_part) for part, of_part in record["parts"].items()}
            left_out = {str(part): str(why) for part, why in record["left_out"].items()}
            return cls(str(record["started_from"]), parts, left_out)
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError):
            raise BadFile(f"{path} is no record of an upgrade.") from None


def _change(record: Mapping) -> Change:
    intervals = {
        name: Interval(*(float(record[name][bound]) for bound in ("mean", "low", "high")))
        for name in ("before", "after", "difference")
    }
    return Change(int(record["n"]), **intervals)


def _percent(interval: Interval) -> str:
    return f"{100 * interval.mean:.1f} %"
