"""The door `spans`: whether the heaviest spans of a self-explaining model can be believed as an explanation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pellucid.base.checks import whole
from pellucid.base.errors import ModelCannot
from pellucid.explaining.explain import explain_all
from pellucid.explaining.inputs.examples import examples_for
from pellucid.explaining.inputs.models import model_from
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.models.analysed_spans import analysed
from pellucid.results.explanation import Explanation
from pellucid.results.span_analysis import SpanAnalysis
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.target import Target, TargetName
from pellucid.text.example import Texts
from pellucid.text.label_map import LabelMap

MOST_SPANS = 1_000_000_000  # more than any text has


def spans(
    model: ModelSource,
    texts: Data,
    k: int = 3,
    *,
    target: TargetName = "predicted",
    random_spans: int = 10,
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    progress: bool | None = None,
) -> list[SpanAnalysis]:
    """Analyse the heaviest spans of each text under a self-explaining model: can the explanation be believed?

    For each span: which class its vector alone speaks for, how it moves the explained logit, and the model's prediction
    for its words alone, for the text without them, and for random spans of the same length.

    model: one that was trained with pooler="span".
    texts: a string, a pair, an `Example`, a list of them; a data frame, series or `datasets.Dataset`; a `pathlib.Path`.
    k: how many spans of each text, the heaviest first; 1 or more.
    target: the class that is explained, as in `explain`.
    random_spans: the most random spans to compare each span with; 1 or more.
    seed: a whole number; the seed of the random spans.
    text, label: columns of a table, where they have unusual names; two columns of texts in a tuple for pairs.
    label_map: label -> class of the model, for labels under other names.
    skip_bad_rows: leave out rows without a text, or that cannot be read, with a warning that counts them.
    progress: draw a progress bar; None: when a terminal is watching.

    Returns one analysis a text, in order. Raises `ModelCannot` for a model without span attention, `BadInput` for a
    text that is read in windows, `BadSetting` for a k or random_spans below 1.

    >>> analysis = pellucid.spans("my-span-classifier", ["A good film."], k=1)[0]
    >>> span = analysis.spans[0]
    >>> 0 < span.weight <= 1, span.alone.label
    (True, 'neutral')
    """
    whole("k", k, 1, MOST_SPANS)
    whole("random_spans", random_spans, 1, MOST_SPANS)
    Target(target)  # refuses what is no class
    model = model_from(model)
    examples = examples_for(
        model, texts, text=text, label=label, label_map=label_map, skip_bad_rows=skip_bad_rows, strange="allowed"
    )
    explanations = span_weights(model, examples, target=target, seed=seed, progress=progress, random_spans=random_spans)
    scheduler = scheduler_for(model)
    batches = [model.encode([explanation.example]) for explanation in explanations]
    return [
        analysed(model, batch, explanation, scheduler, k=k, draws=random_spans)
        for batch, explanation in zip(batches, explanations, strict=True)
    ]


def span_weights(
    model: Model,
    texts: Texts,
    *,
    target: TargetName = "predicted",
    seed: int = 0,
    progress: bool | None = None,
    random_spans: int = 0,
) -> list[Explanation]:
    """The span weights of each text, under the method's plain name.

    random_spans: if not 0, the heaviest span, or all that the answer uses, is also read alone, beside so many random
    ones.
    """
    if "span_weights" not in model.capabilities:
        raise ModelCannot(f"{model.name} has no span attention; give a model trained with pooler='span'.")
    side_by_side = explain_all(
        model,
        texts,
        [("span_attention", {"random_spans": random_spans})],
        target=target,
        seed=seed,
        progress=progress,
    )
    return [replace(explanation, method="span_attention") for explanation in side_by_side.explanations]
