"""A comparison kept in a folder, part by part, so that an interrupted one goes on after its last whole part.

    question.json       what was asked; another question is refused
    parts/0003.parquet  the explanations of the fourth part's examples
    parts/0003.json     their values; written last, so the part is whole when it is there
    report.html         the table, and the first part's texts with their explanations
    table.json          the table; written last, so the comparison is finished when it and all others are there

Values and table are sealed: they say which comparison and part they are of, and values from which explanations they are.
What is missing is made again; what is of something else is refused. What killed writes left is removed.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import check_folder, disk_errors, read_text, remove_unfinished, write_text
from pellucid.core.foundation.json_text import parsed
from pellucid.core.foundation.progress import Progress
from pellucid.core.foundation.seals import file_digest, json_digest
from pellucid.core.foundation.wording import clipped
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.storage import read, save
from pellucid.core.results.table import Table
from pellucid.evaluation.comparison.compared_part import STAGE, compared_part
from pellucid.evaluation.comparison.comparison import Comparison
from pellucid.evaluation.comparison.judged_part import JudgedPart, not_a_part

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
        if self._is_finished():
            return True
        check_folder(self.path)
        write_text(self.path / QUESTION, json.dumps(question, ensure_ascii=False, indent=1))
        return False

    def judged(self, progress: Progress) -> Iterator[JudgedPart]:
        """The values of every part in order; a part that is not kept yet is made and kept."""
        total = len(self.comparison.examples)
        for number in range(self.comparison.n_parts):
            if not self._is_kept(number):
                self._keep(number, progress)
            progress(STAGE, self.comparison.places(number).stop, total)
            yield self._read(number)

    def first_explanations(self) -> list[Explanation]:
        """The explanations of the first part's examples."""
        return read(self._explanations(0))

    def keep_table(self, table: Table) -> None:
        """Write the table, which ends the comparison."""
        table.save(self.table, of=self._of_comparison)

    def read_table(self) -> Table:
        """The table; raises `BadFile` for that of another comparison."""
        return Table.read(self.table, of=self._of_comparison)

    def _is_finished(self) -> bool:
        """Whether everything is there, and is this comparison's."""
        if not (self.table.exists() and self.report.exists()):
            return False
        self.read_table()
        numbers = range(self.comparison.n_parts)
        if not all(map(self._is_kept, numbers)):
            return False
        for number in numbers:
            self._read(number)
        return True

    def _is_kept(self, number: int) -> bool:
        return self._values(number).exists() and self._explanations(number).exists()

    def _keep(self, number: int, progress: Progress) -> None:
        part = compared_part(self.comparison, number, progress)
        save([each for found in part.explanations.values() for each in found], self._explanations(number))
        part.judged.save(self._values(number), self._of_part(number))

    def _read(self, number: int) -> JudgedPart:
        """A part's values; of an earlier version only where the comparison had ended."""
        path, comparison = self._values(number), self.comparison
        part = JudgedPart.read(path, self._of_part(number), unsealed_too=self.table.exists())
        calls, judges = comparison.request.calls, comparison.metrics
        pairs = {(call.title, metric.title) for call in calls for metric in judges}
        if not part.fits(pairs, len(comparison.places(number))):
            raise not_a_part(path)
        return part

    @cached_property
    def _of_comparison(self) -> dict[str, Any]:
        return {"comparison": json_digest(self.comparison.question())}

    def _of_part(self, number: int) -> dict[str, Any]:
        explanations = file_digest(self._explanations(number))
        return {**self._of_comparison, "part": number, "explanations": explanations}

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
