"""The words that speak for and against each class, over many texts."""

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

from pellucid.base.checks import at_least, known, one_of
from pellucid.base.json_text import nan_as_none
from pellucid.base.kinds import renderers
from pellucid.base.packages import optional_package
from pellucid.results.word_lists import WordLists

if TYPE_CHECKING:
    import pandas

Sign = Literal["for", "against"]


@dataclass(frozen=True)
class WordScore:
    """How much one word speaks for a class, over the texts in which that class is explained.

    word: its form, in lower case (casefolded, NFC). label: the class, or "A against B". mean: the mean over texts of
    its mean score in a text. low, high: the 95 % t-interval over texts (nan below two texts). count: how often it
    occurs. n_texts: in how many different texts. is_stop_word: it is a function word or punctuation.
    """

    word: str
    label: str
    mean: float
    low: float
    high: float
    count: int
    n_texts: int
    is_stop_word: bool

    @property
    def is_sure(self) -> bool:
        """Whether zero lies outside the interval; False where there is no interval."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class ClassWords:
    """The words of each class, by label in order, and there from the strongest for it to the strongest against it.

    labels: the classes that are explained. method: of all scores. caveats: sentences. min_texts: words of fewer texts
    are left out; n_rare: how many these are. lists: every word's scores added up and weighted by its rarity elsewhere,
    with their overlap between classes; None where no texts were given for it. Each interval is computed for its word
    alone: of a hundred words that do not matter, about five have an interval without zero.
    """

    labels: tuple[str, ...]
    words: tuple[WordScore, ...]
    method: str
    caveats: tuple[str, ...] = ()
    min_texts: int = 1
    n_rare: int = 0
    lists: WordLists | None = None

    def strongest(self, label: str, k: int = 10, sign: Sign = "for") -> tuple[WordScore, ...]:
        """The k words that speak most surely for a class, or against it, by the nearer bound of their intervals.

        label: the class. k: how many at most, 1 or more. sign: "for" or "against". Words that no interval could be
        given for come last. Raises `UnknownName` for a class that is not explained, `BadSetting` for another k or sign.

        >>> [(word.word, round(word.mean, 2), word.n_texts) for word in words.strongest("positive", k=1)]
        [('good', 1.5, 2)]
        """
        one_of("sign", sign, ("for", "against"))
        at_least("k", k, 1)
        of_label = self.only(label).words
        if sign == "for":
            return tuple(word for word in of_label if word.mean > 0)[:k]
        return tuple(word for word in reversed(of_label) if word.mean < 0)[:k]

    def content(self) -> "ClassWords":
        """Without function words and punctuation; all words where there are no others."""
        content = tuple(word for word in self.words if not word.is_stop_word)
        return replace(self, words=content) if content else self

    def only(self, label: str) -> "ClassWords":
        """The words of one class; raises `UnknownName` for a class that is not explained."""
        known("class of these words", label, self.labels)
        return replace(self, labels=(label,), words=tuple(word for word in self.words if word.label == label))

    def data_frame(self) -> "pandas.DataFrame":
        """One row a word, in order; needs the package pandas."""
        fields = list(WordScore.__dataclass_fields__)
        rows = [asdict(word) for word in self.words]
        return optional_package("pandas").DataFrame(rows, columns=fields)

    def record(self) -> dict[str, object]:
        """Plain values for JSON, None where there is no number."""
        return {
            "method": self.method,
            "labels": list(self.labels),
            "words": [nan_as_none(asdict(word)) for word in self.words],
            "caveats": list(self.caveats),
            "min_texts": self.min_texts,
            "n_rare": self.n_rare,
            **({} if self.lists is None else {"lists": self.lists.record()}),
        }

    def __repr__(self) -> str:
        return f"<ClassWords: {len(self.words):,} words of {', '.join(self.labels)} by {self.method}>"

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_class_words").make(self)

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_class_words").make(self)
