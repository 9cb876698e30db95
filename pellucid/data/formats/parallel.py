"""Formats of translations, a function each."""

import html
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import zip_longest
from pathlib import Path

from pellucid.base.checks import in_syntax, one_of
from pellucid.base.errors import BadFile
from pellucid.base.json_text import parsed
from pellucid.base.kinds import formats
from pellucid.data.shared.delimited import tab_records
from pellucid.data.shared.part_files import PARTS, filled_lines, held_out, lines, row_id
from pellucid.data.shared.rows import ReadRow, read_rows
from pellucid.text.example import Example

Line = tuple[int, str]  # its number in the file, and its text
NAMES = {"train": ("train",), "dev": ("dev", "valid", "val"), "test": ("test",)}


@formats.add(reads="train.en with train.de, train.tsv or train.jsonl, and so on", data="texts with translations")
def parallel(path: Path, split: str, *, source: str = "en", target: str = "de") -> Iterator[ReadRow]:
    """Pairs of a text and its translation. Of a single file ending in the source's name the file of the target lies
    beside it.

    Texts with their translations, for translators: two aligned files, a table without names, or JSON
    lines with named fields.

    Source: The form in which the corpora of the workshops on machine translation are given: Koehn
    (2005), "Europarl: A Parallel Corpus for Statistical Machine Translation".

    source, target: endings of aligned files, or fields of JSON lines. A .tsv file has the source in its first column,
    the target in its second.
    """
    languages = (source, target)
    file = path if path.is_file() else _file_of(path, split, source)
    ending = file.name.removesuffix(".gz").rpartition(".")[2]
    if ending == "jsonl":
        yield from read_rows(file, filled_lines(file), partial(_of_fields, file=file, languages=languages))
    elif ending == "tsv":
        yield from read_rows(file, tab_records(file), partial(_of_line, file=file, languages=languages))
    else:
        target_file = _beside(file, languages)
        rows = aligned(file, target_file, enumerate(lines(file), start=1), enumerate(lines(target_file), start=1))
        yield from read_rows(file, rows, partial(_of_line, file=file, languages=languages))


def _file_of(folder: Path, split: str, source: str) -> Path:
    if not folder.is_dir():
        raise BadFile(f"There is no file or folder {folder}.")
    one_of("split", split, PARTS)
    names = [
        f"{name}.{ending}{gz}" for name in NAMES[split] for ending in (source, "tsv", "jsonl") for gz in ("", ".gz")
    ]
    there = next((folder / name for name in names if (folder / name).is_file()), None)
    if there is None:
        raise BadFile(f"{folder} has no {', '.join(name for name in names if not name.endswith('.gz'))} for {split}.")
    return there


def _beside(file: Path, languages: tuple[str, str]) -> Path:
    """The file of the other language; raises `BadFile` where there is none."""
    stem = file.name.removesuffix(".gz")
    source, target = languages
    if not stem.endswith(f".{source}"):
        raise BadFile(
            f"{file} does not end in .{source}, .tsv or .jsonl; name the languages: "
            f"{in_syntax('source= and target=', '--read source=… --read target=…')}."
        )
    target_name = stem.removesuffix(source) + target
    for name in (target_name, f"{target_name}.gz"):
        if (file.parent / name).is_file():
            return file.parent / name
    raise BadFile(f"Beside {file} there is no {target_name} with its translations.")


def _of_fields(line: str, line_number: int, *, file: Path, languages: tuple[str, str]) -> list[Example]:
    row = parsed(line)
    for name in languages:
        if not isinstance(row[name], str):
            raise ValueError(f"its {name} is no text but {type(row[name]).__name__}")
    return pair_of([str(row[name]) for name in languages], languages, str(row.get("id") or row_id(file, line_number)))


def _of_line(texts: list[str], line_number: int, *, file: Path, languages: tuple[str, str]) -> list[Example]:
    return pair_of(texts, languages, row_id(file, line_number))


TAG = re.compile(
    r"\s*</?(url|keywords|speaker|talkid|title|description|reviewer|translator|transcript|doc|refset|srcset|mteval)\b"
)
SEGMENT = re.compile(r"\s*<seg id=\"?[^\">]*\"?>(.*)</seg>\s*$")


@formats.add(
    reads="train.tags.de-en.de and .en, IWSLT14.TED.tst2010.de-en.de.xml, …",
    data="talks with translations",
    own_dev=False,
)
def iwslt(
    path: Path,
    split: str,
    *,
    source: str = "de",
    target: str = "en",
    tests: str = "dev2010,tst2010,tst2011,tst2012",
) -> Iterator[ReadRow]:
    """Sentences of talks and their translations; a folder as the campaign gave it.

    IWSLT's talks with translations, from WIT3: training lines between tags, and XML for the other
    parts.

    Source: Cettolo, Niehues, Stüker, Bentivogli & Federico (2014), "Report on the 11th IWSLT Evaluation
    Campaign"; what is joined for testing: docs/papers/corrections.md A0.15.

    source, target: languages. tests: the sets that are joined for testing, with commas between them.
    """
    if not path.is_dir():
        raise BadFile(f"There is no folder {path}; give that of the files train.tags.… and ….xml.")
    one_of("split", split, PARTS)
    languages = (source, target)
    names = [f"*.{test.strip()}" for test in tests.split(",")] if split == "test" else ["train.tags"]
    ending = ".xml" if split == "test" else ""
    read = _segments if split == "test" else _untagged
    rows = (row for name in names for row in _rows(path, name, ending, languages, read))
    yield from held_out(rows, path, split)


def _rows(
    folder: Path, name: str, ending: str, languages: tuple[str, str], read: Callable[[Path], Iterator[Line]]
) -> Iterator[ReadRow]:
    source_file, target_file = (_file(folder, name, language, ending, languages) for language in languages)
    pairs = aligned(source_file, target_file, read(source_file), read(target_file))
    yield from read_rows(source_file, pairs, partial(_example, file=source_file, languages=languages))


def _file(folder: Path, name: str, language: str, ending: str, languages: tuple[str, str]) -> Path:
    """The file of a language; the pair's name may have either language first."""
    source, target = languages
    patterns = [f"{name}.{pair}.{language}{ending}" for pair in (f"{source}-{target}", f"{target}-{source}")]
    files = [file for pattern in patterns for file in sorted(folder.glob(pattern))]
    if not files:
        raise BadFile(f"{folder} has no {' or '.join(patterns)}.")
    return files[0]


def _untagged(file: Path) -> Iterator[Line]:
    """The lines of a training file that are no tags of a talk."""
    for line_number, line in enumerate(lines(file), start=1):
        if not TAG.match(line):
            yield line_number, line


def _segments(file: Path) -> Iterator[Line]:
    """The segments of an XML file; some of these files are not well-formed, so they are read line by line."""
    for line_number, line in enumerate(lines(file), start=1):
        if segment := SEGMENT.match(line):
            yield line_number, html.unescape(segment[1])


def _example(texts: list[str], line_number: int, *, file: Path, languages: tuple[str, str]) -> list[Example]:
    name = file.name.removesuffix(".xml").removesuffix(f".{languages[0]}")
    return pair_of(texts, languages, row_id(Path(name.replace(".", "-")), line_number))


# Two files of which the same lines belong together.


def aligned(
    source: Path, target: Path, sources: Iterable[Line], targets: Iterable[Line]
) -> Iterator[tuple[int, list[str]]]:
    """(line of the source, both texts) of the lines of two files; raises `BadFile`, with both numbers, where one has
    more of them.
    """
    pairs = iter(zip_longest(sources, targets))
    counts = [0, 0]
    for source_line, target_line in pairs:
        counts = [counts[0] + (source_line is not None), counts[1] + (target_line is not None)]
        if source_line is None or target_line is None:
            for more, another in pairs:
                counts = [counts[0] + (more is not None), counts[1] + (another is not None)]
            raise BadFile(
                f"{source} has {counts[0]:,} texts and {target} {counts[1]:,}; of aligned files each line has its "
                f"translation in the other."
            )
        yield source_line[0], [source_line[1], target_line[1]]


def pair_of(texts: list[str], languages: tuple[str, str], id: str, **meta: object) -> list[Example]:
    """A pair as an example; raises `ValueError` for an empty side."""
    if len(texts) != len(languages):
        raise ValueError(f"it has {len(texts)} fields; {languages[0]} and {languages[1]} are due")
    stripped = tuple(text.strip() for text in texts)
    for text, language in zip(stripped, languages, strict=True):
        if not text:
            raise ValueError(f"its {language} is empty")
    return [Example(stripped, id=id, meta=dict(meta))]
