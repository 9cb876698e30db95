"""The door `extract`: the part of a text that is its evidence, by an extractor or by any method with a selection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pellucid.base.checks import between, known, quoted
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.kinds import attributions, extractors
from pellucid.base.processes import Progress
from pellucid.drawing.terminal import progress_bar
from pellucid.evidence.extraction_request import (
    BY_SPANS,
    BY_WORDS,
    ENOUGH,
    Budget,
    ExtractionRequest,
    SelectedSpans,
    Selection,
)
from pellucid.explaining.inputs.examples import examples_for
from pellucid.explaining.inputs.models import model_from
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.results.explanation import Scored
from pellucid.results.extraction import ExtractedSpan, Extraction
from pellucid.run.blank import HIGHEST_SEED
from pellucid.run.model import Model
from pellucid.text.example import Example
from pellucid.text.label_map import LabelMap
from pellucid.text.units import Units


def extract_from(
    model: Model,
    examples: Sequence[Example],
    extractor: str,
    selections: Sequence[Selection],
    settings: Mapping[str, object],
    *,
    seed: int,
    progress: Progress,
) -> list[list[Extraction]]:
    """For each selection one extraction an example, in order; all by the same scores, which are computed once.

    extractor: the name of an extractor or of an attribution method. settings: its own. Raises `UnknownName`,
    `BadSetting` or `BadInput` before any work is done.
    """
    between("seed", seed, 0, HIGHEST_SEED)
    for selection in selections:
        check_like(examples, selection.like)
    extractions: list[list[Extraction]] = [[] for _ in selections]
    request = ExtractionRequest(model, examples, selections, seed, progress)
    for selected in _selected_spans(extractor, request, settings):
        for of_selection, selection, spans in zip(extractions, selections, selected.spans, strict=True):
            about = {"selection": selection.mode, "budget": selection.budget, "n_spans": selection.n_spans}
            about |= {} if selection.within is None else {"within": selection.within}
            numbered = tuple(_numbered(span, selected.words) for span in spans)
            of_selection.append(
                Extraction(selected.example, numbered, len(selected.words), extractor, {**about, **settings}, seed)
            )
    return extractions


def selection_for(
    extractor: str,
    mode: str | None,
    budget: Budget | None,
    n_spans: int,
    like: Sequence[Extraction] | None,
    within: float | None = None,
) -> Selection:
    """The selection named by mode; where mode is None, the one that budget, like or within implies, else the
    extractor's own.
    """
    known("extractor or attribution method", extractor, {*extractors.names(), *attributions.names()})
    default, possible = _selections(extractor)
    if mode is not None and not isinstance(mode, str):
        raise BadSetting(f"selection={quoted(mode)} is not possible; give one of {', '.join(possible)}.")
    if mode is None:
        implied = {"budget": budget, "same_length": like, ENOUGH: within}
        mode = next((name for name, value in implied.items() if value is not None), default)
    if mode in (*BY_WORDS, ENOUGH, BY_SPANS) and mode not in possible:
        raise BadSetting(f"{extractor} takes the selections {', '.join(possible)}; {mode!r} came.")
    return Selection(mode, budget, n_spans, like, within)


def _selections(extractor: str) -> tuple[str, Sequence[str]]:
    """An extractor's own selection, for calls that name none, and all selections that are possible with it."""
    if extractor in extractors.names():
        facts = extractors.get(extractor).facts
        return facts["selection"], facts["selections"]
    return "max_sum_centred", (*BY_WORDS, ENOUGH, BY_SPANS)


def check_like(examples: Sequence[Example], like: Sequence[Extraction] | None) -> None:
    """Raise `BadInput` unless the extractions `like` are of the same texts, in the same order."""
    if like is None:
        return
    if len(like) != len(examples):
        raise BadInput(f"like= has {len(like)} extractions for {len(examples)} examples; give one each, in order.")
    for example, extraction in zip(examples, like, strict=True):
        if extraction.example.segments != example.segments:
            raise BadInput(
                f"like= is not of the same texts: {extraction.example.id!r} stands where {example.id!r} should."
            )


def _selected_spans(extractor: str, request: ExtractionRequest, settings: Mapping[str, Any]) -> Iterator[SelectedSpans]:
    if extractor in extractors.names():
        return extractors.calls([(extractor, settings)])[0](request)
    return request.select_by_method(extractor, **settings)


def _numbered(span: Scored, words: Units) -> ExtractedSpan:
    """The span with the numbers of the words that it overlaps: a span of pieces may begin or end inside a word."""
    inside = [
        index
        for index, (segment, start, end) in enumerate(zip(words.segment, words.start, words.end, strict=True))
        if segment == span.segment and start < span.end and end > span.start
    ]
    numbers = range(inside[0], inside[-1] + 1) if inside else range(0)
    return ExtractedSpan(span.text, span.score, span.segment, span.start, span.end, numbers)


def extract(
    model: ModelSource,
    texts: Data,
    extractor: str = "span_attention",
    *,
    selection: str | None = None,
    budget: float | None = None,
    n_spans: int = 1,
    like: Sequence[Extraction] | None = None,
    within: float | None = None,
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    progress: bool | None = None,
    **settings: Any,
) -> list[Extraction]:
    """Extract the part of each text that is its evidence; in a pair each text has its own spans.

    model: from `load`, `train` or another door; or a folder, a hub name, a text-classification pipeline of transformers
        or a fitted one of scikit-learn.
    texts: a string, a pair, an `Example`, a list of them; a data frame, series or `datasets.Dataset`; a `pathlib.Path`.
    extractor: "span_attention", "average_gradient", "average_attention", "rationale", "random_span",
        "random_span_of_length", or any attribution method.
    selection: how its scores become spans: "literal", "same_length" (as long as those of `like`), "budget",
        "best_words", "max_sum_centred", "above_half", "enough" (the best words with which the model, reading nothing
        else, answers as for the whole text) or "top_spans"; None: what budget, like or within implies, else the
        extractor's own.
    budget: a share of a text's words (0.2), or a number of words (5); None: the selection has none.
    n_spans: how many spans a text has at most, 1 or more.
    like: extractions of the same texts, whose lengths are used.
    within: of "enough", how far the probability of the class may be from that of the whole text, 0 to 1; None: any.
    seed: a whole number; the seed of random extractors.
    text, label: columns of a table, where they have unusual names; two columns of texts in a tuple for pairs.
    label_map: label -> class of the model, for labels under other names.
    skip_bad_rows: leave out rows without a text, or that cannot be read, with a warning that counts them.
    progress: draw a progress bar; None: when a terminal is watching.
    settings: the extractor's own.

    Returns one extraction a text, in order. Raises `UnknownName` for a name that does not exist, `BadSetting` for
    settings that do not go together, `ModelCannot` where the model lacks what the extractor needs, `BadInput` for a
    text that cannot be read.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> extraction = pellucid.extract(model, "A good film, if long.", "occlusion", budget=1)[0]
    >>> [span.text for span in extraction.spans]
    ['good']
    """
    model = model_from(model)
    examples = examples_for(model, texts, text=text, label=label, label_map=label_map, skip_bad_rows=skip_bad_rows)
    span_selection = selection_for(extractor, selection, budget, n_spans, like, within)
    with progress_bar(progress) as show_progress:
        return extract_from(model, examples, extractor, [span_selection], settings, seed=seed, progress=show_progress)[
            0
        ]
