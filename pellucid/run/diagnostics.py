"""Diagnostics: those that every explanation may have, and the facts of all, looked up by name.

A name that nobody registered, such as that of an absent plug-in, has no words; its highest value counts as the worst.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pellucid.base.catalogue import Entry
from pellucid.base.checks import readable_number
from pellucid.base.kinds import diagnostics
from pellucid.results.explanation import Explanation

if TYPE_CHECKING:  # torch takes seconds to import, and words need none of it
    from torch import Tensor

    from pellucid.run.model import Model
    from pellucid.run.rounding import Rounding
    from pellucid.text.example import Example
    from pellucid.text.features import Background
    from pellucid.text.reading import ReadWords


@diagnostics.add(worst="highest")
def parity(residual: float) -> str:
    """The largest difference between the logits that were explained and the model's own for the single text."""
    return ""  # a page says it once, for all methods together


@diagnostics.add(worst="highest")
def parity_of_sample(residual: float) -> str:
    """The largest `parity` of the texts that were checked, for a text that was not among them."""
    return ""


@diagnostics.add(worst="highest")
def resolution(size: float) -> str:
    """The size below which a score may be nothing but rounding, in the scores' unit; pictures and counts take such
    scores for 0.
    """
    return ""  # a caution says it where it matters


@diagnostics.add(worst="highest")
def windows(count: float) -> str:
    """The number of windows that a long text was read in."""
    return ""


@diagnostics.add(worst="highest")
def overlap_disagreement(share: float) -> str:
    """How much the scores of what stands in several windows differ between them: 0 to 1, 0 where they agree."""
    return ""


@diagnostics.add(worst="highest")
def unread_words(share: float) -> str:
    """The share of the text's words that the model cannot read, 0 to 1; absent where it reads all, or where that is
    not known.
    """
    return ""  # a caution names them


@diagnostics.add(worst="highest")
def words_as_bytes(count: float) -> str:
    """The number of words that the model's tokenizer has no pieces for, so that it spells them, or a part of them, by
    bytes; absent where there is none.
    """
    words = "1 word, or a part of it," if count == 1 else f"{count:,.0f} words, or parts of them,"
    return f"The model reads {words} only as bytes."


@diagnostics.add(worst="lowest")
def background_draws(count: float) -> str:
    """The number of background rows whose features stand for those that are taken out."""
    rows = "1 background row" if count == 1 else f"{count:,.0f} background rows"
    return f"Features that are taken out are replaced by those of {rows}."


@diagnostics.add(worst="highest", brief=lambda error: f"± {readable_number(error)} by other background rows")
def background_error(error: float) -> str:
    """The standard error, by the draw of background rows, of the explained value without any feature, in its own unit;
    0 where the whole background was used.
    """
    if not error:
        return "No row of the background was left out."
    return f"With other rows of the background a score would move by up to about {readable_number(error)}."


def worst_of(name: str, values: Sequence[float]) -> float:
    """Of several values of one diagnostic, the one that speaks most against the result."""
    entry = _entry(name)
    return min(values) if entry is not None and entry.facts["worst"] == "lowest" else max(values)


def sentence_of(name: str, value: float) -> str:
    """What a value means; empty where the diagnostic has no sentence, or no value (nan)."""
    entry = _entry(name)
    return "" if entry is None or value != value else entry.make(value)


def brief_of(name: str, value: float) -> str:
    """What a value means, in a few words; empty where the diagnostic has none, or no value (nan)."""
    entry = _entry(name)
    brief = None if entry is None else entry.facts["brief"]
    return "" if brief is None or value != value else brief(value)


def _entry(name: str) -> Entry | None:
    return diagnostics.get(name) if name in diagnostics.names() else None


# The resolution of scores: the size below which a score may be nothing but rounding.

NOTHING = "All scores are 0: the method found nothing that the target depends on."
SURE = ("probability", "loss")  # of a sure answer they are too near to 1 or 0 for small changes to be seen
NOTABLE = 0.01  # of the largest score: a finer resolution is no news


def score_resolution(entry: Entry, rounding: Rounding, of_value: float, scores: np.ndarray) -> float:
    """The resolution of a method's scores [*rows, unit], in their unit; 0 for random scores, which are exact.

    of_value: what rounding may change of the difference of two explained values. A method that edits texts subtracts
    such values. What others compute from gradients, states or weights is rounded in proportion to the largest score; of
    several rows, in the row where that is smallest. scores: of the text's units; those of special tokens may be far
    larger.
    """
    facts = entry.facts
    if facts["floor"]:
        return 0.0
    if facts["of_class"] and not facts["needs"]:
        limit = of_value
    else:
        largest = np.abs(scores).max(-1, initial=0.0)
        share = rounding.gradients if "gradient" in facts["needs"] else rounding.share
        limit = share * float(largest.min(initial=np.inf, where=largest > 0)) if largest.any() else 0.0
    return float(f"{limit:.2g}")  # more digits would differ from one machine to the next


def with_caveat_on_rounding(explanation: Explanation, rounding: Rounding) -> Explanation:
    """Says where scores of a text may be rounding, if the largest is not far above that; rounding: of the model."""
    from pellucid.run.rounding import SHORT

    limit, sizes = explanation.resolution, np.abs(explanation.scores[..., ~explanation.special])
    nothing = NOTHING in explanation.caveats
    if limit < NOTABLE * sizes.max(initial=0.0) or not (nothing or ((sizes > 0) & (sizes < limit)).any()):
        return explanation
    name = rounding.type_name
    rest = tuple(caveat for caveat in explanation.caveats if caveat != NOTHING)
    if not nothing:
        caveat = f"Scores below {readable_number(limit)} are rounding here: the model computes in {name}."
    elif rounding.dtype in SHORT or explanation.target.output in SURE:
        caveat = (
            f"All scores are 0: what the target depends on is less than {readable_number(limit)}, the rounding of "
            f"{name} here."
        )
    else:
        return explanation
    return replace(explanation, caveats=(*rest, caveat))


def with_facts_on_reading(explanation: Explanation, read: ReadWords) -> Explanation:
    """Says, first of all, which words of the text the model cannot read; read: the words of the whole text."""
    facts, cautions = read.diagnostics, read.cautions()
    if not facts and not cautions:
        return explanation
    return replace(
        explanation,
        diagnostics={**explanation.diagnostics, **facts},
        caveats=(*cautions, *explanation.caveats),
        row_diagnostics=tuple({**of_row, **facts} for of_row in explanation.row_diagnostics),
        row_caveats=tuple((*cautions, *of_row) for of_row in explanation.row_caveats),
    )


# How far the draw of background rows decides the scores of a model of texts and features.

TRUSTED_SHARE = 0.1  # of the largest score


def draw_facts(model: Model, example: Example, values: Callable[[Tensor], Tensor]) -> dict[str, float]:
    """The diagnostics of the draws, by leaving out each in turn (Efron & Stein 1981); {} for a model without draws.

    values: logits [draw logit] -> the explained values [draw].
    """
    background: Background | None = getattr(model, "background", None)
    if background is None:
        return {}
    drawn: Any = model  # only a model with draws has a background
    count, left = len(background.frame), 1 - len(background.frame) / background.n_rows
    spread = values(drawn.without_each_draw(example)).double().var(correction=0)
    return {"background_draws": float(count), "background_error": float((spread * (count - 1) * left).sqrt())}


def draw_caveats(facts: Mapping[str, float], scores: np.ndarray) -> tuple[str, ...]:
    """What to say where other background rows would move scores by a good part of the largest."""
    error, largest = facts.get("background_error", 0.0), float(np.abs(scores).max(initial=0.0))
    if error <= TRUSTED_SHARE * largest:
        return ()
    return (
        f"Other background rows would move scores by up to about {readable_number(error)}, and the largest is "
        f"{readable_number(largest)}; raise draws, {facts['background_draws']:.0f} now, where the model is made.",
    )


# What results and saved work say of the route that computed a model's passes.

EAGER = "eager"


def route_record(model: Model) -> dict[str, str]:
    """The name of the route as {"route": name}; {} for eager, so that records of earlier versions match.

    Models of other packages need not have a route.
    """
    name = getattr(model, "route_in_use", EAGER)
    return {} if name == EAGER else {"route": name}
