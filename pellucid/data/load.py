"""Reads examples from every source: a registered data set, or a file or folder in a format."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pellucid.base.checks import every, in_syntax, known, listed, quoted, whole
from pellucid.base.errors import BadFile, BadInput, BadSetting, notify
from pellucid.base.files import possible_path
from pellucid.base.kinds import concept_readers, datasets, formats
from pellucid.data.concepts import word_lists
from pellucid.data.shared.part_files import PARTS, split_of, split_parts
from pellucid.data.shared.repeated_texts import say_repeated_in_file, say_repeated_in_parts
from pellucid.data.shared.rows import BadRow, ReadRow, SkippedRows
from pellucid.text.example import Example
from pellucid.text.lexicon import Concept

ENDINGS = {"jsonl": "json_lines", "csv": "table", "tsv": "table", "xlsx": "excel"}
SPREADSHEETS = ("xls", "xlsb", "ods", "numbers")  # of other kinds, which are refused
NO_LINES = (
    *SPREADSHEETS,
    "json",
    "parquet",
    "arrow",
    "feather",
    "zip",
)  # endings of data whose lines are no texts
TRANSLATIONS, LANGUAGES = (
    "parallel",
    {"source", "target"},
)  # the format, and settings that no other has without being named
FIRST = 3  # how many skipped rows the warning names


def load_examples(
    source: str | Path,
    /,
    split: str = "test",
    format: str | None = None,
    skip_bad_rows: bool = False,
    **settings: object,
) -> list[Example]:
    """The examples of a part of a data set, file or folder. A single file has no parts and is read whole.

    source: a data set's name, or the path of a file or folder.
    split: "train", "dev", "test", or "all" for the three.
    format: how to read a file or folder (see `formats`); None: the format that its name implies, `parallel` where the
        settings name source and target.
    skip_bad_rows: leave out rows that cannot be read, and warn with `SkippedRows`.
    settings: those of the format.

    Raises `BadFile` for a missing path, a bad row, or where all rows are bad; `UnknownName` for an unknown data set.
    """
    return list(streamed_examples(source, split, format, skip_bad_rows, **settings))


def streamed_examples(
    source: str | Path,
    /,
    split: str = "test",
    format: str | None = None,
    skip_bad_rows: bool = False,
    **settings: object,
) -> Iterator[Example]:
    """The same examples row by row, for data that memory may not hold; raises when it comes to what cannot be read."""
    if format is None and str(source) in datasets.names():  # a folder of the same name is reached by ./name
        if settings:
            raise BadSetting(f"{source} is a data set by itself, without settings; give a file for {settings}.")
        yield from datasets.get(str(source)).make(split)
        return
    path = Path(source)
    name = format or (TRANSLATIONS if settings.keys() >= LANGUAGES and path.exists() else format_of(source))
    rows = _rows(path, name, split, settings)
    yield from _good(rows, path, skip_bad_rows)


def ending_of(name: str) -> str:
    """What a file's name ends in, in small letters and without a packer's .gz: "csv"."""
    return name.lower().removesuffix(".gz").rpartition(".")[2]


def is_plain_text(source: str | Path) -> bool:
    """Whether the lines of a file are texts: its name implies no format. Raises `BadFile` for data that no format is
    implied for.
    """
    ending = ending_of(str(source))
    if ending in NO_LINES and Path(source).is_file():
        format_of(source)  # raises, naming the formats
    return ending not in ENDINGS


def format_of(source: str | Path) -> str:
    """The format that a path's name implies: JSON lines or a table; for other names raises `BadFile` with all
    formats.
    """
    path = Path(source)
    if path.is_file():
        ending = ending_of(path.name)
        if ending in ENDINGS:
            return ENDINGS[ending]
        if ending in SPREADSHEETS:
            raise BadFile(f"{source} is a spreadsheet of a kind that is not read; save it as .xlsx or .csv.")
    elif path.is_dir():
        documents = (path / "docs").is_dir() or (path / "docs.jsonl").is_file()  # then it may be ERASER's
        if any(path.glob("*.jsonl*")) and not documents:
            return "json_lines"
    elif "/" in str(source) or path.suffix:
        raise BadFile(f"There is no file or folder {source}; give one, or a data set: {', '.join(datasets.names())}.")
    else:
        datasets.get(str(source))  # raises, naming the nearest
    how = in_syntax(
        f"write pellucid.examples({quoted(str(source))}, format=…) for its texts, or format=… where that can be set",
        "add --format",
    )
    raise BadFile(
        f"How {source} is to be read is not clear from its name; {how}. The formats are: {', '.join(formats.names())}."
    )


def _rows(path: Path, name: str, split: str, settings: dict[str, object]) -> Iterator[ReadRow]:
    entry = formats.get(name)
    full = entry.settings(settings)
    for part in PARTS if split == "all" and not path.is_file() else (split,):
        yield from entry.make(path, part, **full)


def _good(rows: Iterator[ReadRow], path: Path, skip: bool) -> Iterator[Example]:
    """The examples among the rows; the first bad row raises, unless bad rows are skipped and counted."""
    first: list[BadRow] = []
    good, bad = 0, 0
    for row in rows:
        if not isinstance(row, BadRow):
            good += 1
            yield row
            continue
        if not skip:
            raise BadFile(
                f"{str(row).rstrip('.')}. Repair the row, or leave such rows out: skip_bad_rows=True (--skip-bad-rows)."
            )
        bad += 1
        first = [*first, row] if bad <= FIRST else first
    if bad and not good:
        raise BadFile(f"No row of {path} can be read; {bad} are bad, the first: {str(first[0]).rstrip('.')}.")
    if bad:
        named = "; ".join(map(str, first)) + ("; …" if bad > FIRST else "")
        notify(f"{bad} bad rows of {path} were left out: {named}", SkippedRows)


def load_parts(
    source: str | Path, /, format: str | None = None, skip_bad_rows: bool = False, **settings: object
) -> dict[str, list[Example]]:
    """The train and dev parts to train on: a data set's, a folder's, or 70 and 15 % of one file.

    Warns of texts that occur several times; in one file these are kept in one part.
    """
    if is_one_file(source, format):
        whole = load_examples(source, "all", format, skip_bad_rows, **settings)
        every = split_parts(whole)
        say_repeated_in_file(every)
        return {split: every[split] for split in ("train", "dev")}
    parts = {split: load_part(source, split, format, skip_bad_rows, **settings) for split in ("train", "dev")}
    if format is not None or str(source) not in datasets.names():
        say_repeated_in_parts(parts)
    return parts


def load_part(
    source: str | Path,
    /,
    split: str,
    format: str | None = None,
    skip_bad_rows: bool = False,
    **settings: object,
) -> list[Example]:
    """A part as training sees it, of one file 70, 15 or 15 %; raises `BadFile` or `BadSetting` where there is none."""
    if is_one_file(source, format):
        return split_of(load_examples(source, "all", format, skip_bad_rows, **settings), split)
    return load_examples(source, split, format, skip_bad_rows, **settings)


def is_one_file(source: str | Path, format: str | None = None) -> bool:
    """Whether a source is a single file, which has no parts of its own."""
    return Path(source).is_file() and (format is not None or str(source) not in datasets.names())


def classes_of(
    source: str | Path, examples: list[Example], problem: str = "single_label", format: str | None = None
) -> tuple[str, ...]:
    """The class names: those that a registered data set declares, else the labels of the examples, sorted.

    Where the problem is multi_label, each label is cut at its commas.
    """
    if format is None and str(source) in datasets.names():
        return tuple(datasets.get(str(source)).facts["classes"])
    labels = {example.label for example in examples if example.label is not None}
    if problem == "multi_label":
        labels = {name.strip() for label in labels for name in label.split(",") if name.strip()}
    return tuple(sorted(labels))


# Reads concepts from every source: a set of ours, word lists of the caller, or a file or folder.

OURS = Path(__file__).parent / "texts" / "concepts"
MOST_WORDS = 1_000_000
PACKED = (".gz", ".bz2")

ConceptSource = str | Path | Mapping[str, Sequence[str]] | Sequence[Concept]


def load_concepts(
    source: ConceptSource, names: Sequence[str] = (), most: int = 100, reader: str | None = None
) -> list[Concept]:
    """The concepts of a source.

    source: the name of a set of ours ("everyday"); a file or folder; word lists, name -> words; or concepts. names:
    those to read (empty: all, where the source is a word list). most: the most words of a concept. reader: how to read
    a file (None: by its ending).

    Raises `BadFile` for a file that cannot be read, with its bad line; `BadSetting` where names are needed; `BadInput`
    for lists of another form.
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
        Concept(concept.name, concept.words[:most])
        for concept in (map(by_name.__getitem__, names) if names else concepts)
    ]


def concept_sets() -> list[str]:
    """The names of our own sets of concepts."""
    return sorted(path.stem for path in OURS.glob("*.txt"))


def _pairs(source: Mapping[str, Sequence[str]] | Sequence[Concept]) -> list[tuple[object, object]]:
    if isinstance(source, Mapping):
        return list(source.items())
    if isinstance(source, Sequence) and all(isinstance(concept, Concept) for concept in source):
        return [(concept.name, concept.words) for concept in source]
    raise BadInput(
        f"Concepts came as {type(source).__name__}; give a name, a path, or lists of words: {{'time': ['year', "
        f"'day']}}."
    )


def _concept(name: object, words: object) -> Concept:
    if not isinstance(name, str) or isinstance(words, str) or not isinstance(words, Sequence):
        raise BadInput(f"Concept {quoted(name)} has no list of words; give {{'time': ['year', 'day']}}.")
    if not all(isinstance(word, str) for word in words):
        raise BadInput(f"Concept {quoted(name)} has words that are no strings; give {{'time': ['year', 'day']}}.")
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
    ending = "folder" if path.is_dir() else (path.with_suffix("") if path.suffix in PACKED else path).suffix[1:]
    entries = [concept_readers.get(name) for name in concept_readers.names()]
    for entry in entries:
        if ending in entry.facts["endings"]:
            return entry.name
    kinds = listed(f"{entry.name} ({', '.join(entry.facts['endings'])})" for entry in entries)
    raise BadFile(f"How {path} is to be read is not clear from its name; give reader= one of {kinds}.")
