"""A comparison kept in a folder, part by part, so that an interrupted one goes on after its last whole part.

    question.json       what was asked; another question is refused
    parts/0003.parquet  the explanations of the fourth part's examples
    parts/0003.json     their values; written last, so the part is whole when it is there
    report.html         the table, and the first part's texts with their explanations
    table.json          the table; written last, so the comparison is finished when it is there

A name that ends in .part is a write that was killed; it is removed.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pellucid.core.errors import BadFile
from pellucid.core.explanation import Explanation
from pellucid.core.files import check_folder, disk_errors, read_text, remove_unfinished, write_text
from pellucid.core.json_text import parsed
from pellucid.core.progress import Progress
from pellucid.core.storage import read, save
from pellucid.core.wording import clipped
from pellucid.evaluation.compared_part import STAGE, compared_part
from pellucid.evaluation.comparison import Comparison
from pellucid.evaluation.judged_part import JudgedPart, not_a_part

QUESTION, PARTS, TABLE, REPORT = "question.json", "parts", "table.json", "report.html"


@dataclass(frozen=True)
class ComparisonFolder:
    """Where one comparison is kept."""

    path: Path
    comparison: Comparison

    @property
    def table(self) -> Path:
        """The table's file."""
        return self.path / TABLE

    @property
    def report(self) -> Path:
        """The report's file."""
        return self.path / REPORT

    def open(self) -> bool:
        """Whether the comparison is finished; raises `BadFile` when the folder holds anything else."""
        question = self.comparison.question()
        self._check(question)
        for folder in (self.path, self.path / PARTS):
            remove_unfinished(folder)
        if self.table.exists():
            return True
        check_folder(self.path)
        write_text(self.path / QUESTION, json.dumps(question, ensure_ascii=False, indent=1))
        return False

    def judged(self, progress: Progress) -> Iterator[JudgedPart]:
        """The values of every part in order; a part that is not kept yet is made and kept."""
        total = len(self.comparison.examples)
        for number in range(self.comparison.n_parts):
            if not self._values(number).exists():
                self._keep(number, progress)
            progress(STAGE, self.comparison.places(number).stop, total)
            yield self._judged(number)

    def first_explanations(self) -> list[Explanation]:
        """The explanations of the first part's examples."""
        return read(self._explanations(0))

    def _judged(self, number: int) -> JudgedPart:
        part, comparison = JudgedPart.read(self._values(number)), self.comparison
        pairs = {
            (call.title, metric.title) for call in comparison.request.calls for metric in comparison.metrics
        }
        if not part.fits(pairs, len(comparison.places(number))):
            raise not_a_part(self._values(number))
        return part

    def _keep(self, number: int, progress: Progress) -> None:
        part = compared_part(self.comparison, number, progress)
        save([each for found in part.explanations.values() for each in found], self._explanations(number))
        part.judged.save(self._values(number))

    def _explanations(self, number: int) -> Path:
        return self.path / PARTS / f"{number:04d}.parquet"

    def _values(self, number: int) -> Path:
        return self.path / PARTS / f"{number:04d}.json"

    def _check(self, question: Mapping[str, Any]) -> None:
        if not (self.path / QUESTION).exists():
            with disk_errors("read", self.path):
                others = [path.name for path in self.path.glob("*") if not path.name.endswith(".part")]
            if others:
                raise BadFile(
                    f"{self.path} holds no comparison but other files ({', '.join(sorted(others)[:3])}); "
                    "give an empty folder, or a new one."
                )
            return
        differing = _differing(self._question(), question)
        if differing:
            raise BadFile(
                f"{self.path} holds another comparison ({'; '.join(differing)}); "
                "give another folder, or remove this one."
            )

    def _question(self) -> dict[str, Any]:
        path = self.path / QUESTION
        try:
            held = parsed(read_text(path))
        except ValueError:
            held = None
        if not isinstance(held, dict):
            raise BadFile(f"{path} says of no comparison what was asked; give another folder.")
        return held


def _differing(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """What differs between two questions, in words."""
    return [_difference(name, there.get(name), here[name]) for name in here if there.get(name) != here[name]]


def _difference(name: str, there: Any, here: Any) -> str:
    words = [
        clipped(", ".join(value) if isinstance(value, Mapping) else str(value)) for value in (there, here)
    ]
    if words[0] == words[1]:
        return f"other settings of {name}"
    return f"{name}: there {words[0]}, here {words[1]}"
