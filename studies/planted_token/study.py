"""Planted token: do the methods find the one word that is known to decide the label?

After Bastings et al. (2022), "Will You Find These Shortcuts?". A classifier learns texts whose label one made-up word
decides; on 200 test texts each method's word ranking is scored by average precision, 1 / rank of the true word.

    python -m studies planted_token --out studies/planted_token
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from pellucid.base.catalogue import Choice
from pellucid.base.errors import ModelCannot
from pellucid.base.processes import Progress
from pellucid.data.load import load_examples
from pellucid.evidence.transfers import reason_precision
from pellucid.explaining.answers import accuracy
from pellucid.explaining.explain import explain_all
from pellucid.explaining.inputs.readings import usual_methods
from pellucid.results.bootstrap import bootstrap_interval
from pellucid.results.table import Interval
from pellucid.run.model import Model
from pellucid.text.ranges import TIES
from pellucid.training.door import train
from studies.shared.equal_scores import RECORD, EqualScores
from studies.shared.method_settings import with_study_settings
from studies.shared.options import ENCODER, Option
from studies.shared.study import Settings, Study, studies
from studies.shared.units import Numbers

# How its model is trained. Written out, so the page stays true when defaults change.
TRAINING: dict[str, Any] = {
    "epochs": 2,
    "new_parts_factor": 2.0,
    "penalties": {"concentration": 1.0},
    "pooler_settings": {"score_start": 0.15},
}
LEARNT = 0.98  # below this accuracy the model has not learnt the reason, and no method can be judged
SEED = Option("--seed", {"type": int, "default": 0})


@studies.add()
def planted_token() -> Study:
    """Do the methods find the one word that is known to decide the label?"""
    return Study(
        sizes={"small": 200},
        options=(ENCODER, SEED),
        work=lambda settings, progress: {"methods": measure(settings, progress), RECORD: TIES},
        summary=lambda settings, measured: dict(measured["methods"]),
        page=lambda settings, numbers: as_page(numbers),
        equal_scores=EqualScores(
            "average precision took equal scores as one threshold",
            "This concerns span_attention, which gives many words the same score.",
        ),
    )


def measure(settings: Settings, progress: Progress) -> Numbers:
    """The model's accuracy, and each method's average precision. A finished model is loaded.

    Raises `ModelCannot` where the model has not learnt the reason.
    """
    seed = settings.own["seed"]
    model = train(
        "planted_token",
        encoder=settings.encoder,
        out=settings.out / "models" / "span",
        seed=seed,
        progress=True,
        **TRAINING,
    )
    right = accuracy(model, load_examples("planted_token", "test"))
    if right.mean < LEARNT:
        raise ModelCannot(f"The model reached {right}; below {LEARNT} it has not learnt the planted reason.")
    precisions = average_precisions(model, seed=seed, texts=settings.size)
    return {
        "accuracy": asdict(right),
        "methods": {title: asdict(interval) for title, interval in precisions.items()},
    }


def average_precisions(
    model: Model, methods: Sequence[Choice] | None = None, seed: int = 0, texts: int = 200
) -> dict[str, Interval]:
    """Mean average precision of each method (all usual ones) over the first test texts, with its 95 % interval."""
    test = load_examples("planted_token", "test")[:texts]
    methods = [*usual_methods(model), "gradient_x_input"] if methods is None else methods
    by_method = explain_all(model, test, with_study_settings(methods), seed=seed)
    return {title: bootstrap_interval(reason_precision(explanations)) for title, explanations in by_method.items()}


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    methods = {title: Interval(**one) for title, one in numbers["methods"].items()}
    chance = methods["chance"].high
    rows = "\n".join(
        f"| {title} | {precision} | {'yes' if precision.low > chance else 'no'} |"
        for title, precision in sorted(methods.items(), key=lambda item: -item[1].mean)
    )
    return (
        "# Planted token: which methods find the known reason?\n\n"
        "all-MiniLM-L6-v2 with span attention, trained on texts whose label one made-up word decides; "
        f"test accuracy {Interval(**numbers['accuracy'])}. Mean average precision of each method's word ranking over "
        f"200 test texts.\n\n"
        "| method | mean average precision [95 %] | above chance |\n|---|---|---|\n"
        f"{rows}\n"
    )
