"""Explanations that point at the reason are told from those that point at the decoy."""

import math

import numpy as np
import pytest

import pellucid
from pellucid.data.plant import WORDS
from pellucid.evidence.transfers import decoy_first, reason_precision
from pellucid.text.example import Example, Rationale
from tests.shared.explanations import explanation
from tests.shared.reader import reader

TEXT = "one dax two wug three fep"  # reason: dax and wug; decoy: fep
EXAMPLE = Example((TEXT,), "yes", (Rationale(0, 4, 7), Rationale(0, 12, 15)), "a", {"distractors": [[0, 22, 25]]})


def explanation_of(*scores, example=EXAMPLE, **parts):
    """An explanation of EXAMPLE: scores of its six words, special tokens with the highest score of all."""
    scores = np.array(scores, dtype=float)
    whole = np.concatenate([np.full((*scores.shape[:-1], 1), 9.0), scores, np.full((*scores.shape[:-1], 1), 9.0)], -1)
    return explanation(TEXT, whole, example=example, **parts)


@pytest.mark.parametrize(
    ("scores", "precision", "decoy"),
    [
        ((0, 5, 0, 4, 0, 3), 1.0, 0.0),
        ((0, 5, 0, 3, 0, 4), (1 + 2 / 3) / 2, 0.0),  # above one word of the reason is not above the reason
        ((0, 4, 0, 3, 0, 5), (1 / 2 + 2 / 3) / 2, 1.0),
        ((0, 5, 0, 3, 0, 5), (1 + 2 / 3 + 1 / 2 + 2 / 3) / 4, 0.5),  # the mean of both orders
        ((0, -5, 0, -4, 0, -3), (1 / 5 + 2 / 6) / 2, 1.0),  # signed: against the class is not for it
    ],
)  # fmt: skip
def test_by_hand(scores, precision, decoy):
    assert reason_precision([explanation_of(*scores)]) == pytest.approx([precision])
    assert decoy_first([explanation_of(*scores)]) == [decoy]


def test_draws_are_averaged():
    draws = explanation_of((0, 5, 0, 4, 0, 3), (0, 4, 0, 3, 0, 5), rows=(("draw", ("0", "1")),))
    assert reason_precision([draws]) == pytest.approx([(1 + 7 / 12) / 2])
    assert decoy_first([draws]) == [0.5]


def test_texts_without_reason_or_decoy_are_not_judged():
    bare = explanation_of(0, 5, 0, 4, 0, 3, example=Example((TEXT,), "yes"))
    assert math.isnan(reason_precision([bare])[0]) and math.isnan(decoy_first([bare])[0])
    without_decoy = explanation_of(0, 5, 0, 4, 0, 3, example=Example((TEXT,), "yes", EXAMPLE.rationales))
    assert reason_precision([without_decoy]) == [1.0] and math.isnan(decoy_first([without_decoy])[0])


def test_on_models_that_read_the_reason_or_the_decoy():
    texts = pellucid.plant("token", n=50)["test"]
    of_reason = pellucid.explain(reader(*WORDS[:2]), texts, "occlusion")
    assert reason_precision(of_reason).tolist() == [1.0] * len(texts)
    assert decoy_first(of_reason).tolist() == [0.0] * len(texts)
    of_decoy = pellucid.explain(reader(*WORDS[2:4]), texts, "occlusion")
    assert decoy_first(of_decoy).tolist() == [1.0] * len(texts)
    assert reason_precision(of_decoy).mean() < 0.5
