"""The words of spans: how many they are, and how often a text's contrast word or negation lies inside them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

import numpy as np

from pellucid.errors.door import CONTRASTS, NEGATIONS
from pellucid.errors.record import words_of
from pellucid.results.bootstrap import NOTHING, bootstrap_interval, paired_difference, share
from pellucid.results.extraction import Extraction
from pellucid.results.table import Interval
from pellucid.text.example import Example
from studies.shared.units import Numbers

Cut = Mapping[str, Sequence[Extraction]]
SPAN = "span_attention"


def _contrasts(word: str) -> bool:
    return word in CONTRASTS


def _negates(word: str) -> bool:
    return word in NEGATIONS or word.endswith("n't")


WANTED: dict[str, Callable[[str], bool]] = {"contrast": _contrasts, "negation": _negates}


def spans_in_numbers(texts: Sequence[Example], own: Cut, alike: Cut) -> Numbers:
    """Each extractor's spans by its own selection (own) and as long as span attention's (alike), and the differences.

    longer: span attention's number of words minus another's own. holds: how much more often its span holds a text's
    contrast word or negation than another's span of the same length, over the texts that have one.
    """
    others = [name for name in alike if name != SPAN]
    lengths = {name: _lengths(cut) for name, cut in own.items()}
    having = {kind: [_holds(test, text.segments) for text in texts] for kind, test in WANTED.items()}
    inside = {
        kind: {name: np.array(_has_word(cut, test))[having[kind]] for name, cut in alike.items()}
        for kind, test in WANTED.items()
    }
    return {
        "own": {name: _row(cut, having) for name, cut in own.items()},
        "alike": {name: _row(cut, having) for name, cut in alike.items()},
        "longer": {name: asdict(paired_difference(lengths[SPAN], lengths[name])) for name in lengths if name != SPAN},
        "holds": {
            kind: {name: asdict(_more_often(of[SPAN], of[name])) for name in others} for kind, of in inside.items()
        },
    }


def _more_often(ours: np.ndarray, theirs: np.ndarray) -> Interval:
    """The difference in points; `NOTHING` where no text has the word."""
    return paired_difference(100.0 * ours, 100.0 * theirs) if len(ours) else NOTHING


def _row(cut: Sequence[Extraction], having: Mapping[str, Sequence[bool]]) -> Numbers:
    """Words and coverage with intervals, and how many spans hold the word, of the texts that have it."""
    counts = {
        kind: (int(np.array(_has_word(cut, WANTED[kind]))[list(has)].sum()), sum(has)) for kind, has in having.items()
    }
    return {
        "words": asdict(bootstrap_interval(_lengths(cut))),
        "coverage": float(np.mean([one.coverage for one in cut])),
        **{kind: {"held": count, "of": of, "share": asdict(share(count, of))} for kind, (count, of) in counts.items()},
    }


def _lengths(cut: Sequence[Extraction]) -> np.ndarray:
    return np.array([sum(len(span.words) for span in one.spans) for one in cut], dtype=float)


def _has_word(cut: Sequence[Extraction], wanted: Callable[[str], bool]) -> list[bool]:
    return [_holds(wanted, [span.text for span in one.spans]) for one in cut]


def _holds(wanted: Callable[[str], bool], texts: Sequence[str]) -> bool:
    return any(wanted(word) for text in texts for word in words_of(text))
