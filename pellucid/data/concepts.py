"""Readers of concepts: words of one kind from a person's own file, and from public resources; a function each."""

import bz2
import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO
from urllib.parse import unquote

from pellucid.base.checks import listed, quoted
from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors, read_text
from pellucid.base.kinds import concept_readers
from pellucid.text.lexicon import Concept
from pellucid.text.wordnet import Synset, WordNet

FORM = "write `concept: word, word`"


@concept_readers.add(
    reads="lines such as `time: year, day`, or a JSON object of lists",
    endings=("txt", "json"),
    names_needed=False,
)
def word_lists(path: Path, names: Sequence[str], most: int) -> list[Concept]:
    """Lines of a concept with its words, or a JSON object: concept -> list of words.

    A text file with a concept a line, or a JSON object.

    Empty lines and lines that begin with # are passed over. names: the concepts to read, in this order; empty: all.
    most: the most words of each, the first ones of the file.

    Raises `BadFile`, with the line, for a line of another form or a second line of one concept, and for a name that the
    file does not have.
    """
    text = read_text(path)
    lists = _from_json(path, text) if path.suffix == ".json" else dict(_from_lines(path, text))
    strange = [name for name in names if name not in lists]
    if strange or not lists:
        has = f"it has {listed(lists)}" if lists else f"it is empty; {FORM}, a concept a line"
        raise BadFile(f"{path} has no concept {listed(strange)}: {has}." if strange else f"{path}: {has}.")
    return [Concept(name, tuple(lists[name])[:most]) for name in names or lists]


def _from_lines(path: Path, text: str) -> Iterator[tuple[str, list[str]]]:
    seen: set[str] = set()
    for line_number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, colon, rest = line.partition(":")
        words = [word.strip() for word in rest.split(",") if word.strip()]
        if not (colon and name.strip() and words):
            raise BadFile(f"Line {line_number} of {path} is no concept with its words; {FORM}.")
        if name.strip() in seen:
            raise BadFile(f"Line {line_number} of {path} names {name.strip()!r} again; write its words in one line.")
        seen.add(name.strip())
        yield name.strip(), words


def _from_json(path: Path, text: str) -> dict[str, list[str]]:
    try:
        record = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        line = f"Line {error.lineno} of {path}" if isinstance(error, json.JSONDecodeError) else str(path)
        raise BadFile(f'{line} is no JSON; write {{"concept": ["word", "word"]}}.') from None
    if not isinstance(record, dict):
        raise BadFile(f'{path} is no JSON object; write {{"concept": ["word", "word"]}}.')
    for name, words in record.items():
        if not (isinstance(words, list) and words and all(isinstance(word, str) for word in words)):
            raise BadFile(f"Concept {name!r} of {path} has no list of words; give one word or more.")
    return record


@concept_readers.add(reads="its tsv: concept, instance and count, with tabs between", endings=("tsv",))
def concept_graph(path: Path, names: Sequence[str], most: int) -> list[Concept]:
    """The instances of the named concepts, most often named first; instances of several words are left out.

    Concepts with the instances that web pages name of them.

    Source: Wu et al. (2012), "Probase: A Probabilistic Taxonomy for Text Understanding".

    names: concepts as the file writes them. most: the most words of each. The file is read line by line, not held.

    Raises `BadFile`, with the line, for a line without three columns or with a count that is no whole number, and where
    the file does not have a concept.
    """
    counts: dict[str, dict[str, int]] = {name: {} for name in names}
    for line_number, line in numbered_lines(path):
        columns = line.split("\t")
        if len(columns) != 3 or not columns[2].strip().isdecimal():
            raise BadFile(f"Line {line_number} of {path} is not concept, instance and count with tabs between.")
        concept, instance, count = columns[0].strip(), columns[1].strip(), int(columns[2])
        if concept in counts and instance and " " not in instance:
            words = counts[concept]
            words[instance] = words.get(instance, 0) + count
    ranked = {name: sorted(words, key=lambda word: (-words[word], word)) for name, words in counts.items()}
    return named_or_refused(path, ranked, most)


TRIPLE = re.compile(r"<([^<>\s]*)>\s+<([^<>\s]*)>\s+(?:<([^<>\s]*)>|\".*\"\S*)\s*\.\s*$")
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


@concept_readers.add(reads="its type triples, an N-Triples file, also .bz2 or .gz", endings=("nt", "ttl"))
def dbpedia(path: Path, names: Sequence[str], most: int) -> list[Concept]:
    """The things of the named types, by the last part of their addresses; names of several words are left out.

    `<…/resource/Berlin> <…#type> <…/ontology/City> .`

    Source: Lehmann et al. (2015), "DBpedia: A Large-scale, Multilingual Knowledge Base Extracted from
    Wikipedia".

    names: the last parts of types' addresses, such as City. most: the most words of each, the first ones of the file;
    what stands in brackets after a name is dropped. Lines with another predicate are passed over.

    Raises `BadFile`, with the line, for a line that is no triple, and where the file does not have a type.
    """
    words: dict[str, dict[str, None]] = {name: {} for name in names}
    for line_number, line in numbered_lines(path):
        if line.startswith("#"):
            continue
        triple = TRIPLE.match(line)
        if triple is None:
            raise BadFile(f"Line {line_number} of {path} is no triple <thing> <predicate> <type> .")
        thing, predicate, kind = triple.groups()
        of_type = words.get(_last_part(kind or ""))
        if predicate == TYPE and of_type is not None and len(of_type) < most:
            word = _last_part(thing).partition("_(")[0]
            if word and "_" not in word:
                of_type[word] = None
    return named_or_refused(path, {name: list(of_type) for name, of_type in words.items()}, most)


def _last_part(address: str) -> str:
    """What stands after the last / or # of an address, without escapes."""
    return unquote(re.split(r"[/#]", address)[-1])


HYPONYMS = ("~", "~i")  # kinds, and instances such as cities


@concept_readers.add(reads="a folder with data.noun and index.noun", endings=("folder",))
def wordnet(path: Path, names: Sequence[str], most: int) -> list[Concept]:
    """The words of a noun's synset and of all its hyponyms, nearest first; words of several parts are left out.

    A concept is a synset with all its hyponyms.

    Source: Fellbaum (1998), "WordNet: An Electronic Lexical Database".

    names: nouns; their first sense is read, or that of a number: "time", "feeling.2". most: the most words of each.

    Raises `BadFile`, with the line, for a line of another form that is read, and for a noun or a sense that is not
    there.
    """
    dictionary = WordNet(path)
    words = {name: _below(_first(dictionary, name), dictionary) for name in names}
    return named_or_refused(path, words, most)


def _first(dictionary: WordNet, name: str) -> Synset:
    noun, _, digits = name.partition(".")
    senses = dictionary.senses(noun, "noun")
    sense = int(digits) if digits.isdecimal() else 1
    if not 1 <= sense <= len(senses):
        raise BadFile(
            f"{dictionary.folder} has no sense {sense} of {quoted(noun)}; it has {len(senses)} senses of that noun."
        )
    return senses[sense - 1]


def _below(first: Synset, dictionary: WordNet) -> list[str]:
    """The words of a synset and of those below it, level by level."""
    waiting = {first.address: first}
    words: list[str] = []
    for address in (order := list(waiting)):
        words += [word for word in waiting[address].words if "_" not in word]
        for _, lower in dictionary.related(waiting[address], *HYPONYMS):
            if lower.address not in waiting:
                waiting[lower.address] = lower
                order.append(lower.address)
    return list(dict.fromkeys(words))


# What readers of large knowledge bases share: numbered lines, and concepts that must be there.


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return bz2.open(path, "rt", encoding="utf-8") if path.suffix == ".bz2" else path.open(encoding="utf-8")


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """(number, line) of a UTF-8 file, also of one that gzip or bzip2 packed; empty lines are passed over.

    Raises `BadFile` for a file that is missing, of another encoding or cut off.
    """
    line_number = 0
    with disk_errors("read", path):
        try:
            with _opened(path) as file:
                for line_number, line in enumerate(file, 1):
                    if line.strip():
                        yield line_number, line.rstrip("\r\n")
        except (UnicodeDecodeError, EOFError):
            raise BadFile(
                f"{path} cannot be read after line {line_number}: it is not UTF-8 text, or is cut off."
            ) from None


def named_or_refused(path: Path, words: Mapping[str, Sequence[str]], most: int) -> list[Concept]:
    """A concept for each name with the first of its words; raises `BadFile` where a name has none."""
    empty = [name for name, of_name in words.items() if not of_name]
    if empty:
        raise BadFile(f"{path} has no words of {listed(map(quoted, empty))}; give names as the file writes them.")
    return [Concept(name, tuple(of_name[:most])) for name, of_name in words.items()]
