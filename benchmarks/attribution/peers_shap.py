"""shap: `Explainer` around a pipeline, as its README shows for text; and around a function that runs batches.

Its default for text is the Partition explainer, which asks about a hierarchy of groups of tokens; the number of
questions is `max_evals`, 500 by default.
"""

from collections.abc import Callable, Sequence
from typing import Any

import shap
from transformers import pipeline

from benchmarks.attribution.reading import Reader


def prepare(reader: Reader, method: str, settings: dict[str, Any], tuned: bool) -> Callable[[list[str]], None]:
    """A function of texts that explains all classes of each, which costs what one class costs."""
    if tuned:
        answer: Any = lambda texts: reader.probabilities_in_parts([str(text) for text in texts]).numpy()  # noqa: E731
        explainer = shap.Explainer(answer, shap.maskers.Text(reader.tokenizer))
    else:
        classify: Any = pipeline(
            "text-classification",
            model=reader.network,
            tokenizer=reader.tokenizer,
            top_k=None,
            device=reader.device,
        )
        explainer = shap.Explainer(classify)

    def run(texts: Sequence[str]) -> None:
        for text in texts:
            explainer([text], silent=True, **settings)

    return run
