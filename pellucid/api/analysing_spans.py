"""The door `spans`: whether the heaviest spans of a self-explaining model hold as an explanation."""

from dataclasses import replace

from pellucid.api.explaining import explain_all
from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.passes.model import Model
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.target import TargetName
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.span_analysis import SpanAnalysis
from pellucid.core.text.example import Texts
from pellucid.models.span_analysis.analysed_spans import analysed


def spans(
    model: Model,
    texts: Texts,
    k: int = 3,
    *,
    target: TargetName = "predicted",
    random_spans: int = 10,
    seed: int = 0,
    progress: bool | None = None,
) -> list[SpanAnalysis]:
    """Analyse the k heaviest spans of each text under a self-explaining model: does the explanation hold?

    For each span what its vector says by itself, how it moves the explained logit, and what the model says of its words
    alone, of the text without them, and of up to `random_spans` random spans of the same length. target: as in
    `explain`. Raises `ModelCannot` for a model without span attention, `BadInput` for a text that it reads in windows.
    """
    at_least("k", k, 1)
    at_least("random_spans", random_spans, 1)
    found = span_weights(model, texts, target, seed, progress)
    scheduler = scheduler_for(model)
    batches = [model.encode([explanation.example]) for explanation in found]
    return [
        analysed(model, batch, explanation, scheduler, k, random_spans)
        for batch, explanation in zip(batches, found, strict=True)
    ]


def span_weights(
    model: Model,
    texts: Texts,
    target: TargetName,
    seed: int,
    progress: bool | None,
    random_spans: int = 0,
) -> list[Explanation]:
    """Each text's span weights, under the method's plain name; random_spans: beside how many its heaviest is read alone."""
    if "span_weights" not in model.capabilities:
        raise ModelCannot(f"{model.name} has no span attention; give a model trained with pooler='span'.")
    found = explain_all(
        model,
        texts,
        [("span_attention", {"random_spans": random_spans})],
        target=target,
        seed=seed,
        progress=progress,
    )
    return [replace(explanation, method="span_attention") for explanation in found.explanations]
