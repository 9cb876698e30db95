"""SemEval-2017 task 4, subtask A: tweets with their sentiment, one a line: id, sentiment, text.

Rosenthal, Farra & Nakov (2017), "SemEval-2017 Task 4: Sentiment Analysis in Twitter".
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pellucid.core.foundation.kinds import formats
from pellucid.core.text.example import Example
from pellucid.datasets.shared.delimited import tab_records
from pellucid.datasets.shared.part_files import part_files
from pellucid.datasets.shared.rows import ReadRow, label_of, read_rows

FILES = {  # the training data are those of the years before
    "train": ("twitter-20*train-A.t*",),
    "dev": ("twitter-20*dev-A.t*",),
    "test": ("SemEval2017-task4-test.subtask-A.english.txt", "twitter-2017test-A.t*"),
}
LABELS = {name: name for name in ("negative", "neutral", "positive")} | {
    "objective": "neutral",  # separate classes at first, in 2013
    "objective-OR-neutral": "neutral",
}
DELETED_TWEET = "Not Available"  # what stands for a tweet that was deleted before it could be fetched
NO_LABEL = "off topic"


@formats.add(reads="twitter-20…train-A.txt, …dev-A.txt, SemEval2017-task4-test.…", data="sentiment of tweets")
def semeval2017_task4(path: Path, split: str) -> Iterator[ReadRow]:
    """Tweets of SemEval-2017 task 4 A; deleted, off-topic and repeated tweets are left out."""
    seen: set[str] = set()
    for file in part_files(path, split, FILES):
        yield from read_rows(file, tab_records(file), partial(_example, seen=seen))


def _example(fields: list[str], _: int, *, seen: set[str]) -> list[Example]:
    if len(fields) < 3:
        raise ValueError(f"it has {len(fields)} fields; id, sentiment and text are due")
    id, label, text = (
        fields[0],
        fields[1].strip('"'),
        "\t".join(fields[2:]).rstrip("\t"),
    )  # some rows end in a tab
    if label == NO_LABEL or text == DELETED_TWEET or id in seen:
        return []
    seen.add(id)
    return [Example((text,), label_of(label, LABELS), (), id)]
