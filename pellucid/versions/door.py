"""The door `diff`: explanations of the same texts under two versions of a model, and of twins of the first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pellucid.base.checks import clipped, every, in_syntax, known, listed, listed_members, of_class, whole
from pellucid.base.errors import BadInput, BadSetting
from pellucid.explaining.read import stored_or_read
from pellucid.results.bootstrap import bootstrap_interval, paired_difference
from pellucid.results.explanation import Explanation
from pellucid.results.results import Places, Results, Stored, StoredExplanations, members_at, selection_of
from pellucid.results.side_by_side import highest, tau_b, top_overlap
from pellucid.results.table import Interval
from pellucid.versions.comparable import (
    Matches,
    check_classes,
    check_common,
    check_pair,
    check_settings,
    common_words,
    is_same_target,
    matched,
)
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


# What is known of each common text: 46 bytes, so that memory does not hold the texts themselves.
FACTS = np.dtype(
    [(name, np.float64) for name in ("changed", "tau", "overlap", "words", "probability")]
    + [(name, np.bool_) for name in ("is_changed", "is_labelled", "became_right", "became_wrong", "same", "same_label")]
)


@dataclass(frozen=True, eq=False)
class PairedTexts(Stored[TextDifference]):
    """Each common text under both versions, in the order of the first, read when it is needed; where it cannot be
    compared, that raises `BadInput`.
    """

    before: Side
    after: Side
    matches: Matches
    k: int

    def __len__(self) -> int:
        return len(self.matches.before)

    def at(self, places: Places) -> Iterator[TextDifference]:
        """See `Stored`."""
        numbers = np.asarray(places, dtype=np.int64)
        first = members_at(self.before[1], self.matches.before[numbers])
        second = members_at(self.after[1], self.matches.after[numbers])
        for pair in zip(first, second, strict=True):
            check_pair(pair, self.names)
            yield text_difference(*pair, self.k)

    @property
    def names(self) -> tuple[str, str]:
        """What messages call both sides."""
        return self.before[0], self.after[0]

    def rows(self) -> Sequence[TextDifference]:
        """The texts, in memory where both sides are; raises `BadInput` where there is none."""
        check_common(self.matches, self.names)
        first = self.before[1][self.matches.before[0]], self.after[1][self.matches.after[0]]
        check_pair(first, self.names)
        check_classes(first, self.names)
        is_stored = any(isinstance(side, StoredExplanations) for _, side in (self.before, self.after))
        return self if is_stored else tuple(self)


def facts_of(rows: Sequence[TextDifference]) -> np.ndarray:
    """[text]: `FACTS`."""
    facts = np.zeros(len(rows), dtype=FACTS)
    for place, row in enumerate(rows):
        facts[place] = _facts_of_text(row)
    return facts


def _facts_of_text(row: TextDifference) -> tuple[float | bool, ...]:
    before, after = row.before, row.after
    return (
        np.nan if after.predicted_value is not None else float(row.is_changed),
        row.tau,
        row.overlap,
        row.n_words,
        after.prediction.probability,
        row.is_changed,
        before.is_correct is not None and after.is_correct is not None,
        row.became_right,
        row.became_wrong,
        is_same_target(before, after),
        before.example.label == after.example.label,
    )


def difference(before: Side, after: Side, twins: Sequence[Side], *, k: int, resamples: int, seed: int) -> Difference:
    """The difference between two versions; twins: of the first. Raises `BadInput` where they cannot be compared."""
    check_settings([before, after, *twins])
    pairs = PairedTexts(before, after, matched(before[1], after[1]), k)
    rows, bootstrap = pairs.rows(), Bootstrap(resamples, seed)
    facts = facts_of(rows)
    only = ((before, pairs.matches.only_before), (after, pairs.matches.only_after))
    only_before, only_after = (tuple(each.example.id for each in members_at(side[1], places)) for side, places in only)
    return Difference(
        rows=selection_of(rows, _worst_first(facts)),
        totals=_summary(facts, [_twin(before, twin, pairs, facts, bootstrap) for twin in twins], k, bootstrap),
        method=before[1][0].method,
        models=(before[1][0].model, after[1][0].model),
        only_before=only_before,
        only_after=only_after,
        caveats=tuple(_caveats(rows[0], facts, len(twins))),
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
        n_words=len(words.words),
    )


def _for_the_class(words: Sequence[str], scores: np.ndarray, k: int, resolution: float) -> tuple[str, ...]:
    """Of the k words with the highest scores those above 0 and rounding, which speak for what is explained."""
    return tuple(words[index] for index in highest(scores, k) if scores[index] > resolution)


def _worst_first(facts: np.ndarray) -> np.ndarray:
    """The order of texts: answers that became wrong, other changed ones (the surest first), then the lowest overlap,
    then the lowest tau.
    """
    changed = facts["is_changed"]
    kind = np.where(changed, ~facts["became_wrong"], 2)
    second = np.where(changed, -np.nan_to_num(facts["probability"]), _last_where_unknown(facts["overlap"]))
    third = np.where(changed, 0.0, _last_where_unknown(facts["tau"]))
    return np.lexsort((third, second, kind))


def _last_where_unknown(values: np.ndarray) -> np.ndarray:
    return np.nan_to_num(values, nan=2.0)


def _summary(facts: np.ndarray, twins: Sequence[TwinDifference], k: int, bootstrap: Bootstrap) -> DifferenceSummary:
    return DifferenceSummary(
        n_texts=len(facts),
        n_changed=int(facts["is_changed"].sum()),
        n_labelled=int(facts["is_labelled"].sum()),
        became_right=int(facts["became_right"].sum()),
        became_wrong=int(facts["became_wrong"].sum()),
        means=_means(facts, bootstrap),
        k=k,
        by_luck=_by_luck(facts, k),
        twins=tuple(twins),
    )


def _means(facts: np.ndarray, bootstrap: Bootstrap) -> DifferenceMeans:
    """The means of changed, tau and overlap."""
    return _joined({name: bootstrap.interval(facts[name]) for name in MEASURES}, facts)


def _joined(intervals: Mapping[str, Interval], measured: Mapping[str, np.ndarray] | np.ndarray) -> DifferenceMeans:
    """The intervals with the number of texts behind each."""
    numbers = {name: int((~np.isnan(measured[name])).sum()) for name in MEASURES}
    changed, tau, overlap = (intervals[name] for name in MEASURES)
    return DifferenceMeans(
        changed, tau, overlap, n=len(measured["changed"]), n_tau=numbers["tau"], n_overlap=numbers["overlap"]
    )


def _by_luck(facts: np.ndarray, k: int) -> float:
    """The mean overlap of two random choices of k among a text's n words, k / n, over the texts that have an
    overlap.
    """
    words = facts["words"][~np.isnan(facts["overlap"])]
    return float(np.mean(k / words)) if len(words) else float("nan")


def _twin(before: Side, twin: Side, pairs: PairedTexts, facts: np.ndarray, bootstrap: Bootstrap) -> TwinDifference:
    """The first version beside a twin, and how much farther the second version is on the texts that all three
    explain.
    """
    of_twin = PairedTexts(before, twin, matched(before[1], twin[1]), pairs.k)
    measured = facts_of(of_twin.rows())
    _, ours, theirs = np.intersect1d(pairs.matches.before, of_twin.matches.before, True, return_indices=True)
    if not len(ours):
        raise BadInput(
            f"{twin[0]} explains none of the texts that both versions explain; explain the same texts with the twin."
        )
    second, first = facts[ours], measured[theirs]
    farther = {name: bootstrap.difference(second[name], first[name]) for name in MEASURES}
    return TwinDifference(
        twin[1][0].model,
        _means(measured, bootstrap),
        _joined(farther, {name: second[name] - first[name] for name in MEASURES}),
    )


def _caveats(pair: TextDifference, facts: np.ndarray, n_twins: int) -> list[str]:
    """What the numbers do not say. pair: a text under both versions."""
    n, before, after = len(facts), pair.before, pair.after
    other_class, relabelled = int((~facts["same"]).sum()), int((~facts["same_label"]).sum())
    same_model = before.model_hash == after.model_hash
    other_classes = set(before.prediction.labels) != set(after.prediction.labels)
    other_seed = before.seed != after.seed
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
        name, explanations = clipped(str(results)), stored_or_read(results)
    elif isinstance(results, StoredExplanations):
        explanations = results
    else:
        members = every(name, results, Explanation, "give what explain or read returned, or a file that save wrote")
        explanations = Results(tuple(members))
    if not explanations:
        raise BadInput(f"There is no explanation in {name}; give results of at least one text.")
    return name, explanations


def _twins(twins: Saved | Sequence[Saved]) -> list[Side]:
    """Each twin's explanations; one twin is a list of one."""
    members = None if isinstance(twins, str | Path | Results | StoredExplanations) else listed_members(twins)
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
    if isinstance(explanations, StoredExplanations):
        return tuple(explanations.by_method)
    return tuple(dict.fromkeys(explanation.method for explanation in explanations))


def _of_method(side: Side, method: str) -> Side:
    if isinstance(side[1], StoredExplanations):
        return side[0], side[1].by_method[method]
    return side[0], [explanation for explanation in side[1] if explanation.method == method]
