"""GLUE: the benchmark's tables with tabs, for SST-2, CoLA and QQP.

Wang et al. (2018), "GLUE: A Multi-Task Benchmark and Analysis Platform for Natural Language Understanding".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pellucid.base.checks import one_of
from pellucid.base.kinds import formats
from pellucid.data.shared.delimited import named, needs, tab_records, with_header
from pellucid.data.shared.part_files import part_file, row_id
from pellucid.data.shared.rows import ReadRow, label_of, read_rows
from pellucid.text.example import Example


@dataclass(frozen=True)
class Task:
    """One of the benchmark's tables: its columns and what its labels mean; columns: for tables without a header."""

    texts: tuple[str, ...]
    label: str
    names: dict[str, str]
    id: str | None = None
    columns: tuple[str, ...] = ()


TASKS = {
    "sst2": Task(("sentence",), "label", {"0": "negative", "1": "positive"}),
    "cola": Task(
        ("sentence",),
        "label",
        {"0": "unacceptable", "1": "acceptable"},
        columns=("publication", "label", "mark", "sentence"),
    ),
    "qqp": Task(
        ("question1", "question2"), "is_duplicate", {"0": "not_duplicate", "1": "duplicate"}, id="id"
    ),
}
FILES = {  # the second names are those of CoLA's own release
    "train": ("train.tsv", "in_domain_train.tsv"),
    "dev": ("dev.tsv", "in_domain_dev.tsv"),
    "test": ("test.tsv",),
}


@formats.add(reads="train.tsv, dev.tsv, test.tsv", data="SST-2, CoLA, QQP")
def glue(path: Path, split: str, *, task: str = "sst2") -> Iterator[ReadRow]:
    """A table of the GLUE benchmark; its test parts have no labels.

    task: "sst2", "cola" or "qqp".
    """
    one_of("task", task, TASKS)
    table, file = TASKS[task], part_file(path, split, FILES)
    records: Iterator = tab_records(file)
    columns = list(table.columns)
    if not columns or file.name.startswith("test."):  # CoLA has a header in its test part only
        columns, records = with_header(file, records)
        needs(file, columns, table.texts)
    yield from read_rows(file, records, partial(_example, file=file, table=table, columns=columns))


def _example(fields: list[str], line: int, *, file: Path, table: Task, columns: list[str]) -> list[Example]:
    row = named(columns, fields)
    label = label_of(row[table.label], table.names) if table.label in row else None
    id = f"{file.name.split('.')[0]}-{row[table.id]}" if table.id else row_id(file, line)
    meta = {"publication": row["publication"]} if "publication" in row else {}
    return [Example(tuple(row[name] for name in table.texts), label, (), id, meta)]
