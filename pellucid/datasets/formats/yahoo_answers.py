"""Yahoo! Answers: questions with their best answer in ten topics.

Zhang, Zhao & LeCun (2015), "Character-level Convolutional Networks for Text Classification".
"""

from collections.abc import Iterator
from pathlib import Path

from pellucid.core.foundation.kinds import formats
from pellucid.datasets.shared.numbered_csv import numbered_csv, with_line_breaks
from pellucid.datasets.shared.rows import ReadRow

TOPICS = (
    "Society & Culture",
    "Science & Mathematics",
    "Health",
    "Education & Reference",
    "Computers & Internet",
    "Sports",
    "Business & Finance",
    "Entertainment & Music",
    "Family & Relationships",
    "Politics & Government",
)


@formats.add(reads="train.csv, test.csv", data="topics of questions", own_dev=False)
def yahoo_answers(path: Path, split: str) -> Iterator[ReadRow]:
    """Yahoo! Answers: title, question and best answer, one line each, where present; ten topics."""
    yield from numbered_csv(path, split, TOPICS, 3, with_line_breaks)
