"""How tests ask for explanations: through the engine, without the doors."""

from collections.abc import Sequence
from typing import Any

from pellucid.base.catalogue import Choice
from pellucid.base.kinds import STATE_VECTOR, attributions
from pellucid.base.processes import silent
from pellucid.results.explanation import Explanation
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.hidden_target import HiddenState
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.target import Target
from pellucid.text.example import as_examples

PREDICTED = Target()
STATE = HiddenState(1)  # the target where none is given, for methods that read states as vectors
SOME_TEXTS = ("A good film.", "The food was cold, and nobody came.", "It is what it is.")
# Few steps and samples: what tests promise holds at any number of them. One line a method.
FEW: dict[str, dict[str, Any]] = {
    "allennlp_smooth": {"layer": 0},  # at the word embeddings it is 0 by construction
    "discretised_integrated_gradients": {"n_steps": 2, "n_neighbours": 20},
    "gaussian_process_shapley": {"n_samples": 16},
    "gradient_shap": {"n_samples": 4},
    "guan_gradient": {"n_entries": 8},
    "guan_perturbation": {"n_steps": 2, "reference": SOME_TEXTS},
    "information_bottleneck": {"n_steps": 2, "n_samples": 2, "reference": SOME_TEXTS},
    "integrated_gradients": {"n_steps": 4},
    "kernel_shap": {"n_samples": 16},
    "lime": {"n_samples": 16},
    "preservation_mask": {"n_steps": 2},  # later steps amplify rounding
    "retained_information": {"n_steps": 4, "n_seeds": 2, "n_probes": 4, "reference": SOME_TEXTS},
    "sequential_integrated_gradients": {"n_steps": 1},
    "shapley_sampling": {"n_permutations": 4},
    "smooth_gradient": {"n_samples": 4},
    "thermostat_lime": {"n_samples": 8},
    "thermostat_shapley_sampling": {"n_permutations": 4},
}


def ask(
    model: Model,
    texts: Any,
    method: Choice,
    *,
    target: Target | HiddenState = PREDICTED,
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
    target: Target | HiddenState = PREDICTED,
    seed: int = 0,
    budget: int = 512,
) -> dict[str, list[Explanation]]:
    """Several methods on the same texts; those that read states as vectors explain a state where no target is given."""
    calls = method_calls(methods, model)
    by_title: dict[str, list[Explanation]] = {}
    for of_states in (False, True):
        some = [call for call in calls if reads_states(call.entry.name) == of_states]
        own = STATE if of_states and target == PREDICTED else target
        if some:
            batch = model.encode(as_examples(texts))
            request = Request(model, some, own, seed)
            by_title |= explain_batch(request, batch, scheduler_for(model, budget), silent)
    return {call.title: by_title[call.title] for call in calls if call.title in by_title}


def reads_states(method: str) -> bool:
    """Whether the method reads a hidden state as a vector, and so explains no class."""
    return attributions.get(method).facts["reads"] == STATE_VECTOR


def works(method: str, model: Model) -> bool:
    """Whether the model has what the method needs."""
    return not attributions.get(method).facts["needs"] - model.capabilities


def residual(explanation: Explanation) -> float:
    """How far the explained pass is from the model's answer: the text's own residual, or the largest of its call's
    sample.
    """
    checks = explanation.diagnostics
    return checks["parity"] if "parity" in checks else checks["parity_of_sample"]
