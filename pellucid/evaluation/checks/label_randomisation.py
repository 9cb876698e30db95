"""Does an explanation notice that the model learnt nothing but noise?

Adebayo et al. (2018), "Sanity Checks for Saliency Maps", section 4: a model of the same kind is trained on texts whose labels are in
random order. What is explained stays the class that the judged model answered.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pellucid.core.foundation.checks import whole
from pellucid.core.foundation.kinds import checks
from pellucid.core.passes.seeds import derived_seed
from pellucid.core.text.example import Example
from pellucid.evaluation.checking.agreement import TAU, taus
from pellucid.evaluation.checking.check_case import CheckCase
from pellucid.evaluation.checking.findings import Findings, judged_lines
from pellucid.evaluation.checking.thresholds import RANDOMISED_TAU

MOST_TEXTS = 1_000_000


@checks.add(
    needs=frozenset({"trainer", "explainer"}),
    cost="one training by the model's recipe, and the methods on n_texts texts",
    long=True,
    rule="passes where tau is below .5",
)
def label_randomisation(case: CheckCase, *, n_texts: int = 100) -> Findings:
    """Kendall's tau between explanations of the model and of one that was trained on random labels; 1 where a method ignores them.

    n_texts: the first texts alone.
    """
    whole("n_texts", n_texts, 1, MOST_TEXTS)
    assert case.trained is not None  # it declares the need
    some = case.first(n_texts)
    model = case.trained(with_random_labels(case.train, case.request.seed), "random_labels")
    explained = some.explain(model, classes=some.classes_explained())
    lines = [
        some.intervals.line(method, TAU, taus(some.explained[method], explained[method]))
        for method in some.methods
    ]
    return Findings(judged_lines(lines, below=RANDOMISED_TAU))


def with_random_labels(examples: Sequence[Example], seed: int) -> list[Example]:
    """The examples with their labels in random order, without marks; each class is as frequent as before."""
    generator = np.random.default_rng(derived_seed(seed, "random labels", len(examples)))
    order = generator.permutation(len(examples)).tolist()
    return [
        replace(example, label=examples[place].label, rationales=())
        for example, place in zip(examples, order, strict=True)
    ]
