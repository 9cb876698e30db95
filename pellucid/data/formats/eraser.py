"""ERASER: one annotation a line; evidence is given by the token numbers of a document.

DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models".
"""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from operator import index
from pathlib import Path
from typing import NotRequired, TypedDict

from pellucid.base.errors import BadFile
from pellucid.base.files import read_text
from pellucid.base.json_text import parsed
from pellucid.base.kinds import formats
from pellucid.base.wording import reason
from pellucid.data.shared.part_files import filled_lines, part_file
from pellucid.data.shared.rows import ReadRow, read_rows
from pellucid.text.content_words import document_names, eraser_tokens
from pellucid.text.example import Example, Rationale

FILES = {"train": ("train.jsonl",), "dev": ("val.jsonl", "dev.jsonl"), "test": ("test.jsonl",)}
PAIR = ("_premise", "_hypothesis")  # the endings of e-SNLI's two documents


class MarkedTokens(TypedDict):
    """Tokens [start_token, end_token) of a document."""

    docid: str
    start_token: int
    end_token: int


class Annotation(TypedDict):
    """An example: groups of evidence, and documents by name; the query is the question or claim that the label answers."""

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

    query: whether the query is the example's second text. By default it is where queries differ (a claim, a question),
    and it is not where all are the same (what the task asks).
    """
    file = part_file(path, split, FILES)
    documents = _documents(file.parent)
    if query is None:
        query = _queries_differ(file)
    yield from read_rows(file, filled_lines(file), partial(_example, documents=documents, query=query))


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
    for number, line in filled_lines(file):
        try:
            row = parsed(line)
            name, text = row["docid"], row["document"]
            if not (isinstance(name, str) and isinstance(text, str)):
                raise TypeError("docid and document must be strings")
        except (ValueError, LookupError, TypeError) as error:
            raise BadFile(f"{file}, line {number} holds no document: {reason(error)}.") from None
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


def _example(line: str, _: int, *, documents: Documents, query: bool) -> list[Example]:
    row: Annotation = parsed(line)
    evidences = [evidence for group in row["evidences"] for evidence in group]
    names = _names(row, evidences)
    texts = [documents(name) for name in names]
    marks = [_rationale(evidence, names, texts) for evidence in evidences]
    if query and len(names) == 1 and row.get("query"):
        texts.append(row["query"])
    id = row["annotation_id"]
    meta = {"docids": names} if names != document_names(id, len(texts)) else {}
    return [
        Example(tuple(texts), row["classification"], tuple(sorted(set(marks), key=_reading_order)), id, meta)
    ]


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
