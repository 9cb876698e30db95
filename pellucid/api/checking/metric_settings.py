"""Settings of metrics, tried on a text and a function made up for it, so that bad ones are refused before any work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from pellucid.core.explaining.explaining import Request, explain_batch, method_calls
from pellucid.core.foundation.catalogue import Call
from pellucid.core.foundation.errors import BadSetting, PellucidError
from pellucid.core.foundation.progress import silent
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.target import Target
from pellucid.core.text.example import Example, Rationale
from pellucid.evaluation.shared.case import Case
from pellucid.models.classifiers.function import from_function

WORDS = "one two three four five six seven eight nine ten eleven twelve"
EXAMPLE = Example((WORDS,), "a", (Rationale(0, 4, 7),), meta={"distractors": [[0, 8, 13]]})


def check_metrics(calls: Sequence[Call]) -> None:
    """Raise `BadSetting` for a setting that a metric refuses.

    Metrics with their usual settings are not tried. What the function lacks, such as word embeddings, shows nothing of settings.
    """
    for call in calls:
        if call.title != call.entry.name:
            _try(call)


def _try(call: Call) -> None:
    try:
        call(_case())
    except BadSetting as error:
        raise BadSetting(f"{call.entry.name}: {error}") from None
    except PellucidError:
        return


@cache
def _case() -> Case:
    model = from_function(_answer, ["a", "b"], mask="[MASK]")
    words, scheduler = model.encode([EXAMPLE]), scheduler_for(model)
    # The finest kind of unit, so that no metric finds the scores too coarse: that is asked of the methods, elsewhere.
    batch = replace(words, units=tuple(replace(units, kind="piece") for units in words.units))
    request = Request(model, method_calls([("occlusion", {"unit": "piece"})], model), Target("predicted"), 0)
    (explanations,) = explain_batch(request, batch, scheduler, silent).values()
    return Case(model, batch, explanations, scheduler)


def _answer(texts: list[str]) -> list[list[float]]:
    """The first class where the text is long."""
    shares = [min(1.0, len(text) / len(WORDS)) for text in texts]
    return [[0.2 + 0.6 * share, 0.8 - 0.6 * share] for share in shares]
