"""The words that a model writes: which pieces each is made of, and what each is called where people see it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from pellucid.base.errors import BadSetting
from pellucid.base.wording import listed, quoted
from pellucid.run.batch import Row
from pellucid.text.example import Example
from pellucid.text.units import Units, coarsen


@dataclass(frozen=True)
class WrittenWord:
    """A word that a model is to write.

    number: from 1, in reading order. text: as it stands in the second text. start, end: its characters there. begins: where its
    first piece starts, which may cover the blank before it. pieces: the numbers of its pieces among all pieces that are
    written.
    """

    number: int
    text: str
    start: int
    end: int
    begins: int
    pieces: tuple[int, ...]

    @property
    def label(self) -> str:
        """What its row is called: its number and the word."""
        return f"{self.number} {self.text}"


def written_words(row: Row, units: Units, example: Example) -> tuple[WrittenWord, ...]:
    """The words of the text that a row is to be continued with; units: the row's pieces, as encoded."""
    words, index = coarsen(units, "word", example.segments)
    written = [piece for piece, id in enumerate(row.written) if id >= 0]
    groups = groupby(enumerate(written), key=lambda pair: index[pair[1]])
    return tuple(
        WrittenWord(
            number,
            words.labels[word],
            words.start[word],
            words.end[word],
            min(words.start[word], units.start[members[0][1]]),
            tuple(place for place, _ in members),
        )
        for number, (word, members) in enumerate(((word, list(group)) for word, group in groups), 1)
    )


def named_word(words: Sequence[WrittenWord], name: str | int, example: Example) -> WrittenWord:
    """The word of this number, or the one with this text; raises `BadSetting` where there is none, or several."""
    if isinstance(name, int):
        if not 1 <= name <= len(words):
            raise BadSetting(
                f"Word {name} is not in the text of example {quoted(example.id)}, which has words 1 to {len(words)}."
            )
        return words[name - 1]
    alike = [word for word in words if word.text == name]
    if len(alike) == 1:
        return alike[0]
    if alike:
        numbers = listed([str(word.number) for word in alike])
        raise BadSetting(
            f"The word {quoted(name)} is there {len(alike)} times in the text of example {quoted(example.id)}; "
            f"give its number: {numbers}."
        )
    raise BadSetting(
        f"The word {quoted(name)} is not in the text that the model writes for example {quoted(example.id)}: "
        f"{quoted(example.segments[-1])}. Its words are {listed([word.text for word in words])}."
    )
