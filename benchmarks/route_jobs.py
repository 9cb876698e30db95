"""What routes are measured on besides single passes, whole jobs; and what they are compared with."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from shutil import which
from typing import Any

import torch
from torch import Tensor, nn

import pellucid
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.composed import as_classifier, compose
from pellucid.models.composed.networks import Plan
from pellucid.models.routing.routes import EagerRoute
from pellucid.training.recipe import Recipe, computes_in
from pellucid.training.steps import Steps, epoch_batches, steps_of

JUDGED_TEXTS = 20
BATCH, TRAINED_BATCHES = 32, 8  # of texts; of steps in a turn
NOTHING: Sequence[Tensor] = ()  # that differs by rounding alone


class Comparison:
    """All usual methods judged by all usual metrics on a few texts, by one route."""

    def __init__(self, model: Classifier, route: str) -> None:
        self._model = replace(model, route=route)
        self._texts = pellucid.examples("pocket", "test")[:JUDGED_TEXTS]

    def __call__(self) -> Sequence[Tensor]:
        """Judge them."""
        pellucid.compare(self._model, self._texts, resamples=100, progress=False)
        return NOTHING


class Compiled(EagerRoute):
    """Passes without a graph by torch.compile, which is no route of the package: here it is compared with them."""

    name = "torch.compile"

    def __init__(self, network: nn.Module) -> None:
        self._compiled = torch.compile(network, dynamic=True)

    @staticmethod
    def lacks() -> str:
        """A compiler of C++."""
        return "" if which("g++") else "there is no compiler of C++"

    def answer(self, network: nn.Module, columns: Mapping[str, Any]) -> object:
        """The compiled network's."""
        return self._compiled(**columns)


class Training:
    """Steps of a training of MiniLM with span attention, by one route or in another precision."""

    def __init__(self, **recipe: str) -> None:
        self.precision = computes_in(recipe.get("precision", "auto"), torch.device("cpu"))  # type: ignore[arg-type]
        self._steps = _steps(Recipe(batch_size=BATCH, penalties={"entropy": 0.1}, **recipe))  # type: ignore[arg-type]
        self._batches = epoch_batches(self._steps.batch.lengths, BATCH, 0, 0)
        self._done = count()

    def __call__(self) -> Sequence[Tensor]:
        """Make some steps; the same texts whatever the route."""
        for number in range(TRAINED_BATCHES):
            self._steps.step(self._batches[number], next(self._done))
        return NOTHING


def _steps(recipe: Recipe) -> Steps:
    examples = pellucid.examples("pocket", "train")
    plan = Plan("minilm", "span", {}, tuple(sorted({str(one.label) for one in examples})))
    network, tokenizer = compose(plan, recipe.seed, [one.segments for one in examples])
    classifier = as_classifier(network, tokenizer, plan, "benchmark")
    classifier.network.train()
    return steps_of(classifier, classifier.encode(examples), recipe, 10_000)
