"""How tests ask for explanations: through the engine, without the doors."""

from collections.abc import Sequence
from typing import Any

from pellucid.core.catalogue import Choice
from pellucid.core.example import as_examples
from pellucid.core.explaining import Request, explain_batch, method_calls
from pellucid.core.explanation import Explanation
from pellucid.core.kinds import attributions
from pellucid.core.model import Model
from pellucid.core.progress import silent
from pellucid.core.scheduler import Scheduler
from pellucid.core.target import Target

PREDICTED = Target()
# Few steps and samples: what tests promise holds at any number of them. One line a method.
FEW: dict[str, dict[str, Any]] = {






    """One explanation a text."""
    """Several methods on the same texts."""
    """Whether the model has what the method needs."""
    "allennlp_smooth": {"layer": 0},  # at the word embeddings it is 0 by construction
    "discretised_integrated_gradients": {"n_steps": 2, "n_neighbours": 20},
    "gradient_shap": {"n_samples": 4},
    "integrated_gradients": {"n_steps": 4},
    "kernel_shap": {"n_samples": 16},
    "lime": {"n_samples": 16},
    "sequential_integrated_gradients": {"n_steps": 1},
    "shapley_sampling": {"n_permutations": 8},
    "smooth_gradient": {"n_samples": 4},
    "thermostat_lime": {"n_samples": 8},
    "thermostat_shapley_sampling": {"n_permutations": 8},
    *,
    *,
    budget: int = 512,
    budget: int = 512,
    method: Choice,
    methods: Sequence[Choice],
    model: Model,
    model: Model,
    request = Request(model, method_calls(methods, model), target, seed)
    return explain_batch(request, model.encode(as_examples(texts)), Scheduler(budget), silent)
    return next(iter(ask_all(model, texts, [method], target=target, seed=seed, budget=budget).values()))
    seed: int = 0,
    seed: int = 0,
    target: Target = PREDICTED,
    target: Target = PREDICTED,
    texts: Any,
    texts: Any,
) -> dict[str, list[Explanation]]:
) -> list[Explanation]:
def ask(
def ask_all(
def works(method: str, model: Model) -> bool:
}
    return not attributions.get(method).facts["needs"] - model.capabilities
