"""The comparison that a call of `compare` describes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

from pellucid.api.inputs.explained_target import default_metrics, to_explain, usual_methods
from pellucid.base.catalogue import Call, Choice
from pellucid.base.checks import choices
from pellucid.base.errors import BadSetting, PellucidError
from pellucid.base.progress import silent
from pellucid.evaluation.comparison.comparison import Comparison, metric_calls
from pellucid.evaluation.shared.case import Case
from pellucid.models.classifiers.function import from_function
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.target import Target
from pellucid.run.word import Word
from pellucid.text.example import Example, Rationale, as_examples


def comparison_of(
    model: Model,
    examples: Sequence[Example],
    methods: Iterable[Choice] | None,
    metrics: Iterable[Choice] | None,
    *,
    target: Target | Word,
    seed: int,
    resamples: int,
) -> Comparison:
    """The comparison that a call of `compare` describes; its names are looked up and checked before any work is done."""
    named = choices("methods", methods) if methods is not None else usual_methods(model)
    if "chance" not in {choice if isinstance(choice, str) else choice[0] for choice in named}:
        named.append("chance")
    examples = to_explain(model, as_examples(examples))
    judges = metric_calls(
        choices("metrics", metrics) if metrics is not None else default_metrics(model, examples)
    )
    check_metrics(judges)
    request = Request(model, method_calls(named, model), target, seed)
    return Comparison(request, examples, judges, resamples)


# Settings of metrics, tried on a text and a function made up for it, so that bad ones are refused before
# any work.


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
