"""Training by another route: the same bytes again, near to eager's, and never half by one and half by another."""

import pytest
from safetensors.torch import load_file

import pellucid
from pellucid.base.errors import BadSetting, UnknownName
from pellucid.explaining.inputs.loading import loading_of
from pellucid.models.routing.linear_product import TrainedLinear
from pellucid.models.routing.routes import OneDnnRoute
from pellucid.training.recipe import Recipe
from tests.shared.moments import files_of
from tests.shared.tiny_training import parts, trained
from tests.training.test_resume import Stop, stopped_at

pytestmark = pytest.mark.skipif(bool(OneDnnRoute.lacks()), reason="this PyTorch has no such oneDNN")


@pytest.fixture(scope="module")
def by_onednn(encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("onednn")
    trained(encoder, folder, route="onednn", epochs=1)
    return folder


@pytest.mark.whole
def test_a_stopped_training_goes_on_and_ends_with_the_same_bytes(encoder, by_onednn, tmp_path):
    with pytest.raises(Stop):
        trained(encoder, tmp_path, stopped_at(4), route="onednn", epochs=1)
    trained(encoder, tmp_path, route="onednn", epochs=1)
    assert files_of(tmp_path) == files_of(by_onednn)


@pytest.mark.whole
def test_it_learns_what_eager_learns(encoder, by_onednn, tmp_path):
    trained(encoder, tmp_path, epochs=1)
    ours, eager = (load_file(folder / "model.safetensors") for folder in (by_onednn, tmp_path))
    assert max(float((ours[name] - eager[name]).abs().max()) for name in eager) < 1e-3  # a step is up to 1e-2


@pytest.mark.whole
def test_its_products_are_those_of_onednn(encoder, tmp_path, monkeypatch):
    calls, forward = [], TrainedLinear.forward
    monkeypatch.setattr(TrainedLinear, "forward", staticmethod(lambda *inputs: calls.append(1) or forward(*inputs)))
    trained(encoder, tmp_path / "eager", epochs=1)
    assert not calls
    trained(encoder, tmp_path / "onednn", epochs=1, route="onednn")
    assert calls


def test_a_route_that_cannot_compute_here_is_refused(encoder, tmp_path, monkeypatch):
    monkeypatch.setattr(OneDnnRoute, "lacks", staticmethod(lambda: "there is no oneDNN"))
    with pytest.raises(BadSetting, match=r"route='onednn' is not possible: there is no oneDNN; give route='eager'\."):
        trained(encoder, tmp_path, route="onednn")
    with pytest.raises(BadSetting, match=r"route='openvino' is not possible: it computes no steps of training; "):
        trained(encoder, tmp_path, route="openvino")


def test_a_recipe_names_its_route_where_it_is_not_eager():
    assert "route" not in Recipe().record()
    assert Recipe(route="onednn").record()["route"] == "onednn"
    with pytest.raises(UnknownName, match="No route is called 'auto'"):
        Recipe(route="auto")


@pytest.mark.whole
def test_what_is_trained_is_explained_by_the_route_that_the_environment_names(encoder, tmp_path, monkeypatch):
    monkeypatch.setenv("PELLUCID_ROUTE", "onednn")
    few = {"epochs": 1, "precision": "float32", "progress": False}
    model = pellucid.train({"train": parts()["train"], "dev": parts()["dev"]}, encoder=encoder, out=tmp_path, **few)
    assert model.route == pellucid.load(tmp_path).route == "onednn"
    assert loading_of(model)().route == "onednn"
