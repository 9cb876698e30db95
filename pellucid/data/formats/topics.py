"""Formats of corpora of topics, a function each."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pellucid.base.checks import known, one_of
from pellucid.base.errors import BadFile
from pellucid.base.kinds import formats
from pellucid.data.shared.delimited import numbered_csv, with_line_breaks
from pellucid.data.shared.part_files import PARTS
from pellucid.data.shared.rows import ReadRow, of_classes, read_text_files, text_files
from pellucid.data.shared.splits import held_out
from pellucid.text.example import Example

TOPICS = ("World", "Sports", "Business", "Sci/Tech")


@formats.add(reads="train.csv, test.csv", data="topics of news", own_dev=False)
def ag_news(path: Path, split: str, *, classes: str | None = None) -> Iterator[ReadRow]:
    """AG News: the title, and in a second line the description; four topics.

    Titles and descriptions of news in four topics.

    Source: Zhang, Zhao & LeCun (2015), "Character-level Convolutional Networks for Text
    Classification".

    classes: topics with commas between them, such as "World,Business"; None: all four.
    """
    # Its own readme says that a line break is written \n; in its files it is a backslash alone.
    rows = numbered_csv(path, split, TOPICS, 2, lambda text: text.replace("\\", "\n"))
    yield from of_classes(rows, classes)


YAHOO_TOPICS = (
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
    """Yahoo! Answers: title, question and best answer, one line each, where present; ten topics.

    Questions with their best answer in ten topics.

    Source: Zhang, Zhao & LeCun (2015), "Character-level Convolutional Networks for Text
    Classification".
    """
    yield from numbered_csv(path, split, YAHOO_TOPICS, 3, with_line_breaks)


FOLDERS = {"train": ("20news-bydate-train", "train"), "test": ("20news-bydate-test", "test")}
_QUOTED = re.compile(r"^\s*[>|].*|^In article\b.*|.*\b(?:writes|wrote):\s*$")


@formats.add(reads="20news-bydate-train/GROUP, 20news-bydate-test/GROUP", data="topics", own_dev=False)
def twenty_newsgroups(
    path: Path, split: str, *, groups: str | None = None, headers: bool = True, quotes: bool = True
) -> Iterator[ReadRow]:
    """Messages to newsgroups; the class is the group.

    One folder a group, one file a message.

    Source: Lang (1995), "NewsWeeder: Learning to Filter Netnews".

    groups: names with commas between them; None: all. headers: keep the lines before the first blank one. quotes: keep
    lines quoted from others and those that announce them. Messages with no text left are left out.
    """
    one_of("split", split, PARTS)
    folder = _folder(path, "test" if split == "test" else "train")
    there = sorted(entry.name for entry in folder.iterdir() if entry.is_dir())
    group_names = there if groups is None else [name.strip() for name in groups.split(",")]
    for name in group_names:
        known("group", name, there)
    make = partial(_example, headers=headers, quotes=quotes)
    files = text_files({name: folder / name for name in group_names})
    yield from held_out(read_text_files(files, "latin-1", make), path, split)


def _folder(path: Path, part: str) -> Path:
    for name in FOLDERS[part]:
        if (path / name).is_dir():
            return path / name
    raise BadFile(f"{path} has no folder {' or '.join(FOLDERS[part])}; give the one that holds it.")


def _example(text: str, group: str, file: Path, *, headers: bool, quotes: bool) -> list[Example]:
    if not headers:
        text = re.split(r"\r?\n[ \t]*\r?\n", text, maxsplit=1)[-1]
    if not quotes:
        text = "\n".join(line for line in text.splitlines() if not _QUOTED.match(line))
    if not text.strip() and not (headers and quotes):
        return []
    return [Example((text,), group, (), f"{group}-{file.name}")]
