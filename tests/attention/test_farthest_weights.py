"""The farthest weights that keep an answer: exact for two classes, and never nearer than Jain & Wallace's own
search.
"""

import math

import pytest
import torch

from pellucid.attention.weighed_texts import WeighedText, weighed_texts
from pellucid.attention.weight_search import farthest_of_texts, farthest_weights
from pellucid.base.errors import BadSetting
from pellucid.run.readout import jensen_shannon, total_variation
from pellucid.text.example import Example
from tests.reference.farthest_weights import farthest_divergences
from tests.shared.tiny import tiny_composed

ROW = None  # weights and logits are all that the search reads


def random_texts(count, units, classes, *, scale=2.0, seed=0):
    """[text unit] weights and [text unit class] logits."""
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(count, units, generator=generator, dtype=torch.float64)
    logits = torch.randn(count, units, classes, generator=generator, dtype=torch.float64)
    return (1.5 * scores).softmax(-1), scale * logits


def texts_of(weights, logits):
    return [WeighedText(own, unit_logits, None, ROW) for own, unit_logits in zip(weights, logits, strict=True)]


@pytest.mark.whole
@pytest.mark.parametrize(
    ("units", "scale", "classes"), ((2, 2.0, 3), (3, 0.5, 2), (4, 2.0, 4), (9, 6.0, 2), (17, 0.5, 3))
)
def test_it_is_never_nearer_than_the_published_search(units, scale, classes):
    weights, logits = random_texts(6, units, classes, scale=scale)
    published = farthest_divergences(weights, logits, 0.01, seed=0)
    ours = [farthest_weights(text) for text in texts_of(weights, logits)]
    assert all(one.divergence >= float(other) for one, other in zip(ours, published, strict=True))


@pytest.mark.parametrize("classes", (2, 3, 5))
@pytest.mark.parametrize("limit", (0.01, 0.2))
def test_the_weights_keep_the_answer_and_the_numbers_are_theirs(classes, limit):
    for units in (2, 5, 12):
        for text in texts_of(*random_texts(4, units, classes, seed=units)):
            far = farthest_weights(text, limit=limit)
            assert (far.weights >= 0).all() and float(far.weights.sum()) == pytest.approx(1, abs=1e-9)
            answer, own = (text.logits(each[None])[0].softmax(-1) for each in (far.weights, text.weights))
            assert far.distance == pytest.approx(float(total_variation(answer, own)), abs=1e-12)
            assert far.distance <= limit
            divergence = float(jensen_shannon(far.weights, text.weights))
            assert far.divergence == pytest.approx(divergence, abs=1e-9) and 0 <= divergence <= math.log(2)


def test_of_two_classes_it_is_the_best_of_a_fine_grid():
    """Three units: every weight in steps of 1/400."""
    steps = torch.arange(401, dtype=torch.float64) / 400
    grid = torch.cartesian_prod(steps, steps)
    grid = torch.cat([grid, 1 - grid.sum(1, keepdim=True)], 1)
    grid = grid[grid[:, 2] >= 0]
    for text in texts_of(*random_texts(20, 3, 2)):
        answers = text.logits(grid).softmax(-1)
        same_answer = total_variation(answers, text.logits(text.weights[None]).softmax(-1)) <= 0.01
        best = jensen_shannon(grid, text.weights.expand_as(grid)).where(same_answer, 0.0).max()
        far = farthest_weights(text)
        assert float(best) <= far.divergence <= float(best) + 0.05
        assert (far.weights > 0).sum() <= 2


def test_a_wider_limit_leads_farther():
    for text in texts_of(*random_texts(10, 8, 2)):
        divergences = [farthest_weights(text, limit=limit).divergence for limit in (0.001, 0.01, 0.1, 1.0)]
        assert divergences == sorted(divergences)


def test_one_unit_that_says_all_leaves_no_room():
    """Its weight cannot fall without moving the answer, where the others contradict it."""
    logits = torch.tensor([[8.0, 0.0], [0.0, 8.0], [0.0, 8.0]]).double()
    near = farthest_weights(WeighedText(torch.tensor([0.5, 0.25, 0.25]).double(), logits, 0, ROW))
    alike = farthest_weights(WeighedText(torch.tensor([0.5, 0.25, 0.25]).double(), torch.ones(3, 2).double(), 0, ROW))
    assert near.divergence < 0.15 < 0.2 < alike.divergence


def test_units_with_equal_logits_are_no_trouble():
    for classes in (2, 3):
        logits = torch.ones(6, classes).double()
        logits[:3, 0] = 4.0
        far = farthest_weights(WeighedText(torch.full((6,), 1 / 6).double(), logits, 0, ROW))
        assert far.distance <= 0.01 and far.divergence > 0.1


def test_texts_of_one_unit_are_left_out():
    model = tiny_composed("additive")
    texts = weighed_texts(model, [Example((text,)) for text in ("Fine", "A gripping, lovely film.")])
    left_out, far = farthest_of_texts(texts)
    assert left_out is None and far is not None and len(far.weights) == len(texts[1])


@pytest.mark.parametrize("limit", (0.0, 1.5))
def test_a_limit_that_is_no_distance_is_refused(limit):
    [text] = texts_of(*random_texts(1, 3, 2))
    with pytest.raises(BadSetting, match="limit"):
        farthest_weights(text, limit=limit)
