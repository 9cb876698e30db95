"""Shortcuts: single words, phrases, pairs of words or kinds of words that decide answers of a class by themselves."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from pellucid.base.json_text import nan_as_none
from pellucid.base.kinds import renderers
from pellucid.results.interval import Interval

Cause = Literal["word", "phrase", "pair", "kind"]
DECIDES = {
    "word": "One word, {name}, decides",
    "phrase": "One phrase, {name}, decides",
    "pair": "Two words, {name}, decide",
    "kind": "One kind of words, {name}, decides",
}


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


@dataclass(frozen=True)
class Shortcut:
    """What was taken out of the answers of one class, and how many turned.

    cause: "word", "phrase", "pair" (two words that count only together) or "kind" (all numbers, names or punctuation
    marks). words: the word, those of the phrase or pair, or the kind's name. label: the class. n: how many answers of
    it were tested; holding: how many of them hold it; turned: how many become another answer without it; matched: how
    many become another one without as many other words of like frequency, the mean over `draws` draws. share: turned /
    n, with the exact 95 % interval. p: of the test that at most `Shortcuts.least` of the class's answers turn that did
    not turn without the other words, after Holm's correction. decides: whether p is .05 or less. texts: the ids of
    answers that turned.
    """

    cause: Cause
    words: tuple[str, ...]
    label: str
    n: int
    holding: int
    turned: int
    matched: float
    draws: int
    share: Interval
    p: float
    decides: bool
    texts: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """“zx”; “sent from my”; “not” and “only”; numbers."""
        if self.cause == "kind":
            return self.words[0]
        return " and ".join(f"“{word}”" for word in (self.words if self.cause == "pair" else [" ".join(self.words)]))

    def __str__(self) -> str:
        """What was measured, in a sentence or two."""
        it, both = ("them", "both") if self.cause == "pair" else ("it", "it")
        share = f"{_percent(self.share.mean)}, 95 % interval {_percent(self.share.low)} to {_percent(self.share.high)}"
        holding = f"; {self.holding:,} hold {both}" if self.holding < self.n else ""
        answers = f"{self.turned:,} of {self.n:,} answers “{self.label}”"
        verdict = (DECIDES[self.cause] if self.decides else "{name}: not shown to decide").format(name=self.name)
        change = "changes" if f"{self.matched:.0f}" == "1" else "change"
        return (
            f"{verdict}: without {it} {answers} change ({share}{holding}); without other words as frequent "
            f"{self.matched:.0f} {change}."
        )


@dataclass(frozen=True)
class Association:
    """What no text can be stripped of, but goes with a class: the source of a text, or its length.

    cause: "source" or "length". group: the texts that it is about, in words. label: the class. share, rest: the shares
    of these texts, and of the others, that get the class. labels: the same difference among the texts' own labels; nan
    without them.
    """

    cause: Literal["source", "length"]
    group: str
    label: str
    share: Interval
    rest: Interval
    labels: float

    def __str__(self) -> str:
        """What goes together, in a sentence that claims no cause."""
        of_labels = "" if self.labels != self.labels else f", where the labels differ by {100 * self.labels:.0f} points"
        return (
            f"The {self.cause} of a text goes with its answer: {_percent(self.share.mean)} of {self.group} are "
            f"answered {self.label}, and {_percent(self.rest.mean)} of the others{of_labels}. That the model reads it "
            f"is not shown."
        )


@dataclass(frozen=True, repr=False)
class Shortcuts:
    """What decides a model's answers by itself, as far as it was looked for.

    model: its name. n_texts: different texts that were read; half of them chose the candidates, the other half tested
    them. passes: edited texts that the model answered. least: the share of a class's answers that a shortcut must
    decide. tested: all that was tested, those that decide first. associations: sources and lengths that go with
    answers. caveats: sentences, such as which classes have too few answers.
    """

    model: str
    n_texts: int
    passes: int
    least: float
    tested: tuple[Shortcut, ...]
    associations: tuple[Association, ...] = ()
    caveats: tuple[str, ...] = ()

    @property
    def decisive(self) -> tuple[Shortcut, ...]:
        """Those that decide, the one with the largest share first."""
        return tuple(shortcut for shortcut in self.tested if shortcut.decides)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What decides, in a sentence each, and what goes with answers; empty where nothing does."""
        return (*map(str, self.decisive), *map(str, self.associations))

    @property
    def silence(self) -> str:
        """What was looked for where nothing decides."""
        return (
            f"No single word, phrase, pair of words or kind of words was seen that decides more than "
            f"{_percent(self.least)} of a class's answers."
        )

    @property
    def cost(self) -> str:
        """What it cost, in a sentence."""
        return (
            f"{self.passes:,} edited texts were answered; half of {self.n_texts:,} texts chose the words, half tested."
        )

    def __iter__(self) -> Iterator[Shortcut]:
        return iter(self.decisive)

    def __len__(self) -> int:
        return len(self.decisive)

    def __bool__(self) -> bool:
        """Whether anything decides, or goes with answers."""
        return bool(self.sentences)

    def __repr__(self) -> str:
        names = ", ".join(f"{shortcut.name} → {shortcut.label}" for shortcut in self.decisive)
        return f"<Shortcuts of {self.model}: {names or 'none'}>"

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_shortcuts").make(self)

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_shortcuts").make(self)

    def record(self) -> Mapping[str, object]:
        """Plain values for JSON, with the sentences."""
        return nan_as_none({**asdict(self), "sentences": list(self.sentences)})


NOTHING = Shortcuts("", 0, 0, 0.0, ())  # where nothing was looked for
