"""The door `error_analysis`: the evidence of a model's answers where they are wrong, against where they are right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pellucid.attribution.span_attention import is_spread_out
from pellucid.base.catalogue import Choice
from pellucid.base.checks import listed
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.errors.grouping import grouped
from pellucid.errors.record import ErrorAnalysis, cues_from
from pellucid.evidence.spans import span_weights
from pellucid.explaining.explain import explain_all
from pellucid.explaining.inputs.examples import examples_for
from pellucid.explaining.inputs.models import model_from
from pellucid.explaining.inputs.readings import Data, ModelSource, default_method
from pellucid.results.explanation import Explanation
from pellucid.results.heaviest_spans import HeaviestSpans, heaviest_spans
from pellucid.run.model import Model
from pellucid.text.example import Example, seen_caveats
from pellucid.text.label_map import LabelMap

READ_ALONE = 100  # texts whose heaviest span is read alone: enough to estimate a share


def error_analysis(
    model: ModelSource,
    examples: Data,
    *,
    train: Data | None = None,
    method: Choice | None = None,
    min_count: int = 5,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    progress: bool | None = None,
) -> ErrorAnalysis:
    """Group a model's mistakes by their evidence, and count each group against the right predictions.

    The evidence of an answer is what speaks most for it: the heaviest span, or the three words with the highest scores.

    model: from `load`, `train` or another door; it gives each text one label.
    examples: labelled texts to judge: examples, a data frame, a `datasets.Dataset`, the name or path of data.
    train: other labelled texts, in any of these forms, from which the cue words of each class are learned. None: the
        cue words of each text are learned from the other half of the examples.
    method: whose scores are the evidence: a name, or (name, settings). None: a self-explaining model's own weights,
        else integrated_gradients, else occlusion.
    min_count: in how many train texts of a class a cue word must occur.
    text, label: columns of a table, where they have unusual names; two columns of texts in a tuple for pairs.
    label_map: label -> class of the model, for labels under other names.
    progress: draw a progress bar; None: when a terminal is watching.

    Returns how many answers are wrong and right, and how many of each show each pattern; `report` makes a page of it.
    Raises `ModelCannot` for a model with several labels a text or a value, or one that the method does not work with;
    `UnknownName` for a method that does not exist; `BadSetting` for one that gives a word several scores; `BadInput`
    for texts, train texts included, whose label is missing or is not one of the model's classes.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> reviews = [("A good film.", "positive"), ("Not good at all.", "negative"), ("Dull.", "negative")]
    >>> analysis = pellucid.error_analysis(model, reviews)
    >>> analysis.wrong, analysis.right
    (1, 2)
    >>> [pattern.name for pattern in analysis.patterns if pattern.among_wrong]
    ['negation_cut_off']
    """
    model = model_from(model)
    if model.problem == "multi_label":
        raise ModelCannot(
            f"{model.name} can give a text several labels; error analysis counts right and wrong answers of one label "
            f"a text. Give a single-label model."
        )
    if model.problem == "regression":
        raise ModelCannot(f"{model.name} gives a value, which is not right or wrong; give a model with classes.")
    columns: dict[str, Any] = {"text": text, "label": label, "label_map": label_map}
    examples = examples_for(model, examples, names_data=True, strange="error", **columns)
    _check_labelled(examples)
    if train is not None:
        train = examples_for(model, train, names_data=True, strange="error", split="train", **columns)
    cues = cues_from(train, examples, min_count)
    method, caveats = method or default_method(model), seen_caveats(model, examples)
    if method != "span_attention":
        _check_rows(explain_all(model, examples[:1], [method], progress=False).explanations)
        side_by_side = explain_all(model, examples, [method], progress=progress)
        return grouped(side_by_side.explanations, cues, caveats)
    explanations = span_weights(model, examples, progress=progress)
    heaviest = _heaviest(model, examples, explanations, progress)
    return grouped(explanations, cues, (*caveats, *_spread_out(explanations), *heaviest.cautions()), heaviest)


def _check_labelled(examples: Sequence[Example]) -> None:
    """Raise `BadInput`, before the work, where texts have no label."""
    missing = [example.id for example in examples if example.label is None]
    if missing:
        raise BadInput(
            f"{len(missing):,} of {len(examples):,} texts have no label ({listed(missing)}), so their answers are not "
            f"right or wrong; leave them out."
        )


def _check_rows(explanations: Sequence[Explanation]) -> None:
    """Raise `BadSetting` for a method of whose scores no single one is the evidence."""
    for explanation in explanations:
        for kind, labels in explanation.rows:
            if len(labels) == 1:
                continue
            raise BadSetting(
                f"{explanation.method} gives {len(labels)} scores a word, one for each {kind}, so it names no "
                f"evidence; choose a method with one."
            )


def _heaviest(
    model: Model, examples: Sequence[Example], explanations: Sequence[Explanation], progress: bool | None
) -> HeaviestSpans:
    """Counts over the heaviest spans of all texts; those of the first texts are also read alone."""
    first = span_weights(model, examples[:READ_ALONE], progress=progress, random_spans=5)
    read = heaviest_spans(first)
    return replace(heaviest_spans(explanations), read=read.read, alone=read.alone, random=read.random)


def _spread_out(explanations: Sequence[Explanation]) -> tuple[str, ...]:
    """One sentence where the heaviest span decides in fewer than half of the texts; none otherwise."""
    spread = sum(is_spread_out(one.diagnostics["effective_spans"], len(one.units)) for one in explanations)
    if 2 * spread <= len(explanations):
        return ()
    return (
        f"In {spread:,} of {len(explanations):,} texts the weight is spread over half of all spans or more, so no "
        f"single span decided them; their heaviest span says little.",
    )
