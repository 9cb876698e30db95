"""IWSLT's talks with translations, from WIT3: training lines between tags, and XML for the other parts.

Cettolo, Niehues, Stüker, Bentivogli & Federico (2014), "Report on the 11th IWSLT Evaluation Campaign"; what is joined for testing:
docs/papers/corrections.md A0.15.
"""

import html
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from pellucid.base.checks import one_of
from pellucid.base.errors import BadFile
from pellucid.base.kinds import formats
from pellucid.data.shared.marked_text import Line, aligned, pair_of
from pellucid.data.shared.part_files import PARTS, lines, row_id
from pellucid.data.shared.rows import ReadRow, read_rows
from pellucid.data.shared.splits import held_out
from pellucid.text.example import Example

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

    source, target: languages. tests: the sets that are joined for testing, with commas between them.
    """
    if not path.is_dir():
        raise BadFile(f"There is no folder {path}; give that of the files train.tags.… and ….xml.")
    one_of("split", split, PARTS)
    languages = (source, target)
    names = [f"*.{one.strip()}" for one in tests.split(",")] if split == "test" else ["train.tags"]
    ending = ".xml" if split == "test" else ""
    read = _segments if split == "test" else _untagged
    rows = (row for name in names for row in _rows(path, name, ending, languages, read))
    yield from held_out(rows, path, split)


def _rows(
    folder: Path, name: str, ending: str, languages: tuple[str, str], read: Callable[[Path], Iterator[Line]]
) -> Iterator[ReadRow]:
    one, other = (_file(folder, name, language, ending, languages) for language in languages)
    pairs = aligned(one, other, read(one), read(other))
    yield from read_rows(one, pairs, partial(_example, file=one, languages=languages))


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
    for number, line in enumerate(lines(file), start=1):
        if not TAG.match(line):
            yield number, line


def _segments(file: Path) -> Iterator[Line]:
    """The segments of an XML file; some of these files are not well-formed, so they are read line by line."""
    for number, line in enumerate(lines(file), start=1):
        if segment := SEGMENT.match(line):
            yield number, html.unescape(segment[1])


def _example(texts: list[str], number: int, *, file: Path, languages: tuple[str, str]) -> list[Example]:
    name = file.name.removesuffix(".xml").removesuffix(f".{languages[0]}")
    return pair_of(texts, languages, row_id(Path(name.replace(".", "-")), number))
