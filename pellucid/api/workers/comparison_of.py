"""The comparison that a call of `compare` describes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pellucid.api.checking.metric_settings import check_metrics
from pellucid.api.inputs.choosing import default_metrics, usual_methods
from pellucid.api.inputs.explained_target import to_explain
from pellucid.core.explaining.explaining import Request, method_calls
from pellucid.core.foundation.catalogue import Choice
from pellucid.core.foundation.checks import choices
from pellucid.core.passes.model import Model
from pellucid.core.passes.target import Target
from pellucid.core.text.example import Example, as_examples
from pellucid.core.writing.word import Word
from pellucid.evaluation.comparison.comparison import Comparison, metric_calls


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
