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
    """Extract the part of each text that is its evidence; in a pair each text has its own spans.

    model: from `load`, `train` or another door.
    texts: a string, a pair, an `Example`, or a list of them.
    extractor: "span_attention", "average_gradient", "average_attention", "rationale", "random_span",
        "random_span_of_length", or any attribution method.
    selection: how its scores become spans: "literal", "same_length" (as long as those of `like`), "budget", "best_words",
        "max_sum_centred", "above_half" or "top_spans"; None: what budget or like implies, else the extractor's own.
    budget: a share of a text's words (0.2), or a number of words (5); None: the selection has none.
    n_spans: how many spans a text has at most, 1 or more.
    like: extractions of the same texts, whose lengths are used.
    seed: a whole number; the seed of random extractors.
    progress: draw a progress bar; None: when a terminal is watching.
    settings: the extractor's own.

    Returns one extraction a text, in order. Raises `UnknownName` for a name that does not exist, `BadSetting` for
    settings that do not go together, `ModelCannot` where the model lacks what the extractor needs, `BadInput` for a text
    that cannot be read.
    """
    examples = as_examples(texts)
    span_selection = selection_for(extractor, selection, budget, n_spans, like)
    with progress_bar(progress) as show_progress:
        return extract_from(
            model, examples, extractor, [span_selection], settings, seed=seed, progress=show_progress
        )[0]
