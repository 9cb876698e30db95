"""Pellucid through its public door: tokenising, the guard, the target and the results are part of the time."""

from collections.abc import Callable, Sequence
from typing import Any

import pellucid
from benchmarks.attribution.reading import Missing
from pellucid.base.catalogue import Choice
from pellucid.base.kinds import attributions
from pellucid.run.model import Model

# One forward and one backward pass give all of these.
TOGETHER: tuple[Choice, ...] = (
    "gradient",
    "gradient_x_input",
    ("grad_cam", {"layer": "all"}),
    "attention_gradient",
)


def prepare(model: Model, method: str, settings: dict[str, Any]) -> Callable[[list[str]], Any]:
    """A function of texts that explains the predicted class of each; raises `Missing` for what is not there."""
    choices = TOGETHER if method == "together" else ((method, settings),)
    for choice in choices:
        name, of_choice = (choice, {}) if isinstance(choice, str) else choice
        if name not in attributions.names():
            raise Missing(f"pellucid has no method {name} yet.")
        strange = sorted(set(of_choice) - set(attributions.get(name).defaults))
        if strange:
            raise Missing(f"pellucid's {name} has no setting {', '.join(strange)}.")

    def run(texts: Sequence[str]) -> Any:
        return pellucid.explain_all(model, texts, choices, progress=False)

    return run
