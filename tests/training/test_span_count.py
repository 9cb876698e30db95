"""The number of spans that share the weight is held where it is wanted, whatever the seed; and training goes on
alike.
"""

import json
import math

import pytest
import torch

from pellucid.base.errors import BadFile, BadSetting, UnknownName
from pellucid.models.composed.networks import Plan
from pellucid.run.trace import SpanTrace
from pellucid.training.recipe import Recipe
from pellucid.training.recipes import (
    NAMED,
    USUAL,
    named_pooler_settings,
    recipe_of,
    training_settings,
    usual_recipe,
)
from pellucid.training.span_count import SpanCount, check_span_count, span_count_on_dev
from tests.reference.evidence_objectives import number_of_spans
from tests.shared.moments import Moments, files_of, killed
from tests.shared.tiny import tiny_composed
from tests.shared.tiny_training import LABELS, parts, trained
from tests.training.test_evidence_objectives import EXAMPLES, part_of, weights_of


def trace_of(scores):
    """Weights of texts of two words, three spans each, from [example span] scores."""
    table = torch.full((len(scores), 4), -torch.inf, dtype=scores.dtype)
    table = table.index_copy(1, torch.tensor([0, 1, 3]), scores).view(-1, 2, 2)
    return SpanTrace(table, table.flatten(1).logsumexp(1), (2,) * len(scores), "word", None)


def control_at(wanted, **state):
    """A control in the second half of a training of a hundred steps."""
    return SpanCount(wanted, 100, **{"done": 60, "mean": 2.0, "first": 3.0, **state})


@pytest.mark.parametrize(("wanted", "falls"), [(1.2, True), (2.9, False)])
def test_a_step_on_the_price_alone_moves_the_number_towards_the_wanted_one(wanted, falls):
    """The sign test: more spans than wanted, fewer after a step; fewer than wanted, more."""
    scores = torch.tensor([[0.4, -0.3, 1.0], [0.1, 1.2, -0.5]], dtype=torch.float64, requires_grad=True)
    before = number_of(scores)
    [gradient] = torch.autograd.grad(control_at(wanted, mean=before).loss(trace_of(scores)), scores)
    after = number_of(scores - 0.1 * gradient)
    assert (after < before) == falls and after != before


def number_of(scores):
    return float(trace_of(scores).entropy.exp().mean().detach())


def test_the_number_is_that_of_the_formula_and_its_gradient_that_of_finite_differences():
    scores = torch.tensor([[0.4, -0.3, 1.0], [0.1, 1.2, -0.5]], dtype=torch.float64, requires_grad=True)
    control = control_at(1.2)
    control.loss(trace_of(scores))
    [(texts, count)] = control.parts
    expected = [number_of_spans(dict(enumerate(row.softmax(0).tolist()))) for row in scores.detach()]
    assert texts == 2 and float(count) == pytest.approx(sum(expected) / 2)
    price = 0.3
    loss = lambda scores: SpanCount(2.0, 100, price=price).loss(trace_of(scores))  # noqa: E731
    assert float(loss(scores).detach()) == pytest.approx(price * math.log(sum(expected) / 2))
    assert torch.autograd.gradcheck(loss, (scores,))


def test_the_price_rises_while_there_are_too_many_and_falls_below_0_where_there_are_too_few():
    for wanted, sign in ((1.2, 1), (2.9, -1)):
        control = control_at(wanted)
        for _ in range(30):
            control.loss(trace_of(torch.zeros(1, 3) + torch.tensor([0.0, 0.3, 1.5])))
            control.end_step()
        assert control.price * sign > 0 and control.done == 90


def test_the_wanted_number_falls_in_equal_ratios_over_the_first_half():
    control = SpanCount(2.0, 100, first=32.0)
    aims = []
    for done in range(100):
        control.done = done
        aims.append(control.aim())
    assert aims[0] == pytest.approx(2 * 16**0.98) and aims[24] == pytest.approx(8) and aims[49:] == [2.0] * 51
    assert SpanCount(2.0, 100, first=1.5).aim() == 2.0  # a number that is too small already has nothing to fall from


def test_parts_of_a_step_count_as_the_step():
    scores = torch.tensor([[0.4, -0.3, 1.0], [0.1, 1.2, -0.5], [2.0, 0.0, 0.0]])
    whole, cut = control_at(2.0), control_at(2.0)
    whole.loss(trace_of(scores))
    cut.loss(trace_of(scores[:1]))
    cut.loss(trace_of(scores[1:]))
    for control in (whole, cut):
        control.end_step()
    assert cut.record() == pytest.approx(whole.record())


def test_a_batch_without_spans_changes_nothing():
    control = control_at(2.0)
    before = control.record()
    assert float(control.loss(trace_of(torch.full((2, 3), -torch.inf)))) == 0
    control.end_step()
    assert control.record() == {**before, "done": 61}


def test_dev_is_counted_by_the_formula():
    model = tiny_composed("span")
    trace = part_of(model).output.spans
    expected = [number_of_spans(weights_of(trace, number)) for number in range(3)]
    counted = span_count_on_dev(model, model.encode(EXAMPLES), batch_size=2)
    assert counted == {"dev_spans": pytest.approx(sum(expected) / 3, rel=1e-4)}


@pytest.mark.parametrize("wanted", (2.0, 4.0))
@pytest.mark.parametrize("pull", (-0.1, 0.0, 0.1), ids=("the task spreads", "no task", "the task gathers"))
@pytest.mark.parametrize("steps", (200, 600))
def test_training_ends_at_the_wanted_number_whatever_the_task_pulls_at(wanted, pull, steps):
    """Scores of forty spans of eight texts, with Adam and falling rates; a task that has its own wish for the
    entropy.
    """
    scores = torch.randn(8, 40, generator=torch.Generator().manual_seed(0)) / 20
    scores = scores.double().requires_grad_()
    optimizer = torch.optim.AdamW([scores], weight_decay=0)
    control = SpanCount(wanted, steps)
    for done in range(steps):
        optimizer.param_groups[0]["lr"] = 0.1 * (1 - done / steps)
        trace = row_of_spans(scores)
        loss = control.loss(trace) + pull * trace.entropy.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        control.end_step()
    number = float(row_of_spans(scores).entropy.exp().mean().detach())
    assert number == pytest.approx(wanted, rel=0.25), (number, control.price)


def row_of_spans(scores):
    """Texts whose only legal spans begin with their first word."""
    table = torch.full((len(scores), 40, 40), -torch.inf, dtype=scores.dtype)
    table = torch.cat([scores[:, None], table[:, 1:]], 1)
    return SpanTrace(table, scores.logsumexp(1), (40,) * len(scores), "word", None)


def run(encoder, folder, fatal=-1):
    with Moments(fatal) as moments:
        trained(encoder, folder, moments.progress, penalties={}, spans=2.0)
    return moments


@pytest.mark.whole
def test_a_killed_training_ends_with_the_same_bytes(encoder, tmp_path):
    moments = run(encoder, tmp_path / "whole")
    for fatal in (moments.count // 2, moments.count - 6):
        killed(run, encoder, tmp_path / str(fatal), fatal)
        run(encoder, tmp_path / str(fatal))
        assert files_of(tmp_path / str(fatal)) == files_of(tmp_path / "whole")


def test_a_checkpoint_without_its_state_is_refused():
    with pytest.raises(ValueError, match="was not saved"):
        SpanCount(2.0, 10).restore({})
    with pytest.raises(ValueError, match="was not saved"):
        SpanCount(2.0, 10).restore([])
    with pytest.raises(ValueError, match="was not saved"):
        SpanCount(2.0, 10).restore({**SpanCount(2.0, 10).record(), "first": 3.0})
    SpanCount(2.0, 10).restore(SpanCount(2.0, 10).record())
    with pytest.raises(ValueError, match="was not saved"):
        SpanCount(2.0, 10).restore({"done": 1, "price": float("nan"), "mean": 1.0, "trend": 0.0, "first": 1.0})


@pytest.mark.whole
def test_it_needs_weights_of_spans_that_are_learnt(encoder, tmp_path):
    for pooler, settings in (("additive", {}), ("span", {"weights": "uniform"})):
        with pytest.raises(BadSetting, match="spans=2 holds the number of spans that share a text's weight"):
            check_span_count(2.0, Plan("tiny", pooler, settings, LABELS))
        check_span_count(None, Plan("tiny", pooler, settings, LABELS))
    with pytest.raises(BadSetting, match=r"spans=0.5 is too small"):
        Recipe(spans=0.5)
    trained(encoder, tmp_path, epochs=1, penalties={}, spans=2.0)
    with pytest.raises(BadFile, match="trained otherwise"):
        trained(encoder, tmp_path, epochs=1, penalties={}, spans=3.0)
    assert "spans" not in Recipe().record() and Recipe(spans=2.0).record()["spans"] == 2.0


def test_a_number_of_spans_takes_the_place_of_the_default_penalty():
    assert recipe_of("span", 0, None).penalties == {"entropy": 0.1}
    assert recipe_of("span", 0, None, spans=2.0) == Recipe(spans=2.0)
    assert recipe_of("span", 0, {"conicity": 1.0}, spans=2.0).penalties == {"conicity": 1.0}


@pytest.mark.parametrize(
    "changed",
    [
        {"pooler": "mean"},
        {"encoder": "bilstm"},
        {"pooler_settings": {"weights": "uniform"}},
        {"pooler_settings": {"n_heaviest": 3}},
        {"penalties": {}},
        {"changes": {"spans": 2.0}},
        {"changes": {"sharp_from": 0.0}},
        {"changes": {"objectives": {}}},
        {"changes": {"objectives_from": 0.5}},
        {"changes": {"objective_settings": {}}},
    ],
)
def test_which_calls_train_by_the_usual_recipe(changed):
    call = {
        "pooler": "span",
        "encoder": "minilm",
        "pooler_settings": {"max_width": 6},
        "penalties": None,
        "changes": {"epochs": 2, "spans": None},
    }
    assert usual_recipe(**call) == USUAL
    assert usual_recipe(**{**call, **changed}) is None


def test_a_call_without_a_recipe_has_the_settings_of_the_usual_one():
    usual, named = NAMED[USUAL], training_settings("span", "minilm", seed=1, recipe=USUAL)
    settings = training_settings("span", "minilm", seed=1, pooler_settings={"max_width": 6})
    assert settings.recipe == named.recipe == Recipe(**usual.recipe, seed=1)
    assert settings.pooler_settings == {**usual.pooler_settings, "max_width": 6}
    other = training_settings("span", "minilm", seed=1, penalties={"entropy": 0.2})
    assert other.pooler_settings == {} and other.recipe == Recipe(penalties={"entropy": 0.2}, seed=1)


def test_recipes_have_names_and_what_the_user_says_comes_first():
    assert recipe_of("span", 0, None, recipe="sun2020") == Recipe(penalties={"concentration": 1.0})
    believable = recipe_of("span", 0, None, recipe="believable")
    assert believable == Recipe(**NAMED["believable"].recipe) and believable.sharp_from
    assert set(believable.objectives) == {"answer_by_all_spans", "read_alone"}
    other = recipe_of(
        "span",
        1,
        {"entropy": 0.2},
        recipe="believable",
        objectives={"leave_out": 1.0, "read_alone": 0.5},
        spans=3.0,
    )
    assert (other.spans, other.penalties, other.objectives) == (
        3.0,
        {"entropy": 0.2},
        {"leave_out": 1.0, "read_alone": 0.5},
    )
    assert set(other.objective_settings) == {"read_alone"} and other.seed == 1
    assert recipe_of("span", 0, None, recipe="believable", objectives={}).objective_settings == {}
    assert recipe_of("span", 0, None, recipe="believable", spans=2.0).penalties == {}
    assert named_pooler_settings("believable", "span", {"max_width": 6}) == {
        **NAMED["believable"].pooler_settings,
        "max_width": 6,
    }
    for recipe, pooler, own in (
        (None, "span", {}),
        ("believable", "mean", {}),
        ("believable", "span", {"weights": "uniform"}),
    ):
        assert named_pooler_settings(recipe, pooler, own) == own
    with pytest.raises(UnknownName, match=r"No recipe is called 'sun2021'\. Did you mean 'sun2020'"):
        recipe_of("span", 0, None, recipe="sun2021")
    with pytest.raises(BadSetting, match="The recipe believable trains weights of spans, which only pooler='span'"):
        recipe_of("mean", 0, None, recipe="believable")


LEVERS = {
    "penalties": {},
    "spans": 2.0,
    "objectives": {"read_alone": 1.0, "leave_out": 0.5, "same_spans": 0.5, "answer_by_all_spans": 0.5},
    "objective_settings": {"leave_out": {"share": 0.5}, "same_spans": {"share": 0.5}},
    "objectives_from": 0.25,
    "sharp_from": 0.25,
    "pooler_settings": {
        "spans": "with_content",
        "max_width": 4,
        "of": "second",
        "n_heaviest": 3,
        "layer": 2,
        "layer_mix": True,
    },
}


def run_all(encoder, folder, fatal=-1):
    with Moments(fatal) as moments:
        trained(encoder, folder, moments.progress, epochs=2, **LEVERS)
    return moments


@pytest.mark.whole
def test_all_levers_together_train_and_a_killed_training_ends_with_the_same_bytes(encoder, tmp_path):
    moments = run_all(encoder, tmp_path / "whole")
    killed(run_all, encoder, tmp_path / "killed", moments.count // 2)
    run_all(encoder, tmp_path / "killed")
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "whole")
    record = json.loads((tmp_path / "whole" / "config.json").read_text())
    assert record["trained"]["recipe"]["spans"] == 2.0
    assert record["pooler_settings"] == LEVERS["pooler_settings"]
    assert sum(record["trained"]["layer_weights"]) == pytest.approx(1, abs=1e-5)
    assert len(record["trained"]["layer_weights"]) == 3


@pytest.mark.whole
@pytest.mark.parametrize("change", ({"of": "each"}, {"n_heaviest": 2}, {"layer": 2}, {"layer_mix": True}), ids=str)
def test_another_lever_is_another_training(encoder, tmp_path, change):
    trained(encoder, tmp_path, epochs=1)
    with pytest.raises(BadFile, match="trained otherwise"):
        trained(encoder, tmp_path, epochs=1, pooler_settings=change)


def test_texts_are_trained_on_as_before_where_no_lever_is_named():
    assert Recipe().record().keys().isdisjoint({"spans", "objectives"})
    assert len(parts()["train"]) == 32
