"""Every route of a pass gives eager's answers, disturbs nobody, and leaves everything as it was."""

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest
import torch
from torch.overrides import _get_current_function_mode_stack

from pellucid.base.errors import BadFile, RouteNotUsed
from pellucid.base.kinds import routes
from pellucid.comparison import comparison
from pellucid.comparison import door as comparing
from pellucid.comparison.comparison_of import comparison_of
from pellucid.comparison.folder import ComparisonFolder
from pellucid.models.routing.trial import route_class
from pellucid.run.target import Target
from pellucid.text.example import as_examples
from tests.contracts.test_every_attribution import PassError, disturbed, failing, traces_of
from tests.shared.asking import FEW, ask
from tests.shared.cases import examples
from tests.shared.moments import Moments, files_of, killed
from tests.shared.threads import hurried_switching, in_the_middle, together
from tests.shared.tiny import FAMILIES, tiny_classifier, tiny_composed

# Eager itself keeps these promises in the other contract tests; here others are compared with it.
ALONE = [name for name in routes.names() if name != "eager" and not route_class(name).lacks()]
TOGETHER = "openvino+onednn"  # answers by one, passes with a graph by another
BOTH = [TOGETHER] if {*TOGETHER.split("+")} <= {*ALONE} else []
MODELS = {family: partial(tiny_classifier, family) for family in FAMILIES} | {"span": lambda: tiny_composed("span")}
# OpenVINO computes networks that read word embeddings; tracing loses what these do with padding. The last block is
# known by the names of its parts, and the head must read the first position.
NOT_BY = {
    "openvino": ("modernbert", "qwen2"),
    "first_position": tuple(
        kind for kind in MODELS if kind not in ("bert", "roberta", "distilbert", "electra", "xlm_roberta")
    ),
}
EVERY_CLASS = (
    "gradient",
    "integrated_gradients",
    "occlusion",
    "kernel_shap",
    "attention_gradient",
    "relevance",
)
METHODS = dict.fromkeys(MODELS, ("gradient", "occlusion")) | {"bert": EVERY_CLASS}
TEXTS = (
    "A gripping, lovely film with a long title, which nobody who saw it will forget.",
    "Dull.",
    "It was not bad.",
)
NEAR = 1e-5


def under(route, kind="bert"):
    return replace(MODELS[kind](), route=route)


def explained(model, method, texts=TEXTS):
    return ask(model, texts, (method, FEW.get(method, {})))


@cache
def eager_explained(kind, method):
    """What eager explains, with which the other routes are compared."""
    return explained(MODELS[kind](), method)


def assert_near(explanations, expected):
    for one, other in zip(explanations, expected, strict=True):
        room = NEAR * max(1.0, float(np.abs(other.scores).max()))
        np.testing.assert_allclose(one.scores, other.scores, rtol=0, atol=room)
        assert one.target.label == other.target.label


@pytest.mark.parametrize(
    ("route", "kind"),
    [(route, kind) for route in ALONE for kind in MODELS if kind not in NOT_BY.get(route, ())]
    + [(route, "bert") for route in BOTH],
)
def test_explanations_are_those_of_eager(route, kind):
    model = under(route, kind)
    assert model.route_in_use == route
    for method in METHODS[kind]:
        explanations = explained(model, method)
        assert_near(explanations, eager_explained(kind, method))
        for one in explanations:
            assert one.diagnostics["parity"] <= 1e-5
            assert one.settings.get("route", "eager") == route


@pytest.mark.parametrize(("route", "kind"), [(route, kind) for route in NOT_BY for kind in NOT_BY[route]])
def test_models_that_a_route_does_not_compute_are_explained_by_eager(route, kind):
    if route not in ALONE:
        pytest.skip(f"{route} is not installed")
    model = under(route, kind)
    with pytest.warns(RouteNotUsed, match=f"route='{route}' is not used"):
        assert model.route_in_use == "eager"
    assert_near(explained(model, "occlusion"), eager_explained(kind, "occlusion"))


@pytest.mark.parametrize("route", ALONE)
def test_neighbours_change_nothing_and_bytes_are_the_same_again(route):
    first, second, third = (under(route) for _ in range(3))
    for method in ("gradient", "kernel_shap"):
        explanations = explained(first, method)
        assert explained(second, method) == explanations
        alone = [explained(third, method, [text])[0] for text in reversed(TEXTS)]
        assert_near(alone[::-1], explanations)


@pytest.mark.parametrize("route", ALONE)
def test_everything_is_left_as_it_was_also_after_an_error(route):
    model = under(route)
    assert model.route_in_use == route
    weights = {name: tensor.clone() for name, tensor in model.network.state_dict().items()}
    with disturbed(model.network):
        before = traces_of(model.network), _get_current_function_mode_stack(), torch.get_num_threads()
        explained(model, "gradient")
        with failing(model.blocks[-1], 2), pytest.raises(PassError):
            explained(model, "occlusion")
        assert (
            traces_of(model.network),
            _get_current_function_mode_stack(),
            torch.get_num_threads(),
        ) == before
    assert all(torch.equal(tensor, weights[name]) for name, tensor in model.network.state_dict().items())


@pytest.mark.parametrize("route", ALONE)
def test_the_users_own_call_gets_the_networks_own_answer_meanwhile(route):
    model = under(route)
    columns = model.place(model.encode(as_examples(TEXTS)).rows)
    own = lambda: model.network(**columns).logits.detach()  # noqa: E731
    alone, plain = own(), model.plain_logits(as_examples(TEXTS)[0])
    with in_the_middle(model.blocks[0], own, times=3) as answers:
        explained(model, "occlusion")
    assert answers and all(torch.equal(answer, alone) for answer in answers)
    assert torch.equal(model.plain_logits(as_examples(TEXTS)[0]), plain)
    assert torch.equal(MODELS["bert"]().plain_logits(as_examples(TEXTS)[0]), plain)


@pytest.mark.parametrize("route", ALONE)
def test_threads_give_what_one_gives(route):
    model = under(route)
    methods = ("gradient", "occlusion", "kernel_shap")
    alone = [explained(model, method) for method in methods]
    with hurried_switching():
        side_by_side = together(*(lambda method=method: explained(model, method) for method in methods))
    assert side_by_side == alone


def compare(folder, route, fatal=-1):
    """Judge two methods in a folder, and count the moments at which the power may fail."""
    question = comparison_of(
        under(route),
        examples(),
        ["gradient", "occlusion"],
        ["comprehensiveness"],
        target=Target(),
        seed=0,
        resamples=20,
    )
    with Moments(fatal) as moments:
        comparing.compare_in(ComparisonFolder(folder, question), moments.progress)
    return moments.count


@pytest.mark.parametrize("route", ALONE)
def test_a_killed_comparison_goes_on_by_its_own_route_and_ends_with_the_same_bytes(route, tmp_path, monkeypatch):
    """In the middle of its work; other moments are those of eager, in `test_comparison_folder.py`."""
    monkeypatch.setattr(comparison, "PART", 2)
    count, folder = compare(tmp_path / "whole", route), tmp_path / "killed"
    killed(compare, folder, route, count // 2)
    with pytest.raises(BadFile, match=f"route: there {route}, here none named"):
        compare(folder, "eager")
    compare(folder, route)
    assert files_of(folder) == files_of(tmp_path / "whole")
    compare(tmp_path / "eager", "eager")
    with pytest.raises(BadFile, match=f"route: there none named, here {route}"):
        compare(tmp_path / "eager", route)
