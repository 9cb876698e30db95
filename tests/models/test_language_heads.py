"""Language heads of pretrained checkpoints: read safely for every family, and refused in one sentence."""

import pytest
import torch
from transformers import AutoModel, AutoModelForCausalLM, ElectraForPreTraining

import pellucid
from pellucid.base.errors import BadFile, BadInput, ModelCannot
from pellucid.models.composed.composed import save_composed
from pellucid.models.composed.networks import Plan
from pellucid.models.language_heads.lens_folder import load_masked_lm_head
from pellucid.models.language_heads.masked_head import MaskedLMHead, named_tokens
from tests.shared.tiny import (
    LABELS,
    MASKED,
    TOKENIZERS,
    save_tiny,
    tiny_classifier,
    tiny_composed,
    tiny_masked_lm,
    tiny_network,
)

TEXT = "A gripping, lovely film."


def saved(folder, network, family="bert"):
    network.save_pretrained(folder)
    TOKENIZERS[family]().save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("checkpoint"), tiny_masked_lm())


def own_logits(network, family):
    """The masked-LM network's own [place token] for a text, and what its encoder's last block gave."""
    columns = TOKENIZERS[family]()(TEXT, return_tensors="pt")
    with torch.no_grad():
        output = network(**columns, output_hidden_states=True)
    return output.logits[0], columns


@pytest.mark.parametrize("family", MASKED)
def test_every_family_s_head_gives_its_network_s_own_answers(family, tmp_path):
    network = tiny_masked_lm(family)
    head = load_masked_lm_head(saved(tmp_path, network, family))
    classifier = tiny_classifier(family)
    base = classifier.network.base_model
    base.load_state_dict(network.base_model.state_dict(), strict=False)
    logits, _ = own_logits(network, family)
    states = last_states(classifier)
    ids = [5, 9, logits.shape[1] - 1]
    expected = logits.log_softmax(-1)
    torch.testing.assert_close(head.log_probabilities(states, 3, ids), expected[:, ids], atol=1e-4, rtol=1e-4)
    assert torch.equal(head.most_likely(states, 3), logits.argmax(-1))
    assert (head.width, head.n_tokens) == (states.shape[-1], logits.shape[1])
    everything = head.log_probabilities(states, 0, range(head.n_tokens))
    torch.testing.assert_close(everything.exp().sum(-1), torch.ones(len(states)), atol=1e-5, rtol=0)


def last_states(classifier):
    """What the classifier's last block gives for the text."""
    from pellucid.run.trace import Want
    from pellucid.text.example import as_examples

    rows = classifier.encode(as_examples([TEXT])).rows
    with torch.no_grad():
        return classifier.trace(rows, Want(hidden=True)).hidden[-1][0]


@pytest.mark.parametrize("family", MASKED)
def test_a_saved_classifier_of_every_family_is_explained_with_a_head(family, tmp_path):
    head = saved(tmp_path / "checkpoint", tiny_masked_lm(family), family)
    model = pellucid.load(save_tiny(tmp_path / "classifier", family), language_head=head)
    assert "language_head" in model.capabilities
    assert "language_head" not in pellucid.load(tmp_path / "classifier").capabilities
    explanation = pellucid.explain(model, TEXT, "decoded_saliency", layer="all")[0]
    assert explanation.scores.shape[0] == 4
    assert explanation.scores.any()


def test_a_composed_model_and_one_in_memory_take_a_head(checkpoint, tmp_path):
    from pellucid.models.composed.composed import save_composed
    from pellucid.models.composed.networks import Plan
    from tests.shared.tiny import LABELS

    span = tiny_composed("span")
    save_composed(span.network, span.tokenizer, Plan("tiny", "span", {}, LABELS), tmp_path / "span")
    classifier = tiny_classifier()
    for model in (
        pellucid.load(tmp_path / "span", language_head=checkpoint),
        pellucid.load(classifier.network, classifier.tokenizer, language_head=str(checkpoint)),
        pellucid.load(classifier.network, classifier.tokenizer, language_head=load_masked_lm_head(checkpoint)),
    ):
        assert pellucid.explain(model, TEXT, "decoded_saliency")[0].scores.any()


def test_the_head_is_frozen_and_keeps_the_checkpoint_s_own_word_vectors(checkpoint):
    classifier = tiny_classifier()
    model = pellucid.load(classifier.network, classifier.tokenizer, language_head=checkpoint)
    before = pellucid.explain(model, TEXT, "decoded_saliency", layer=2)[0]
    states = last_states(classifier)
    first = model.language_head.log_probabilities(states, 2, [7])
    with torch.no_grad():
        classifier.network.get_input_embeddings().weight.mul_(2.0)
    assert torch.equal(model.language_head.log_probabilities(states, 2, [7]), first)
    assert not any(parameter.requires_grad for parameter in model.language_head._network.parameters())
    assert before.settings["language_head_digest"] == load_masked_lm_head(checkpoint).digest


def test_the_digest_follows_the_weights(checkpoint, tmp_path):
    network = tiny_masked_lm()
    with torch.no_grad():
        network.cls.predictions.bias[3] += 1.0
    other = load_masked_lm_head(saved(tmp_path, network))
    assert other.digest != load_masked_lm_head(checkpoint).digest


def refusal(source, error, family="bert"):
    classifier = tiny_classifier(family)
    with pytest.raises(error) as raised:
        pellucid.load(classifier.network, classifier.tokenizer, language_head=source)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_decoders_are_refused_and_a_lens_is_the_way_out(tmp_path):
    config = tiny_network("gpt2").config
    decoder = saved(tmp_path / "gpt2", AutoModelForCausalLM.from_config(config), "gpt2")
    message = refusal(decoder, ModelCannot, "gpt2")
    assert "next token" in message
    assert "lens" in message
    bert = AutoModelForCausalLM.from_config(tiny_network("bert", is_decoder=True).config)
    assert "next token" in refusal(saved(tmp_path / "bert", bert), ModelCannot)


def test_checkpoints_without_a_masked_lm_head_are_refused(tmp_path):
    encoder = saved(tmp_path / "encoder", AutoModel.from_config(tiny_network("bert").config))
    assert "no trained masked-language-model head" in refusal(encoder, ModelCannot)  # as MiniLM is
    assert "no trained masked-language-model head" in refusal(save_tiny(tmp_path / "classifier"), ModelCannot)
    discriminator = ElectraForPreTraining(tiny_network("electra").config)
    message = refusal(saved(tmp_path / "electra", discriminator, "electra"), ModelCannot, "electra")
    assert "generator" in message


def test_a_classifier_that_pellucid_trained_is_named_as_one(tmp_path):
    classifier = tiny_composed("first_token")
    save_composed(
        classifier.network,
        classifier.tokenizer,
        Plan("tiny", "first_token", {}, LABELS),
        tmp_path / "trained",
    )
    message = refusal(tmp_path / "trained", ModelCannot)
    assert "a classifier that Pellucid trained, which has no language head; train a lens" in message


def test_another_width_or_vocabulary_is_refused(checkpoint, tmp_path):
    from transformers import AutoModelForMaskedLM

    wide = AutoModelForMaskedLM.from_config(tiny_network("bert", hidden_size=64).config)
    message = refusal(saved(tmp_path / "wide", wide), ModelCannot)
    assert "width 64" in message
    assert "width 32" in message
    other = saved(tmp_path / "roberta", tiny_masked_lm("roberta"), "roberta")
    assert "another vocabulary" in refusal(other, ModelCannot)


def test_what_is_no_checkpoint_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    refusal(tmp_path / "empty", BadFile)
    refusal("no-such/checkpoint/at/all", BadFile)
    assert "a head" in refusal(7, BadInput)
    (tmp_path / "lens").mkdir()
    (tmp_path / "lens" / "lens.json").write_text("{}")
    refusal(tmp_path / "lens", (ModelCannot, BadFile))
    pickled = saved(tmp_path / "pickled", tiny_masked_lm())
    torch.save(tiny_masked_lm().state_dict(), pickled / "pytorch_model.bin")
    (pickled / "model.safetensors").unlink()
    refusal(pickled, BadFile)


def test_a_head_that_does_not_read_the_last_states_alone_is_refused():
    class Skipping(type(tiny_masked_lm())):
        def forward(self, input_ids=None, **columns):
            output = super().forward(input_ids=input_ids, **columns)
            if input_ids is not None:
                output.logits = output.logits + input_ids[..., None]
            return output

    network = tiny_masked_lm()
    network.__class__ = Skipping
    with pytest.raises(ModelCannot, match="last hidden states alone"):
        MaskedLMHead(network, TOKENIZERS["bert"](), "skipping")


def test_probabilities_in_slices_are_those_at_once_and_memory_is_flat():
    torch.manual_seed(2)
    weight, states = torch.randn(70_000, 8), torch.randn(300, 8)
    sizes = []

    def logits(some):
        sizes.append(len(some) * len(weight))
        return some @ weight.T

    named = named_tokens(logits, states, [3, 69_999], len(weight))
    expected = (states @ weight.T).log_softmax(-1)
    torch.testing.assert_close(named.log_probabilities, expected[:, [3, 69_999]], atol=1e-4, rtol=1e-5)
    assert torch.equal(named.most_likely, expected.argmax(-1))
    assert max(sizes) <= 1 << 23
    assert len(sizes) > 2
    nothing = named_tokens(logits, states[:0], [1], len(weight))
    assert nothing.log_probabilities.shape == (0, 1)


def test_a_head_computes_in_the_classifier_s_type_and_in_float32_at_least(checkpoint, tmp_path):
    """Its float32 beside a classifier in float64 left errors of 7e-7 in scores."""
    folder = save_tiny(tmp_path / "classifier", "bert")
    scores = {}
    for name in ("float32", "float64", "bfloat16"):
        model = pellucid.load(folder, dtype=name, language_head=checkpoint)
        states = torch.randn(2, model.language_head.width, dtype=torch.float64)
        computed = model.language_head.name_tokens(states, 1, [7]).log_probabilities
        scores[name] = computed.double()
    assert not torch.equal(scores["float64"], scores["float64"].float().double())  # more digits than float32 has
    assert torch.equal(scores["bfloat16"], scores["bfloat16"].float().double())
