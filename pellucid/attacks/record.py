"""What attacks did to many texts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import overload

import numpy as np

from pellucid.attacks.attack_case import Attempt
from pellucid.attacks.storage import save_attempts
from pellucid.base.checks import short_title
from pellucid.base.json_text import nan_as_none
from pellucid.base.kinds import renderers
from pellucid.results.bootstrap import CORRELATION, NOT_NEGATIVE, SHARE, share, t_interval
from pellucid.results.table import Interval
from pellucid.text.example import Example


@dataclass(frozen=True)
class AttackSummary:
    """What one attack did over all texts for one goal.

    n_texts: all. n_attacked: whose answer was right before, or that have no label, and whose answer is not what the
    goal wants. success: the share of these that it fooled, with a 95 % Wilson interval. accuracy_before,
    accuracy_after: shares of the labelled texts that are answered right; nan without any, and for a model that answers
    with a value. queries: the mean over attacked texts. edited: the mean share of words changed, similarity: the mean,
    both over successes; nan where there is none. n_budget: how many ended for want of queries. n_labelled: texts whose
    label is a class of the model.
    """

    attack: str
    n_texts: int
    n_attacked: int
    success: Interval
    accuracy_before: float
    accuracy_after: float
    queries: Interval
    edited: Interval
    similarity: Interval
    n_budget: int
    goal: str = "flip"
    n_labelled: int = 0


class Attempts(Sequence[Attempt]):
    """Attempts in order, attack by attack. attempts: what `attack` returned, of one attack or several.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> attempts = pellucid.attack(model, [("A good film.", "positive")], "deepwordbug")
    >>> attempts
    <Attempts: 1 of 1 texts fooled by deepwordbug>
    """

    def __init__(self, attempts: Sequence[Attempt]) -> None:
        self._attempts = tuple(attempts)

    @overload
    def __getitem__(self, index: int) -> Attempt: ...
    @overload
    def __getitem__(self, index: slice) -> "Attempts": ...
    def __getitem__(self, index: int | slice) -> "Attempt | Attempts":
        """One attempt, or several by a slice."""
        return Attempts(self._attempts[index]) if isinstance(index, slice) else self._attempts[index]

    def __len__(self) -> int:
        return len(self._attempts)

    def __iter__(self) -> Iterator[Attempt]:
        return iter(self._attempts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attempts) and self._attempts == other._attempts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        parts = []
        for attack in self.attacks:
            attacked = [attempt for attempt in self if attempt.attack == attack and attempt.is_attacked]
            parts.append(
                f"{sum(attempt.is_success for attempt in attacked):,} of {len(attacked):,} texts fooled by "
                f"{short_title(attack)}"
            )
        return f"<Attempts: {', '.join(parts) or 'none'}>"

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_attempts").make(self)

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_html_of_attempts").make(self)

    @property
    def attacks(self) -> tuple[str, ...]:
        """The attacks in order of appearance."""
        return tuple(dict.fromkeys(attempt.attack for attempt in self))

    def successes(self) -> "Attempts":
        """Those that reached the goal."""
        return Attempts([attempt for attempt in self if attempt.is_success])

    def examples(self) -> list[Example]:
        """The edited texts of the successes, with the labels of the originals: an ordinary data set, also to train
        with.

        Marks of evidence are left out, since their places have moved; `meta["attacked"]` is the id of the original.
        """
        return [
            replace(
                success.example,
                segments=success.segments,
                rationales=(),
                id=f"{success.example.id}-{success.attack}" if success.example.id else "",
                meta={**success.example.meta, "attacked": success.example.id},
            )
            for success in self.successes()
        ]

    def table(self) -> list[AttackSummary]:
        """A summary of each attack, for each of its goals."""
        kinds = dict.fromkeys((attempt.attack, attempt.goal) for attempt in self)
        return [
            _summary(kind, [attempt for attempt in self if (attempt.attack, attempt.goal) == kind]) for kind in kinds
        ]

    def save(self, path: str | Path) -> None:
        """Write every attempt to a .parquet or .json file, which `pellucid.read` reads.

        path: the file; one that exists is replaced. Raises `BadFile` for another ending or a file that cannot be
        written.

        >>> attempts.save("attempts.parquet")
        >>> pellucid.read("attempts.parquet") == attempts
        True
        """
        save_attempts(self, path)

    def record(self) -> dict[str, object]:
        """Plain values: summaries and attempts; None where a number is not known."""
        from dataclasses import asdict

        return nan_as_none(
            {
                "attacks": [asdict(summary) for summary in self.table()],
                "attempts": [attempt.record() for attempt in self],
            }
        )


def _summary(kind: tuple[str, str], attempts: Sequence[Attempt]) -> AttackSummary:
    attacked = [attempt for attempt in attempts if attempt.is_attacked]
    fooled = [attempt for attempt in attacked if attempt.is_success]
    return AttackSummary(
        kind[0],
        len(attempts),
        len(attacked),
        share(len(fooled), len(attacked)),
        *_accuracies(attempts),
        t_interval([attempt.queries for attempt in attacked], NOT_NEGATIVE),
        t_interval([attempt.share_edited for attempt in fooled], SHARE),
        t_interval([attempt.similarity for attempt in fooled if not np.isnan(attempt.similarity)], CORRELATION),
        sum(attempt.ending == "budget" for attempt in attempts),
        kind[1],
        sum(attempt.is_labelled for attempt in attempts),
    )


def _accuracies(attempts: Sequence[Attempt]) -> tuple[float, float]:
    """The shares of right answers before and after, of the labelled texts; a value is neither right nor wrong."""
    labelled = [attempt for attempt in attempts if attempt.is_labelled and attempt.before.probabilities]
    if not labelled:
        return np.nan, np.nan
    right = [attempt for attempt in labelled if attempt.ending != "wrong before"]
    return len(right) / len(labelled), sum(attempt.keeps_answer for attempt in right) / len(labelled)
