"""Span attention: the spans to which a self-explaining model gives the most weight.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equation 4 and section 4.
"""

from collections.abc import Iterator

from pellucid.core.foundation.kinds import extractors
from pellucid.extraction.extraction_request import ExtractionRequest, SelectedSpans
from pellucid.extraction.selection import BY_SPANS, BY_WORDS


@extractors.add(selection=BY_SPANS, selections=(BY_SPANS, *BY_WORDS))
def span_attention(request: ExtractionRequest) -> Iterator[SelectedSpans]:
    """The top spans of each text, without overlap; selections by words share a span's weight among its words."""
    return request.select_by_method(
        "span_attention", random_spans=0
    )  # no span is read alone: only weights select
