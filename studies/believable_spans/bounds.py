"""What is asked of spans that one can believe, and whether a model's numbers meet it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from studies.believable_spans.other_methods import INTEGRATED_GRADIENTS
from studies.shared.claims import ENOUGH_SEEDS
from studies.shared.units import Numbers

MET, MISSED, UNDECIDED = "met", "**missed**", "undecided"
SCORE_TITLES = {"iou_f1": "IOU F1", "token_f1": "token F1"}


@dataclass(frozen=True)
class Bound:
    """One thing that is asked. words: of it, with the bound. measured: our number in words. verdict: met, missed or
    undecided.
    """

    words: str
    measured: str
    verdict: str


def bounds_of(numbers: Numbers, name: str) -> list[Bound]:
    """The lines that a span model can be judged by on this corpus; of one whose spans are not judged, its accuracy."""
    trained, judged = numbers["models"][name], numbers["judged"].get(name)
    lines = _decided(trained["seeds"], [_accuracy(trained)])
    if judged is not None:
        of_spans = [*_of_spans(judged), *_of_methods(judged), *_of_marks(numbers, trained["title"])]
        lines += _decided(judged["seeds"], of_spans)
    return lines


def _decided(seeds: Sequence[int], lines: Sequence[Bound | None]) -> list[Bound]:
    """The lines that there are; of fewer than enough seeds without a verdict."""
    there = [one for one in lines if one is not None]
    return there if len(seeds) >= ENOUGH_SEEDS else [replace(one, verdict="") for one in there]


def _accuracy(trained: Numbers) -> Bound | None:
    over = trained["test_over_plain"]
    if over is None:
        return None
    return _bounded("accuracy less the plain model's, points: −0.5 or more", over, lambda mean: mean >= -0.5)


def _of_spans(judged: Numbers) -> list[Bound]:
    spans = judged["spans"]
    spread = spans["spread"]
    lines = [
        _bounded("spans that share a text's weight: 3 or fewer", spans["spans"], lambda mean: mean <= 3),
        Bound(
            "their deviation over seeds: 0.5 or less",
            "–" if spread is None else f"{spread:.2f}",
            "" if spread is None else _met(spread <= 0.5),
        ),
        _bounded(
            "texts whose heaviest spans alone get their answer, %: 85 or more",
            spans["agrees"],
            lambda mean: mean >= 85,
        ),
        _bounded("label leak of the cuts, points: 2 or less", judged["leak"], lambda mean: mean <= 2),
        _bounded(
            "heaviest spans without a content word, %: 1 or less",
            spans["without_content"],
            lambda mean: mean <= 1,
        ),
    ]
    if "reason" in judged:
        lines.append(
            _bounded(
                "texts with the whole planted reason in the heaviest spans, of those where two short spans can have "
                "it, %: 90 or more",
                judged["reason"]["whole"],
                lambda mean: mean >= 90,
            )
        )
    return lines


def _of_methods(judged: Numbers) -> list[Bound]:
    lines = []
    for field, words in (("without", "comprehensiveness"), ("alone", "sufficiency")):
        if "methods" in judged:
            one = judged["methods"][field]
            lines.append(_lead(f"{words} against the best method: not worse", one["over_best"], one["best"]))
    overlap = judged["overlap"]
    if overlap is not None and INTEGRATED_GRADIENTS in overlap:
        words = "words in both of two seeds' spans, as a share, less integrated gradients': not worse"
        lines.append(_lead(words, overlap["lead"], f"{overlap[INTEGRATED_GRADIENTS]['mean']:.2f}"))
    return lines


def _of_marks(numbers: Numbers, title: str) -> list[Bound]:
    return [
        _lead(
            f"{SCORE_TITLES[score]} against the best method on any model: not worse",
            lead["lead"],
            lead["best"],
            lead["seeds"],
        )
        for score, of_score in numbers["marks"].items()
        for who, lead in of_score["leads"].items()
        if who == title
    ]


def _bounded(words: str, interval: Numbers, holds: Callable[[float], bool]) -> Bound:
    return Bound(words, shown(interval), _met(holds(interval["mean"])) if interval["mean"] == interval["mean"] else "")


def _lead(words: str, interval: Numbers, rival: str, seeds: int = ENOUGH_SEEDS) -> Bound:
    """A lead over a rival that is not worse: met above 0, missed below; where the interval lies on both sides nothing
    is decided.
    """
    measured = f"{shown(interval, 3)} against {rival}"
    if seeds < ENOUGH_SEEDS:
        return Bound(words, measured, "")
    return Bound(words, measured, MET if interval["low"] > 0 else MISSED if interval["high"] < 0 else UNDECIDED)


def _met(holds: bool) -> str:
    return MET if holds else MISSED


def shown(interval: Numbers, digits: int = 2) -> str:
    """A mean with its interval, where there is one: a single seed has none."""
    mean, low, high = (f"{interval[end]:.{digits}f}" for end in ("mean", "low", "high"))
    return mean if low == "nan" else f"{mean} [{low}, {high}]"
