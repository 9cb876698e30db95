"""Yelp reviews: by stars, or by polarity.

Zhang, Zhao & LeCun (2015), "Character-level Convolutional Networks for Text Classification".
"""

from collections.abc import Iterator
from pathlib import Path

from pellucid.core.foundation.kinds import formats
from pellucid.datasets.shared.numbered_csv import numbered_csv, with_line_breaks
from pellucid.datasets.shared.rows import ReadRow

STARS = ("1", "2", "3", "4", "5")
POLARITY = ("negative", "positive")


@formats.add(reads="train.csv, test.csv", data="sentiment of reviews", own_dev=False)
def yelp(path: Path, split: str, *, polarity: bool = False) -> Iterator[ReadRow]:
    """Yelp reviews with one to five stars (the "full" set), or negative and positive ones (the "polarity" set).

    polarity: read the polarity set, whose classes 1 and 2 are negative and positive.
    """
    yield from numbered_csv(path, split, POLARITY if polarity else STARS, 1, with_line_breaks)
