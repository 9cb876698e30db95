"""Links between the words of a text and its translation, as truth: does an explanation find the word that each word comes from?

Och and Ney (2003), "A Systematic Comparison of Various Statistical Alignment Models", for the error rate. Words are what stands between
blanks, counted from 0, as in the files of aligners.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.wording import quoted
from pellucid.core.results.interval import Interval
from pellucid.evaluation.shared.summary import percentile_interval, resampled_means

Links = frozenset[tuple[int, int]]  # (source word, target word)


@dataclass(frozen=True)
class LinkScores:
    """How well the source word with the highest score for each linked target word agrees with the links.

    precision: the share of target words whose best source word is linked to them, with its 95 % bootstrap interval over pairs. error_rate:
    the alignment error rate of these best links, 0 to 1. rank: the mean rank of the best linked source word, from 1. diagonal: the precision of
    the source word at the same relative place. chance: that of a source word at random; chance_rank: its mean rank.
    words: linked target words. pairs: of texts.
    """

    precision: Interval
    error_rate: float
    rank: float
    diagonal: float
    chance: float
    chance_rank: float
    words: int
    pairs: int

    def __str__(self) -> str:
        low, high = self.precision.low, self.precision.high
        interval = "one pair: no interval" if isnan(low) else f"{low:.1%}, {high:.1%}"
        return (
            f"best link right: {self.precision.mean:.1%} [{interval}]; same place: {self.diagonal:.1%}; chance: {self.chance:.1%}\n"
            f"alignment error rate: {self.error_rate:.3f}; mean rank of a right word: {self.rank:.2f}, by chance {self.chance_rank:.2f}\n"
            f"{self.words:,} linked words of {self.pairs:,} pairs"
        )


def link_scores_of(
    scores: Sequence[np.ndarray], links: Sequence[Links], *, resamples: int = 1000, seed: int = 0
) -> LinkScores:
    """scores: for each pair [target word, source word]; links: those of each pair. Raises `BadInput` where no word is linked."""
    rows = link_counts(scores, links)
    if not rows[:, 0].sum():
        raise BadInput(
            "No target word has a link: the examples or the file have none; give links such as 0-0 1-2, source word and target word from 0."
        )
    words, right, rank, diagonal, chance, chance_rank, n_links = rows.sum(0)
    means = resampled_means(rows[:, :2], resamples, seed)
    drawn = np.divide(means[:, 1], means[:, 0], out=np.full(len(means), np.nan), where=means[:, 0] > 0)
    return LinkScores(
        percentile_interval(float(right / words), drawn[~np.isnan(drawn)], len(rows)),
        float(1 - 2 * right / (words + n_links)),
        float(rank / words),
        float(diagonal / words),
        float(chance / words),
        float(chance_rank / words),
        int(words),
        len(rows),
    )


def link_counts(scores: Sequence[np.ndarray], links: Sequence[Links]) -> np.ndarray:
    """[pair 7]: linked target words; how many best links are right; the sum of ranks; what the same place gets; what chance
    gets, and its ranks; all links.

    scores, links: as in `link_scores_of`.
    """
    return np.array([_counts(of_pair, own) for of_pair, own in zip(scores, links, strict=True)])


def _counts(scores: np.ndarray, links: Links) -> list[float]:
    """Linked target words; how many best links are right; ranks; the same of the diagonal and of chance; and all links."""
    n_target, n_source = scores.shape
    counts = np.zeros(6)
    for word in range(n_target):
        linked = [source for source, target in links if target == word]
        if not linked:
            continue
        best = int(scores[word].argmax())
        same_place = round(word * (n_source - 1) / max(1, n_target - 1))
        counts += [
            1,
            best in linked,
            min(_rank(scores[word], source) for source in linked),
            same_place in linked,
            len(linked) / n_source,
            (n_source + 1) / (len(linked) + 1),
        ]
    return [*counts, len(links)]


def _rank(scores: np.ndarray, source: int) -> float:
    """The rank of a source word from 1; equal scores share the mean of their ranks."""
    above, equal = (scores > scores[source]).sum(), (scores == scores[source]).sum()
    return float(above + (equal + 1) / 2)


def parsed_links(text: str, n_source: int, n_target: int, where: str) -> Links:
    """The links of a line such as "0-0 1-2"; raises `BadInput`, which names where, for anything else and for words that are not there."""
    links = set()
    for part in text.split():
        source, sign, target = part.partition("-")
        if not (sign and source.isdecimal() and target.isdecimal()):
            raise BadInput(
                f"{where}: {quoted(part)} is no link; give source word and target word, such as 0-2."
            )
        if int(source) >= n_source or int(target) >= n_target:
            raise BadInput(
                f"{where}: the link {quoted(part)} names a word that is not there; the source has {n_source} words and the "
                f"target {n_target}, counted from 0."
            )
        links.add((int(source), int(target)))
    return frozenset(links)
