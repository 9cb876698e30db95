"""How sharp are a self-explaining model's weights over a corpus, how long are its heaviest spans, and where are they?

Numbers of a unit, and what a page says of them beside a verdict: a model whose spans lie at one place of most texts has
collapsed, and one whose weight lies on many spans names no reason.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch

from pellucid.models.classifiers.classifier import Classifier
from pellucid.results.heaviest_spans import COLLAPSED
from pellucid.run.batch import Batch
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.packing import scheduler_for
from pellucid.run.read_alone import span_weights
from pellucid.run.trace import SpanTrace
from pellucid.text.example import Example
from pellucid.text.lexicon import is_content_word
from pellucid.text.units import Spans, text_units
from pellucid.training.span_count import spans_on_dev

BATCH_SIZE = 32  # texts of similar length
MOST_TEXTS = 256  # the first ones, whose heaviest spans are looked at
MANY_SPANS = 10.0  # effective ones: a model with more names no reason
EMPTY = "heaviest_without_content"
NOT_MEASURED = "effective spans not measured"
Weighed = tuple[Example, Spans, torch.Tensor | np.ndarray]


def span_sharpness(model: Classifier, examples: Sequence[Example]) -> dict[str, float]:
    """Means over the texts: effective spans (1 / sum of alpha squared), the top span's weight, its share of the words.

    Of the first texts also whether the heaviest spans hold content (`HeaviestSpans.record`), and of what and where they
    are (`heaviest_places`).
    """
    batch = model.encode(examples)
    order = sorted(range(len(batch)), key=batch.lengths.__getitem__)
    batches = []
    with torch.inference_mode():
        for first in range(0, len(order), BATCH_SIZE):
            rows = [batch.rows[index] for index in order[first : first + BATCH_SIZE]]
            batches.append(_of_batch(model.network(**model.place(rows)).spans))
    effective, weight, share = torch.cat(batches).mean(0).tolist()
    means = {"effective_spans": effective, "top_weight": weight, "top_share": share}
    return means | spans_on_dev(model, batch).record() | heaviest_places(model, batch)


def heaviest_places(model: Classifier, batch: Batch) -> dict[str, float]:
    """Of the heaviest spans of the first texts: content_words, the share of their words that have content; final_mark,
    the share of texts whose span is the mark at their end; one_place, the share of texts with the commonest place,
    counted in words from the start or from the end.
    """
    whole = [index for index, row in enumerate(batch.rows) if not row.windows][:MOST_TEXTS]
    weighed: list[Weighed] = []
    for first in range(0, len(whole), BATCH_SIZE):
        part = batch.select(whole[first : first + BATCH_SIZE])
        spans = span_weights(ForwardPass(model, part, scheduler_for(model)))
        weighed += zip(part.examples, *spans, strict=True)
    return places_of(weighed)


def places_of(weighed: Iterable[Weighed]) -> dict[str, float]:
    """`heaviest_places` of texts with their spans and the weights of these."""
    places = [_heaviest_place(*one) for one in weighed if len(one[2])]
    if not places:
        return {}
    texts = len(places)
    ends = ([place.before for place in places], [place.after for place in places])
    commonest = max(Counter(of).most_common(1)[0][1] for of in ends)
    return {
        "content_words": sum(place.content for place in places) / max(sum(place.words for place in places), 1),
        "final_mark": sum(place.is_final_mark for place in places) / texts,
        "one_place": commonest / texts,
    }


class _Place(NamedTuple):
    """The heaviest span of a text: its words, how many have content, and the words before and after it."""

    words: int
    content: int
    before: int
    after: int
    is_final_mark: bool


def _heaviest_place(example: Example, spans: Spans, weights: torch.Tensor | np.ndarray) -> _Place:
    segment, start, end = spans.characters(int(weights.argmax()))
    text = example.segments[segment]
    units = text_units(text, "word")
    words = [text[a:b] for a, b in units if a < end and b > start]
    before, after = sum(b <= start for _, b in units), sum(a >= end for a, _ in units)
    is_mark = not any(map(str.isalnum, "".join(words)))
    return _Place(len(words), sum(map(is_content_word, words)), before, after, is_mark and not after)


def spans_beside(by_seed: Sequence[Mapping[str, float] | None]) -> str:
    """What a verdict on a self-explaining model must not be read without: its effective spans by seed, and whether it
    is spread or has collapsed. by_seed: `span_sharpness` of each training, in the order of seeds; None: not counted.
    """
    known = [one for one in by_seed if one]
    if not known:
        return NOT_MEASURED
    words = [f"effective spans {', '.join(_number(one) for one in by_seed)}"]
    if any(one["effective_spans"] > MANY_SPANS for one in known):
        words.append("spread")
    collapsed = [seed for seed, one in enumerate(by_seed) if one and has_collapsed(one)]
    if collapsed:
        words.append(f"collapsed with {'seed' if len(collapsed) == 1 else 'seeds'} {', '.join(map(str, collapsed))}")
    return ": ".join([words[0], ", ".join(words[1:])]) if words[1:] else words[0]


def has_collapsed(sharpness: Mapping[str, float]) -> bool:
    """Whether the heaviest span lies at one place in more than half of the texts, or has no content word in more than a
    quarter.
    """
    places = max(sharpness.get("one_place", 0.0), sharpness.get("final_mark", 0.0))
    return places > 0.5 or sharpness.get(EMPTY, 0.0) > COLLAPSED


def _of_batch(spans: SpanTrace) -> torch.Tensor:
    """[example 3]"""
    weight, index = spans.weights.flatten(1).max(1)
    side = spans.scores.shape[1]
    length = index % side - index // side + 1
    share = length / torch.tensor(spans.parts, device=length.device).clamp_min(1)
    return torch.stack([1 / spans.concentration, weight, share], 1)


def _number(sharpness: Mapping[str, float] | None) -> str:
    return f"{sharpness['effective_spans']:.3g}" if sharpness else "–"
