"""Formats of corpora in which people marked evidence: ERASER and HateXplain; a function each."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from operator import index
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from pellucid.base.checks import one_of, reason
from pellucid.base.errors import BadFile
from pellucid.base.files import read_text
from pellucid.base.json_text import parsed, read_json
from pellucid.base.kinds import formats
from pellucid.data.shared.part_files import filled_lines, part_file
from pellucid.data.shared.rows import AGREEMENTS, BadRow, ReadRow, agreed_rationales, label_of, read_rows
from pellucid.text.example import ANNOTATORS, Example, Rationale, annotators_record
from pellucid.text.lexicon import document_names, eraser_tokens

FILES = {"train": ("train.jsonl",), "dev": ("val.jsonl", "dev.jsonl"), "test": ("test.jsonl",)}
PAIR = ("_premise", "_hypothesis")  # the endings of e-SNLI's two documents


class MarkedTokens(TypedDict):
    """Tokens [start_token, end_token) of a document."""

    docid: str
    start_token: int
    end_token: int


class Annotation(TypedDict):
    """An example: groups of evidence, and documents by name; the query is the question or claim that the label
    answers.
    """

    annotation_id: str
    classification: str
    evidences: list[list[MarkedTokens]]
    docids: NotRequired[list[str] | None]
    query: NotRequired[str]


Documents = Callable[[str], str]


@formats.add(
    reads="docs/ (or docs.jsonl), train.jsonl, val.jsonl, test.jsonl",
    data="seven sets with rationales",
    rationales=True,
)
def eraser(path: Path, split: str, *, query: bool | None = None) -> Iterator[ReadRow]:
    """A data set of the ERASER benchmark; all groups of evidence are marked, in the document as it is written.

    One annotation a line; evidence is given by the token numbers of a document.

    Source: DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models".

    query: whether the query is the example's second text. By default it is where queries differ (a claim, a question),
    and it is not where all are the same (what the task asks).
    """
    file = part_file(path, split, FILES)
    documents = _documents(file.parent)
    if query is None:
        query = _queries_differ(file)
    yield from read_rows(file, filled_lines(file), partial(_eraser_example, documents=documents, query=query))


def _documents(folder: Path) -> Documents:
    """A function from a document's name to its text; raises `BadFile` where the folder has no documents."""
    if (folder / "docs").is_dir():
        return lru_cache(maxsize=512)(partial(_document, folder / "docs"))
    if (folder / "docs.jsonl").is_file():
        return _documents_in(folder / "docs.jsonl").__getitem__
    raise BadFile(f"{folder} has neither docs nor docs.jsonl; ERASER's documents lie beside its annotations.")


def _documents_in(file: Path) -> dict[str, str]:
    """The documents of a file of JSON lines by name; raises `BadFile` where a line holds none."""
    texts: dict[str, str] = {}
    for line_number, line in filled_lines(file):
        try:
            row = parsed(line)
            name, text = row["docid"], row["document"]
            if not (isinstance(name, str) and isinstance(text, str)):
                raise TypeError("docid and document must be strings")
        except (ValueError, LookupError, TypeError) as error:
            raise BadFile(f"{file}, line {line_number} holds no document: {reason(error)}.") from None
        texts[name] = text
    return texts


def _document(folder: Path, name: str) -> str:
    if name in ("", ".", "..") or "/" in name or "\\" in name:  # a name never leads out of the folder
        raise ValueError(f"the document {name!r} is no plain file name")
    if not _is_there(folder / name):
        raise ValueError(f"there is no document {name!r} in {folder}")
    return read_text(folder / name)


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # no file can have such a name
        return False


def _queries_differ(file: Path) -> bool:
    seen: set[str] = set()
    for _, line in filled_lines(file):
        try:
            seen.add(str(parsed(line)["query"]))
        except (ValueError, LookupError, TypeError):
            continue  # a bad row, which is reported when it is read
        if len(seen) > 1:
            return True
    return False


def _eraser_example(line: str, _: int, *, documents: Documents, query: bool) -> list[Example]:
    row: Annotation = parsed(line)
    evidences = [evidence for group in row["evidences"] for evidence in group]
    names = _names(row, evidences)
    texts = [documents(name) for name in names]
    marks = [_rationale(evidence, names, texts) for evidence in evidences]
    if query and len(names) == 1 and row.get("query"):
        texts.append(row["query"])
    id = row["annotation_id"]
    meta = {"docids": names} if names != document_names(id, len(texts)) else {}
    return [Example(tuple(texts), row["classification"], tuple(sorted(set(marks), key=_reading_order)), id, meta)]


def _names(row: Annotation, evidences: list[MarkedTokens]) -> list[str]:
    """The names of an example's documents: those it lists, else those of its evidence, else its own id."""
    names = row.get("docids") or sorted({evidence["docid"] for evidence in evidences})
    names = list(names) or [row["annotation_id"]]
    if len(names) > 2:
        raise ValueError(f"it has {len(names)} documents, an example at most two")
    if {name.endswith(PAIR) for name in names} == {True}:
        names.sort(key=lambda name: not name.endswith(PAIR[0]))
    return names


def _rationale(evidence: MarkedTokens, names: list[str], texts: list[str]) -> Rationale:
    segment = names.index(evidence["docid"])
    tokens = eraser_tokens(texts[segment])
    first, end = index(evidence["start_token"]), index(evidence["end_token"])
    if not 0 <= first < end <= len(tokens):
        raise ValueError(
            f"evidence from token {first} to {end} lies outside {names[segment]!r}, which has {len(tokens)}"
        )
    return Rationale(segment, tokens[first][0], tokens[end - 1][1])


def _reading_order(mark: Rationale) -> tuple[int, int, int]:
    return mark.segment, mark.start, mark.end


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


@formats.add(reads="dataset.json, post_id_divisions.json", data="hate speech and offensive language", rationales=True)
def hatexplain(path: Path, split: str, *, agreement: str = "union") -> Iterator[ReadRow]:
    """Posts of HateXplain, with the label of most annotators; posts on which all three differ are left out.

    Posts with the votes and the marked words of three annotators, in one JSON file.

    Source: Mathew et al. (2021), "HateXplain: A Benchmark Dataset for Explainable Hate Speech
    Detection".

    agreement: "union" takes what any annotator marked, "majority" what more than half of those who marked words marked.
    What each of those marked is in meta["annotators"], where there are several. The text is the post's tokens with
    blanks between them.
    """
    one_of("agreement", agreement, AGREEMENTS)
    one_of("split", split, DIVISION)
    file = path / POSTS if path.is_dir() else path
    text = read_text(file)
    posts = _object(file)
    ids = posts if path.is_file() else _division(path / DIVISIONS, DIVISION[split])
    for id in ids:
        for row in read_rows(file, [(0, id)], partial(_hatexplain_example, posts=posts, agreement=agreement)):
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


def _hatexplain_example(id: str, _: int, *, posts: dict[str, Post], agreement: str) -> list[Example]:
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
        meta[ANNOTATORS] = annotators_record([agreed_rationales(text, [marks], "union") for marks in marked])
    return [Example((text,), label, tuple(agreed_rationales(text, marked, agreement)), id, meta)]


def marked_characters(tokens: list[str], marks: list[int]) -> list[bool]:
    """For each character of the tokens joined by blanks, whether its token is marked."""
    if len(marks) != len(tokens):
        raise ValueError(f"a rationale has {len(marks)} marks for {len(tokens)} tokens")
    is_marked: list[bool] = []
    for token, mark in zip(tokens, marks, strict=True):
        is_marked += [False] * bool(is_marked) + [bool(mark)] * len(token)
    return is_marked
