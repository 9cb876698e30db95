"""Units: what scores belong to, always with character offsets into the original text.

Only this file knows what special tokens, pieces, segments, words, sentences and legal spans are. A coarser unit is a
union of finer ones, so sums stay the same when scores are added up for coarser units.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from importlib.util import find_spec
from itertools import accumulate, groupby, pairwise
from typing import Literal, get_args

import numpy as np
import regex

from pellucid.base.checks import one_of
from pellucid.base.errors import BadSetting
from pellucid.base.packages import install_command

Kind = Literal["piece", "character", "word", "sentence", "paragraph"]
KINDS = get_args(Kind)
CHARACTER = "character"  # only of pieces that are no longer; blanks count
IN_WORDS = ("piece", CHARACTER)  # what words are made of
PASSAGE = "passage"  # the kind of units that the user named; larger than all others
BY_SIZE = (*KINDS, PASSAGE)
SPECIAL = -1  # the segment of a special token, which is in no text
Reading = Literal["whole", "bytes", "part", "none"]
READINGS = get_args(Reading)

# A word is letters, digits and marks, joined by inner apostrophes or hyphens; anything else visible is a
# word by itself, one user-perceived character (emoji with its joiners, say) at a time. In scripts without spaces such a
# run is many words (`unspaced_words`).
_WORD = regex.compile(r"[\p{L}\p{N}\p{M}_]+(?:['’\-‐][\p{L}\p{N}\p{M}_]+)*|(?!\s)\X")
# A sentence ends at its marks and the closing quotes after them; those that Latin shares with abbreviations and numbers
# end it only before white space, those of Chinese, Japanese, Burmese, Khmer and Indic scripts everywhere.
_SENTENCE = regex.compile(
    r"\S.*?(?:[.!?…؟۔]+[\"'”’)\]]*(?=\s|$)|[。！？｡။។।॥]+[\"'”’)\]」』）】》]*|\n|$)", regex.DOTALL
)
_PARAGRAPH = regex.compile(r"(?m)^[^\n]*\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")  # lines without a blank line between
_BLANK = regex.compile(r"[\s\p{Cc}\p{Cf}\uFE00-\uFE0F]*")  # also joiners, and what chooses the form of an emoji
_PUNCTUATION = regex.compile(r"\p{P}+")
_CHARACTER = regex.compile(r"\X")
_FINDERS = {CHARACTER: _CHARACTER, "word": _WORD, "sentence": _SENTENCE, "paragraph": _PARAGRAPH}


@dataclass(frozen=True)
class Units:
    """A partition of an example: parallel tuples, one entry a unit, in reading order.

    kind: "piece", "character", "word", "sentence", "paragraph" or "passage". labels: what is shown of each. segment:
    its text's number; -1 for a special token, whose offsets are (0, 0) and whose label is the token itself. start, end:
    characters [start, end) of the text. Several pieces of one character (byte-level BPE) share its offsets. passages:
    the characters of the first text's passages, where the user named some; these units can be added up to them.
    readings: what the model can read of each: the whole, the whole but a part only as bytes, a part, or nothing; empty
    where it reads all units whole, or where that is not known.
    """

    kind: str
    labels: tuple[str, ...]
    segment: tuple[int, ...]
    start: tuple[int, ...]
    end: tuple[int, ...]
    passages: tuple[tuple[int, int], ...] = ()
    readings: tuple[Reading, ...] = ()

    def __post_init__(self) -> None:
        sizes = {len(self.labels), len(self.segment), len(self.start), len(self.end)}
        if self.readings:
            sizes.add(len(self.readings))
        if len(sizes) > 1:
            raise ValueError(f"units need as many labels as segments, starts, ends and readings; {sorted(sizes)} came")

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, indices: Sequence[int]) -> "Units":
        """Some of the units, in this order."""
        pick = lambda column: tuple(column[index] for index in indices)  # noqa: E731
        return replace(
            self,
            labels=pick(self.labels),
            segment=pick(self.segment),
            start=pick(self.start),
            end=pick(self.end),
            readings=pick(self.readings) if self.readings else (),
        )

    @cached_property
    def special(self) -> np.ndarray:
        """[unit] bool: True where the unit is a special token of the model."""
        return np.array(self.segment, dtype=np.int64) == SPECIAL

    @cached_property
    def content(self) -> tuple[int, ...]:
        """The indices of the units that are text."""
        return tuple(index for index, segment in enumerate(self.segment) if segment != SPECIAL)


def is_blank(label: str) -> bool:
    """Whether nothing of a label is seen: it is empty, or blanks and invisible characters alone."""
    return _BLANK.fullmatch(label) is not None


@lru_cache(maxsize=256)  # it is called for every window of a long text
def text_units(text: str, kind: Kind) -> tuple[tuple[int, int], ...]:
    """The character ranges of a text's characters as a reader sees them, words, sentences or paragraphs."""
    one_of("kind", kind, _FINDERS)
    ranges = (span for match in _FINDERS[kind].finditer(text) if (span := match.span())[1] > span[0])
    if kind == "word" and is_unspaced(text):
        return tuple(word for start, end in ranges for word in unspaced_words(text, start, end))
    return tuple(ranges)


def coarsen(fine: Units, kind: Kind, segments: Sequence[str]) -> tuple[Units, tuple[int, ...]]:
    """Merge pieces into words, sentences, paragraphs or named passages: the coarse units, and each fine unit's coarse
    index.

    Every fine unit belongs to exactly one coarse unit, so sums stay the same; words that share a piece become one unit.
    Special tokens stay units of their own.
    """
    index = coarse_index(fine, kind, segments)
    if kind == fine.kind:
        return fine, index
    members = [list(group) for _, group in groupby(range(len(fine)), key=index.__getitem__)]
    labels, segment, start, end = zip(*(_united(fine, group, segments) for group in members), strict=True)
    readings = tuple(united_reading(fine, group) for group in members) if fine.readings else ()
    return Units(kind, labels, segment, start, end, readings=readings), index


def coarse_index(fine: Units, kind: Kind, segments: Sequence[str]) -> tuple[int, ...]:
    """The number of the word, sentence or paragraph that each fine unit belongs to, as `coarsen` counts them."""
    one_of("unit", kind, BY_SIZE if fine.passages else KINDS)
    if kind == fine.kind:
        return tuple(range(len(fine)))
    if fine.kind not in BY_SIZE or BY_SIZE.index(kind) < BY_SIZE.index(fine.kind):
        raise BadSetting(f"Scores a {fine.kind} cannot be split into scores a {kind}; explain at a finer unit.")
    if kind == CHARACTER:
        _check_characters(fine, segments)
    if len(fine) > REMEMBERED_UNITS:
        return _coarse_index.__wrapped__(fine, kind, tuple(segments))
    return _coarse_index(fine, kind, tuple(segments))


REMEMBERED_UNITS = 512  # of longer texts the index is computed anew: hundreds of them would fill the memory


@lru_cache(maxsize=512)  # of a text it is asked by the tokenizer, by what the model can read, and when it is saved
def _coarse_index(fine: Units, kind: Kind, segments: tuple[str, ...]) -> tuple[int, ...]:
    keys = _group_keys(fine, kind, segments)
    return tuple(accumulate((int(here != before) for before, here in pairwise(keys)), initial=0))


def _check_characters(pieces: Units, segments: Sequence[str]) -> None:
    """Raise `BadSetting` where a piece is longer than a character."""
    for n in pieces.content:
        piece = segments[pieces.segment[n]][pieces.start[n] : pieces.end[n]].strip()
        if len(_CHARACTER.findall(piece)) > 1:
            raise BadSetting(
                f"unit='character' is not possible: the model reads pieces of several characters, such as {piece!r}, "
                f"and a piece's score cannot be split. Give unit='piece', a model of bytes or characters, or a "
                f"function: from_function(…, pieces='character')."
            )


def _united(fine: Units, members: list[int], segments: Sequence[str]) -> tuple[str, int, int, int]:
    """(label, segment, start, end) of several neighbouring units as one."""
    segment = fine.segment[members[0]]
    if segment == SPECIAL:
        return fine.labels[members[0]], SPECIAL, 0, 0
    outer = min(fine.start[unit] for unit in members), max(fine.end[unit] for unit in members)
    start, end = trimmed(segments[segment], *outer)
    return segments[segment][start:end], segment, start, end


def united_reading(fine: Units, members: Sequence[int]) -> Reading:
    """What the model can read of several neighbouring units as one: nothing where it can read none of them. Blanks say
    nothing, and punctuation only by itself.
    """
    if not fine.readings:
        return "whole"
    seen = [unit for unit in members if not is_blank(fine.labels[unit])]
    words = [unit for unit in seen if _PUNCTUATION.fullmatch(fine.labels[unit]) is None]
    readings = {fine.readings[unit] for unit in words or seen}
    if len(readings) == 1:
        return readings.pop()
    return "part" if readings & {"none", "part"} else "bytes" if "bytes" in readings else "whole"


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Offsets without surrounding blanks, which some tokenizers count as part of a piece; a range of blanks stays."""
    covered = text[start:end]
    if covered and not covered[0].isspace() and not covered[-1].isspace():
        return start, end  # nearly all pieces
    if not covered.strip():
        return start, end
    return start + len(covered) - len(covered.lstrip()), end - (len(covered) - len(covered.rstrip()))


def _group_keys(fine: Units, kind: Kind, segments: Sequence[str]) -> list[tuple[int, int]]:
    """For each fine unit the coarse unit that it belongs to: (segment, number of the unit in it)."""
    keys: list[tuple[int, int]] = [(SPECIAL, unit) for unit in range(len(fine))]
    for index, text in enumerate(segments):
        inside = [unit for unit, segment in enumerate(fine.segment) if segment == index]
        ranges = _passages(fine, index, text) if kind == PASSAGE else text_units(text, kind)
        places = [(fine.start[unit], fine.end[unit]) for unit in inside]
        last = [end for _, end in _joined(ranges, places)]
        greatest = max(len(last) - 1, 0)
        for unit, (start, end) in zip(inside, places, strict=True):
            # The first coarse unit that ends after this one begins, else the last one.
            after = bisect_right(last, start if kind == CHARACTER else _first_visible(text, start, end))
            keys[unit] = (index, after if after < greatest else greatest)
    return keys


def _passages(fine: Units, index: int, text: str) -> tuple[tuple[int, int], ...]:
    """The passages of the first text, and what stands between them; the words of another text."""
    if index:
        return text_units(text, "word")
    borders = sorted({0, len(text), *(border for passage in fine.passages for border in passage)})
    return tuple((start, end) for start, end in pairwise(borders) if text[start:end].strip())


def _first_visible(text: str, start: int, end: int) -> int:
    """The offset that decides where a unit belongs: a unit of blanks belongs to what follows it, for units of any
    size.
    """
    if text[start : min(start + 1, end)].strip() or text[start:end].strip():
        return start
    return start + len(text[start:]) - len(text[start:].lstrip())


def _joined(ranges: Sequence[tuple[int, int]], units: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """The ranges, with those united that one fine unit overlaps; units: the ranges of the fine units of this text."""
    begins, united = [begin for begin, _ in ranges], set[int]()
    for start, end in units if ranges else ():
        first = max(bisect_right(begins, start) - 1, 0)
        close = ranges[first][1]
        if end > close:  # else it is inside one range, as nearly all are
            united.update(range(first + 1 + (close <= start), bisect_left(begins, end)))
    joined: list[tuple[int, int]] = []
    for range_index, (start, end) in enumerate(ranges if united else ()):
        if range_index in united:  # it belongs to the one before
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined if united else ranges


@dataclass(frozen=True)
class Spans:
    """Spans: units from a first to a last one, inside one segment; all such pairs, or some of them.

    parts: the units that spans consist of. first, last: [span], the index of each span's first and last part.
    """

    parts: Units
    first: np.ndarray
    last: np.ndarray
    kind: str = "span"

    def __len__(self) -> int:
        return len(self.first)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Spans)
            and self.parts == other.parts
            and np.array_equal(self.first, other.first)
            and np.array_equal(self.last, other.last)
        )

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def special(self) -> np.ndarray:
        """[span] bool: False, since no span holds a special token."""
        return np.zeros(len(self), dtype=bool)

    @cached_property
    def content(self) -> tuple[int, ...]:
        """The indices of all spans."""
        return tuple(range(len(self)))

    def characters(self, index: int) -> tuple[int, int, int]:
        """(segment, start, end) of one span in the original text."""
        first, last = int(self.first[index]), int(self.last[index])
        return self.parts.segment[first], self.parts.start[first], self.parts.end[last]

    def share(self, scores: np.ndarray) -> np.ndarray:
        """[..., span] -> [..., part]: each span's score shared equally among its parts; the sum stays the same.

        A part of no span gets exactly 0.
        """
        length = self.last - self.first + 1
        edges = np.zeros((*scores.shape[:-1], len(self.parts) + 1), dtype=np.float64)
        share = scores.astype(np.float64) / length
        np.add.at(edges.T, self.first, share.T)  # transposed views: edges itself changes
        np.subtract.at(edges.T, self.last + 1, share.T)
        spans_over = np.zeros(len(self.parts) + 1, dtype=np.int64)
        np.add.at(spans_over, self.first, 1)
        np.subtract.at(spans_over, self.last + 1, 1)
        return np.where(spans_over[:-1].cumsum() > 0, edges[..., :-1].cumsum(-1), 0.0)


def all_spans(parts: Units, max_width: int | None = None) -> Spans:
    """All spans of these parts: within one segment, without special tokens, of at most max_width parts (None: any)."""
    first, last = np.triu_indices(len(parts))
    segment = np.array(parts.segment)
    # A number that rises at every special token and border of texts, so that no span extends over one.
    border = [0] + [int(a != b or a == SPECIAL) for a, b in pairwise(parts.segment)]
    run = np.cumsum(border[: len(parts)])
    legal = (segment[first] != SPECIAL) & (run[first] == run[last])
    if max_width is not None:
        legal &= last - first < max_width
    return Spans(parts, first[legal], last[legal])


def occurrences(labels: Sequence[str], scores: dict[str, float]) -> list[float]:
    """The score of each label's type, for every occurrence of the type; 0 for unknown types. Sums are not kept."""
    return [scores.get(label, 0.0) for label in labels]


# Words of scripts that put no spaces between them: Chinese, Japanese, Thai, Khmer, Lao and Burmese.
#
# ICU's dictionaries find them, through the package icu4py. Without it every user-perceived character is a word of its
# own, so that scores never belong to a whole sentence; a model's pieces of several characters join them again
# (`units.coarsen`).

WITHOUT_DICTIONARY = (
    "The text is in a script without spaces between words, and no dictionary is installed: its characters (or the "
    f"model's pieces) stand for words. With a dictionary they are found: {install_command('icu4py')}."
)
_SCRIPTS = r"\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Khmer}\p{scx=Lao}\p{scx=Myanmar}"
_LETTER = regex.compile(rf"(?=[\p{{L}}\p{{N}}])[{_SCRIPTS}]")
_RUN = regex.compile(rf"(?:[{_SCRIPTS}]\p{{M}}*)+")


def is_unspaced(text: str) -> bool:
    """Whether a letter of the text belongs to a script without spaces between words."""
    return not text.isascii() and _LETTER.search(text) is not None


@cache
def has_dictionary() -> bool:
    """Whether words of such scripts can be looked up: the package icu4py is installed."""
    return find_spec("icu4py") is not None


def caveats_on_words(segments: Sequence[str]) -> tuple[str, ...]:
    """What to keep in mind about the words of these texts: whether they could be looked up."""
    return (WITHOUT_DICTIONARY,) if not has_dictionary() and any(map(is_unspaced, segments)) else ()


def unspaced_words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The ranges of the words within characters [start, end), which hold letters, digits and marks of any script.

    What stands between runs of these scripts, such as a Latin name or a year, is a word by itself.
    """
    for run in _RUN.finditer(text, start, end):
        if run.start() > start:
            yield start, run.start()
        find = _dictionary_words if has_dictionary() else _characters
        yield from ((run.start() + first, run.start() + last) for first, last in find(run.group()))
        start = run.end()
    if start < end:
        yield start, end


def _dictionary_words(text: str) -> Iterator[tuple[int, int]]:
    from icu4py.breakers import WordBreaker

    # ICU counts UTF-16 code units; a character beyond the first 65,536, a rare ideograph say, has two.
    after = list(accumulate((2 if ord(character) > 0xFFFF else 1 for character in text), initial=0))
    character_at = {offset: index for index, offset in enumerate(after)}
    for first, last in WordBreaker(text, "root").segments():
        yield character_at[first], character_at[last]


def _characters(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _CHARACTER.finditer(text))
