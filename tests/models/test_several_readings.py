"""Zero-shot and similarity: a text's pieces are read several times, and the answers are those of the user's own calls."""

import json
from contextlib import nullcontext
from functools import cache
from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
import torch
from torch.autograd.function import once_differentiable
from torch.nn import functional as F
from transformers import (
    AutoModel,
    AutoTokenizer,
    BartConfig,
    BartForSequenceClassification,
    BertForSequenceClassification,
    pipeline,
)

import pellucid
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.base.kinds import attributions
from pellucid.models.classifiers.hugging_face import minilm_source
from pellucid.run.target import Target
from pellucid.text.units import coarsen
from tests.shared.asking import FEW, ask, works
from tests.shared.tiny import TOKENIZERS, tiny_network

TEXTS = ("Snow fell on the harbour.", "A gripping, lovely film about nobody.", "fine")
PAIRS = (TEXTS[:2], ("The café was closed.", "Nobody could eat there."), ("fine", "A good film."))
LABELS, TEMPLATE = ("sport", "politics and films"), "This text is about {}."
CLASSES = ("contradiction", "neutral", "entailment")
FAMILIES = ("bert", "roberta")


def nli_pipeline(family, classes=CLASSES, task="zero-shot-classification"):
    names = {"id2label": dict(enumerate(classes)), "label2id": {name: n for n, name in enumerate(classes)}}
    network = tiny_network(family, len(classes), **names).double()
    return pipeline(task, model=network, tokenizer=TOKENIZERS[family]())


def bi_encoder(family="bert", **settings):
    return pellucid.similarity(tiny_network(family).base_model.double(), TOKENIZERS[family](), **settings)


@cache
def model_of(kind, family="bert"):
    """A model of each question; `kind` says which."""
    if kind == "similarity":
        return bi_encoder(family), PAIRS
    zero = nli_pipeline(family)
    settings = {"hypothesis_template": TEMPLATE, "multi_label": kind == "several labels"}
    return pellucid.zero_shot(zero, labels=LABELS, **settings), TEXTS


KINDS = ("labels", "several labels", "similarity")


def answer_of(network, columns):
    with torch.no_grad():
        return network(**columns)


@pytest.mark.parametrize("classes", (CLASSES, CLASSES[::-1]), ids=str)
@pytest.mark.parametrize("multi_label", (False, True))
@pytest.mark.parametrize("family", (*FAMILIES, "mpnet", "gpt2"))
def test_a_label_has_the_pipelines_own_number(family, multi_label, classes):
    zero = nli_pipeline(family, classes)
    settings = {"hypothesis_template": TEMPLATE, "multi_label": multi_label}
    model = pellucid.zero_shot(zero, labels=LABELS, **settings)
    for text, prediction in zip(TEXTS, pellucid.predict(model, list(TEXTS)), strict=True):
        answer = zero(text, list(LABELS), **settings)
        theirs = dict(zip(answer["labels"], answer["scores"], strict=True))
        assert dict(zip(prediction.labels, prediction.probabilities, strict=True)) == pytest.approx(theirs, abs=1e-6)
        columns = [zero.tokenizer(text, TEMPLATE.format(label), return_tensors="pt") for label in LABELS]
        rows = [answer_of(zero.model, each).logits[0].numpy() for each in columns]
        entailment, contradiction = classes.index("entailment"), classes.index("contradiction")
        expected = [row[entailment] - row[contradiction] * multi_label for row in rows]
        np.testing.assert_allclose(prediction.logits, expected, rtol=0, atol=1e-6)


def test_one_label_stands_alone_as_in_the_pipeline():
    zero = nli_pipeline("bert")
    prediction = pellucid.predict(pellucid.zero_shot(zero, labels=["sport"]), TEXTS[0])[0]
    assert prediction.labels == ("not sport", "sport")
    assert prediction.probabilities[1] == pytest.approx(zero(TEXTS[0], ["sport"])["scores"][0], abs=1e-6)


def test_a_pipeline_that_knows_its_labels_is_explained_as_it_is():
    zero = nli_pipeline("bert")
    zero._preprocess_params = {"candidate_labels": list(LABELS), "hypothesis_template": TEMPLATE}
    explanation = pellucid.explain(zero, TEXTS[0], "occlusion", target=LABELS)[0]
    by_name = pellucid.explain(model_of("labels")[0], TEXTS[0], "occlusion", target=LABELS)[0]
    assert str(explanation.target) == "logit of sport against politics and films"
    np.testing.assert_allclose(explanation.scores, by_name.scores, rtol=0, atol=1e-9)


def test_a_network_with_encoder_and_decoder_reads_hypotheses():
    """As BART, the usual zero-shot model, which reads the state of the last of several end tokens."""
    tokenizer = TOKENIZERS["roberta"]()
    sizes = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2}
    sizes |= {"decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16, "vocab_size": len(tokenizer)}
    ends = {"pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.sep_token_id, "bos_token_id": 0}
    torch.manual_seed(5)
    config = BartConfig(**sizes, **ends, decoder_start_token_id=tokenizer.sep_token_id, num_labels=3)
    config.id2label, config.label2id = dict(enumerate(CLASSES)), {name: n for n, name in enumerate(CLASSES)}
    network = BartForSequenceClassification(config).double().eval()
    zero = pipeline("zero-shot-classification", model=network, tokenizer=tokenizer)
    model = pellucid.zero_shot(zero, labels=LABELS)
    results = pellucid.explain(model, list(TEXTS), "integrated_gradients", target=LABELS, n_steps=64)
    assert all(explanation.diagnostics["completeness_gap"] < 1e-3 for explanation in results)


def readings_of(kind, model, text):
    """The columns of each reading of a text, by the tokenizer's own call, and the places of the text's pieces there."""
    tokenizer = model.reader.tokenizer
    segments = [(each,) for each in text] if kind == "similarity" else [(text, TEMPLATE.format(x)) for x in LABELS]
    columns = [tokenizer(*each, return_tensors="pt") for each in segments]
    return columns, [[n for n, s in enumerate(each.sequence_ids(0)) if s == 0] for each in columns]


def value_of(kind, model, vectors, columns):
    """The explained value by the network's own calls with vectors in the place of ids."""
    network = model.network.encoder if kind == "similarity" else model.network
    kinds = [{name: each[name] for name in each if name != "input_ids"} for each in columns]
    outputs = [network(inputs_embeds=each, **rest) for each, rest in zip(vectors, kinds, strict=True)]
    if kind == "similarity":
        means = [
            (out.last_hidden_state * rest["attention_mask"][..., None]).sum(1) / rest["attention_mask"].sum()
            for out, rest in zip(outputs, kinds, strict=True)
        ]
        return F.cosine_similarity(*means)[0]
    first, second = (out.logits[0] for out in outputs)
    against = 1.0 if kind == "several labels" else 0.0
    number = CLASSES.index
    return sum(
        sign * (row[number("entailment")] - against * row[number("contradiction")])
        for sign, row in ((1, first), (-1, second))
    )


def embedded(model, columns):
    table = model.network.get_input_embeddings()
    return [table(each["input_ids"]).detach().requires_grad_() for each in columns]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_the_networks_own_calls(kind, family):
    model, (text, *_) = model_of(kind, family)
    columns, places = readings_of(kind, model, text)
    vectors = embedded(model, columns)
    value = value_of(kind, model, vectors, columns)
    by_reading = [
        (vector * gradient).sum(-1)[0, place].detach().numpy()
        for vector, gradient, place in zip(vectors, torch.autograd.grad(value, vectors), places, strict=True)
    ]
    expected = np.concatenate(by_reading) if kind == "similarity" else np.sum(by_reading, axis=0)
    target = Target() if kind == "similarity" else Target(LABELS)
    explanation = ask(model, [text], "gradient_x_input", target=target)[0]
    np.testing.assert_allclose(explanation.scores[list(explanation.units.content)], expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kind", KINDS)
def test_an_absent_piece_keeps_its_place_behind_the_mask(kind, family):
    model, (text, *_) = model_of(kind, family)
    target = Target() if kind == "similarity" else Target(LABELS)
    explanation = ask(model, [text], ("occlusion", {"unit": "piece"}), target=target)[0]
    columns, places = readings_of(kind, model, text)
    whole = value_of(kind, model, embedded(model, columns), columns).detach()
    expected = []
    sides = range(2) if kind == "similarity" else (None,)
    for side in sides:
        for piece in range(len(places[side or 0])):
            edited = [{name: column.clone() for name, column in each.items()} for each in columns]
            for number in range(2) if side is None else (side,):
                edited[number]["attention_mask"][0, places[number][piece]] = 0
            expected.append(float(whole - value_of(kind, model, embedded(model, columns), edited).detach()))
    np.testing.assert_allclose(explanation.scores[list(explanation.units.content)], expected, rtol=0, atol=1e-6)


class ReadsPadding(BertForSequenceClassification):
    """It takes the mean over all positions, those of padding too."""

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        states = self.bert(input_ids=input_ids, token_type_ids=token_type_ids).last_hidden_state
        return self.classifier(states.mean(1))


def test_a_network_that_reads_padding_never_sees_any():
    """Hypotheses have different lengths, so even the readings of one text may not share a pass."""
    plain = nli_pipeline("bert").model
    network = ReadsPadding(plain.config).double().eval()
    network.load_state_dict(plain.state_dict())
    model = pellucid.zero_shot((network, TOKENIZERS["bert"]()), LABELS, hypothesis_template=TEMPLATE)
    for text, together in zip(TEXTS, ask(model, TEXTS, "gradient_x_input"), strict=True):
        alone = ask(model, [text], "gradient_x_input")[0]
        np.testing.assert_allclose(alone.scores, together.scores, rtol=0, atol=1e-6)
        assert together.diagnostics["parity"] < 1e-9


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", attributions.names())
def test_every_method_keeps_its_promises(method, kind):
    model, texts = model_of(kind)
    if not works(method, model):
        with pytest.raises(ModelCannot, match=r"Methods that work with it: .*integrated_gradients"):
            ask(model, texts, method)
        return
    few = {name: value for name, value in FEW.get(method, {}).items() if name != "layer"}
    together = ask(model, texts, (method, few))
    fresh = pellucid.zero_shot  # an equal model that has read nothing yet
    fresh = (
        bi_encoder()
        if kind == "similarity"
        else fresh(nli_pipeline("bert"), LABELS, hypothesis_template=TEMPLATE, multi_label=kind == "several labels")
    )
    for text, explanation in zip(texts[::-1], together[::-1], strict=True):
        alone = ask(fresh, [text], (method, few))[0]
        np.testing.assert_allclose(alone.scores, explanation.scores, rtol=0, atol=1e-5)
        assert alone.diagnostics["parity"] < 1e-9 and alone.model_hash == explanation.model_hash
        if method == "deep_lift_shap":  # exact, also through the product of two vectors
            assert alone.diagnostics["completeness_gap"] < 1e-6


def test_every_metric_judges_labels():
    model, texts = model_of("labels")
    table = pellucid.compare(
        model,
        [pellucid.Example((text,), label="sport") for text in texts],
        ["gradient_x_input", "occlusion"],
        resamples=20,
    )
    assert table.cells and all(np.isfinite(cell.value.mean) for cell in table.cells)


@pytest.mark.parametrize("pooling", ("mean", "cls", "max", "last"))
@pytest.mark.parametrize("function", ("cosine", "dot"))
@pytest.mark.parametrize("family", (*FAMILIES, "distilbert"))
def test_a_similarity_is_that_of_the_encoders_own_states(family, function, pooling):
    model = bi_encoder(family, pooling=pooling, function=function)
    tokenizer, encoder = TOKENIZERS[family](), model.network.encoder
    for pair, prediction in zip(PAIRS, pellucid.predict(model, list(PAIRS)), strict=True):
        states = [answer_of(encoder, tokenizer(text, return_tensors="pt")).last_hidden_state[0] for text in pair]
        vectors = [
            {"mean": each.mean(0), "cls": each[0], "max": each.max(0).values, "last": each[-1]}[pooling]
            for each in states
        ]
        lengths = vectors[0].norm() * vectors[1].norm() if function == "cosine" else 1.0
        assert prediction.logits[0] == pytest.approx(float(vectors[0] @ vectors[1] / lengths), abs=1e-6)


def test_minilm_finds_what_two_sentences_share():
    source = minilm_source()
    model = pellucid.similarity(AutoModel.from_pretrained(source), AutoTokenizer.from_pretrained(source))
    pair = ("A man plays a guitar in the park.", "Someone makes music on a guitar.")
    explanation = pellucid.explain(model, [pair])[0]
    assert explanation.method == "occlusion" and explanation.target.label == "cosine similarity"
    assert explanation.top(1)[0].text == "guitar"
    assert explanation.target.value == pytest.approx(
        pellucid.predict(pellucid.similarity("minilm"), [pair])[0].logits[0]
    )


LONG = ("Snow fell on the harbour, and nobody " * 5, "A gripping, lovely film about the harbour. " * 5)
FORMS = ({"n_steps": 3}, {"form": "first_order"})


@pytest.mark.parametrize("texts", (PAIRS[0], PAIRS[0][::-1], LONG), ids=("second longer", "first longer", "long"))
@pytest.mark.parametrize("settings", FORMS, ids=("integrated", "first order"))
@pytest.mark.parametrize("function", ("cosine", "dot"))
@pytest.mark.parametrize("family", FAMILIES)
def test_word_pairs_are_integrated_jacobians(family, function, settings, texts):
    """Written out: the Jacobian of each text's vector at each point, by the encoder's own call, times the way there."""
    model = bi_encoder(family, function=function)
    pairs = pellucid.word_pairs(model, texts, **settings)
    columns, places = readings_of("similarity", model, texts)
    nodes, weights = np.polynomial.legendre.leggauss(3) if "n_steps" in settings else ([1.0], [2.0])
    shares, ends = [], []
    for each, place in zip(columns, places, strict=True):
        (end,) = embedded(model, [each])
        start = end.detach().clone()
        start[0, place] = model.network.get_input_embeddings().weight[model.reader.tokenizer.pad_token_id].detach()
        rest = {name: each[name] for name in each if name != "input_ids"}

        def vector(point, rest=rest):
            mean = model.network.encoder(inputs_embeds=point, **rest).last_hidden_state[0].mean(0)
            return mean / mean.norm() if function == "cosine" else mean

        points = [torch.lerp(start, end.detach(), (node + 1) / 2) for node in nodes]
        jacobians = [torch.autograd.functional.jacobian(vector, point)[:, 0] for point in points]
        mean = sum(weight / 2 * jacobian for weight, jacobian in zip(weights, jacobians, strict=True))
        shares.append(torch.einsum("dpw,pw->pd", mean, (end - start)[0].detach()))
        ends.append((vector(end).detach(), vector(start).detach()))
    expected = (shares[0] @ shares[1].T).numpy()
    batch = model.encode([pellucid.Example(texts)])
    words, index = coarsen(batch.units[0], "word", texts)
    numbers = [
        [
            words.content.index(word)
            for word in (index[p] for p in batch.units[0].content if batch.units[0].segment[p] == side)
        ]
        for side in range(2)
    ]
    summed = np.zeros(pairs.matrix.shape)
    for (row, i), (column, j) in product(enumerate(numbers[0]), enumerate(numbers[1])):
        summed[i, j - len(pairs.words[0])] += expected[places[0][row], places[1][column]]
    np.testing.assert_allclose(pairs.matrix, summed, rtol=0, atol=1e-6)
    (a, r_a), (b, r_b) = ends
    assert pairs.value == pytest.approx(float(a @ b), abs=1e-6)
    assert pairs.constant == pytest.approx(float(a @ r_b + r_a @ b - r_a @ r_b), abs=1e-6)


class Plain(torch.autograd.Function):
    """A function with a derivative and a second one."""

    @staticmethod
    def forward(ctx, states):
        ctx.save_for_backward(states)
        return states.relu()

    @staticmethod
    def backward(ctx, gradient):
        (states,) = ctx.saved_tensors
        return gradient * (states > 0)


class Once(Plain):
    """It says that it has no second derivative."""

    backward = staticmethod(once_differentiable(Plain.backward))


class Wrong(Plain):
    """It does not say so."""

    @staticmethod
    def backward(ctx, gradient):
        return Plain.backward(ctx, gradient.detach())


def test_word_pairs_need_no_second_derivative():
    matrices = []
    for function in (Plain, Once, Wrong):
        model = bi_encoder()
        model.network.encoder.encoder.layer[0].intermediate.intermediate_act_fn.forward = function.apply
        matrices.append(pellucid.word_pairs(model, PAIRS[0]).matrix)
    np.testing.assert_allclose(matrices[1:], matrices[:1] * 2, rtol=0, atol=1e-9)


def test_a_short_text_beside_a_long_one_costs_a_pass_for_each_of_its_words():
    model, stages = pellucid.similarity("minilm"), []
    with patch(
        "pellucid.explaining.word_pairs.progress_bar", lambda show: nullcontext(lambda *stage: stages.append(stage))
    ):
        pairs = pellucid.word_pairs(model, ("A guitar.", "Someone makes music on a guitar. " * 10), form="first_order")
    assert pairs.matrix.shape == (3, 70) and stages[-1][1:] == (6, 6)
    by_sentence = pellucid.word_pairs(
        model, ("A guitar.", "Someone makes music. " * 10), form="first_order", unit="sentence"
    )
    assert by_sentence.matrix.shape == (1, 10)


def test_word_pairs_add_up_and_name_what_two_texts_share(tmp_path):
    pairs = pellucid.word_pairs(pellucid.similarity("minilm"), ("A man plays a guitar.", "Music on a guitar."))
    assert pairs.top(1)[0][:2] == ("guitar", "guitar")
    assert pairs.matrix.sum() + pairs.constant == pytest.approx(pairs.value, abs=0.05) and not pairs.caveats
    page = pellucid.report(pairs, path=tmp_path / "pairs.html").read_text(encoding="utf-8")
    assert page.count(">guitar<") > 3 and f"cosine similarity {pairs.value:.3f}" in page
    few = pellucid.word_pairs(bi_encoder(), PAIRS[0], n_steps=1)
    assert few.diagnostics["completeness_gap"] < 0.05 or "raise n_steps" in few.caveats[0]
    first_order = pellucid.word_pairs(bi_encoder(), PAIRS[0], form="first_order")
    assert set(first_order.settings) == {"form", "baselines", "unit"}
    page = pellucid.report(first_order, path=tmp_path / "first.html").read_text(encoding="utf-8")
    assert "Explained by Jacobians at the texts, the first order" in page and "to the first order. The cosine" in page
    with pytest.raises(BadSetting, match="n_steps= belongs to form='integrated'"):
        pellucid.word_pairs(bi_encoder(), PAIRS[0], form="first_order", n_steps=4)
    with pytest.raises(ModelCannot, match="compares no vectors of two texts"):
        pellucid.word_pairs(model_of("labels")[0], PAIRS[0])


def test_a_page_shows_one_text_beside_each_of_several_others(tmp_path):
    model = pellucid.similarity("minilm")
    documents = ["We open at nine.", "Send the parcel back to us.", "A parcel takes two days."]
    results = pellucid.explain(model, [("How do I return a parcel?", document) for document in documents])
    ranked = results.sorted_by("value", ascending=False)
    assert ranked.numbers == (1, 2, 0)
    page = pellucid.report(ranked, path=tmp_path / "ranking.html").read_text(encoding="utf-8")
    table = page.split('aria-label="The words of the first text')[1].split("</table>")[0]
    shown = [table.index(f"{place}. {explanation.target.value:.2g} ") for place, explanation in enumerate(ranked, 1)]
    assert shown == sorted(shown)
    scores = dict(list(ranked[0])[:7])
    assert f"{scores['parcel']:.2f}" in table
    others = pellucid.explain(model, [PAIRS[0], PAIRS[1]])
    alone = pellucid.report(others, path=tmp_path / "others.html").read_text(encoding="utf-8")
    assert "beside each second one" not in alone


def test_a_function_of_two_texts_is_explained_as_a_value():
    share = lambda pairs: [len({*a.split()} & {*b.split()}) / len({*a.split(), *b.split()}) for a, b in pairs]  # noqa: E731
    model = pellucid.from_function(share, ["shared words"], problem="regression")
    explanation = pellucid.explain(model, [("snow on the harbour", "snow on hills")], "occlusion")[0]
    assert explanation.target.value == pytest.approx(2 / 5)
    assert dict(list(explanation)[:4]) == pytest.approx({"snow": 0.2, "on": 0.2, "the": -0.1, "harbour": -0.1})


def test_a_folder_of_sentence_transformers_says_how_it_pools(tmp_path):
    tiny_network("bert").base_model.save_pretrained(tmp_path)
    TOKENIZERS["bert"]().save_pretrained(tmp_path)
    (tmp_path / "1_Pooling").mkdir()
    for values in ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, {"pooling_mode": "cls"}):
        (tmp_path / "1_Pooling" / "config.json").write_text(json.dumps(values))
        with pytest.raises(BadSetting, match="pools by cls; give that"):
            pellucid.similarity(tmp_path)
        assert pellucid.similarity(tmp_path, pooling="cls").labels == ("cosine similarity",)
    kinds = [{"type": f"sentence_transformers.models.{kind}"} for kind in ("Transformer", "Normalize", "Dense")]
    (tmp_path / "modules.json").write_text(json.dumps(kinds[:2]))
    with pytest.raises(BadSetting, match="have the length 1; give function='cosine'"):
        pellucid.similarity(tmp_path, pooling="cls", function="dot")
    (tmp_path / "modules.json").write_text(json.dumps(kinds))
    with pytest.raises(ModelCannot, match=r"has other modules too \(Dense\); load it as a SentenceTransformer"):
        pellucid.similarity(tmp_path, pooling="cls")


LONG = "word " * 200


@pytest.mark.parametrize(
    ("ask_for", "error", "message"),
    (
        (lambda: pellucid.zero_shot(nli_pipeline("bert"), []), BadSetting, "labels must be different names; none came"),
        (lambda: pellucid.zero_shot(nli_pipeline("bert"), ["a", "b", "a"]), BadSetting, "must be different names"),
        (lambda: pellucid.zero_shot(nli_pipeline("bert"), "sport"), BadSetting, "is no list of names"),
        (lambda: pellucid.explain(nli_pipeline("bert"), TEXTS[0]), BadInput, r"zero_shot\(pipeline, labels="),
        (
            lambda: pellucid.zero_shot(nli_pipeline("bert"), ["a"], hypothesis_template="It is so."),
            BadSetting,
            "must have one place for the label",
        ),
        (
            lambda: pellucid.zero_shot(nli_pipeline("bert", ("no", "maybe", "yes")), ["a"]),
            ModelCannot,
            "none of entailment",
        ),
        (
            lambda: pellucid.zero_shot(nli_pipeline("bert", task="text-classification"), ["a"]),
            ModelCannot,
            "give one for 'zero-shot-classification'",
        ),
        (lambda: pellucid.zero_shot(12, ["a"]), BadInput, "The model came as int"),
        (lambda: pellucid.predict(model_of("labels")[0], [PAIRS[0]]), BadInput, "give single texts"),
        (lambda: pellucid.predict(model_of("labels")[0], LONG), BadInput, "a pipeline would cut the rest off"),
        (lambda: pellucid.predict(bi_encoder(), TEXTS[0]), BadInput, r"give pairs: \(first, second\)"),
        (lambda: pellucid.predict(bi_encoder(), [("a", LONG)]), BadInput, "the encoder reads 128"),
        (lambda: bi_encoder(pooling="sum"), BadSetting, "pooling="),
        (lambda: bi_encoder(function="cosinus"), BadSetting, "function="),
        (lambda: pellucid.similarity(tiny_network("bert").base_model), BadInput, "without its tokenizer"),
        (
            lambda: pellucid.predict(pellucid.similarity(tiny_network("bert"), TOKENIZERS["bert"]()), [PAIRS[0]]),
            ModelCannot,
            "gives no states",
        ),
    ),
)
def test_bad_input_gets_one_sentence(ask_for, error, message):
    with pytest.raises(error, match=message):
        ask_for()
