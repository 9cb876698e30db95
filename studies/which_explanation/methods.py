"""The methods with at most 60 evaluations a text, and the metrics, with at most ten steps a game.

Shapley sampling is not among them: it takes eight orders or more, each with as many evaluations as the text has words.
"""

from collections.abc import Mapping

from pellucid.base.catalogue import Choice
from pellucid.base.kinds import checks, metrics
from pellucid.results.table import CHANCE

FEW_METHODS: tuple[Choice, ...] = ("gradient", "occlusion", (CHANCE, {"n_draws": 2}))
METHODS: tuple[Choice, ...] = (
    "gradient",
    ("gradient_x_input", {"norm": "l2"}),
    ("integrated_gradients", {"n_steps": 16}),
    ("smooth_gradient", {"n_samples": 8}),
    ("gradient_shap", {"n_samples": 8}),
    "deep_lift_shap",
    "relevance",
    ("attention", {"flow": "rollout"}),
    "attention_gradient",
    "occlusion",
    ("kernel_shap", {"n_samples": 60}),
    ("lime", {"n_samples": 60}),
    (CHANCE, {"n_draws": 5}),
)
STEPS: dict[str, object] = {"steps": 10}
SETTINGS: Mapping[str, dict[str, object]] = {"revealing": STEPS, "hiding": STEPS}
COSTLY = ("draw_agreement", "edit_agreement")
CHECK_SETTINGS: Mapping[str, dict[str, object]] = {"edit_agreement": {"edits": ["case", "synonyms"]}}
NORMALISED = "normalised"
SPANS = "span_"  # metrics of models with span attention, which none of these has


def metric_choices(names: tuple[str, ...] | None, has_reason: bool) -> dict[str, Choice]:
    """What a metric is called on the page -> the metric with its settings; those of a known reason only where there is
    one.
    """
    listed = metrics.names() if names is None else list(names)
    usable = [
        name
        for name in listed
        if not name.startswith(SPANS) and (has_reason or metrics.get(name).facts["judges"] != "truth")
    ]
    choices: dict[str, Choice] = {name: (name, SETTINGS[name]) if name in SETTINGS else name for name in usable}
    if names is None:
        normalised = [name for name in usable if NORMALISED in metrics.get(name).defaults]
        choices |= {f"{name}, {NORMALISED}": (name, {NORMALISED: True}) for name in normalised}
    return choices


def check_choices(names: tuple[str, ...] | None, has_reason: bool) -> list[Choice]:
    """The checks with their settings: where none is named, all that are not long and need no more than a twin.

    On planted reasons, where six models are judged, those that can neither fail a method nor say how long it takes are
    left out if they explain every text again.
    """
    available = {"explainer", "twins"}
    usual = [name for name in checks.names() if not checks.get(name).facts["long"]]
    listed = [name for name in usual if checks.get(name).facts["needs"] <= available] if names is None else list(names)
    skipped = COSTLY if has_reason and names is None else ()
    return [(name, CHECK_SETTINGS[name]) if name in CHECK_SETTINGS else name for name in listed if name not in skipped]


def knows_marks(metric: str) -> bool:
    """Whether a metric, by its name on the page, reads marks in the texts: on planted texts, the reason itself."""
    return "rationales" in metrics.get(metric.partition(",")[0]).facts["needs"]


def short_name(title: str) -> str:
    """A method's name without its settings; each method is here once."""
    return title.partition("(")[0]
