"""From the explanations of two versions of a model, and of twins of the first, to their difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.base.errors import BadInput
from pellucid.results.bootstrap import bootstrap_interval, paired_difference
from pellucid.results.explanation import Explanation
from pellucid.results.side_by_side import highest, tau_b, top_overlap
from pellucid.results.table import Interval
from pellucid.versions.comparable import (
    Pair,
    check_pairs,
    check_settings,
    common_words,
    is_same_target,
    matched,
)
from pellucid.versions.record import (
    Difference,
    DifferenceMeans,
    DifferenceSummary,
    TextDifference,
    TwinDifference,
)

Side = tuple[str, Sequence[Explanation]]  # what messages call it, and its explanations by one method
MEASURES = ("changed", "tau", "overlap")


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are made: the number of draws, and their seed."""

    resamples: int
    seed: int

    def interval(self, values: np.ndarray) -> Interval:
        """The mean of [text] with its interval."""
        return bootstrap_interval(values, resamples=self.resamples, seed=self.seed)

    def difference(self, ours: np.ndarray, theirs: np.ndarray) -> Interval:
        """The mean difference of [text] and [text] with its interval; nan where there is no text."""
        return paired_difference(ours, theirs, resamples=self.resamples, seed=self.seed)


def difference(before: Side, after: Side, twins: Sequence[Side], *, k: int, resamples: int, seed: int) -> Difference:
    """The difference between two versions; twins: of the first. Raises `BadInput` where they cannot be compared."""
    check_settings([before, after, *twins])
    matches = matched(before[1], after[1])
    check_pairs(matches.pairs, (before[0], after[0]))
    rows = [text_difference(*pair, k) for pair in matches.pairs]
    bootstrap = Bootstrap(resamples, seed)
    return Difference(
        rows=tuple(sorted(rows, key=_badness)),
        totals=_summary(rows, [_twin(before, twin, rows, k, bootstrap) for twin in twins], k, bootstrap),
        method=before[1][0].method,
        models=(before[1][0].model, after[1][0].model),
        only_before=tuple(one.example.id for one in matches.only_before),
        only_after=tuple(one.example.id for one in matches.only_after),
        caveats=tuple(_caveats(matches.pairs, len(twins))),
    )


def text_difference(before: Explanation, after: Explanation, k: int) -> TextDifference:
    """One text under both versions; scores of different classes are not compared."""
    words = common_words(before, after)
    nan = float("nan")
    same = is_same_target(before, after)
    return TextDifference(
        before,
        after,
        tau=tau_b(words.before, words.after) if same else nan,
        overlap=top_overlap(words.before, words.after, k) if same else nan,
        words_before=_for_the_class(words.words, words.before, k, before.resolution),
        words_after=_for_the_class(words.words, words.after, k, after.resolution),
    )


def _for_the_class(words: Sequence[str], scores: np.ndarray, k: int, resolution: float) -> tuple[str, ...]:
    """Of the k words with the highest scores those above 0 and rounding, which speak for what is explained."""
    return tuple(words[index] for index in highest(scores, k) if scores[index] > resolution)


def _badness(row: TextDifference) -> tuple[float, ...]:
    """Answers that became wrong, other changed ones (the surest first), then the lowest overlap, then the lowest
    tau.
    """
    if row.is_changed:
        probability = row.after.prediction.probability
        return (float(not row.became_wrong), -probability if probability == probability else 0.0)
    return (2.0, *(value if value == value else 2.0 for value in (row.overlap, row.tau)))


def _summary(
    rows: Sequence[TextDifference], twins: Sequence[TwinDifference], k: int, bootstrap: Bootstrap
) -> DifferenceSummary:
    labelled = [row for row in rows if row.before.is_correct is not None and row.after.is_correct is not None]
    return DifferenceSummary(
        n_texts=len(rows),
        n_changed=sum(row.is_changed for row in rows),
        n_labelled=len(labelled),
        became_right=sum(row.became_right for row in rows),
        became_wrong=sum(row.became_wrong for row in rows),
        means=_means(rows, bootstrap),
        k=k,
        by_luck=_by_luck(rows, k),
        twins=tuple(twins),
    )


def _measured(rows: Sequence[TextDifference]) -> dict[str, np.ndarray]:
    """changed, tau and overlap, each [text]."""
    return {
        "changed": np.array(
            [np.nan if row.after.predicted_value is not None else float(row.is_changed) for row in rows]
        ),
        "tau": np.array([row.tau for row in rows]),
        "overlap": np.array([row.overlap for row in rows]),
    }


def _means(rows: Sequence[TextDifference], bootstrap: Bootstrap) -> DifferenceMeans:
    measured = _measured(rows)
    return _joined({name: bootstrap.interval(measured[name]) for name in MEASURES}, measured)


def _joined(intervals: Mapping[str, Interval], measured: Mapping[str, np.ndarray]) -> DifferenceMeans:
    """The intervals with the number of texts behind each."""
    numbers = {name: int((~np.isnan(measured[name])).sum()) for name in MEASURES}
    changed, tau, overlap = (intervals[name] for name in MEASURES)
    return DifferenceMeans(
        changed, tau, overlap, n=len(measured["changed"]), n_tau=numbers["tau"], n_overlap=numbers["overlap"]
    )


def _by_luck(rows: Sequence[TextDifference], k: int) -> float:
    """The mean overlap of two random choices of k among a text's n words, k / n, over the texts that have an
    overlap.
    """
    ranked = [row for row in rows if row.overlap == row.overlap]
    shares = [k / len(common_words(row.before, row.after).words) for row in ranked]
    return float(np.mean(shares)) if shares else float("nan")


def _twin(before: Side, twin: Side, rows: Sequence[TextDifference], k: int, bootstrap: Bootstrap) -> TwinDifference:
    """The first version beside a twin, and how much farther the second version is on the texts that all three
    explain.
    """
    pairs = matched(before[1], twin[1]).pairs
    check_pairs(pairs, (before[0], twin[0]))
    of_twin = {id(one): text_difference(one, other, k) for one, other in pairs}
    shared = [row for row in rows if id(row.before) in of_twin]
    if not shared:
        raise BadInput(
            f"{twin[0]} explains none of the texts that both versions explain; explain the same texts with the twin."
        )
    theirs, ours = _measured([of_twin[id(row.before)] for row in shared]), _measured(shared)
    farther = {name: bootstrap.difference(ours[name], theirs[name]) for name in MEASURES}
    return TwinDifference(
        twin[1][0].model,
        _means(list(of_twin.values()), bootstrap),
        _joined(farther, {name: ours[name] - theirs[name] for name in MEASURES}),
    )


def _caveats(pairs: Sequence[Pair], n_twins: int) -> list[str]:
    """What the numbers do not say."""
    n = len(pairs)
    other_class = sum(not is_same_target(*pair) for pair in pairs)
    relabelled = sum(one.example.label != other.example.label for one, other in pairs)
    same_model = pairs[0][0].model_hash == pairs[0][1].model_hash
    other_classes = set(pairs[0][0].prediction.labels) != set(pairs[0][1].prediction.labels)
    other_seed = pairs[0][0].seed != pairs[0][1].seed
    caveats = {
        "Both explain a model with the same weights (equal digests).": same_model,
        "The models have other classes; an answer that one of them cannot give counts as changed.": other_classes,
        f"In {other_class:,} of {n:,} texts the versions explain different classes; these have no rank correlation and "
        f"no overlap.": other_class,
        f"{relabelled:,} of {n:,} texts have another label in the second results; an answer is right by its "
        f"own.": relabelled,
        "The seeds differ; of a method that draws at random, some of the difference comes from the draws.": other_seed,
        f"Any further training would be farther than {_twins_in_words(n_twins)} in 1 of {n_twins + 1} cases by chance "
        f"alone; more twins make that rarer.": n_twins,
        "Without twins nothing says how far two trainings of the first version would differ; their saved results are "
        "the noise floor.": not n_twins and not same_model,
    }
    return [caveat for caveat, applies in caveats.items() if applies]


def _twins_in_words(n_twins: int) -> str:
    return "its only twin" if n_twins == 1 else f"all {n_twins} twins"
