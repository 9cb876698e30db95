"""Models with B-cos layers: for each text a linear map of its pieces, which the method `b_cos` shows exactly."""

import json

import pytest
import torch
from torch import nn
from transformers import BartConfig, BartModel

import pellucid
from pellucid.base.errors import BadFile, BadSetting, ModelCannot
from pellucid.base.kinds import poolers
from pellucid.models.composed import lower_layers as b_cos_layers
from pellucid.models.composed.composed import compose
from pellucid.models.composed.lower_layers import EXPONENT, BCosLinear, aligned, check_form, with_b_cos_layers
from pellucid.models.composed.networks import Plan
from pellucid.models.load import load_classifier
from pellucid.run.target import Target
from pellucid.training.train import train_model
from tests.reference import b_cos as literal
from tests.shared.asking import ask
from tests.shared.moments import Moments, files_of, killed
from tests.shared.tiny import MASKED, save_tiny, tiny_composed, tiny_on_vectors
from tests.shared.tiny_training import LABELS, parts, recipe, save_encoder

TEXTS = ("A gripping, lovely film.", "Dull and long, and in the end not worth the evening.", "fine")
POOLERS = ("first_token", "mean", "maximum")
PAIR = ("The café was closed.", "Nobody eats there.")


def weights_of(block):
    """The weights of one block of BERT by the names that the reference uses."""
    own = block.attention.self
    return {
        "query": own.query.weight,
        "key": own.key.weight,
        "value": own.value.weight,
        "attention_output": block.attention.output.dense.weight,
        "attention_norm": block.attention.output.LayerNorm.weight,
        "inner": block.intermediate.dense.weight,
        "outer": block.output.dense.weight,
        "norm": block.output.LayerNorm.weight,
    }


@pytest.mark.parametrize("text", (TEXTS[0], PAIR))
def test_contributions_are_those_of_the_map_written_out(text):
    model = tiny_composed("first_token", layer_form="b_cos")
    model.network.double()
    encoder = model.network.encoder
    with torch.no_grad():
        (explanation,) = ask(model, [text], "b_cos")
        columns = model.place(model.encode([explanation.example]).rows)
        inner = columns["pieces"] if "pieces" in columns else next(iter(columns.values()))
        states = encoder.embeddings(input_ids=inner.input_ids, token_type_ids=inner.token_type_ids)[0]
        logits, expected = literal.contributions(
            states,
            [weights_of(block) for block in encoder.encoder.layer],
            model.network.head.weight,
            encoder.config.num_attention_heads,
            encoder.config.layer_norm_eps,
            EXPONENT,
        )
    label = int(logits.argmax())
    assert explanation.target.value == pytest.approx(float(logits[label]), rel=1e-5)
    assert explanation.scores.tolist() == pytest.approx(expected[label].tolist(), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("family", MASKED)
@pytest.mark.parametrize("pooler", POOLERS)
def test_contributions_add_up_to_the_logit_in_every_family(family, pooler):
    model = tiny_composed(pooler, family=family, layer_form="b_cos")
    for name in ("predicted", LABELS[0], (LABELS[0], LABELS[2])):
        for one in ask(model, [*TEXTS, PAIR], "b_cos", target=Target(name)):
            assert float(one.scores.sum()) == pytest.approx(one.target.value, rel=1e-4, abs=1e-4)
            assert one.diagnostics["conservation_gap"] < 1e-3
    model.network.double()
    assert all(one.diagnostics["conservation_gap"] < 1e-10 for one in ask(model, TEXTS, "b_cos"))


def test_a_layer_weighs_by_the_power_of_its_cosine(monkeypatch):
    layer = BCosLinear(3, 2, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[3.0, 0.0, 0.0], [0.0, 0.0, 5.0]]))
    inputs = torch.tensor([[3.0, 4.0, 0.0]])
    expected = [9 * 0.6 ** (EXPONENT - 1), 0.0]
    assert layer(inputs)[0].tolist() == pytest.approx(expected)
    monkeypatch.setattr(b_cos_layers, "EXPONENT", 1.0)
    assert layer(inputs)[0].tolist() == [9, 0]


def test_gradients_are_finite_where_nothing_is_aligned_and_right_elsewhere():
    weight = torch.randn(4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    inputs = torch.tensor([[0.0, 0.0, 0.0], [0.3, -1.0, 2.0]], dtype=torch.float64)

    def layer(one, two):
        return aligned(one @ two.T, one, two)

    inputs.requires_grad_(), weight.requires_grad_()
    layer(inputs, weight).sum().backward()
    assert inputs.grad.isfinite().all() and weight.grad.isfinite().all()
    far = inputs.detach()[1:].requires_grad_()
    assert torch.autograd.gradcheck(layer, (far, weight))


def run(encoder, folder, fatal=-1, **changes):
    plan = Plan(str(encoder), "mean", {}, LABELS, layer_form="b_cos")
    with Moments(fatal) as moments:
        train_model(parts(), plan, recipe(penalties={}, **changes), folder, "cpu", progress=moments.progress)
    return moments


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return save_encoder(tmp_path_factory.mktemp("encoder") / "encoder")


@pytest.mark.whole
def test_a_trained_one_is_read_back_and_a_killed_training_ends_with_the_same_bytes(encoder, tmp_path):
    moments = run(encoder, tmp_path / "whole")
    killed(run, encoder, tmp_path / "killed", moments.count // 2)
    run(encoder, tmp_path / "killed")
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "whole")
    model = load_classifier(tmp_path / "whole")
    assert "b_cos" in model.capabilities
    constants = [name for name in model.network.state_dict() if name.endswith("bias")]
    assert constants == []
    assert json.loads((tmp_path / "whole" / "config.json").read_text())["layer_form"] == "b_cos"
    (explanation,) = pellucid.explain(model, TEXTS[0])
    assert explanation.method == "b_cos" and explanation.diagnostics["conservation_gap"] < 1e-4


@pytest.mark.whole
def test_a_classifier_is_upgraded_to_one(tmp_path):
    source = save_tiny(tmp_path / "source", "roberta", LABELS)
    model = pellucid.train(
        "pocket",
        start_from=source,
        pooler="first_token",
        form="b_cos",
        out=tmp_path / "out",
        epochs=1,
        progress=False,
    )
    assert model.labels == LABELS and "b_cos" in model.capabilities
    assert pellucid.Upgrade.read(tmp_path / "out").parts.keys() >= {"dev"}
    with pytest.raises(
        BadSetting, match=r"has B-cos layers; give form='b_cos' with pooler=.*, or begin with another model"
    ):
        pellucid.train("pocket", start_from=tmp_path / "out", pooler="mean", out=tmp_path / "more", epochs=1)


def test_the_form_is_part_of_a_models_hash():
    """The same weights compute another function."""
    one = tiny_composed("mean", layer_form="b_cos")
    assert one.network.pooler_settings["layer_form"] == "b_cos"
    assert "layer_form" not in tiny_composed("mean").network.pooler_settings


def test_what_cannot_be_is_refused(tmp_path):
    with pytest.raises(BadSetting, match="form='bcos' is not possible; give 'b_cos'"):
        pellucid.train("pocket", pooler="mean", form="bcos", out=tmp_path)
    with pytest.raises(BadSetting, match="pooler='span' is not; give pooler='first_token' or 'maximum' or 'mean'"):
        pellucid.train("pocket", form="b_cos", out=tmp_path)
    with pytest.raises(ModelCannot, match=r"has no B-cos layers \(it was not trained with form='b_cos'\)"):
        ask(tiny_composed("mean"), [TEXTS[0]], "b_cos")
    for name in ("bilstm", "cnn"):
        encoder = tiny_on_vectors(name, "mean").network.encoder
        with pytest.raises(BadSetting, match=f"those of {name} in .*bias.* cannot be left away"):
            with_b_cos_layers(encoder, name)


@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16))
def test_short_numbers_give_the_same_up_to_rounding(dtype):
    layer = BCosLinear(3, 2, bias=False)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        layer.weight.copy_(torch.randn(2, 3, generator=generator))
    rows = [[0.0] * 3, [1e-4] * 3, [1.0, -2.0, 0.5], [90.0, 40.0, -10.0]]
    inputs = torch.tensor(rows)
    expected = layer(inputs).detach()
    short = inputs.to(dtype).requires_grad_()
    output = layer.to(dtype)(short)
    assert output.dtype == dtype
    torch.testing.assert_close(output.float(), expected, rtol=0.03, atol=1e-4)
    output.float().sum().backward()
    assert short.grad.isfinite().all()


def test_encoders_with_a_decoder_and_joined_windows_are_refused(encoder, tmp_path):
    size = {
        "encoder_layers": 1,
        "decoder_layers": 1,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
    }
    bart = BartModel(BartConfig(vocab_size=99, d_model=16, encoder_ffn_dim=8, decoder_ffn_dim=8, **size))
    with pytest.raises(BadSetting, match="has a decoder, which reads the words once more; give an encoder"):
        with_b_cos_layers(bart, "bart")
    plan = Plan(str(encoder), "mean", {}, LABELS, max_length=300, layer_form="b_cos")
    with pytest.raises(BadSetting, match="max_length=300 joins windows; leave one of them away"):
        compose(plan, 0)


def test_only_poolers_that_say_that_they_are_sums_fit():
    fitting = [name for name in poolers.names() if poolers.get(name).facts["linear"]]
    assert fitting == ["first_token", "maximum", "mean"]
    for name in poolers.names():
        if name in fitting:
            check_form("b_cos", name)
        else:
            with pytest.raises(BadSetting, match=f"pooler={name!r} is not; give pooler='first_token' or"):
                check_form("b_cos", name)


def test_an_answer_that_is_no_sum_has_a_caveat():
    """A plug-in pooler may say that it is linear and have constants."""
    model = tiny_composed("mean", layer_form="b_cos")
    with torch.no_grad():
        model.network.head.register_parameter("bias", nn.Parameter(torch.full((3,), 0.5)))
    (explanation,) = ask(model, [TEXTS[0]], "b_cos")
    assert explanation.diagnostics["conservation_gap"] > 0.1
    assert "The contributions miss" in explanation.caveats[0]


def test_a_folder_with_another_form_is_refused(tmp_path, encoder):
    run(encoder, tmp_path / "one", epochs=1)
    config = tmp_path / "one" / "config.json"
    config.write_text(config.read_text().replace('"layer_form": "b_cos"', '"layer_form": "c_bos"'))
    with pytest.raises(BadFile, match="form='c_bos' is not possible"):
        load_classifier(tmp_path / "one")
    assert issubclass(BCosLinear, nn.Linear)
