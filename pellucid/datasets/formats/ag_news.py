"""AG News: titles and descriptions of news in four topics.

Zhang, Zhao & LeCun (2015), "Character-level Convolutional Networks for Text Classification".
"""

from collections.abc import Iterator
from pathlib import Path

from pellucid.core.foundation.kinds import formats
from pellucid.datasets.shared.numbered_csv import numbered_csv
from pellucid.datasets.shared.rows import ReadRow, of_classes

TOPICS = ("World", "Sports", "Business", "Sci/Tech")


@formats.add(reads="train.csv, test.csv", data="topics of news", own_dev=False)
def ag_news(path: Path, split: str, *, classes: str | None = None) -> Iterator[ReadRow]:
    """AG News: the title, and in a second line the description; four topics.

    classes: topics with commas between them, such as "World,Business"; None: all four.
    """
    # Its own readme says that a line break is written \n; in its files it is a backslash alone.
    rows = numbered_csv(path, split, TOPICS, 2, lambda text: text.replace("\\", "\n"))
    yield from of_classes(rows, classes)
