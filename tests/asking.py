"""How tests ask for explanations: through the engine, without the doors."""

from collections.abc import Sequence
from typing import Any

from pellucid.core.explaining.explaining import Request, explain_batch, method_calls
from pellucid.core.foundation.catalogue import Choice
from pellucid.core.foundation.kinds import attributions
from pellucid.core.foundation.progress import silent
from pellucid.core.passes.model import Model
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.target import Target
from pellucid.core.results.explanation import Explanation
from pellucid.core.text.example import as_examples

PREDICTED = Target()
# Few steps and samples: what tests promise holds at any number of them. One line a method.
FEW: dict[str, dict[str, Any]] = {
    "allennlp_smooth": {"layer": 0},  # at the word embeddings it is 0 by construction
    "discretised_integrated_gradients": {"n_steps": 2, "n_neighbours": 20},
    "gradient_shap": {"n_samples": 4},
    "integrated_gradients": {"n_steps": 4},
    "kernel_shap": {"n_samples": 16},
    "lime": {"n_samples": 16},
    "preservation_mask": {"n_steps": 2},  # later steps amplify rounding
    "sequential_integrated_gradients": {"n_steps": 1},
    "shapley_sampling": {"n_permutations": 8},
    "smooth_gradient": {"n_samples": 4},
    "thermostat_lime": {"n_samples": 8},
    "thermostat_shapley_sampling": {"n_permutations": 8},
}


def ask(
    model: Model,
    texts: Any,
    method: Choice,
    *,
    target: Target = PREDICTED,
    seed: int = 0,
    budget: int = 512,
) -> list[Explanation]:
    """One explanation a text."""
    return next(iter(ask_all(model, texts, [method], target=target, seed=seed, budget=budget).values()))


def ask_all(
    model: Model,
    texts: Any,
    methods: Sequence[Choice],
    *,
    target: Target = PREDICTED,
    seed: int = 0,
    budget: int = 512,
) -> dict[str, list[Explanation]]:
    """Several methods on the same texts."""
    request = Request(model, method_calls(methods, model), target, seed)
    return explain_batch(request, model.encode(as_examples(texts)), scheduler_for(model, budget), silent)


def works(method: str, model: Model) -> bool:
    """Whether the model has what the method needs."""
    return not attributions.get(method).facts["needs"] - model.capabilities


def residual(explanation: Explanation) -> float:
    """How far the explained pass is from the model's answer: the text's own residual, or the largest of its call's sample."""
    checks = explanation.diagnostics
    return checks["parity"] if "parity" in checks else checks["parity_of_sample"]
