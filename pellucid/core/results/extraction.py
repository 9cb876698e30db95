"""An extraction: the part of a text that an extractor takes for its evidence.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 4: the rationale that stands for a text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.wording import quoted
from pellucid.core.text.example import Example

OWN = frozenset({"original", "spans", "n_words", "extractor", "extractor_settings", "extractor_seed"})
SEPARATOR = " … "  # between spans that are not neighbours; no tokenizer takes it for a word


@dataclass(frozen=True)
class ExtractedSpan:
    """Characters [start, end) of one of the example's texts, with its score and the numbers of its words.

    words: counted over all of the example's texts, special tokens left out. score: the span's own, or the mean of its
    words'; 0 where it was drawn at random.
    """

    text: str
    score: float
    segment: int
    start: int
    end: int
    words: range


@dataclass(frozen=True)
class Extraction:
    """The spans of one example in reading order, none over another; each of its texts has one or more.

    n_words: words of the example's texts. extractor, settings, seed: how it was made.
    """

    example: Example
    spans: tuple[ExtractedSpan, ...]
    n_words: int
    extractor: str
    settings: Mapping[str, Any]
    seed: int

    @property
    def coverage(self) -> float:
        """The share of words that lie in the spans, 0 to 1."""
        return len({word for span in self.spans for word in span.words}) / max(self.n_words, 1)

    def lengths(self, segment: int) -> list[int]:
        """How many words each span of one of the texts has."""
        return [len(span.words) for span in self.spans if span.segment == segment]

    def texts(self, separator: str = SEPARATOR) -> tuple[str, ...]:
        """For each text its spans, joined; neighbours as they stood; a text without words, which has no span, whole."""
        return tuple(
            separator.join(text[start:end] for start, end in self._places(number)) or text
            for number, text in enumerate(self.example.segments)
        )

    def _places(self, segment: int) -> list[tuple[int, int]]:
        """Characters [start, end) of a text's spans, those whose words are neighbours as one."""
        places: list[tuple[int, int]] = []
        before = -1
        for span in (span for span in self.spans if span.segment == segment):
            if places and span.words.start <= before:
                places[-1] = (places[-1][0], span.end)
            else:
                places.append((span.start, span.end))
            before = span.words.stop
        return places

    def as_example(self, separator: str = SEPARATOR) -> Example:
        """The spans as a text of their own, with the example's label; what they were cut from is kept in meta.

        meta: `original` (the texts), `spans` ([segment, start, end, first word, end word, score]), `n_words`,
        `extractor`, `extractor_settings`, `extractor_seed`, and `original_evidence` where people had marked some. Raises
        `BadInput` where the example's own meta has fields of these names.
        """
        held = self.example
        taken = sorted(OWN & held.meta.keys())
        if taken and not held.meta.keys() >= OWN:  # an extraction of an extraction replaces all
            raise BadInput(
                f"The meta of example {quoted(held.id)} names {', '.join(taken)}, which an extraction keeps there; rename it."
            )
        marks = [[mark.segment, mark.start, mark.end] for mark in held.rationales]
        meta = {
            **held.meta,
            "original": list(held.segments),
            "spans": [[s.segment, s.start, s.end, s.words.start, s.words.stop, s.score] for s in self.spans],
            "n_words": self.n_words,
            "extractor": self.extractor,
            "extractor_settings": dict(self.settings),
            "extractor_seed": self.seed,
            **({"original_evidence": marks} if marks else {}),
        }
        return replace(held, segments=self.texts(separator), rationales=(), meta=meta)


def extraction_in(example: Example) -> Extraction:
    """The extraction that `as_example` kept in an example; raises `BadInput` for an example that holds none.

    The original's own meta, but for the fields of the extraction, is kept; its marked evidence too.
    """
    try:
        meta = {name: value for name, value in example.meta.items() if name not in OWN}
        original = Example(tuple(example.meta["original"]), example.label, (), example.id, meta)
        spans = tuple(
            ExtractedSpan(
                original.segments[segment][start:end], score, segment, start, end, range(first, stop)
            )
            for segment, start, end, first, stop, score in example.meta["spans"]
        )
        made = (
            example.meta[name] for name in ("n_words", "extractor", "extractor_settings", "extractor_seed")
        )
        return Extraction(original, spans, *made)
    except (KeyError, TypeError, ValueError, IndexError):
        raise BadInput(
            f"Example {quoted(example.id)} holds no extraction; give a folder that `pellucid extract` wrote."
        ) from None
