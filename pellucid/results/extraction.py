"""An extraction: the part of a text that an extractor chooses as its evidence.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 4: the rationale that stands for a text.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pellucid.base.checks import quoted
from pellucid.base.errors import BadInput
from pellucid.text.example import Example

OWN = frozenset({"original", "spans", "n_words", "extractor", "extractor_settings", "extractor_seed"})
SEPARATOR = " … "  # between spans that are not neighbours; no tokenizer takes it for a word


@dataclass(frozen=True)
class ExtractedSpan:
    """Characters [start, end) of one of the example's texts, with its score and the numbers of its words.

    words: counted over all of the example's texts, without special tokens. score: the span's own, or the mean of its
    words' scores; 0 where the span was drawn at random.
    """

    text: str
    score: float
    segment: int
    start: int
    end: int
    words: range


@dataclass(frozen=True)
class Extraction:
    """The spans of one example in reading order; they do not overlap, and each text with words has one or more.

    example: the text. spans: each with text, score, segment, characters and words. n_words: words of the example's
        texts.
    extractor, settings, seed: how the spans were chosen.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> extraction = pellucid.extract(model, "A good film, if long.", "occlusion", budget=1)[0]
    >>> [(span.text, span.start, span.end) for span in extraction.spans]
    [('good', 2, 6)]
    >>> round(extraction.coverage, 2)
    0.14
    """

    example: Example
    spans: tuple[ExtractedSpan, ...]
    n_words: int
    extractor: str
    settings: Mapping[str, object]
    seed: int

    @property
    def coverage(self) -> float:
        """The share of words that lie in the spans, 0 to 1."""
        return len({word for span in self.spans for word in span.words}) / max(self.n_words, 1)

    def lengths(self, segment: int) -> list[int]:
        """How many words each span of one of the texts has."""
        return [len(span.words) for span in self.spans if span.segment == segment]

    def texts(self, separator: str = SEPARATOR) -> tuple[str, ...]:
        """Each text's spans, joined by the separator, except where their words are neighbours; a text without spans
        whole.

        >>> extraction.texts(separator=" / ")
        ('good',)
        """
        return tuple(
            separator.join(text[start:end] for start, end in self._offsets(segment)) or text
            for segment, text in enumerate(self.example.segments)
        )

    def _offsets(self, segment: int) -> list[tuple[int, int]]:
        """Characters [start, end) of a text's spans; spans whose words are neighbours count as one."""
        offsets: list[tuple[int, int]] = []
        before = -1
        for span in (span for span in self.spans if span.segment == segment):
            if offsets and span.words.start <= before:
                offsets[-1] = (offsets[-1][0], span.end)
            else:
                offsets.append((span.start, span.end))
            before = span.words.stop
        return offsets

    def as_example(self, separator: str = SEPARATOR) -> Example:
        """The spans as a text of their own, with the example's label; its meta says what they were cut from.

        meta: `original` (the texts), `spans` ([segment, start, end, first word, end word, score]), `n_words`,
        `extractor`, `extractor_settings`, `extractor_seed`, and `original_evidence` where people had marked some.
        Raises `BadInput` where the example's own meta has fields of these names.
        """
        example = self.example
        in_use = sorted(OWN & example.meta.keys())
        if in_use and not example.meta.keys() >= OWN:  # an extraction of an extraction replaces all
            raise BadInput(
                f"The meta of example {quoted(example.id)} names {', '.join(in_use)}, which an extraction keeps there; "
                "rename it."
            )
        marks = [[mark.segment, mark.start, mark.end] for mark in example.rationales]
        meta = {
            **example.meta,
            "original": list(example.segments),
            "spans": [[s.segment, s.start, s.end, s.words.start, s.words.stop, s.score] for s in self.spans],
            "n_words": self.n_words,
            "extractor": self.extractor,
            "extractor_settings": dict(self.settings),
            "extractor_seed": self.seed,
            **({"original_evidence": marks} if marks else {}),
        }
        return replace(example, segments=self.texts(separator), rationales=(), meta=meta)


def extraction_in(example: Example) -> Extraction:
    """The extraction that `as_example` wrote into an example's meta; raises `BadInput` where there is none.

    Its example has the original's meta, without the fields of the extraction.
    """
    try:
        meta = {name: value for name, value in example.meta.items() if name not in OWN}
        original = Example(tuple(example.meta["original"]), example.label, (), example.id, meta)
        spans = tuple(
            ExtractedSpan(original.segments[segment][start:end], score, segment, start, end, range(first, stop))
            for segment, start, end, first, stop, score in example.meta["spans"]
        )
        extracted_by = (example.meta[name] for name in ("n_words", "extractor", "extractor_settings", "extractor_seed"))
        return Extraction(original, spans, *extracted_by)
    except (KeyError, TypeError, ValueError, IndexError):
        raise BadInput(
            f"Example {quoted(example.id)} holds no extraction; give a folder that `pellucid extract` wrote."
        ) from None
