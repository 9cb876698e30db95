"""What do metrics say of a model to which edited texts are no surprise?

Metrics take words away, and a model that never saw such texts may answer them oddly (Hooker et al. 2019). Hase, Xie & Bansal (2021),
"The Out-of-Distribution Problem in Explainability and Search Methods for Feature Importance Explanations", train with random
words removed ("counterfactual training"). It is another model: its numbers say which methods are faithful where that objection
does not hold, not how faithful they are to the judged one.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pellucid.core.foundation.checks import between
from pellucid.core.foundation.kinds import checks
from pellucid.core.foundation.progress import silent
from pellucid.core.passes.seeds import derived_seed
from pellucid.core.results.check_outcome import CheckLine
from pellucid.core.results.interval import Interval
from pellucid.core.text.example import Example, group_of
from pellucid.evaluation.checking.check_case import CheckCase
from pellucid.evaluation.checking.findings import Findings
from pellucid.evaluation.checking.word_deletion import without_words, word_places
from pellucid.evaluation.comparison.compared_part import compared_part
from pellucid.evaluation.comparison.comparison import Comparison
from pellucid.evaluation.comparison.comparison_table import comparison_table


@checks.add(
    needs=frozenset({"trainer", "explainer"}),
    cost="one training by the model's recipe on twice the texts, and the whole comparison again",
    long=True,
    of_metrics=True,
)
def masked_training(case: CheckCase, *, most: float = 0.5) -> Findings:
    """The comparison's metrics under a model that is trained on each text as it is and once more without random words.

    most: of each text up to this share of its words is removed, .1 to .9; how many is drawn for each text.
    """
    between("most", most, 0.1, 0.9)
    assert case.trained is not None  # it declares the need
    texts = [*case.train, *with_random_gaps(case.train, most, case.request.seed)]
    request = replace(case.request, model=case.trained(texts, f"masked-{most:g}"))
    comparison = Comparison(request, case.examples, case.metrics, case.intervals.resamples)
    judged = [compared_part(comparison, number, silent).judged for number in range(comparison.n_parts)]
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
