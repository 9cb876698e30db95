"""What may be edited in a text, and the scores by which an attack orders it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from pellucid.attacks.shared.attack_case import Place
from pellucid.attacks.shared.places import scores_at, words_of
from pellucid.core.corpus.results import Results
from pellucid.core.explaining.explaining import Request, explain_batch, method_calls
from pellucid.core.foundation.catalogue import Choice
from pellucid.core.foundation.errors import BadInput, BadSetting
from pellucid.core.foundation.progress import silent
from pellucid.core.foundation.wording import in_syntax, listed, quoted, shortened
from pellucid.core.passes.model import Model
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.target import Target
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.extraction import Extraction, extraction_in
from pellucid.core.text.example import Example
from pellucid.datasets.load import load_examples
from pellucid.extraction.extract import extract_from, selection_for

MOST_SPANS = 5


def places_of(
    model: Model, examples: Sequence[Example], unit: str, extractor: str | None, seed: int
) -> list[tuple[tuple[Place, ...], int]]:
    """[text]: (words in reading order, or spans by falling score; the queries that choosing them took)."""
    if unit == "word":
        return [(words_of(example), 0) for example in examples]
    name = extractor or ("span_attention" if "span_weights" in model.capabilities else "occlusion")
    selection = selection_for(name, None, None, MOST_SPANS, None)
    (extractions,) = extract_from(model, examples, name, [selection], {}, seed=seed, progress=silent)
    return [(span_places(extraction), 1) for extraction in extractions]


def span_places(extraction: Extraction) -> tuple[Place, ...]:
    """The spans of an extraction, the heaviest first."""
    spans = sorted(extraction.spans, key=lambda span: -span.score)
    return tuple(Place(span.segment, span.start, span.end, span.text) for span in spans)


def scores_of(
    model: Model,
    example: Example,
    method: Choice,
    places: tuple[Place, ...],
    seed: int,
    target: Target | None = None,
) -> tuple[np.ndarray, int]:
    """([unit] scores of an attribution method, and how many texts the model read for them).

    A word's score is that of the unit of the method that contains its first character; words that share a piece share a score. target: None: the
    probability of the predicted class.
    """
    request = Request(
        model, method_calls([method], model), target or Target("predicted", "probability"), seed
    )
    scheduler = scheduler_for(model)
    (explanations,) = explain_batch(request, model.encode([example]), scheduler, silent).values()
    return scores_at(explanations[0], places), 1 + scheduler.rows_run


def stored_scores(results: Results, examples: Sequence[Example]) -> dict[tuple[str, ...], Explanation]:
    """Texts -> their stored explanation; raises `BadInput` for a text without one, `BadSetting` for scores of several methods or rows."""
    if len(results.methods) != 1:
        raise BadSetting(
            f"{in_syntax('order_from', '--order-from')} holds scores of {len(results.methods)} methods ({listed(results.methods)}); give those of one, "
            "results.where(method=…)."
        )
    by_text = {one.example.segments: one.shown_row() for one in results}
    for example in examples:
        if example.segments not in by_text:
            raise BadInput(
                f"{in_syntax('order_from', '--order-from')} has no scores of the text {quoted(shortened(example.text))}; explain the same texts that are attacked."
            )
    return by_text


# Spans that were extracted before, in place of those that an attack would find itself.


StoredSpans = Mapping[tuple[str, ...], tuple[Place, ...]]


def stored_spans(
    source: Sequence[Extraction] | str | Path | None, unit: str, name: str, examples: Sequence[Example]
) -> StoredSpans | None:
    """Texts -> their spans, the heaviest first; None without a source.

    source: extractions, or the file that they were written to. unit: what the attack edits. Raises `BadSetting` for an attack on words,
    `BadInput` for a text without an extraction.
    """
    if source is None:
        return None
    if unit != "span":
        raise BadSetting(
            f"{name} edits words, so {in_syntax('spans_from=', '--spans-from')} changes nothing; leave it out."
        )
    extractions = _read(source) if isinstance(source, str | Path) else source
    by_text = {one.example.segments: span_places(one) for one in extractions}
    for example in examples:
        if example.segments not in by_text:
            raise BadInput(
                f"{in_syntax('spans_from=', '--spans-from')} has no spans of the text {quoted(shortened(example.text))}; "
                "extract them from the texts that are attacked."
            )
    return by_text


def _read(path: str | Path) -> list[Extraction]:
    return [extraction_in(one) for one in load_examples(path)]
