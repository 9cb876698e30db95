"""Reads concepts from every source: a set of ours, word lists of the caller, or a file or folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pellucid.base.checks import every, known, whole
from pellucid.base.errors import BadFile, BadInput, BadSetting
from pellucid.base.files import possible_path
from pellucid.base.kinds import concept_readers
from pellucid.base.wording import listed, quoted
from pellucid.data.concepts import word_lists
from pellucid.text.concept import Concept

OURS = Path(__file__).parent / "texts" / "concepts"
MOST_WORDS = 1_000_000
PACKED = (".gz", ".bz2")

ConceptSource = str | Path | Mapping[str, Sequence[str]] | Sequence[Concept]


def load_concepts(
    source: ConceptSource, names: Sequence[str] = (), most: int = 100, reader: str | None = None
) -> list[Concept]:
    """The concepts of a source.

    source: the name of a set of ours ("everyday"); a file or folder; word lists, name -> words; or concepts. names: those to
    read (empty: all, where the source is a word list). most: the most words of a concept. reader: how to read a file (None:
    by its ending).

    Raises `BadFile` for a file that cannot be read, with its bad line; `BadSetting` where names are needed; `BadInput` for
    lists of another form.
    """
    most = whole("most", most, 1, MOST_WORDS)
    if isinstance(names, str):
        raise BadSetting(f"names={quoted(names)} is one word; give a list of names: [{quoted(names)}].")
    names = every("names", names, str, "give a list of names of concepts")
    if isinstance(source, str | Path):
        return _from_path(source, tuple(names), most, reader)
    concepts = [_concept(name, words) for name, words in _pairs(source)]
    if not concepts:
        raise BadInput("There is no concept; give names with lists of words.")
    for name in names:
        known("concept", name, [concept.name for concept in concepts])
    by_name = {concept.name: concept for concept in concepts}
    return [
        Concept(one.name, one.words[:most])
        for one in (map(by_name.__getitem__, names) if names else concepts)
    ]


def concept_sets() -> list[str]:
    """The names of our own sets of concepts."""
    return sorted(path.stem for path in OURS.glob("*.txt"))


def _pairs(source: Mapping[str, Sequence[str]] | Sequence[Concept]) -> list[tuple[object, object]]:
    if isinstance(source, Mapping):
        return list(source.items())
    if isinstance(source, Sequence) and all(isinstance(one, Concept) for one in source):
        return [(one.name, one.words) for one in source]
    raise BadInput(
        f"Concepts came as {type(source).__name__}; give a name, a path, or lists of words: {{'time': ['year', 'day']}}."
    )


def _concept(name: object, words: object) -> Concept:
    if not isinstance(name, str) or isinstance(words, str) or not isinstance(words, Sequence):
        raise BadInput(f"Concept {quoted(name)} has no list of words; give {{'time': ['year', 'day']}}.")
    if not all(isinstance(word, str) for word in words):
        raise BadInput(
            f"Concept {quoted(name)} has words that are no strings; give {{'time': ['year', 'day']}}."
        )
    return Concept(name, tuple(words))


def _from_path(source: str | Path, names: tuple[str, ...], most: int, reader: str | None) -> list[Concept]:
    if isinstance(source, str) and source in concept_sets():
        return word_lists(OURS / f"{source}.txt", names, most)
    path = possible_path(source)
    if not path.exists():
        raise BadFile(
            f"There is no file or folder {quoted(str(path))}; give one, or a set of ours: {listed(concept_sets())}."
        )
    entry = concept_readers.get(reader or _reader_of(path))
    if entry.facts["names_needed"] and not names:
        raise BadSetting(
            f"{entry.name} reads {entry.facts['reads']}, which has very many; name the concepts: names=[…]."
        )
    return entry.make(path, names, most)


def _reader_of(path: Path) -> str:
    """The reader that a path's ending implies."""
    ending = (
        "folder" if path.is_dir() else (path.with_suffix("") if path.suffix in PACKED else path).suffix[1:]
    )
    entries = [concept_readers.get(name) for name in concept_readers.names()]
    for entry in entries:
        if ending in entry.facts["endings"]:
            return entry.name
    kinds = listed(f"{entry.name} ({', '.join(entry.facts['endings'])})" for entry in entries)
    raise BadFile(f"How {path} is to be read is not clear from its name; give reader= one of {kinds}.")
