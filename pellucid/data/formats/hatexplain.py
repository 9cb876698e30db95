"""HateXplain: posts with the votes and the marked words of three annotators, in one JSON file.

Mathew et al. (2021), "HateXplain: A Benchmark Dataset for Explainable Hate Speech Detection".
"""

import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from pellucid.base.checks import one_of
from pellucid.base.errors import BadFile
from pellucid.base.files import read_text
from pellucid.base.json_text import read_json
from pellucid.base.kinds import formats
from pellucid.data.shared.marked_text import AGREEMENTS, agreed_rationales
from pellucid.data.shared.rows import BadRow, ReadRow, label_of, read_rows
from pellucid.text.example import ANNOTATORS, Example, annotators_record

POSTS, DIVISIONS = "dataset.json", "post_id_divisions.json"
DIVISION = {"train": "train", "dev": "val", "test": "test"}
LABELS = {name: name for name in ("normal", "offensive", "hatespeech")}


class Annotator(TypedDict):
    """One annotator's label of a post, and the groups of people that it is about."""

    label: str
    target: NotRequired[list[str]]


class Post(TypedDict):
    """A post; rationales: of each annotator who marked words, 0 or 1 a token."""

    post_tokens: list[str]
    annotators: list[Annotator]
    rationales: NotRequired[list[list[int]]]


@formats.add(
    reads="dataset.json, post_id_divisions.json", data="hate speech and offensive language", rationales=True
)
def hatexplain(path: Path, split: str, *, agreement: str = "union") -> Iterator[ReadRow]:
    """Posts of HateXplain, with the label of most annotators; posts on which all three differ are left out.

    agreement: "union" takes what any annotator marked, "majority" what more than half of those who marked words marked.
    What each of those marked is in meta["annotators"], where there are several. The text is the post's tokens with blanks
    between them.
    """
    one_of("agreement", agreement, AGREEMENTS)
    one_of("split", split, DIVISION)
    file = path / POSTS if path.is_dir() else path
    text = read_text(file)
    posts = _object(file)
    ids = posts if path.is_file() else _division(path / DIVISIONS, DIVISION[split])
    for id in ids:
        for row in read_rows(file, [(0, id)], partial(_example, posts=posts, agreement=agreement)):
            # The line is looked up for bad rows only: the file is one object, read as a whole.
            yield BadRow(file, _line_of(text, id), row.reason) if isinstance(row, BadRow) else row


def _object(file: Path) -> dict[str, Any]:  # posts, or the ids of each part
    entries = read_json(file)
    if not isinstance(entries, dict):
        raise BadFile(f"{file} is JSON, but not an object with an entry a post.")
    return entries


def _division(file: Path, name: str) -> list[str]:
    """The posts of a part."""
    ids = _object(file).get(name)
    if not isinstance(ids, list):
        raise BadFile(f"{file} has no list of posts called {name!r}.")
    return ids


def _line_of(text: str, id: str) -> int:
    return text.count("\n", 0, max(text.find(json.dumps(id)), 0)) + 1


def _example(id: str, _: int, *, posts: dict[str, Post], agreement: str) -> list[Example]:
    post = posts[id]
    votes = [label_of(person["label"], LABELS) for person in post["annotators"]]
    label, count = Counter(votes).most_common(1)[0]
    if count == 1 and len(votes) > 1:
        return []
    tokens = post["post_tokens"]
    text = " ".join(tokens)
    marked = [marked_characters(tokens, marks) for marks in post.get("rationales", [])]
    communities = Counter(name for person in post["annotators"] for name in person.get("target", []))
    meta: dict[str, object] = {
        "votes": votes,
        "communities": sorted(name for name, n in communities.items() if n > 1),
    }
    if len(marked) > 1:
        meta[ANNOTATORS] = annotators_record([agreed_rationales(text, [one], "union") for one in marked])
    return [Example((text,), label, tuple(agreed_rationales(text, marked, agreement)), id, meta)]


def marked_characters(tokens: list[str], marks: list[int]) -> list[bool]:
    """For each character of the tokens joined by blanks, whether its token is marked."""
    if len(marks) != len(tokens):
        raise ValueError(f"a rationale has {len(marks)} marks for {len(tokens)} tokens")
    is_marked: list[bool] = []
    for token, mark in zip(tokens, marks, strict=True):
        is_marked += [False] * bool(is_marked) + [bool(mark)] * len(token)
    return is_marked
