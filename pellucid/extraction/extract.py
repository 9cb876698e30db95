"""From examples to extractions: an extractor by name, or any attribution method with a selection."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pellucid.core.foundation.checks import between, known
from pellucid.core.foundation.errors import BadInput, BadSetting
from pellucid.core.foundation.kinds import attributions, extractors
from pellucid.core.foundation.progress import Progress
from pellucid.core.passes.model import Model
from pellucid.core.passes.seeds import HIGHEST_SEED
from pellucid.core.results.explanation import Scored
from pellucid.core.results.extraction import ExtractedSpan, Extraction
from pellucid.core.text.example import Example
from pellucid.core.text.units import Units
from pellucid.extraction.extraction_request import ExtractionRequest, SelectedSpans
from pellucid.extraction.selection import BY_SPANS, BY_WORDS, Budget, Selection


def extract_from(
    model: Model,
    examples: Sequence[Example],
    extractor: str,
    selections: Sequence[Selection],
    settings: Mapping[str, Any],
    seed: int,
    progress: Progress,
) -> list[list[Extraction]]:
    """For each selection one extraction an example, in order; all of them by the same scores, which are made once.

    Raises `UnknownName` or `BadSetting` before any work is done.
    """
    between("seed", seed, 0, HIGHEST_SEED)
    for selection in selections:
        check_like(examples, selection.like)
    found: list[list[Extraction]] = [[] for _ in selections]
    for choice in _choices(
        extractor, ExtractionRequest(model, examples, selections, seed, progress), settings
    ):
        for held, selection, spans in zip(found, selections, choice.spans, strict=True):
            told = {"selection": selection.mode, "budget": selection.budget, "n_spans": selection.n_spans}
            numbered = tuple(_numbered(span, choice.words) for span in spans)
            held.append(
                Extraction(choice.example, numbered, len(choice.words), extractor, {**told, **settings}, seed)
            )
    return found


def selection_for(
    extractor: str,
    mode: str | None,
    budget: Budget | None,
    n_spans: int,
    like: Sequence[Extraction] | None,
) -> Selection:
    """The selection of a call: as named, else the one that budget or like mean, else the extractor's own."""
    known("extractor or attribution method", extractor, {*extractors.names(), *attributions.names()})
    own, taken = _selections(extractor)
    if mode is None:
        mode = "budget" if budget is not None else "same_length" if like is not None else own
    if mode in (*BY_WORDS, BY_SPANS) and mode not in taken:
        raise BadSetting(f"{extractor} takes the selections {', '.join(taken)}; {mode!r} came.")
    return Selection(mode, budget, n_spans, like)


def _selections(extractor: str) -> tuple[str, Sequence[str]]:
    """The selection that an extractor has by itself, and all that it takes."""
    if extractor in extractors.names():
        facts = extractors.get(extractor).facts
        return facts["selection"], facts["selections"]
    return "max_sum_centred", (*BY_WORDS, BY_SPANS)


def check_like(examples: Sequence[Example], like: Sequence[Extraction] | None) -> None:
    """Raise `BadInput` unless the other extractions are of the same texts, in the same order."""
    if like is None:
        return
    if len(like) != len(examples):
        raise BadInput(
            f"like= has {len(like)} extractions for {len(examples)} examples; give one each, in order."
        )
    for example, other in zip(examples, like, strict=True):
        if other.example.segments != example.segments:
            raise BadInput(
                f"like= is not of the same texts: {other.example.id!r} stands where {example.id!r} should."
            )


def _choices(
    extractor: str, request: ExtractionRequest, settings: Mapping[str, Any]
) -> Iterator[SelectedSpans]:
    if extractor in extractors.names():
        return extractors.calls([(extractor, settings)])[0](request)
    return request.select_by_method(extractor, **settings)


def _numbered(span: Scored, words: Units) -> ExtractedSpan:
    """The span with the numbers of the words that it touches: a span of pieces may begin or end inside one."""
    places = zip(words.segment, words.start, words.end, strict=True)
    inside = [
        number
        for number, (segment, start, end) in enumerate(places)
        if segment == span.segment and start < span.end and end > span.start
    ]
    numbers = range(inside[0], inside[-1] + 1) if inside else range(0)
    return ExtractedSpan(span.text, span.score, span.segment, span.start, span.end, numbers)
