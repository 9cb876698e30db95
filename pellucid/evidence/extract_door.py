"""The door `extract`: the part of a text that is its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pellucid.drawing.progress_bar import progress_bar
from pellucid.evidence.extract import extract_from, selection_for
from pellucid.explaining.inputs.examples import examples_for
from pellucid.explaining.inputs.models import model_from
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.results.extraction import Extraction
from pellucid.text.label_map import LabelMap


def extract(
    model: ModelSource,
    texts: Data,
    extractor: str = "span_attention",
    *,
    selection: str | None = None,
    budget: float | None = None,
    n_spans: int = 1,
    like: Sequence[Extraction] | None = None,
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> list[Extraction]:
    """Extract the part of each text that is its evidence; in a pair each text has its own spans.

    model: from `load`, `train` or another door; or a folder, a hub name, a text-classification pipeline of transformers or a
        fitted one of scikit-learn.
    texts: a string, a pair, an `Example`, a list of them; a data frame, series or `datasets.Dataset`; a `pathlib.Path`.
    extractor: "span_attention", "average_gradient", "average_attention", "rationale", "random_span",
        "random_span_of_length", or any attribution method.
    selection: how its scores become spans: "literal", "same_length" (as long as those of `like`), "budget", "best_words",
        "max_sum_centred", "above_half" or "top_spans"; None: what budget or like implies, else the extractor's own.
    budget: a share of a text's words (0.2), or a number of words (5); None: the selection has none.
    n_spans: how many spans a text has at most, 1 or more.
    like: extractions of the same texts, whose lengths are used.
    seed: a whole number; the seed of random extractors.
    text, label: columns of a table, where they have unusual names; two columns of texts in a tuple for pairs.
    label_map: label -> class of the model, for labels under other names.
    progress: draw a progress bar; None: when a terminal is watching.
    settings: the extractor's own.

    Returns one extraction a text, in order. Raises `UnknownName` for a name that does not exist, `BadSetting` for
    settings that do not go together, `ModelCannot` where the model lacks what the extractor needs, `BadInput` for a text
    that cannot be read.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> extraction = pellucid.extract(model, "A good film, if long.", "occlusion", budget=1)[0]
    >>> [span.text for span in extraction.spans]
    ['good']
    """
    model = model_from(model)
    examples = examples_for(model, texts, text=text, label=label, label_map=label_map)
    span_selection = selection_for(extractor, selection, budget, n_spans, like)
    with progress_bar(progress) as show_progress:
        return extract_from(
            model, examples, extractor, [span_selection], settings, seed=seed, progress=show_progress
        )[0]
