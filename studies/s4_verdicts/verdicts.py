"""Is the verdict right? Each model's beside what its weights find of the reason that is known, and the same text by
text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from pellucid.base.json_text import nan_as_none
from pellucid.results.bootstrap import bootstrap_interval
from pellucid.results.table import Interval
from studies.s4_verdicts.judged_weights import NEITHER, YES
from studies.shared.units import Numbers

Runs = Sequence[Numbers]
# Half way from chance to weights that always rank the reason first; fixed before the study ran, as the verdict's lines.
SHOWS = 0.5
MARKED = "marked words"  # the reason of the models that are trained on texts with marks
OUTCOMES = ("right", "missed", "undecided", "truth unclear")


def verdict_rows(groups: Mapping[str, Runs]) -> list[Numbers]:
    """A row for each training: the verdict, the truth, and what comes of both. groups: "reason variant" -> its
    trainings.
    """
    return [_row(name, run) for name, runs in groups.items() for run in runs]


def counted_outcomes(rows: Sequence[Numbers]) -> dict[str, int]:
    """Outcome -> how many trainings."""
    return {outcome: sum(row["outcome"] == outcome for row in rows) for outcome in OUTCOMES}


def text_rows(groups: Mapping[str, Runs], classes: Mapping[str, Sequence[str]]) -> dict[str, dict[str, Numbers]]:
    """ "reason variant" -> class -> how often the heaviest word decides by the test and is of the reason, over texts
    and seeds.

    classes: reason -> the class of each text. Texts in which no single word moves the answer are left out; agree: both
    say the same.
    """
    rows: dict[str, dict[str, Numbers]] = {}
    for name, runs in groups.items():
        of_text = classes[_reason_of(name)]
        rows[name] = {
            label: _shares([pair for run in runs for pair in _pairs(run, of_text, label)])
            for label in dict.fromkeys(of_text)
        }
    return rows


def _pairs(run: Numbers, classes: Sequence[str], label: str) -> list[tuple[str, str]]:
    """Of each text of a class, what is said of its heaviest word: whether it decides, and whether it is of the
    reason.
    """
    texts = zip(run["decides"], run["in_reason"], classes, strict=True)
    return [(decides, in_reason) for decides, in_reason, of_text in texts if of_text == label]


def _shares(pairs: Sequence[tuple[str, str]]) -> Numbers:
    judged = np.array([[one == YES for one in pair] for pair in pairs if NEITHER not in pair])
    row: Numbers = {"texts": len(pairs), "judged": len(judged)}
    if len(judged):
        decides, in_reason = judged.mean(0).tolist()
        row |= {
            "decides": decides,
            "in_reason": in_reason,
            "agree": float((judged[:, 0] == judged[:, 1]).mean()),
        }
    return row


def _reason_of(name: str) -> str:
    return name.rpartition(" ")[0]


def _row(name: str, run: Numbers) -> Numbers:
    reason, _, variant = name.rpartition(" ")
    interval = _over_chance(run)
    truth = "shows" if interval.low >= SHOWS else "does not" if interval.high < SHOWS else "unclear"
    verdict = run["verdict"]
    return {
        "reason": reason,
        "variant": variant,
        "seed": run["seed"],
        "answer": verdict["answer"],
        "because": verdict["reason"],
        "evidence": {one["test"]: one["value"]["mean"] for one in verdict["evidence"]},
        "over_chance": nan_as_none(asdict(interval)),
        "truth": truth,
        "outcome": _outcome(verdict["answer"], truth),
    }


def _over_chance(run: Numbers) -> Interval:
    """Average precision of the reason's words over texts, 0 where it is that of random scores and 1 where they always
    come first.
    """
    chance = float(np.nanmean(run["chance"]))
    return bootstrap_interval((np.array(run["reason_found"], dtype=float) - chance) / (1 - chance))


def _outcome(answer: str, truth: str) -> str:
    if answer == "undecided":
        return answer
    if truth == "unclear":
        return "truth unclear"
    return "right" if (answer == "may") == (truth == "shows") else "missed"
