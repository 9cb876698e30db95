"""The list of everything that is measured, in the order in which it is run."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from benchmarks.attribution.definition import Definition

By = Literal["pellucid", "pellucid by route", "captum", "captum tuned", "shap", "shap tuned", "lime", "lime tuned"]
BY_ROUTE: By = "pellucid by route"  # by the route that is fastest for the model and the threads
PATHS = {"integrated_gradients": 50, "smooth_gradient": 20, "gradient_shap": 5}  # captum's own defaults


@dataclass(frozen=True)
class Case:
    """One method by one library on one kind of texts. eager: attention weights are read, so the floor is that of open
    attention."""

    method: str
    by: By
    texts: str
    definition: Definition
    settings: dict[str, Any] = field(default_factory=dict)
    model: str = "minilm"
    threads: int = 1
    eager: bool = False

    @property
    def name(self) -> str:
        """What results are kept under."""
        return f"{self.method} / {self.by} / {self.texts} / {self.place}"

    @property
    def place(self) -> str:
        """The model and the threads, in words."""
        return f"{self.model}, {self.threads_in_words}"

    @property
    def threads_in_words(self) -> str:
        """As in "2 threads"."""
        return f"{self.threads} thread{'s' * (self.threads > 1)}"


PASS = Definition("both", "pass")
WINDOWS = Definition("forward", "windows")
# For each method: its definition, our settings, captum's. Sizes are equal; ours leaves absent tokens out by default.
PATH_SETTINGS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "integrated_gradients": ({"n_steps": 50}, {"n_steps": 50}),
    "smooth_gradient": ({"n_samples": 20}, {"nt_samples": 20, "stdevs": 0.01}),
    "gradient_shap": ({"n_samples": 5}, {"n_samples": 5, "stdevs": 0.01}),
}
SAMPLES: dict[str, tuple[Definition, dict[str, Any], dict[str, Any]]] = {
    "kernel_shap": (
        Definition("forward", "samples", 100),
        {"n_samples": 100, "unit": "piece"},
        {"n_samples": 100},
    ),
    "lime": (Definition("forward", "samples", 200), {"n_samples": 200, "unit": "piece"}, {"n_samples": 200}),
    "thermostat_lime": (Definition("forward", "samples", 25), {}, {"n_samples": 25}),
    "shapley_sampling": (
        Definition("forward", "permutations", 8),
        {"n_permutations": 8, "unit": "piece"},
        {"n_samples": 8},
    ),
}
OCCLUSION = {"unit": "piece", "window": 1, "operator": "pad"}
CAPTUM: tuple[By, ...] = ("captum", "captum tuned")
CUDA: tuple[By, ...] = ("pellucid", "captum")
CUDA_ORDER = (
    "gradient",
    "integrated_gradients",
    "kernel_shap",
    "occlusion",
    "together",
    "lime",
    "shapley_sampling",
    "gradient_shap",
    "smooth_gradient",
    "relevance",
)


def all_cases(threads: int) -> list[Case]:
    """Every timed case, ours also by the fastest route; threads: all cores of the machine."""
    cases = [
        *_gradients("short"),
        *_paths("short"),
        *_perturbations("short"),
        *_gradients("long"),
        *_paths("long"),
        *_perturbations("long"),
        *_elsewhere("minilm", threads),
        *_elsewhere("base", threads),
    ]
    return [one for case in cases for one in (case, *_by_route(case))]


def _by_route(case: Case) -> list[Case]:
    """The twin of one of our cases."""
    return [replace(case, by=BY_ROUTE)] if case.by == "pellucid" else []


def cuda_cases() -> list[Case]:
    """The timed cases of a GPU, which many texts fill: ours, and captum as its README shows it, the methods that count
    first.
    """
    cases = [*_on_cuda("many short"), *_on_cuda("many long")]
    return sorted(cases, key=lambda case: CUDA_ORDER.index(case.method))  # sorting keeps equal ones in order


def _on_cuda(texts: str) -> Iterator[Case]:
    yield Case("together", "pellucid", texts, PASS, eager=True)
    yield Case("relevance", "pellucid", texts, PASS)
    for by in CUDA:
        yield Case("gradient", by, texts, PASS)
        for method, (ours, theirs) in PATH_SETTINGS.items():
            definition = Definition("both", "points", PATHS[method])
            yield Case(method, by, texts, definition, ours if by == "pellucid" else theirs)
        if texts == "many long":  # minutes
            continue
        yield Case("occlusion", by, texts, WINDOWS, OCCLUSION if by == "pellucid" else {})
        for method, (definition, ours, theirs) in SAMPLES.items():
            if method != "thermostat_lime":
                yield Case(method, by, texts, definition, ours if by == "pellucid" else theirs)


def _gradients(texts: str) -> Iterator[Case]:
    yield Case("together", "pellucid", texts, PASS, eager=True)
    yield Case("relevance", "pellucid", texts, PASS)  # lxt does not run with this transformers
    yield Case("gradient", "pellucid", texts, PASS)
    yield Case("gradient", "captum", texts, PASS)
    if texts == "short":  # eight long texts together are slower than one by one
        yield Case("gradient", "captum tuned", texts, PASS)
        yield Case("gradient_x_input", "pellucid", texts, PASS)
        yield Case("gradient_x_input", "captum", texts, PASS)


def _paths(texts: str) -> Iterator[Case]:
    for method, (ours, theirs) in PATH_SETTINGS.items():
        definition = Definition("both", "points", PATHS[method])
        yield Case(method, "pellucid", texts, definition, ours)
        for by in CAPTUM:
            yield Case(method, by, texts, definition, theirs)


def _perturbations(texts: str) -> Iterator[Case]:
    yield Case("occlusion", "pellucid", texts, WINDOWS, OCCLUSION)
    if texts == "short":  # minutes a long text
        for by in CAPTUM:
            yield Case("occlusion", by, texts, WINDOWS)
    for method, (definition, ours, theirs) in SAMPLES.items():
        if texts == "long" and method == "shapley_sampling":  # minutes a permutation
            continue
        yield Case(method, "pellucid", texts, definition, ours)
        for by in CAPTUM if texts == "short" else CAPTUM[1:]:
            yield Case(method, by, texts, definition, theirs)
        if "lime" in method:
            for by in ("lime", "lime tuned") if (texts, method) == ("short", "lime") else ("lime",):
                yield Case(method, by, texts, definition, {"num_samples": definition.n})
    for by in ("shap", "shap tuned") if texts == "short" else ("shap",):
        yield Case("partition", by, texts, Definition("forward", "samples", 100), {"max_evals": 100})


def _elsewhere(model: str, threads: int) -> Iterator[Case]:
    """The gradient family on all cores."""
    ours, theirs = PATH_SETTINGS["integrated_gradients"]
    path = Definition("both", "points", PATHS["integrated_gradients"])
    yield Case("together", "pellucid", "short", PASS, model=model, threads=threads, eager=True)
    for by in ("pellucid", *CAPTUM):
        yield Case("gradient", by, "short", PASS, model=model, threads=threads)
        yield Case(
            "integrated_gradients",
            by,
            "short",
            path,
            ours if by == "pellucid" else theirs,
            model=model,
            threads=threads,
        )
