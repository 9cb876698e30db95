"""What separates the fields of a table: the sign that gives the header several names and the rows as many fields."""

import csv
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pellucid.datasets.shared.part_files import lines

CANDIDATES = (",", ";", "\t", "|")
IN_WORDS = {"\t": "tabs", ",": "','", ";": "';'", "|": "'|'"}
SAMPLE = 200  # lines
DECLARED = re.compile(r"sep=(.)\s*")  # a first line of spreadsheets, which names the sign


def usual_delimiter(path: Path) -> str:
    """What a file of this name should have: tabs in .tsv files, else commas."""
    return "\t" if ".tsv" in path.name else ","


def delimiter_of(path: Path, encoding: str) -> str:
    """The sign between fields; the usual one where the header has one field only, or where several fit equally well."""
    sample = list(islice(lines(path, encoding, newline=""), SAMPLE))
    if sample and (declared := DECLARED.fullmatch(sample[0])):
        return declared[1]
    usual = usual_delimiter(path)
    fits = {sign: _fit(sample, sign) for sign in (usual, *CANDIDATES)}  # the usual one first: it wins ties
    best = max(fits, key=lambda sign: fits[sign])
    return best if fits[best] > 0 else usual


def without_declaration(records: Iterator) -> Iterator:
    """The records but for a first line `sep=;`, which names the sign between fields."""
    for number, record in enumerate(records):
        fields = record[1]
        if (
            number == 0
            and isinstance(fields, list)
            and fields[0].startswith("sep=")
            and not "".join(fields[1:])
        ):
            continue
        yield record


def _fit(sample: list[str], sign: str) -> float:
    """The share of records with as many fields as the header; 0 where the header is one field."""
    try:
        records = [record for record in csv.reader(sample, delimiter=sign) if record]
    except csv.Error:  # a field longer than the reader's limit
        records = [line.split(sign) for line in sample if line.strip()]
    if not records or len(records[0]) < 2:
        return 0.0
    width = len(records[0])
    return sum(len(record) == width for record in records) / len(records)
