"""The door `extract`: the part of a text that is its evidence."""

from collections.abc import Sequence
from typing import Any

from pellucid.core.passes.model import Model
from pellucid.core.results.extraction import Extraction
from pellucid.core.text.example import Texts, as_examples
from pellucid.extraction.extract import extract_from, selection_for
from pellucid.reports.terminal.progress_bar import progress_bar


def extract(
    model: Model,
    texts: Texts,
    extractor: str = "span_attention",
    *,
    selection: str | None = None,
    budget: float | None = None,
    n_spans: int = 1,
    like: Sequence[Extraction] | None = None,
    seed: int = 0,
    progress: bool | None = None,
    **settings: Any,
) -> list[Extraction]:
    """The part of each text that is its evidence, in order; each text of a pair has spans of its own.

    extractor: "span_attention", "average_gradient", "average_attention", "rationale", "random_span",
    "random_span_of_length", or any attribution method; settings are its own. selection: how its scores become spans:
    "literal", "same_length" (as long as those of `like`), "budget", "best_words", "max_sum_centred", "above_half",
    "top_spans"; None: what budget or like mean, else the extractor's own. budget: a share of a text's words (0.2), or a
    number of words (5). n_spans: how many spans a text has at most.
    """
    examples = as_examples(texts)
    chosen = selection_for(extractor, selection, budget, n_spans, like)
    with progress_bar(progress) as told:
        return extract_from(model, examples, extractor, [chosen], settings, seed=seed, progress=told)[0]
