"""Checks that train models again, without the words that a method names; and what an explanation costs."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from torch import Tensor

from pellucid.base.checks import between, listed_members, quoted, whole
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.kinds import checks
from pellucid.base.memory import peak, start_peak
from pellucid.base.processes import silent
from pellucid.comparison.check_case import CheckCase, Findings
from pellucid.comparison.compared_part import compared_part
from pellucid.comparison.comparison import Comparison
from pellucid.comparison.scored_text import ScoredText, without_highest, without_words, word_places
from pellucid.comparison.table import comparison_table
from pellucid.results.interval import CheckLine, Curve, Interval
from pellucid.results.table import CHANCE, COST_SECONDS
from pellucid.run.batch import Row
from pellucid.run.blank import derived_seed
from pellucid.run.model import Model
from pellucid.run.predicting import predictions
from pellucid.run.trace import NOTHING, Trace, Want
from pellucid.text.example import Example, group_of

ACCURACY, BEYOND = "accuracy after retraining", "lost beyond random words"


@checks.add(
    needs=frozenset({"trainer", "explainer"}),
    cost="the methods on all texts to train on, and one training for each method and share",
    asks="whether a model that is trained without its words gets worse",
    long=True,
    rule="passes where models lose more without its words than without random ones",
    curve_axis="share of the words that is removed before training",
)
def roar(case: CheckCase, *, shares: Sequence[float] = (0.1, 0.3, 0.5)) -> Findings:
    """The accuracy of models that are trained and tested without the highest-scored words of every text.

    Do a method's words carry what the task needs?

    Source: Hooker, Erhan, Kindermans & Kim (2019), "A Benchmark for Interpretability Methods in Deep
    Neural Networks": the highest-scored parts are removed from all texts, those to train on and those
    to test with, and a new model is trained. So edited texts are no surprise to it, and what it loses
    was lost with the words. What other words say as well is not missed, so a small loss may also mean
    that the texts repeat themselves. Words are chosen by explanations of the model's own answers.

    shares: of the words that are removed, above 0 to .9 each. The judged model stands at 0. Raises `BadInput` for texts
    without labels among the model's classes.
    """
    wanted = _shares(shares)
    _check_labels(case)
    of_train = case.explain(examples=case.train)
    whole = _right(case.model, case.examples)
    right = {method: [_retrained(case, method, of_train[method], share) for share in wanted] for method in case.methods}
    chance = next((method for method in case.methods if method.partition("(")[0] == CHANCE), None)
    lines = [line for method in case.methods for line in _lines(case, method, right, wanted, chance)]
    curves = [
        _curve(method, [0.0, *wanted], [case.intervals.interval(by_text) for by_text in (whole, *right[method])])
        for method in case.methods
    ]
    return Findings(lines, curves)


def _shares(shares: Sequence[float]) -> list[float]:
    members = None if isinstance(shares, str) else listed_members(shares)
    if not members:
        raise BadSetting(
            f"shares={quoted(shares)} is not possible; give a list of numbers above 0, such as (0.1, 0.3)."
        )
    for share in members:
        between("shares", share, 0.001, 0.9)  # type: ignore[arg-type]  # it checks the kind too
    return sorted(float(share) for share in members)  # type: ignore[arg-type]


def _check_labels(case: CheckCase) -> None:
    missing = sum(example.label not in case.model.labels for example in case.examples)
    if missing:
        raise BadInput(
            f"roar counts right answers, and {missing} of {len(case.examples)} texts have no label among the classes "
            f"of {case.model.name}; give labelled texts."
        )


def _retrained(case: CheckCase, method: str, of_train: Sequence[ScoredText], share: float) -> np.ndarray:
    """[text] right or not, by a model that never saw the highest-scored words."""
    assert case.trained is not None  # it declares the need
    train = [without_highest(*pair, share) for pair in zip(case.train, of_train, strict=True)]
    model = case.trained(train, f"roar-{method}-{share:g}")
    texts = [without_highest(*pair, share) for pair in zip(case.examples, case.explained[method], strict=True)]
    return _right(model, texts)


def _right(model: Model, examples: Sequence[Example]) -> np.ndarray:
    answers = predictions(model, examples)
    return np.array([answer.label == example.label for answer, example in zip(answers, examples, strict=True)], float)


def _lines(
    case: CheckCase,
    method: str,
    right: dict[str, list[np.ndarray]],
    shares: Sequence[float],
    chance: str | None,
) -> list[CheckLine]:
    lines = [
        case.intervals.line(method, ACCURACY, values, f"{share:.0%} removed")
        for share, values in zip(shares, right[method], strict=True)
    ]
    if chance is None or method == chance:
        return lines
    lost = np.mean(right[chance], axis=0) - np.mean(right[method], axis=0)
    beyond = case.intervals.line(method, BEYOND, lost)
    passed = True if beyond.value.low > 0 else False if beyond.value.high <= 0 else None
    return [*lines, CheckLine(method, BEYOND, beyond.value, beyond.n, passed=passed)]


def _curve(method: str, shares: Sequence[float], values: Sequence[Interval]) -> Curve:
    bounds = ([getattr(value, end) for value in values] for end in ("mean", "low", "high"))
    return Curve(method, "roar", tuple(shares), *map(tuple, bounds))


@checks.add(
    needs=frozenset({"trainer", "explainer"}),
    cost="one training by the model's recipe on twice the texts, and the whole comparison again",
    long=True,
    of_metrics=True,
)
def masked_training(case: CheckCase, *, most: float = 0.5) -> Findings:
    """The comparison's metrics under a model that is trained on each text as it is and once more without random words.

    What do metrics say of a model to which edited texts are no surprise?

    Source: Metrics take words away, and a model that never saw such texts may answer them oddly (Hooker
    et al. 2019). Hase, Xie & Bansal (2021), "The Out-of-Distribution Problem in Explainability and
    Search Methods for Feature Importance Explanations", train with random words removed
    ("counterfactual training"). It is another model: its numbers say which methods are faithful where
    that objection does not hold, not how faithful they are to the judged one.

    most: of each text up to this share of its words is removed, .1 to .9; how many is drawn for each text.
    """
    between("most", most, 0.1, 0.9)
    assert case.trained is not None  # it declares the need
    texts = [*case.train, *with_random_gaps(case.train, most, case.request.seed)]
    request = replace(case.request, model=case.trained(texts, f"masked-{most:g}"))
    comparison = Comparison(request, case.examples, case.metrics, case.intervals.resamples)
    judged = [compared_part(comparison, index, silent).judged for index in range(comparison.n_parts)]
    table = comparison_table(comparison, judged)
    return Findings(
        [
            CheckLine(cell.method, cell.metric, value, cell.n, beside)
            for cell in table.cells
            for beside, value in (("mean", cell.value), ("from chance", cell.over_chance or _UNKNOWN))
        ]
    )


_UNKNOWN = Interval(float("nan"), float("nan"), float("nan"))  # chance itself


def with_random_gaps(examples: Sequence[Example], most: float, seed: int) -> list[Example]:
    """Each example without random words, in its own order of draws, under a name of its own."""
    return [
        replace(
            _with_gaps(example, most, seed),
            id=f"{example.id}-masked",
            meta={**example.meta, "group": group_of(example)},
        )
        for example in examples
    ]


def _with_gaps(example: Example, most: float, seed: int) -> Example:
    generator = np.random.default_rng(derived_seed(seed, "random gaps", example.segments))
    places = word_places(example)
    count = int(generator.uniform(0, most) * len(places)) + 1
    drawn = generator.choice(len(places), min(count, len(places)), replace=False).tolist()
    return without_words(example, [places[place] for place in drawn])


# What does an explanation cost?

# A model that counts the rows that it reads, and is otherwise the model that it stands for.


class CountingModel:
    """rows_read: rows of all passes so far, those of the guard among them. All else is the model's own."""

    def __init__(self, model: Model) -> None:
        self.model, self.rows_read = model, 0

    def __getattr__(self, name: str) -> Any:  # whatever the model has
        return getattr(self.model, name)

    def trace(
        self,
        rows: Sequence[Row],
        want: Want = NOTHING,
        embeddings: Tensor | None = None,
        layer: int | None = None,
    ) -> Trace:
        """The model's own pass, counted."""
        self.rows_read += len(rows)
        return self.model.trace(rows, want, embeddings, layer)

    def plain_logits(self, example: Example) -> Tensor:
        """The model's own answer, counted."""
        self.rows_read += 1
        return self.model.plain_logits(example)


MEASURES = (COST_SECONDS, "passes a text", "peak memory a text, MB")
MOST_TEXTS = 1_000_000
MEGABYTE = 1e6


@checks.add(
    needs=frozenset({"explainer"}),
    cost="each method alone on n_texts texts, one at a time",
    asks="how long it takes",
    timed=True,
    again=1,
)
def cost(case: CheckCase, *, n_texts: int = 10) -> Findings:
    """What a method costs for one text: seconds, passes of the model, and the most memory beyond what was in use.

    Beside a metric these say which methods are better than every cheaper one: the page draws them as the frontier.

    n_texts: the first texts alone. Each is explained by itself; in a batch a text costs less. Passes count the one that
    gives the answer, and the guard's; a backward pass is not counted by itself. Memory is counted by Linux alone.
    """
    whole("n_texts", n_texts, 1, MOST_TEXTS)
    some = case.first(n_texts)
    model = CountingModel(some.model)
    lines: list[CheckLine] = []
    for method in some.methods:
        some.explain(model, some.examples[:1], methods=[method])  # what is tried once for a model is tried now
        values = [_measured(some, model, index, method) for index in range(len(some.examples))]
        columns = zip(*values, strict=True)
        lines += [
            some.intervals.line(method, measure, column) for measure, column in zip(MEASURES, columns, strict=True)
        ]
    return Findings(lines)


def _measured(case: CheckCase, model: CountingModel, index: int, method: str) -> tuple[float, float, float]:
    rows, before, start = model.rows_read, start_peak(), perf_counter()
    case.explain(model, case.examples[index : index + 1], methods=[method])
    seconds = perf_counter() - start
    return seconds, float(model.rows_read - rows), max(0.0, (peak() - before) / MEGABYTE)
