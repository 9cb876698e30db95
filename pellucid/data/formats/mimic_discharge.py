"""MIMIC: discharge summaries of a hospital, labelled with a diagnosis. Access is restricted: read from your own folder.

Johnson et al. (2016), "MIMIC-III, a freely accessible critical care database"; the tasks are those of Jain &
Wallace (2019), "Attention is not Explanation".
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pellucid.base.checks import one_of
from pellucid.base.errors import BadFile
from pellucid.base.kinds import formats
from pellucid.data.shared.delimited import comma_records, named, needs, with_header
from pellucid.data.shared.part_files import PARTS, lines, part_by_digest
from pellucid.data.shared.rows import BadRow, ReadRow, read_rows
from pellucid.text.example import Example

NOTES = ("NOTEEVENTS.csv", "discharge.csv")  # of MIMIC-III, of MIMIC-IV-Note
DIAGNOSES = ("DIAGNOSES_ICD.csv", "diagnoses_icd.csv")
# How the codes of a class begin, in ICD-9 and, for MIMIC-IV, the codes of the same disease in ICD-10.
CODES: dict[str, dict[str, tuple[str, ...]]] = {
    "diabetes": {"diabetes": ("25000", "E119")},
    "anemia": {"acute": ("2851", "D62"), "chronic": ("2852", "D63")},
}


@formats.add(
    reads="NOTEEVENTS.csv and DIAGNOSES_ICD.csv, or discharge.csv and diagnoses_icd.csv",
    data="diagnoses from discharge summaries",
)
def mimic_discharge(path: Path, split: str, *, task: str = "diabetes") -> Iterator[ReadRow]:
    """Discharge summaries of MIMIC-III or MIMIC-IV, one text an admission, from a credentialed user's folder.

    task: "diabetes" (or not), or "anemia": acute or chronic, where an admission has one of the two. Parts never
    share a patient: 70 / 15 / 15 % by a digest of the patient's number; for diabetes, the lists
    train_50_hadm_ids.csv, dev_… and test_… decide instead, where they are in the folder.
    """
    one_of("task", task, CODES)
    one_of("split", split, PARTS)
    notes, diagnoses = _file(path, NOTES), _file(path, DIAGNOSES)
    diagnosed: dict[str, set[str]] = defaultdict(set)
    columns, records = _columns(diagnoses, ("hadm_id", "icd_code"))
    yield from read_rows(
        diagnoses, records, partial(_diagnosis, columns=columns, codes=CODES[task], diagnosed=diagnosed)
    )
    columns, records = _columns(notes, ("subject_id", "hadm_id", "text"))
    admissions = Admissions(columns, _labels(diagnosed, task), _part_test(path, split, task))
    for row in read_rows(notes, records, admissions.count):
        assert isinstance(row, BadRow)  # the second pass reports it
    yield from read_rows(notes, _columns(notes, ())[1], admissions.gather)


@dataclass
class Admissions:
    """Joins the notes of each admission. The first pass counts them, so that the second keeps few of them at a time."""

    columns: list[str]
    labels: dict[str, str]
    in_part: Callable[[str, str], bool]
    due: Counter = field(default_factory=Counter)
    waiting: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))

    def count(self, fields: list[str], _: int) -> list[Example]:
        """First pass: one more note of its admission."""
        row = named(self.columns, fields)
        if self._wanted(row):
            self.due[row["hadm_id"]] += 1
        return []

    def gather(self, fields: list[str], _: int) -> list[Example]:
        """Second pass: the admission's example, once all of its notes are there."""
        row = named(self.columns, fields)
        if not self._wanted(row):
            return []
        admission = row["hadm_id"]
        self.waiting[admission].append((row.get("chartdate") or row.get("charttime", ""), row["text"]))
        if len(self.waiting[admission]) < self.due[admission]:
            return []
        text = "\n".join(text for _, text in sorted(self.waiting.pop(admission), key=lambda note: note[0]))
        meta = {"group": row["subject_id"]}
        return [Example((text,), self.labels[admission], (), admission, meta)]

    def _wanted(self, row: dict[str, str]) -> bool:
        summary = row.get("category", "Discharge summary").strip() == "Discharge summary"
        right = row.get("iserror", "") in ("", "0")  # a note that the hospital took back is not read
        return summary and right and row["hadm_id"] in self.labels and self.in_part(row["subject_id"], row["hadm_id"])


def _file(folder: Path, names: tuple[str, ...]) -> Path:
    for place in (folder, folder / "note", folder / "hosp"):
        for name in names:
            for file in (place / name, place / f"{name}.gz"):
                if file.is_file():
                    return file
    raise BadFile(
        f"{folder} has no {' or '.join(names)} (or .gz). MIMIC is credentialed: Pellucid neither holds nor fetches it; "
        "ask PhysioNet for access, and give the folder where you keep its files."
    )


def _columns(file: Path, wanted: tuple[str, ...]) -> tuple[list[str], Iterator]:
    """Column names as MIMIC-IV writes them, and the records."""
    names, records = with_header(file, comma_records(file))
    columns = ["icd_code" if name == "ICD9_CODE" else name.lower() for name in names]
    needs(file, columns, wanted)
    return columns, records


def _diagnosis(
    fields: list[str],
    _: int,
    *,
    columns: list[str],
    codes: dict[str, tuple[str, ...]],
    diagnosed: dict[str, set[str]],
) -> list[Example]:
    """Add a diagnosis to its admission in `diagnosed`; it is no example by itself."""
    row = named(columns, fields)
    if row["icd_code"]:
        code = row["icd_code"].strip().replace(".", "")
        diagnosed[row["hadm_id"]] |= {name for name, starts in codes.items() if code.startswith(starts)}
    return []


def _labels(diagnosed: dict[str, set[str]], task: str) -> dict[str, str]:
    """Admission -> class; an admission with both kinds of anemia, or neither, has none."""
    if task == "diabetes":
        return {admission: "diabetes" if names else "no diabetes" for admission, names in diagnosed.items()}
    return {admission: next(iter(names)) for admission, names in diagnosed.items() if len(names) == 1}


def _part_test(folder: Path, split: str, task: str) -> Callable[[str, str], bool]:
    """A function that says whether a (patient, admission) belongs to the part."""
    listed = folder / f"{split}_50_hadm_ids.csv"
    if task == "diabetes" and listed.is_file():
        admissions = {line.strip() for line in lines(listed)}
        return lambda _, admission: admission in admissions
    return lambda patient, _: part_by_digest(patient) == split
