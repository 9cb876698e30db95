"""Formats of corpora of sentiment, a function each."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pellucid.base.checks import one_of
from pellucid.base.errors import BadFile
from pellucid.base.kinds import formats
from pellucid.data.shared.delimited import numbered_csv, tab_records, with_line_breaks
from pellucid.data.shared.part_files import PARTS, part_files
from pellucid.data.shared.rows import ReadRow, label_of, read_rows, read_text_files, text_files
from pellucid.data.shared.splits import held_out
from pellucid.text.example import Example

FOLDERS = {"negative": "neg", "positive": "pos"}


@formats.add(reads="train/neg, train/pos, test/neg, test/pos", data="sentiment of reviews", own_dev=False)
def imdb(path: Path, split: str) -> Iterator[ReadRow]:
    """Reviews of the Large Movie Review Dataset; reviews without a label are not read.

    Folders train and test, each with folders neg and pos, one file a review.

    Source: Maas et al. (2011), "Learning Word Vectors for Sentiment Analysis".
    """
    one_of("split", split, PARTS)
    if not path.is_dir():
        raise BadFile(f"There is no folder {path}; give aclImdb, which holds train and test.")
    part = "test" if split == "test" else "train"
    files = text_files({label: path / part / folder for label, folder in FOLDERS.items()}, "*.txt")
    yield from held_out(read_text_files(files, "utf-8", partial(_review, part)), path, split)


def _review(part: str, text: str, label: str, file: Path) -> list[Example]:
    _, _, stars = file.stem.partition("_")  # the files are named number_stars.txt
    meta = {"stars": int(stars)} if stars.isdigit() else {}
    return [Example((text,), label, (), f"{part}-{FOLDERS[label]}-{file.stem}", meta)]


STARS = ("1", "2", "3", "4", "5")
POLARITY = ("negative", "positive")


@formats.add(reads="train.csv, test.csv", data="sentiment of reviews", own_dev=False)
def yelp(path: Path, split: str, *, polarity: bool = False) -> Iterator[ReadRow]:
    """Yelp reviews with one to five stars (the "full" set), or negative and positive ones (the "polarity" set).

    By stars, or by polarity.

    Source: Zhang, Zhao & LeCun (2015), "Character-level Convolutional Networks for Text
    Classification".

    polarity: read the polarity set, whose classes 1 and 2 are negative and positive.
    """
    yield from numbered_csv(path, split, POLARITY if polarity else STARS, 1, with_line_breaks)


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
    """Tweets of SemEval-2017 task 4 A; deleted, off-topic and repeated tweets are left out.

    Tweets with their sentiment, one a line: id, sentiment, text.

    Source: Rosenthal, Farra & Nakov (2017), "SemEval-2017 Task 4: Sentiment Analysis in Twitter".
    """
    seen: set[str] = set()
    for file in part_files(path, split, FILES):
        yield from read_rows(file, tab_records(file), partial(_tweet, seen=seen))


def _tweet(fields: list[str], _: int, *, seen: set[str]) -> list[Example]:
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
