"""What training changed, in one small file: the model of the file is the trained one, as nearly as its rank allows."""

from copy import deepcopy
from dataclasses import replace
from hashlib import sha256

import pytest
import torch
from safetensors import safe_open

from pellucid.base.errors import BadFile, BadSetting
from pellucid.models.composed.changed_weights import EMBEDDINGS, FACTORS, load_changes, save_changes
from pellucid.models.composed.composed import as_classifier, compose
from pellucid.models.composed.networks import Plan
from pellucid.models.folders.weight_files import save_tensors
from pellucid.run.predicting import predictions
from tests.shared.tiny_training import LABELS, save_encoder, trained

TEXTS = ["A gripping, lovely film.", "Dull from beginning to end.", "It lasts two hours."]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("changes")
    return trained(save_encoder(folder / "encoder"), folder / "run", epochs=1)


@pytest.fixture
def plan(model):
    encoder = model.name.removesuffix("run") + "encoder"
    return Plan(encoder, "span", {}, LABELS)


def digest(path):
    return sha256(path.read_bytes()).hexdigest()


def logits(model):
    return torch.tensor([answer.logits for answer in predictions(model, TEXTS)])


def compose_untrained(plan):
    network, tokenizer = compose(plan, 0)
    return as_classifier(network.eval(), tokenizer, plan, "untrained")


def saved(model, plan, path, rank):
    save_changes(model.network, plan, path, rank)
    return load_changes(path, digest(path))


def test_with_full_rank_the_answers_are_those_of_the_trained_model_with_the_embeddings_from_before(
    model, plan, tmp_path
):
    again, its_plan = saved(model, plan, tmp_path / "full.safetensors", 64)
    assert its_plan == plan and again.labels == LABELS
    weights, before = model.network.state_dict(), again.network.state_dict()
    expected = replace(model, network=deepcopy(model.network))
    expected.network.load_state_dict(weights | {name: before[name] for name in before if name.endswith(EMBEDDINGS)})
    assert torch.allclose(logits(again), logits(expected), atol=2e-3)
    assert not torch.allclose(logits(again), logits(compose_untrained(plan)), atol=2e-2)


def test_a_lower_rank_is_smaller_and_further_away(model, plan, tmp_path):
    full, _ = saved(model, plan, tmp_path / "full.safetensors", 64)
    one, _ = saved(model, plan, tmp_path / "one.safetensors", 1)
    sizes = [(tmp_path / f"{name}.safetensors").stat().st_size for name in ("one", "full")]
    assert sizes[0] < sizes[1]
    weight = "encoder.encoder.layer.0.attention.self.query.weight"
    truth = model.network.state_dict()[weight]
    far, near = ((each.network.state_dict()[weight] - truth).norm() for each in (one, full))
    assert far > 2 * near


def test_another_file_is_refused_by_its_digest(model, plan, tmp_path):
    path = tmp_path / "changes.safetensors"
    save_changes(model.network, plan, path, 1)
    before = digest(path)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(BadFile, match=f"is not the file that belongs here.*{before}"):
        load_changes(path, before)


@pytest.mark.parametrize("more", ({"head.more": torch.ones(2)}, {"encoder.none" + FACTORS[0]: torch.ones(2)}))
def test_changes_that_the_network_has_no_place_for_are_refused(more, model, plan, tmp_path):
    path = tmp_path / "more.safetensors"
    save_changes(model.network, plan, path, 1)
    with safe_open(path, "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = file.metadata()
    save_tensors(tensors | more, path, metadata)
    with pytest.raises(BadFile, match="does not hold the changes of a composed model"):
        load_changes(path, digest(path))


def test_a_file_without_a_plan_is_refused(tmp_path):
    path = tmp_path / "none.safetensors"
    save_tensors({"a": torch.ones(1)}, path)
    with pytest.raises(BadFile, match="does not hold"):
        load_changes(path, digest(path))


def test_a_rank_of_nothing_is_refused(model, plan, tmp_path):
    with pytest.raises(BadSetting, match="rank=0"):
        save_changes(model.network, plan, tmp_path / "x", 0)
