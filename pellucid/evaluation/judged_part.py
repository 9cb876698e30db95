"""What judging a part of a comparison's examples gives, and how a file keeps it: the same numbers, to the last bit."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from pathlib import Path
from typing import Any, get_args

import numpy as np

from pellucid.core.errors import BadFile
from pellucid.core.files import read_text, write_text
from pellucid.core.json_text import parsed
from pellucid.evaluation.summary import Combine

FORM = "pellucid-judged-1"
Numbers = float | None | list["Numbers"]


@dataclass(frozen=True)
class Answer:
    """One metric's values for one method; nan: not judged.

    columns: [draw example column]. combine: see `Judged`. curve: [example point], the draws' mean, over grid [point].
    """

    columns: np.ndarray
    combine: Combine
    curve: np.ndarray | None = None
    grid: np.ndarray | None = None


@dataclass(frozen=True)
class JudgedPart:
    """answers: (method, metric) -> values of the part's examples. rows, tokens: what was evaluated to judge them."""

    answers: Mapping[tuple[str, str], Answer]
    rows: int
    tokens: int

    def save(self, path: Path) -> None:
        """Write the part as JSON, whole or not at all."""
        answers = [
            {
                "method": method,
                "metric": metric,
                "columns": _plain(answer.columns),
                "combine": answer.combine,
                "curve": _plain(answer.curve),
                "grid": _plain(answer.grid),
            }
            for (method, metric), answer in self.answers.items()
        ]
        held = {"form": FORM, "rows": self.rows, "tokens": self.tokens, "answers": answers}
        write_text(path, json.dumps(held, ensure_ascii=False))

    @staticmethod
    def read(path: Path) -> "JudgedPart":
        """Read what `save` wrote; raises `BadFile` for anything else."""
        try:
            held = parsed(read_text(path))
            if held["form"] != FORM:
                raise KeyError("form")
            answers = {(entry["method"], entry["metric"]): _answer(entry) for entry in held["answers"]}
            return JudgedPart(answers, index(held["rows"]), index(held["tokens"]))
        except (ValueError, LookupError, TypeError, OverflowError):
            raise not_a_part(path) from None

    def fits(self, pairs: Collection[tuple[str, str]], examples: int) -> bool:
        """Whether these methods and metrics are all there, for so many examples."""
        there = (self.answers.get(pair) for pair in pairs)
        return all(answer is not None and answer.columns.shape[1] == examples for answer in there)


def not_a_part(path: Path) -> BadFile:
    """The error for values that are none of this comparison's."""
    return BadFile(f"{path} is no part of a comparison; remove it to have it made again.")


def joined(parts: Sequence[JudgedPart]) -> JudgedPart:
    """Several parts as one, examples in the parts' order."""
    answers = {
        pair: Answer(
            np.concatenate([part.answers[pair].columns for part in parts], axis=1),
            first.combine,
            None if first.curve is None else np.concatenate([part.answers[pair].curve for part in parts]),  # type: ignore[misc]
            first.grid,
        )
        for pair, first in parts[0].answers.items()
    }
    return JudgedPart(answers, sum(part.rows for part in parts), sum(part.tokens for part in parts))


def _plain(array: np.ndarray | None) -> Numbers:
    """Lists of numbers, which JSON writes so that they are read back exactly; None where a number is nan."""
    return None if array is None else np.where(np.isnan(array), np.array(None), array).tolist()


def _array(numbers: Numbers) -> np.ndarray | None:
    return None if numbers is None else np.array(numbers, dtype=float)  # None becomes nan


def _answer(entry: dict[str, Any]) -> Answer:
    columns, curve, grid = (_array(entry[name]) for name in ("columns", "curve", "grid"))
    if columns is None or columns.ndim != 3 or entry["combine"] not in get_args(Combine):
        raise ValueError("there are no values")
    if (curve is None) != (grid is None):
        raise ValueError("a curve needs a grid")
    if curve is not None and grid is not None and curve.shape != (columns.shape[1], *grid.shape):
        raise ValueError("a curve does not fit its examples and its grid")
    return Answer(columns, entry["combine"], curve, grid)
