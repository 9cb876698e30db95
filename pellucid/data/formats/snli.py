"""SNLI: pairs of a caption and a sentence about it, one JSON object a line; MultiNLI has the same form.

Bowman et al. (2015), "A large annotated corpus for learning natural language inference".
"""

from collections.abc import Iterator
from pathlib import Path

from pellucid.base.json_text import parsed
from pellucid.base.kinds import formats
from pellucid.data.shared.part_files import filled_lines, part_file
from pellucid.data.shared.rows import ReadRow, label_of, read_rows
from pellucid.text.example import Example

FILES = {
    "train": ("snli_1.0_train.jsonl", "multinli_1.0_train.jsonl"),
    "dev": ("snli_1.0_dev.jsonl", "multinli_1.0_dev_matched.jsonl"),
    "test": ("snli_1.0_test.jsonl", "multinli_1.0_dev_mismatched.jsonl"),
}
LABELS = {name: name for name in ("entailment", "neutral", "contradiction")}
NO_AGREEMENT = "-"


@formats.add(reads="snli_1.0_train.jsonl, …_dev.jsonl, …_test.jsonl", data="inference on pairs")
def snli(path: Path, split: str) -> Iterator[ReadRow]:
    """Pairs of SNLI or MultiNLI; those whose annotators did not agree on a label are left out."""
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
