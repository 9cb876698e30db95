"""Formats of public corpora with classes: Stanford's trees, reviews, topics; a function each."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pellucid.base.checks import known, one_of
from pellucid.base.errors import BadFile
from pellucid.base.kinds import formats
from pellucid.data.shared.delimited import numbered_csv, tab_records, with_line_breaks
from pellucid.data.shared.part_files import PARTS, filled_lines, held_out, part_file, part_files, row_id
from pellucid.data.shared.rows import ReadRow, label_of, of_classes, read_rows, read_text_files, text_files
from pellucid.text.example import Example

TREE_FILES = {part: (f"{part}.txt",) for part in PARTS}
FIVE = ("very negative", "negative", "neutral", "positive", "very positive")
TWO = ("negative", "negative", None, "positive", "positive")
BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}
_PARTS = re.compile(r"[()]|[^() \t\r\n]+")  # a non-breaking space (in three leaves) does not separate words

Phrase = tuple[int, int, int]  # sentiment, first word, last word + 1


@formats.add(reads="train.txt, dev.txt, test.txt", data="sentiment of sentences and their phrases")
def sst_trees(path: Path, split: str, *, classes: int = 5, phrases: bool = False) -> Iterator[ReadRow]:
    """Sentences of the Stanford Sentiment Treebank, or all their phrases.

    One tree in brackets a line, with a sentiment from 0 to 4 at every phrase.

    Source: Socher et al. (2013), "Recursive Deep Models for Semantic Compositionality Over a Sentiment
    Treebank".

    classes: 5, or 2, which leaves neutral texts out. phrases: whether to read every phrase of a tree instead of the
    sentence only.
    """
    one_of("classes", str(classes), ("2", "5"))
    file = part_file(path, split, TREE_FILES)
    names = FIVE if classes == 5 else TWO
    make = partial(_examples, file=file, names=names, phrases=phrases)
    yield from read_rows(file, filled_lines(file), make)


def _examples(tree: str, line: int, *, file: Path, names: tuple[str | None, ...], phrases: bool) -> list[Example]:
    words, nodes = parse(tree)
    name = row_id(file, line)
    numbered_nodes = list(enumerate(nodes, start=1)) if phrases else [(0, nodes[0])]
    return [
        Example(
            (" ".join(words[first:end]),),
            names[sentiment],
            (),
            f"{name}-{node_number}" if phrases else name,
            {"group": name} if phrases else {},  # phrases of one sentence never come into different parts
        )
        for node_number, (sentiment, first, end) in numbered_nodes
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


SENTIMENT_FILES = {  # the training data are those of the years before
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
    for file in part_files(path, split, SENTIMENT_FILES):
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


TOPIC_FOLDERS = {"train": ("20news-bydate-train", "train"), "test": ("20news-bydate-test", "test")}
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
    for name in TOPIC_FOLDERS[part]:
        if (path / name).is_dir():
            return path / name
    raise BadFile(f"{path} has no folder {' or '.join(TOPIC_FOLDERS[part])}; give the one that holds it.")


def _example(text: str, group: str, file: Path, *, headers: bool, quotes: bool) -> list[Example]:
    if not headers:
        text = re.split(r"\r?\n[ \t]*\r?\n", text, maxsplit=1)[-1]
    if not quotes:
        text = "\n".join(line for line in text.splitlines() if not _QUOTED.match(line))
    if not text.strip() and not (headers and quotes):
        return []
    return [Example((text,), group, (), f"{group}-{file.name}")]
