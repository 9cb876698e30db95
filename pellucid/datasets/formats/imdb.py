"""IMDB reviews: folders train and test, each with folders neg and pos, one file a review.

Maas et al. (2011), "Learning Word Vectors for Sentiment Analysis".
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pellucid.core.foundation.checks import one_of
from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.kinds import formats
from pellucid.core.text.example import Example
from pellucid.datasets.shared.part_files import PARTS
from pellucid.datasets.shared.rows import ReadRow, read_text_files, text_files
from pellucid.datasets.shared.splits import held_out

FOLDERS = {"negative": "neg", "positive": "pos"}


@formats.add(reads="train/neg, train/pos, test/neg, test/pos", data="sentiment of reviews", own_dev=False)
def imdb(path: Path, split: str) -> Iterator[ReadRow]:
    """Reviews of the Large Movie Review Dataset; reviews without a label are not read."""
    one_of("split", split, PARTS)
    if not path.is_dir():
        raise BadFile(f"There is no folder {path}; give aclImdb, which holds train and test.")
    part = "test" if split == "test" else "train"
    files = text_files({label: path / part / folder for label, folder in FOLDERS.items()}, "*.txt")
    yield from held_out(read_text_files(files, "utf-8", partial(_example, part)), path, split)


def _example(part: str, text: str, label: str, file: Path) -> list[Example]:
    _, _, stars = file.stem.partition("_")  # the files are named number_stars.txt
    meta = {"stars": int(stars)} if stars.isdigit() else {}
    return [Example((text,), label, (), f"{part}-{FOLDERS[label]}-{file.stem}", meta)]
