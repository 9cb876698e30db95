"""The difference between the explanations of the same texts under two versions of a model, text by text."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from pellucid.base.checks import short_title
from pellucid.base.json_text import nan_as_none
from pellucid.base.kinds import renderers
from pellucid.base.packages import optional_package
from pellucid.results.explanation import Explanation
from pellucid.results.results import answers_for
from pellucid.results.table import Interval

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class TextDifference:
    """One text under both versions.

    before, after: its explanations. tau: Kendall's rank correlation (tau-b) of the words' scores, -1 to 1. overlap: the
    share of the k words with the highest scores that both have, 0 to 1. Both are nan where the versions explain
    different classes, where all words of a version have one score, and overlap where the text has no more than k words.
    words_before, words_after: of the k words with the highest scores those above 0, highest first. n_words: how many
    the text has.
    """

    before: Explanation
    after: Explanation
    tau: float
    overlap: float
    words_before: tuple[str, ...]
    words_after: tuple[str, ...]
    n_words: int

    @property
    def is_changed(self) -> bool:
        """Whether the two versions give different classes; False for values, which nearly always differ."""
        return self.before.prediction.names != self.after.prediction.names

    @property
    def became_right(self) -> bool:
        """Whether the first version's answer is wrong and the second one's right, by the label of the text."""
        return self.before.is_correct is False and self.after.is_correct is True

    @property
    def became_wrong(self) -> bool:
        """Whether the first version's answer is right and the second one's wrong."""
        return self.before.is_correct is True and self.after.is_correct is False

    def record(self) -> dict[str, object]:
        """Plain values: the text, both answers, both numbers, the words of both."""
        example = self.after.example
        return {
            "id": example.id,
            "text": example.text,
            "label": example.label,
            "before": self.before.answer,
            "after": self.after.answer,
            "changed": None if self.after.predicted_value is not None else self.is_changed,
            "became_right": self.became_right,
            "became_wrong": self.became_wrong,
            "tau": self.tau,
            "overlap": self.overlap,
            "words_before": list(self.words_before),
            "words_after": list(self.words_after),
        }


@dataclass(frozen=True)
class DifferenceMeans:
    """Means over texts, with 95 % bootstrap intervals: the share of texts whose answer changed (nan for values); tau
    and overlap of those texts that have them (nan where none has).

    n, n_tau, n_overlap: over how many texts.
    """

    changed: Interval
    tau: Interval
    overlap: Interval
    n: int
    n_tau: int
    n_overlap: int


@dataclass(frozen=True)
class TwinDifference:
    """How far another training of the first version (a twin) is from it, and how much farther the second version is.

    name: the twin's model. means: of the first version and the twin. farther: the second version's distance minus the
    twin's, text by text, with 95 % intervals: above 0 for `changed`, below 0 for `tau` and `overlap`, means that the
    second version differs more than the twin.
    """

    name: str
    means: DifferenceMeans
    farther: DifferenceMeans

    @property
    def is_exceeded(self) -> dict[str, bool]:
        """For changed, tau and overlap: whether the second version clearly differs more than the twin."""
        farther = self.farther
        return {
            "changed": farther.changed.low > 0,
            "tau": farther.tau.high < 0,
            "overlap": farther.overlap.high < 0,
        }


@dataclass(frozen=True)
class DifferenceSummary:
    """What changed over all texts.

    n_texts: texts in common. n_changed: whose answer changed. n_labelled: whose label is a class of both versions.
    became_right, became_wrong: of these. means: shares and means with intervals. k: words that overlap is counted over.
    by_luck: the overlap that random rankings of these texts would have. twins: the noise floor.
    """

    n_texts: int
    n_changed: int
    n_labelled: int
    became_right: int
    became_wrong: int
    means: DifferenceMeans
    k: int
    by_luck: float
    twins: tuple[TwinDifference, ...] = ()

    @property
    def is_beyond_twins(self) -> dict[str, bool]:
        """For changed, tau and overlap: whether the second version clearly differs more than every twin; empty without
        twins.
        """
        verdicts = [twin.is_exceeded for twin in self.twins]
        return {name: all(verdict[name] for verdict in verdicts) for name in verdicts[0]} if verdicts else {}

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_difference_summary").make(self)


@dataclass(frozen=True, eq=False, repr=False)
class Difference(Sequence[TextDifference]):
    """The texts under both versions, worst first: answers that became wrong, other changed answers, then the lowest
    overlap and tau; with means over all texts, from `pellucid.diff`.

    rows: the texts; of runs over corpora they are read when they are needed. totals: what `summary` returns. method:
    what explained them. models: the names of both versions. only_before, only_after: the ids of texts that one version
    alone explains. caveats: sentences.
    """

    rows: Sequence[TextDifference]
    totals: DifferenceSummary
    method: str
    models: tuple[str, str]
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]  # as a tuple does
        return self.rows[index]

    def __repr__(self) -> str:
        totals = self.totals
        changed = f"{totals.n_changed:,} of {totals.n_texts:,} answers changed"
        if totals.means.changed.mean != totals.means.changed.mean:  # of values
            changed = f"{totals.n_texts:,} texts"
        return f"<Difference: {changed}, by {short_title(self.method)}>"

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_difference").make(self)

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return self.to_html()

    def to_html(self) -> str:
        """The fragment of HTML that a notebook draws, with its own style sheet; `pellucid.report` writes a page."""
        return renderers.get("notebook_difference").make(self)

    def summary(self) -> DifferenceSummary:
        """What changed over all texts: counts, means with intervals, the noise floor of twins."""
        return self.totals

    def data_frame(self) -> "pandas.DataFrame":
        """One row a text, worst first; needs the package pandas."""
        return optional_package("pandas").DataFrame(answers_for(self.rows, TextDifference.record))

    def record(self) -> dict[str, object]:
        """Plain values for JSON, None where there is no number."""
        return nan_as_none(
            {
                "method": self.method,
                "models": list(self.models),
                "summary": asdict(self.totals) | {"is_beyond_twins": self.totals.is_beyond_twins},
                "only_before": list(self.only_before),
                "only_after": list(self.only_after),
                "caveats": list(self.caveats),
                "texts": answers_for(self.rows, TextDifference.record),
            }
        )
