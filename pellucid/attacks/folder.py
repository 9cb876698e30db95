"""A folder that keeps attempts part by part; interrupted work goes on after its last part.

    question.json       what is asked of which texts; a folder with another question is refused
    parts/0003.json     the attempts on the fourth part's texts
    attempts.parquet    all attempts, once there are all
    pellucid-manifest.json   digests of these files, once there are all; see `base/output_folder.py`

Attacks on the same texts lie beside each other, each in a folder with its name. A part is there whole or not at all:
its seal names the question, and one that does not fit it is computed again, with a notice. Parts of the first weeks,
whose seal names only the model, are read where a manifest vouches for them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

from pellucid.attacks.attack_case import Attempt
from pellucid.attacks.blind_sheet import (
    COLUMNS,
    FORM,
    LEAST_MEANING,
    MOST_MEANING,
    Judgement,
    KeyRow,
    SheetScores,
    letters_digest,
    sheet_scores,
)
from pellucid.attacks.question import AttackQuestion
from pellucid.attacks.questions import AT_ONCE
from pellucid.attacks.record import Attempts
from pellucid.attacks.storage import (
    attempt_from,
    attempt_record,
    holds_attempts,
    read_attempts,
    save_attempts,
)
from pellucid.base.checks import changes, listed, quoted, shortened
from pellucid.base.errors import BadFile, BadInput
from pellucid.base.files import possible_path, read_text, write_text
from pellucid.base.json_text import json_digest, read_json, read_sealed, seal_of, sealed
from pellucid.base.kinds import readers
from pellucid.base.leases import Share, computed_by_slices, joined_by_slices
from pellucid.base.output_folder import PARTS, QUESTION, prepare_folder, question_folder
from pellucid.base.processes import Progress, silent
from pellucid.corpus.slices import ComputeShare, Crew, Parts
from pellucid.data.shared.delimited import (
    comma_records,
    delimiter_of,
    encoding_of,
    with_header,
    without_declaration,
)
from pellucid.results.explanation_record import content_key, example_record
from pellucid.text.example import Example

STAGE, ATTEMPTS = "attacking", "attempts.parquet"


@dataclass(frozen=True)
class AttackFolder:
    """The texts, what is asked of them, and the folder that keeps the answers; None: they are kept in memory.

    earlier: a text's content -> the attempt on it of an earlier call, which is copied.
    """

    path: Path | None
    question: AttackQuestion
    examples: Sequence[Example]
    earlier: Mapping[str, Attempt] = field(default_factory=dict, repr=False)
    damaged: list[str] = field(default_factory=list, compare=False)  # files that are made again

    def attempts_by_slices(self, share: Share, progress: Progress) -> Attempts:
        """The same, beside other slices that compute parts, too; whoever is last joins them."""
        path, compute = self._prepared(), partial(self._compute, progress)
        with joined_by_slices(path, share, self.n_parts, self.has_part, compute):
            return self.attempts(progress)

    def compute_share(self, share: Share) -> None:
        """Compute the parts of a slice, and those that no other one computes."""
        computed_by_slices(self._prepared(), share, self.n_parts, self.has_part, partial(self._compute, silent))

    def attempts_by_crew(self, crew: Crew, compute: ComputeShare, progress: Progress) -> Attempts:
        """The same by several processes, each of which calls `compute_share` in `compute`."""
        path = self._prepared()
        crew.compute(Parts(path, self.n_parts, self.has_part, compute, STAGE, len(self.examples)), progress)
        return self.attempts(progress)

    @property
    def n_parts(self) -> int:
        """How many parts the texts are cut into."""
        return -(-len(self.examples) // AT_ONCE)

    def has_part(self, part_index: int) -> bool:
        """Whether the file of a part is there; what it holds is not read."""
        return self._file(part_index).exists()

    def _prepared(self) -> Path:
        assert self.path is not None
        prepare_folder(self.path, self._question(), "attack")
        return self.path

    def _compute(self, progress: Progress, part_index: int) -> None:
        self._part(part_index * AT_ONCE, progress, False)

    def attempts(self, progress: Progress) -> Attempts:
        """One attempt a text; parts that are in the folder are read, the others computed and written."""
        if self.path is None:
            return Attempts(self._attempts(progress, False))
        question = self._question()
        parts = [self._file(part_index).relative_to(self.path).as_posix() for part_index in range(self.n_parts)]
        folder = question_folder(self.path, "attack", question, [*parts, ATTEMPTS])
        state = folder.begin()
        prepare_folder(self.path, question, "attack")
        attempts, remade = self._attempts(progress, state.is_whole), list[str]()
        if not state.is_whole:
            remade = folder.rewritten([ATTEMPTS], partial(save_attempts, attempts, self.path / ATTEMPTS))
        folder.end(state, [*self.damaged, *remade])
        return Attempts(attempts)

    def _attempts(self, progress: Progress, is_whole: bool) -> list[Attempt]:
        attempts: list[Attempt] = []
        for first in range(0, len(self.examples), AT_ONCE):
            attempts += self._part(first, progress, is_whole)
            progress(STAGE, len(attempts), len(self.examples))
        return attempts

    def _part(self, first: int, progress: Progress, is_whole: bool) -> list[Attempt]:
        """is_whole: whether a manifest vouches for the folder's files."""
        examples = self.examples[first : first + AT_ONCE]

        def work() -> list[Attempt]:
            return self._new_or_copied(examples, lambda done: progress(STAGE, first + done, len(self.examples)))

        if self.path is None:
            return work()
        part_index = first // AT_ONCE
        file = self._file(part_index)
        owner = {"question": self._digest, "part": part_index}
        of_first_weeks = {"model": self.question.model.hash, "part": part_index}
        try:
            if file.exists():
                return _read(file, of_first_weeks if is_whole and "model" in seal_of(file) else owner)
        except BadFile:
            self.damaged.append(file.relative_to(self.path).as_posix())
        records = [attempt_record(attempt) for attempt in work()]
        write_text(file, json.dumps(sealed({"attempts": records}, owner), ensure_ascii=False))
        return _read(file, owner)

    def _new_or_copied(self, examples: Sequence[Example], report: Callable[[int], None]) -> list[Attempt]:
        copied = (
            [self.earlier.get(content_key(example)) for example in examples] if self.earlier else [None] * len(examples)
        )
        left = [example for example, attempt in zip(examples, copied, strict=True) if attempt is None]
        new = iter(self.question.attempts(left, report) if left else ())
        return [
            next(new) if attempt is None else replace(attempt, example=example)
            for example, attempt in zip(examples, copied, strict=True)
        ]

    @property
    def n_copied(self) -> int:
        """How many texts have an attempt of the earlier call."""
        return sum(content_key(example) in self.earlier for example in self.examples)

    def _file(self, part_index: int) -> Path:
        assert self.path is not None
        return self.path / PARTS / f"{part_index:04d}.json"

    @cached_property
    def _digest(self) -> str:
        return json_digest(self._question())

    def _question(self) -> dict[str, object]:
        digest = json_digest([example_record(example) for example in self.examples])
        texts = f"{len(self.examples)} with digest {digest}"
        return {"attack": self.question.facts(), "texts": texts, "texts in a part": AT_ONCE}


def _read(file: Path, owner: dict[str, object]) -> list[Attempt]:
    try:
        return [attempt_from(record) for record in read_sealed(file, owner)["attempts"]]
    except (TypeError, LookupError, AttributeError, ValueError):
        raise BadFile(f"{file} is damaged; remove it to have it made again.") from None


def earlier_attempts(path: Path, question: AttackQuestion) -> dict[str, Attempt]:
    """A text's content -> the attempt on it in an earlier folder of the same attack; damaged parts are left aside.

    Raises `BadFile` where the folder holds no such attack, or was asked something else.
    """
    before = read_json(path / QUESTION) if (path / QUESTION).exists() else None
    if not isinstance(before, dict) or not isinstance(before.get("attack"), dict):
        raise BadFile(f"{path} holds no attempts; give a folder that keeps those of {path.name}.")
    if differing := changes(before["attack"], json.loads(json.dumps(question.facts()))):
        raise BadFile(f"Attempts of {path} cannot be reused ({differing}); leave it away, or ask as that call did.")
    owner, attempts = {"question": json_digest(before)}, dict[str, Attempt]()
    for file in sorted((path / PARTS).glob("[0-9]*.json")):
        with suppress(BadFile):
            for attempt in _read(file, {**owner, "part": int(file.stem)}):
                attempts[content_key(attempt.example)] = attempt
    return attempts


# Attempts that were saved: a file, or the folder of one attack or of several.


@readers.add()
def attempts_at(path: Path) -> Attempts | None:
    """The attempts in a file or folder, attack by attack; None where it holds none."""
    files = [path / ATTEMPTS, *sorted(path.glob(f"*/{ATTEMPTS}"))] if path.is_dir() else [path]
    files = [file for file in files if holds_attempts(file)]
    return Attempts([attempt for file in files for attempt in read_attempts(file)]) if files else None


# The door `read_blind_sheets`: what people judged on the sheets of an attack.


def read_blind_sheets(sheets: str | Path | Sequence[str | Path], key: str | Path) -> list[SheetScores]:
    """What people judged on sheets that `write_blind_sheet` wrote: does a fooled text still say the same, to a reader?

    sheets: a .csv file, or one of each person who judged, as a spreadsheet saves it. Rows or cells that were left blank
        are not counted. key: the .json file that was written with the sheet.

    Returns scores of each attack, by name. Raises `BadFile`, with the line, for a row that is not in the key or has
    other texts, a judgement twice, a label that is no class, or a meaning that is not 1 to 5, `BadInput` without a
    sheet.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> attempts = pellucid.attack(model, [("A good film.", "positive")], "deepwordbug")
    >>> pellucid.write_blind_sheet(attempts, "sheet.csv", "key.json")
    >>> scores = pellucid.read_blind_sheets("sheet.csv", "key.json")
    >>> scores[0].attack, scores[0].n_texts, scores[0].n_judged
    ('deepwordbug', 1, 0)
    """
    paths = [sheets] if isinstance(sheets, str | Path) else sheets
    if not isinstance(paths, list | tuple) or not paths:
        raise BadInput(f"sheets is {quoted(type(sheets).__name__)}; give a .csv file, or a list of one or more.")
    hidden, labels = _key(possible_path(key))
    by_row = {key_row.row: key_row for key_row in hidden}
    return sheet_scores(hidden, [_judgements(possible_path(path), by_row, labels) for path in paths])


def _key(path: Path) -> tuple[list[KeyRow], list[str]]:
    """(the rows, the classes; none in keys of earlier versions)."""
    try:
        record = json.loads(read_text(path))
        if record["form"] != FORM:
            raise KeyError("form")
        rows = [KeyRow(**row) for row in record["rows"]]
        if not all(row.edited in ("a", "b") for row in rows):
            raise KeyError("edited")
        return rows, [str(label) for label in record.get("labels", ())]
    except (ValueError, KeyError, TypeError):
        raise BadFile(
            f"{path} is not the key of a blind sheet; give the .json file that was written with it."
        ) from None


def _judgements(path: Path, key: Mapping[int, KeyRow], labels: Sequence[str]) -> dict[int, Judgement]:
    codec = encoding_of(path)  # spreadsheets save in their own, and with other signs between cells
    cells_of = comma_records(path, delimiter_of(path, codec), codec)
    names, records = with_header(path, without_declaration(cells_of))
    if lacking := [column for column in COLUMNS if column not in names]:
        raise BadFile(f"{path} has no column {listed(lacking)}; give a sheet of `write_blind_sheet`, filled in.")
    judged: dict[int, Judgement] = {}
    for line, fields in records:
        if isinstance(fields, ValueError):
            raise BadFile(f"{path}, line {line}: {fields}.")
        cells = dict(zip(names, (field.strip() for field in fields), strict=False))
        row = _row(path, line, cells, key)
        if row in judged:
            raise BadFile(f"{path}, line {line}: row {row} is there twice; leave one.")
        _check_texts(path, line, cells, key[row])
        by_side = {side: _label(path, line, cells.get(f"label_{side}", ""), labels) for side in "ab"}
        after = by_side.pop(key[row].edited)
        (before,) = by_side.values()
        judged[row] = Judgement(before, after, _meaning(path, line, cells.get("same_meaning", "")))
    return judged


def _row(path: Path, line: int, cells: Mapping[str, str], key: Mapping[int, KeyRow]) -> int:
    cell = cells.get("row", "")
    if not cell.isdecimal() or int(cell) not in key:
        raise BadFile(
            f"{path}, line {line}: row {quoted(shortened(cell))} is not in the key; give the key of this sheet."
        )
    return int(cell)


def _check_texts(path: Path, line: int, cells: Mapping[str, str], row: KeyRow) -> None:
    """Raise `BadFile` where a row has other texts than the key knows: it is the key of another sheet."""
    shown = letters_digest(cells.get("text_a", ""), cells.get("text_b", ""))
    if row.texts and row.texts != shown:
        raise BadFile(
            f"{path}, line {line}: the texts are not those of row {row.row} in the key; give the key of this sheet."
        )


def _label(path: Path, line: int, cell: str, labels: Sequence[str]) -> str:
    label = cell.casefold()
    if label and labels and label not in [class_label.casefold() for class_label in labels]:
        raise BadFile(
            f"{path}, line {line}: {quoted(shortened(cell))} is no class; give one of {listed(labels)}, or nothing."
        )
    return label


def _meaning(path: Path, line: int, cell: str) -> int | None:
    if not cell:
        return None
    if not cell.isdecimal() or not LEAST_MEANING <= int(cell) <= MOST_MEANING:
        raise BadFile(
            f"{path}, line {line}: same_meaning is {quoted(shortened(cell))}; give a whole number from {LEAST_MEANING} "
            f"to {MOST_MEANING}, or nothing."
        )
    return int(cell)
