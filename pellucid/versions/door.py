"""The door `diff`: explanations of the same texts under two versions of a model, and of twins of the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pellucid.base.checks import clipped, every, in_syntax, known, listed, listed_members, of_class, whole
from pellucid.base.errors import BadInput, BadSetting
from pellucid.explaining.read import read_explanations
from pellucid.results.bootstrap import bootstrap_interval, paired_difference
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results
from pellucid.results.side_by_side import highest, tau_b, top_overlap
from pellucid.results.table import Interval
from pellucid.versions.comparable import Pair, check_pairs, check_settings, common_words, is_same_target, matched
from pellucid.versions.record import Difference, DifferenceMeans, DifferenceSummary, TextDifference, TwinDifference

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
        only_before=tuple(explanation.example.id for explanation in matches.only_before),
        only_after=tuple(explanation.example.id for explanation in matches.only_after),
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
    of_twin = {id(first): text_difference(first, second, k) for first, second in pairs}
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
    relabelled = sum(first.example.label != second.example.label for first, second in pairs)
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


MOST_RESAMPLES, MOST_WORDS = 1_000_000, 1000
HIGHEST_SEED = 2**63 - 1  # as in run/blank.py, which imports torch, and nothing here computes with it
Saved = str | Path | Sequence[Explanation]


def diff(
    a: Saved,
    b: Saved,
    *,
    twins: Saved | Sequence[Saved] = (),
    method: str | None = None,
    k: int = 3,
    resamples: int = 1000,
    seed: int = 0,
) -> Difference:
    """What changed between two versions of a model: its answers to the same texts, and the words that they depended on.

    a, b: the explanations of the first and of the second version: what `explain` or `read` returned, a file that `save`
        wrote, or a comparison's folder. Texts are matched by id and text, then by text alone.
    twins: explanations of the same texts by further trainings of the first version, which differ in their random seed
        alone: one of these forms, or a list of them. They are the noise floor: how far two trainings differ without any
        change.
    method: the method to compare, where there are explanations of several.
    k: how many of a text's highest-scored words are compared, 1 or more.
    resamples: bootstrap draws behind each 95 % interval, 10 or more. seed: of these draws.

    Returns the texts, worst first, and means with intervals over all of them. Raises `BadInput` for explanations that
    cannot be compared: no text in common, other targets, methods, settings, units or classes; `BadSetting` where
    several methods are mixed; `BadFile` for a file that cannot be read.

    >>> def version(word):
    ...     answer = lambda texts: [[0.1, 0.9] if word in text else [0.8, 0.2] for text in texts]
    ...     return pellucid.from_function(answer, ["negative", "positive"])
    >>> texts = [("A good film.", "positive"), ("A good, long evening.", "positive")]
    >>> texts.append(("Dull, and not long.", "negative"))
    >>> before, after = (pellucid.explain(version(word), texts) for word in ("good", "long"))
    >>> changes = pellucid.diff(before, after)
    >>> changes
    <Difference: 2 of 3 answers changed, by occlusion>
    >>> worst = changes[0]
    >>> worst.after.example.text, worst.words_after
    ('Dull, and not long.', ('long',))
    >>> changes.summary().became_wrong, round(changes.summary().means.overlap.mean, 2)
    (2, 0.73)
    """
    whole("k", k, 1, MOST_WORDS)
    whole("resamples", resamples, 10, MOST_RESAMPLES)
    whole("seed", seed, 0, HIGHEST_SEED)
    if method is not None:
        of_class("The method", method, str, "give its name")
    sides = [_results(a, "a"), _results(b, "b"), *_twins(twins)]
    name = _method(sides, method)
    before, after, *others = (_of_method(side, name) for side in sides)
    return difference(before, after, others, k=k, resamples=resamples, seed=seed)


def _results(results: Saved, name: str) -> Side:
    """What messages call the explanations, and themselves: from a file or folder, or in memory."""
    if isinstance(results, str | Path):
        name, explanations = clipped(str(results)), read_explanations(results)
    else:
        members = every(name, results, Explanation, "give what explain or read returned, or a file that save wrote")
        explanations = Results(tuple(members))
    if not explanations:
        raise BadInput(f"There is no explanation in {name}; give results of at least one text.")
    return name, explanations


def _twins(twins: Saved | Sequence[Saved]) -> list[Side]:
    """Each twin's explanations; one twin is a list of one."""
    members = None if isinstance(twins, str | Path | Results) else listed_members(twins)
    if members is None or (members and all(isinstance(member, Explanation) for member in members)):
        return [_results(twins, "the twin")]  # type: ignore[arg-type]  # checked there
    return [_results(member, f"twin {twin_number}") for twin_number, member in enumerate(members, 1)]  # type: ignore[arg-type]


def _method(sides: Sequence[Side], method: str | None) -> str:
    """The method of all sides: the named one, or the only one."""
    methods = [_methods(explanations) for _, explanations in sides]
    common = [name for name in methods[0] if all(name in others for others in methods)]
    if method is not None:
        for (side, _), names in zip(sides, methods, strict=True):
            known(f"method of {side}", method, names)
        return method
    if not common:
        by = "; ".join(f"{side} is by {listed(names)}" for (side, _), names in zip(sides, methods, strict=True))
        raise BadInput(f"There is no method in common: {by}. Explain both versions by the same method.")
    if len(common) > 1:
        raise BadSetting(
            f"These results are of several methods; {in_syntax('give method=', 'add --method')} with one of: "
            f"{listed(common)}."
        )
    return common[0]


def _methods(explanations: Sequence[Explanation]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(explanation.method for explanation in explanations))


def _of_method(side: Side, method: str) -> Side:
    return side[0], [explanation for explanation in side[1] if explanation.method == method]
