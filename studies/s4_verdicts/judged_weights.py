"""The verdict on a model's weights, as `pellucid attention` gives it, and what its evidence says of each text."""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from pellucid.attention.door import tests_to_run, weigh
from pellucid.attention.folder import AttentionFolder, TestedModel
from pellucid.attention.lines import model_attention
from pellucid.attention.question import AttentionQuestion
from pellucid.base.json_text import nan_as_none
from pellucid.base.processes import silent
from pellucid.evidence.transfers import heaviest_in_reason
from pellucid.results.explanation import Explanation
from pellucid.run.model import Model
from pellucid.text.example import Example
from studies.shared.units import Numbers

MOVES, POINTS = "median_change", "heaviest_decides"  # the two tests that the verdict rests on
YES, NO, NEITHER = "1", "0", "-"


def judged_weights(model: Model, examples: Sequence[Example], weights: Sequence[Explanation]) -> Numbers:
    """What is said of a model's weights without a look at the reason, and one character a text, beside the truth.

    weights: explanations of the examples by the model's own weights. decides: whether the answer depends on the
    heaviest word, by the test; "-" where no single word moves the answer, or all do. in_reason: whether the heaviest
    word is one of the reason.
    """
    question = AttentionQuestion(model, tuple(examples), tests_to_run([MOVES, POINTS], 0, False, False), weigh)
    tested: TestedModel = AttentionFolder(None, {model.name: question}).tested(silent)[model.name]
    verdict = model_attention(model.name, question, tested).verdict
    return {
        "verdict": nan_as_none(asdict(verdict)),
        "decides": "".join(_decides(text["values"][POINTS]) for text in tested.texts),
        "in_reason": "".join(map(_in_reason, heaviest_in_reason(weights))),
    }


def _decides(values: Sequence[float | None]) -> str:
    """The test's value is above 0 where the heaviest word decides and others do not, below 0 where others do."""
    value = values[0] if values else None
    return NEITHER if not value else YES if value > 0 else NO


def _in_reason(share: float) -> str:
    return NEITHER if np.isnan(share) else YES if share > 0.5 else NO
