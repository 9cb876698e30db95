"""lime: `LimeTextExplainer` with a function that runs all samples in one batch, as its tutorials do; and in parts."""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from benchmarks.attribution.reading import Missing, Reader


def prepare(reader: Reader, method: str, settings: dict[str, Any], tuned: bool) -> Callable[[list[str]], None]:
    """A function of texts that explains the predicted class of each."""
    if find_spec("lime") is None:
        raise Missing("lime is not installed.")
    from lime.lime_text import LimeTextExplainer

    explainer = LimeTextExplainer(random_state=0)
    answer = reader.probabilities_in_parts if tuned else reader.probabilities

    def run(texts: Sequence[str]) -> None:
        for text in texts:
            explainer.explain_instance(
                text,
                lambda variants: answer(variants).numpy(),
                labels=None,
                top_labels=1,
                num_features=len(text.split()),
                **settings,
            )

    return run
