"""Formats of corpora of pairs: SNLI, e-SNLI and GLUE, a function each."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pellucid.base.checks import one_of
from pellucid.base.json_text import parsed
from pellucid.base.kinds import formats
from pellucid.data.shared.delimited import comma_records, named, needs, tab_records, with_header
from pellucid.data.shared.part_files import filled_lines, part_file, part_files, row_id
from pellucid.data.shared.rows import AGREEMENTS, ReadRow, agreed_rationales, label_of, read_rows
from pellucid.text.example import ANNOTATORS, Example, Rationale, annotators_record

FILES = {
    "train": ("snli_1.0_train.jsonl", "multinli_1.0_train.jsonl"),
    "dev": ("snli_1.0_dev.jsonl", "multinli_1.0_dev_matched.jsonl"),
    "test": ("snli_1.0_test.jsonl", "multinli_1.0_dev_mismatched.jsonl"),
}
LABELS = {name: name for name in ("entailment", "neutral", "contradiction")}
NO_AGREEMENT = "-"


@formats.add(reads="snli_1.0_train.jsonl, …_dev.jsonl, …_test.jsonl", data="inference on pairs")
def snli(path: Path, split: str) -> Iterator[ReadRow]:
    """Pairs of SNLI or MultiNLI; those whose annotators did not agree on a label are left out.

    Pairs of a caption and a sentence about it, one JSON object a line; MultiNLI has the same form.

    Source: Bowman et al. (2015), "A large annotated corpus for learning natural language inference".
    """
    file = part_file(path, split, FILES)
    yield from read_rows(file, filled_lines(file), _example)


def _example(line: str, _: int) -> list[Example]:
    row = parsed(line)
    if row["gold_label"] == NO_AGREEMENT:
        return []
    label = label_of(row["gold_label"], LABELS)
    meta = {"votes": row.get("annotator_labels", [])}
    group = row.get("captionID") or row.get("promptID")  # pairs on one premise stay in one part
    return [
        Example(
            (row["sentence1"], row["sentence2"]),
            label,
            (),
            str(row["pairID"]),
            meta | ({"group": str(group)} if group else {}),
        )
    ]


E_SNLI_FILES = {
    "train": ("esnli_train.csv", "esnli_train_*.csv"),  # the original comes in two pieces
    "dev": ("esnli_dev.csv",),
    "test": ("esnli_test.csv",),
}
NEEDED = ("pairID", "gold_label", "Sentence1", "Sentence2", "Sentence1_marked_1", "Sentence2_marked_1")


@formats.add(
    reads="esnli_train_1.csv and _2, esnli_dev.csv, esnli_test.csv",
    data="inference on pairs",
    rationales=True,
)
def e_snli(path: Path, split: str, *, agreement: str = "union") -> Iterator[ReadRow]:
    """Pairs of e-SNLI with the words that annotators marked: one annotator in train, three in dev and test.

    The pairs of SNLI, with asterisks around the words that annotators marked as the reason.

    Source: Camburu et al. (2018), "e-SNLI: Natural Language Inference with Natural Language
    Explanations".

    agreement: "union" takes what any annotator marked, "majority" what more than half of them marked. What each of them
    marked is in meta["annotators"], where there are several.
    """
    one_of("agreement", agreement, AGREEMENTS)
    for file in part_files(path, split, E_SNLI_FILES):
        columns, records = with_header(file, comma_records(file))
        needs(file, columns, NEEDED)
        yield from read_rows(file, records, partial(_explained_example, columns=columns, agreement=agreement))


def _explained_example(fields: list[str], _: int, *, columns: list[str], agreement: str) -> list[Example]:
    row = named(columns, fields)
    if row["gold_label"] == NO_AGREEMENT:
        return []
    texts = (row["Sentence1"], row["Sentence2"])
    marks: list[Rationale] = []
    annotators: dict[int, list[Rationale]] = {}
    for segment, text in enumerate(texts):
        versions = {person: row.get(f"Sentence{segment + 1}_marked_{person}", "") for person in (1, 2, 3)}
        votes = {person: marked_characters(text, version) for person, version in versions.items() if version.strip()}
        marks += agreed_rationales(text, list(votes.values()), agreement, segment)
        for person, vote in votes.items():
            annotators.setdefault(person, []).extend(agreed_rationales(text, [vote], "union", segment))
    reasons = [row.get(f"Explanation_{person}", "") for person in (1, 2, 3)]
    meta: dict[str, object] = {"explanations": [reason for reason in reasons if reason]}
    if len(annotators) > 1:
        meta[ANNOTATORS] = annotators_record(list(annotators.values()))
    return [Example(texts, label_of(row["gold_label"], LABELS), tuple(marks), row["pairID"], meta)]


def marked_characters(text: str, marked: str) -> list[bool]:
    """For each character of a text, whether it stands between asterisks in its marked version.

    Blanks may differ between the two; raises `ValueError` where anything else does.
    """
    is_marked, position, inside = [False] * len(text), 0, False
    for character in marked:
        while position < len(text) and text[position].isspace() and not character.isspace():
            position += 1
        if position < len(text) and character == text[position]:
            is_marked[position] = inside
            position += 1
        elif character == "*":
            inside = not inside
        elif not character.isspace():
            raise ValueError(f"the marked sentence {marked!r} has other words than {text!r}")
    if text[position:].strip():
        raise ValueError(f"the marked sentence {marked!r} is shorter than {text!r}")
    return is_marked


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
    "qqp": Task(("question1", "question2"), "is_duplicate", {"0": "not_duplicate", "1": "duplicate"}, id="id"),
}
GLUE_FILES = {  # the second names are those of CoLA's own release
    "train": ("train.tsv", "in_domain_train.tsv"),
    "dev": ("dev.tsv", "in_domain_dev.tsv"),
    "test": ("test.tsv",),
}


@formats.add(reads="train.tsv, dev.tsv, test.tsv", data="SST-2, CoLA, QQP")
def glue(path: Path, split: str, *, task: str = "sst2") -> Iterator[ReadRow]:
    """A table of the GLUE benchmark; its test parts have no labels.

    The benchmark's tables with tabs, for SST-2, CoLA and QQP.

    Source: Wang et al. (2018), "GLUE: A Multi-Task Benchmark and Analysis Platform for Natural Language
    Understanding".

    task: "sst2", "cola" or "qqp".
    """
    one_of("task", task, TASKS)
    table, file = TASKS[task], part_file(path, split, GLUE_FILES)
    records: Iterator = tab_records(file)
    columns = list(table.columns)
    if not columns or file.name.startswith("test."):  # CoLA has a header in its test part only
        columns, records = with_header(file, records)
        needs(file, columns, table.texts)
    yield from read_rows(file, records, partial(_glue_example, file=file, table=table, columns=columns))


def _glue_example(fields: list[str], line: int, *, file: Path, table: Task, columns: list[str]) -> list[Example]:
    row = named(columns, fields)
    label = label_of(row[table.label], table.names) if table.label in row else None
    id = f"{file.name.split('.')[0]}-{row[table.id]}" if table.id else row_id(file, line)
    meta = {"publication": row["publication"]} if "publication" in row else {}
    return [Example(tuple(row[name] for name in table.texts), label, (), id, meta)]
