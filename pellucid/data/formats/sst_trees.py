"""Stanford Sentiment Treebank: one tree in brackets a line, with a sentiment from 0 to 4 at every phrase.

Socher et al. (2013), "Recursive Deep Models for Semantic Compositionality Over a Sentiment Treebank".
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pellucid.base.checks import one_of
from pellucid.base.kinds import formats
from pellucid.data.shared.part_files import PARTS, filled_lines, part_file, row_id
from pellucid.data.shared.rows import ReadRow, read_rows
from pellucid.text.example import Example

FILES = {part: (f"{part}.txt",) for part in PARTS}
FIVE = ("very negative", "negative", "neutral", "positive", "very positive")
TWO = ("negative", "negative", None, "positive", "positive")
BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_PARTS = re.compile(r"[()]|[^() \t\r\n]+")  # a non-breaking space (in three leaves) does not separate words

Phrase = tuple[int, int, int]  # sentiment, first word, last word + 1


@formats.add(reads="train.txt, dev.txt, test.txt", data="sentiment of sentences and their phrases")
def sst_trees(path: Path, split: str, *, classes: int = 5, phrases: bool = False) -> Iterator[ReadRow]:
    """Sentences of the Stanford Sentiment Treebank, or all their phrases.

    classes: 5, or 2, which leaves neutral texts out. phrases: whether to read every phrase of a tree instead of the
    sentence only.
    """
    one_of("classes", str(classes), ("2", "5"))
    file = part_file(path, split, FILES)
    names = FIVE if classes == 5 else TWO
    make = partial(_examples, file=file, names=names, phrases=phrases)
    yield from read_rows(file, filled_lines(file), make)


def _examples(
    tree: str, line: int, *, file: Path, names: tuple[str | None, ...], phrases: bool
) -> list[Example]:
    words, nodes = parse(tree)
    name = row_id(file, line)
    numbered_nodes = list(enumerate(nodes, start=1)) if phrases else [(0, nodes[0])]
    return [
        Example(
            (" ".join(words[first:end]),),
            names[sentiment],
            (),
            f"{name}-{number}" if phrases else name,
            {"group": name} if phrases else {},  # phrases of one sentence never come into different parts
        )
        for number, (sentiment, first, end) in numbered_nodes
        if names[sentiment] is not None
    ]


def parse(tree: str) -> tuple[list[str], list[Phrase]]:
    """The words of a tree, and its phrases, the whole first; raises `ValueError` where the line is no such tree."""
    words: list[str] = []
    phrases: list[list[int]] = []
    open_ones: list[int] = []  # the phrases whose bracket is not closed yet
    parts = iter(_PARTS.findall(tree))
    for part in parts:
        if phrases and not open_ones:
            raise ValueError(f"after the tree's last bracket stands {part!r}")
        if part == "(":
            open_ones.append(len(phrases))
            phrases.append([_sentiment(next(parts, "")), len(words), 0])
        elif part == ")" and open_ones and len(words) > phrases[open_ones[-1]][1]:
            phrases[open_ones.pop()][2] = len(words)
        elif part == ")" or not open_ones:
            raise ValueError(f"the brackets of the tree do not match at {part!r}")
        else:
            words.append(BRACKETS.get(part, part.replace("\\/", "/").replace("\\*", "*")))
    if open_ones or not phrases:
        raise ValueError("the tree's brackets are not all closed")
    return words, [(sentiment, first, end) for sentiment, first, end in phrases]


def _sentiment(part: str) -> int:
    if part not in ("0", "1", "2", "3", "4"):
        raise ValueError(f"the sentiment {part!r} is none of 0, 1, 2, 3, 4")
    return int(part)
