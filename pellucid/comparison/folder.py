"""A comparison kept in a folder, part by part. An interrupted comparison goes on after its last complete part.

A comparison that only has more metrics goes on from the folder's explanations: the new metrics alone are judged.

    question.json       what is compared; a folder with another question is refused
    parts/0003.parquet  the explanations of the fourth part's examples
    parts/0003.json     their values; written after the explanations, so the part is complete when this file exists
    checks/NAME.json    the outcome of a check, where checks were named; see `checking/check_folder.py`
    report.html         the table, and the first part's texts with their explanations
    values.parquet      every value, exact, of all parts; see `value_file.py`
    earlier.json        the questions with fewer metrics that parts may still be of; removed at the end
    table.json          the table; written last, so the comparison is finished when this and all other files exist
    trained/            models that a check trained, each in a folder of its own
    pellucid-manifest.json   digests of these files, once it is finished; see `base/output_folder.py`

Values and table carry a seal: it names their comparison, and for values their part and a digest of its explanations.
Missing files are computed again, and so are those that do not fit their seal, have that of another comparison or part,
or none, as in the first weeks: a notice names them. Unfinished writes of a killed process are removed.
"""

import itertools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from pellucid.base.checks import clipped
from pellucid.base.errors import BadFile
from pellucid.base.files import check_folder, disk_errors, read_text, remove_unfinished, write_text
from pellucid.base.json_text import file_digest, json_digest, parsed, read_json, seal_of
from pellucid.base.manifest import remove_manifest
from pellucid.base.output_folder import OutputFolder
from pellucid.base.processes import Progress
from pellucid.comparison.compared_part import STAGE, ComparedPart, compared_part, judged_part_of
from pellucid.comparison.comparison import PART, PART_SIZE, Comparison
from pellucid.comparison.judged_part import JudgedPart, not_a_part, write_values
from pellucid.comparison.reuse import EarlierComparison, earlier_comparison
from pellucid.comparison.run_checks import CHECKS
from pellucid.results.explanation import Explanation
from pellucid.results.storage import read, save
from pellucid.results.table import TABLE_FILE, Table

QUESTION, PARTS, TABLE, REPORT = "question.json", "parts", TABLE_FILE, "report.html"
VALUES, EARLIER = "values.parquet", "earlier.json"
TRAINED = "trained"  # the folder of trained models beside a comparison's parts
NOT_NAMED = "none named"  # such as a route, where passes are PyTorch's own
Question = Mapping[str, object]


@dataclass(frozen=True)
class ComparisonFolder:
    """One comparison and the folder that keeps it."""

    path: Path
    comparison: Comparison
    damaged: list[str] = field(default_factory=list, compare=False)  # files that were taken away, to be made again
    reuse: Path | None = None  # the folder of an earlier comparison, whose texts are copied

    def __post_init__(self) -> None:
        """Go on in parts of the size that the folder has; other versions made parts of another size."""
        size = self._part_size()
        if isinstance(size, int) and 1 <= size <= PART and size != self.comparison.part_size:
            object.__setattr__(self, "comparison", replace(self.comparison, examples_in_part=size))

    def _part_size(self) -> object:
        """None also where the question is damaged: then it is refused later, or made again."""
        try:
            return self._read_question().get(PART_SIZE)
        except BadFile:
            return None

    @property
    def files(self) -> OutputFolder:
        """What a comparison makes in its folder."""
        parts = [
            path.relative_to(self.path).as_posix()
            for index in range(self.comparison.n_parts)
            for path in (self._explanations(index), self._values(index))
        ]
        return OutputFolder(
            self.path,
            "compare",
            json_digest(self.comparison.question()),
            [QUESTION, TABLE, REPORT, VALUES, *parts, f"{CHECKS}/*.json"],
            folders=[f"{TRAINED}/*"],
            known={QUESTION: self._written_question()},
        )

    @property
    def table(self) -> Path:
        """The table's file."""
        return self.path / TABLE

    @property
    def report(self) -> Path:
        """The report's file."""
        return self.path / REPORT

    def is_finished(self) -> bool:
        """Whether table, report, values and every part exist and are of this comparison; a damaged one is removed.

        Raises `BadFile` where the folder is of another comparison.
        """
        self._check_question()
        if not all(path.exists() for path in (self.table, self.report, self.path / VALUES)):
            return False
        if self.earlier or self._read_question() != self.comparison.question():
            return False
        return self._has_table() and not self._without_values()

    @property
    def is_writable(self) -> bool:
        """Whether files may be written to the folder."""
        return os.access(self.path, os.W_OK)

    def finished_parts(self) -> list[JudgedPart]:
        """The values of every part in order, which must all be there."""
        return list(map(self._read, range(self.comparison.n_parts)))

    def judged(self, progress: Progress) -> Iterator[JudgedPart]:
        """The values of every part in order; a part that is not in the folder yet is computed and written."""
        self._prepare()
        total = len(self.comparison.examples)
        for index in range(self.comparison.n_parts):
            part = self._intact(index)
            if part is None:
                self.compute(index, progress)
            elif not part.fits(self._pairs, len(self.comparison.part(index))):
                self._widen(index, part, progress)
            progress(STAGE, self.comparison.part(index).stop, total)
            yield self._read(index)

    def missing_parts(self) -> list[int]:
        """The parts that are not in the folder yet, which is made ready for them."""
        self._prepare()
        return self._without_values()

    def has_part(self, part_index: int) -> bool:
        """Whether the files of a part are there; what they hold is not read."""
        return self._values(part_index).exists() and self._explanations(part_index).exists()

    def _without_values(self) -> list[int]:
        return [index for index in range(self.comparison.n_parts) if self._intact(index) is None]

    def compute(self, part_index: int, progress: Progress) -> None:
        """Explain and judge one part, and write it."""
        part = self._part(part_index, progress)
        of_all_methods = itertools.chain.from_iterable(part.explanations.values())
        save(list(of_all_methods), self._explanations(part_index))
        part.judged.save(self._values(part_index), self._of_part(part_index))

    def _part(self, part_index: int, progress: Progress) -> ComparedPart:
        if self.earlier_texts is None:
            return compared_part(self.comparison, part_index, progress)
        return self.earlier_texts.compared_part(part_index, progress)

    @cached_property
    def earlier_texts(self) -> EarlierComparison | None:
        """What is copied; raises as `earlier_comparison` does."""
        return None if self.reuse is None else earlier_comparison(self.reuse, self.comparison)

    def explanations(self, part_index: int) -> list[Explanation]:
        """The explanations of one part's examples, method by method."""
        return list(read(self._explanations(part_index)))

    def write_values(self, parts: Sequence[JudgedPart]) -> None:
        """Write every value of all parts."""
        about = {name: str(value) for name, value in self.of_comparison.items()}
        write_values(self.path / VALUES, self.comparison, parts, about)

    def write_table(self, table: Table) -> None:
        """Write the table: after this the comparison is finished."""
        (self.path / EARLIER).unlink(missing_ok=True)
        table.save(self.table, of=self.of_comparison)

    def read_table(self) -> Table:
        """The table; raises `BadFile` for that of another comparison."""
        return Table.read(self.table, of=self.of_comparison)

    def _prepare(self) -> None:
        """Make the folder ready for writing, with its question; raises `BadFile` where it holds anything else."""
        self._check_question()
        for folder in (self.path, self.path / PARTS):
            remove_unfinished(folder)
        check_folder(self.path)
        if (self.path / QUESTION).exists() and (there := self._read_question()) != self.comparison.question():
            remove_manifest(self.path)
            self.table.unlink(missing_ok=True)  # a table is of finished work
            write_text(self.path / EARLIER, json.dumps([*self._earlier_questions(), there], ensure_ascii=False))
        write_text(self.path / QUESTION, self._written_question())

    def _written_question(self) -> str:
        return json.dumps(self.comparison.question(), ensure_ascii=False, indent=1)

    def _has_table(self) -> bool:
        try:
            self.read_table()
        except BadFile:
            self._take_away(self.table)
            return False
        return True

    def _take_away(self, *files: Path) -> None:
        """Remove damaged files, which are computed again."""
        for file in files:
            with disk_errors("write", file):
                file.unlink(missing_ok=True)
        self.damaged.append(files[0].relative_to(self.path).as_posix())

    @property
    def earlier(self) -> tuple[str, ...]:
        """Digests of the comparisons with fewer metrics that files of this folder may still be sealed with."""
        return tuple(map(json_digest, self._earlier_questions()))

    def _earlier_questions(self) -> list[Question]:
        path = self.path / EARLIER
        try:
            questions: object = read_json(path) if path.exists() else []
        except BadFile:
            questions = []  # of a damaged list: the parts that it speaks for are computed again
        return [question for question in questions if isinstance(question, dict)] if isinstance(questions, list) else []

    @cached_property
    def _further(self) -> dict[str, Comparison]:
        """For each comparison with fewer metrics, by its digest: this one with only the metrics that are new."""
        return {
            json_digest(question): replace(
                self.comparison,
                calls=[call for call in self.comparison.calls if call.title not in _titles(question)],
                examples_in_part=self.comparison.part_size,
            )
            for question in self._earlier_questions()
        }

    def _of_fewer_metrics(self, part_index: int) -> Comparison | None:
        """Of a part that an earlier comparison has judged: this comparison with only the metrics that are new."""
        return self._further.get(str(seal_of(self._values(part_index)).get("comparison"))) if self._further else None

    def _widen(self, part_index: int, before: JudgedPart, progress: Progress) -> None:
        """Judge a part's explanations by the metrics that its values do not have yet."""
        further, by_title = self._of_fewer_metrics(part_index), dict[str, list[Explanation]]()
        assert further is not None
        for explanation in self.explanations(part_index):
            by_title.setdefault(explanation.method, []).append(explanation)
        added = judged_part_of(further, part_index, by_title, progress)
        before.and_also(added, self._pairs).save(self._values(part_index), self._of_part(part_index))

    @property
    def _pairs(self) -> list[tuple[str, str]]:
        """(method, metric) for all values that a part has, in order."""
        methods = (call.title for call in self.comparison.request.calls)
        return [(method, metric.title) for method in methods for metric in self.comparison.metrics]

    def _read(self, part_index: int) -> JudgedPart:
        """A part's values, of which an earlier comparison may have judged fewer metrics."""
        path, owner = self._values(part_index), self._of_part(part_index)
        further = self._of_fewer_metrics(part_index)
        added = set() if further is None else {metric.title for metric in further.metrics}
        part = JudgedPart.read(path, owner if further is None else {**owner, "comparison": seal_of(path)["comparison"]})
        pairs = [(method, metric) for method, metric in self._pairs if metric not in added]
        if not part.fits(pairs, len(self.comparison.part(part_index))):
            raise not_a_part(path)
        return part

    def _intact(self, part_index: int) -> JudgedPart | None:
        """The values of a part that is there; None where it is not, or is damaged: that is removed."""
        files = self._values(part_index), self._explanations(part_index)
        if not all(path.exists() for path in files):
            return None
        try:
            return self._read(part_index)
        except BadFile:
            self._take_away(*files)
            return None

    @cached_property
    def of_comparison(self) -> dict[str, object]:
        """What the comparison's files are sealed with."""
        return {"comparison": json_digest(self.comparison.question())}

    def _of_part(self, part_index: int) -> dict[str, object]:
        explanations = file_digest(self._explanations(part_index))
        return {**self.of_comparison, "part": part_index, "explanations": explanations}

    def _explanations(self, part_index: int) -> Path:
        return self.path / PARTS / f"{part_index:04d}.parquet"

    def _values(self, part_index: int) -> Path:
        return self.path / PARTS / f"{part_index:04d}.json"

    def _check_question(self) -> None:
        if not (self.path / QUESTION).exists():
            with disk_errors("read", self.path):
                others = [path.name for path in self.path.glob("*") if not path.name.endswith(".part")]
            if others:
                raise BadFile(
                    f"{self.path} holds no comparison but other files ({', '.join(sorted(others)[:3])}); "
                    "give an empty folder, or a new one."
                )
            return
        there, here = self._read_question(), self.comparison.question()
        differing = _differing(there, here)
        if differing and not _has_more_metrics(there, here):
            raise BadFile(
                f"{self.path} holds another comparison ({'; '.join(differing)}); "
                "give another folder, or remove this one."
            )

    def _read_question(self) -> dict[str, object]:
        path = self.path / QUESTION
        try:
            question = parsed(read_text(path))
        except ValueError:
            question = None
        if not isinstance(question, dict):
            raise BadFile(f"{path} does not describe a comparison; give another folder.")
        return question


def _titles(question: Question) -> set[str]:
    """The metrics of a question."""
    metrics = question.get("metrics")
    return set(metrics) if isinstance(metrics, Mapping) else set()


def _has_more_metrics(there: Question, here: Question) -> bool:
    """Whether nothing differs but metrics, and those of the folder are among those of this call, with the same
    settings.
    """
    names = {*there, *here} - {"metrics"}
    before, now = there.get("metrics"), here["metrics"]
    if not isinstance(before, Mapping) or not isinstance(now, Mapping):
        return False
    return before.items() <= now.items() and all(there.get(name) == here.get(name) for name in names)


def _differing(there: Mapping[str, object], here: Mapping[str, object]) -> list[str]:
    """In words, what differs between the folder's question and the one of this call; what only one of them names
    differs too.
    """
    names = dict.fromkeys((*here, *there))
    return [
        _difference(name, there.get(name, NOT_NAMED), here.get(name, NOT_NAMED))
        for name in names
        if there.get(name) != here.get(name)
    ]


def _difference(name: str, there: object, here: object) -> str:
    words = [clipped(", ".join(value) if isinstance(value, Mapping) else str(value)) for value in (there, here)]
    if words[0] == words[1]:
        return f"other settings of {name}"
    return f"{name}: there {words[0]}, here {words[1]}"
