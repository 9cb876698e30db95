"""What judging a part of a comparison's examples gives, and how a file keeps it: the same numbers, to the last bit."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import index
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

import numpy as np

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import read_text, write_text
from pellucid.core.foundation.json_text import parsed
from pellucid.core.foundation.seals import is_sealed, sealed, unsealed
from pellucid.core.results.heaviest_spans import NOT_COUNTED, HeaviestSpans
from pellucid.evaluation.shared.summary import Combine

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
    """answers: (method, metric) -> values of the part's examples. rows, tokens: what was evaluated to judge them.

    heaviest: what the heaviest spans of a model with span weights are, where they were among the methods.
    """

    answers: Mapping[tuple[str, str], Answer]
    rows: int
    tokens: int
    heaviest: HeaviestSpans = NOT_COUNTED

    def save(self, path: Path, of: Mapping[str, Any] = MappingProxyType({})) -> None:
        """Write the part as JSON, whole or not at all. of: what it is part of, which `read` asks for again."""
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
        content = {
            "form": FORM,
            "rows": self.rows,
            "tokens": self.tokens,
            "heaviest": asdict(self.heaviest),
            "answers": answers,
        }
        write_text(path, json.dumps(sealed(content, of), ensure_ascii=False))

    @staticmethod
    def read(
        path: Path, of: Mapping[str, Any] = MappingProxyType({}), unsealed_too: bool = True
    ) -> "JudgedPart":
        """Read what `save` wrote; raises `BadFile` for anything else, such as the values of another part.

        unsealed_too: whether to believe files of earlier versions, which do not say what they are part of.
        """
        try:
            content = parsed(read_text(path))
            if content["form"] != FORM:
                raise KeyError("form")
            answers = {(entry["method"], entry["metric"]): _answer(entry) for entry in content["answers"]}
            heaviest = _heaviest(content.get("heaviest", {}))
            part = JudgedPart(answers, index(content["rows"]), index(content["tokens"]), heaviest)
        except (ValueError, LookupError, TypeError, OverflowError):
            raise not_a_part(path) from None
        if not (unsealed_too or is_sealed(content)):
            raise BadFile(
                f"{path} is of an earlier version and does not say which part it is; remove it to have it made again."
            )
        unsealed(content, of, path)
        return part

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
    heaviest = sum((part.heaviest for part in parts), NOT_COUNTED)
    return JudgedPart(answers, sum(part.rows for part in parts), sum(part.tokens for part in parts), heaviest)


def _plain(array: np.ndarray | None) -> Numbers:
    """Lists of numbers, which JSON writes so that they are read back exactly; None where a number is nan."""
    return None if array is None else np.where(np.isnan(array), np.array(None), array).tolist()


def _array(numbers: Numbers) -> np.ndarray | None:
    return None if numbers is None else np.array(numbers, dtype=float)  # None becomes nan


def _heaviest(held: dict[str, Any]) -> HeaviestSpans:
    """Of a part of an earlier version nothing is known."""
    if not all(isinstance(count, int | float) for count in held.values()):
        raise TypeError("counts are numbers")
    return HeaviestSpans(**held)


def _answer(entry: dict[str, Any]) -> Answer:
    columns, curve, grid = (_array(entry[name]) for name in ("columns", "curve", "grid"))
    if columns is None or columns.ndim != 3 or entry["combine"] not in get_args(Combine):
        raise ValueError("there are no values")
    if (curve is None) != (grid is None):
        raise ValueError("a curve needs a grid")
    if curve is not None and grid is not None and curve.shape != (columns.shape[1], *grid.shape):
        raise ValueError("a curve does not fit its examples and its grid")
    return Answer(columns, entry["combine"], curve, grid)
