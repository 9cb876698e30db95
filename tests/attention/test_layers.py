"""Attention that is set in a transformer's layers: what is set is what is used, masks hold, and the verdict is right for
models whose attention decides, points elsewhere, or cannot be told from equal weights.
"""

import json
import math

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification

import pellucid
from pellucid.attention import attended_texts, layer_question
from pellucid.attention.attended_texts import LayerPlace, equal_weights, resampled, shuffled_weights, weights_from
from pellucid.attention.attended_texts import _noise as noise_of
from pellucid.attention.door import check_weights, imitator_of
from pellucid.attention.folder import AttentionFolder
from pellucid.attention.layer_lines import layer_verdict
from pellucid.attention.layer_question import TransformerQuestion
from pellucid.attention.record import AttentionAnalysis
from pellucid.base.errors import BadInput, BadSetting, ModelCannot, ParityBroken
from pellucid.base.kinds import attention_tests
from pellucid.models.classifiers.hugging_face import wrap
from pellucid.results.table import Interval
from pellucid.run.trace import Want
from pellucid.text.example import Example, as_examples
from tests.shared.families import family_classifier
from tests.shared.moments import Moments, files_of, killed
from tests.shared.parsed import parsed
from tests.shared.reader import SPECIALS, _tokenizer
from tests.shared.tiny import DECODERS, FAMILIES, LABELS, save_tiny, tiny_classifier, tiny_composed
from tests.shared.tiny_training import parts, save_encoder, trained

TEXTS = ("A gripping, lovely film.", "Dull and long, and in the end not worth it.", "so so, but fine", "lovely")
EXAMPLES = [Example((text,), label=LABELS[n % 3], id=f"text-{n}") for n, text in enumerate(TEXTS)]
SET = ["layers_uniform", "layers_permuted", "layers_of_another_text"]
READ = ["words_hidden", "heaviest_decides", "tau_gradient_x_input", "tau_leave_one_out"]
LONG = " ".join(f"{word} film and {word} again" for word in ("lovely", "dull", "gripping", "worth", "fine") * 3)
SOME = ("bert", "roberta", "gpt2")


def analysed(model, data=EXAMPLES, **settings):
    return pellucid.attention_analysis(model, data, progress=False, **{"tests": [*SET, *READ], **settings})


def question_of(model, examples=EXAMPLES, tests=SET):
    return TransformerQuestion(model, tuple(examples), tuple(attention_tests.calls(tests)))


def changed(model, rows, change):
    """The trace of a pass in which every block computes with what `change` makes of its weights."""
    with torch.no_grad():
        return model.trace(rows, Want(attention=True, change_attention=change))


@pytest.mark.parametrize("family", sorted({*FAMILIES, *DECODERS}))
def test_equal_weights_are_equal_over_what_the_mask_lets_a_query_see(family):
    model = tiny_classifier(family)
    rows = model.encode(EXAMPLES[:2]).rows
    trace = changed(model, rows, LayerPlace().change(rows, lambda _, weights, movable: equal_weights(weights, movable)))
    before = changed(model, rows, lambda _, weights, __: weights).attention
    assert len(trace.attention) == model.n_layers and len(rows[0]) != len(rows[1])
    for weights, own_weights in zip(trace.attention, before, strict=True):
        for line, own_line, row in zip(weights, own_weights, rows, strict=True):
            size = len(row)
            seen = own_line[:, :size] > 0  # also what a window of some blocks leaves
            assert not seen[..., size:].any()
            assert not (family in DECODERS and seen.triu(1).any())
            torch.testing.assert_close(line[:, :size], seen / seen.sum(-1, keepdim=True))


@pytest.mark.parametrize("family", ("bert", "roberta"))
def test_the_answer_under_equal_weights_is_that_of_a_model_that_has_equal_weights(family):
    """Queries of 0 give equal weights by construction; what is set has to be what the values are weighed by."""
    model, flat = tiny_classifier(family), without_queries(tiny_classifier(family))
    texts = question_of(model).texts(0)
    wanted = [answer.probabilities for answer in pellucid.predict(flat, list(TEXTS))]
    assert texts.with_equal(LayerPlace()).numpy() == pytest.approx(np.array(wanted), abs=1e-6)
    assert (texts.with_equal(LayerPlace()) - texts.own_answers).abs().max() > 1e-4


def without_queries(model):
    with torch.no_grad():
        for name, parameter in model.network.named_parameters():
            if "self.query" in name:
                parameter.zero_()
    return model


def test_a_model_whose_weights_are_equal_anyway_answers_alike_under_equal_and_permuted_ones():
    first = analysed(without_queries(tiny_classifier("bert")), tests=SET).model()
    for line in first.lines:
        assert line.value.mean == pytest.approx(0, abs=1e-6), line.part


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_that_are_set_to_what_they_are_change_nothing(family):
    model = tiny_classifier(family)
    answers = [answer.probabilities for answer in pellucid.predict(model, list(TEXTS))]
    assert question_of(model).texts(0).own_answers.numpy() == pytest.approx(np.array(answers), abs=1e-5)


def test_a_model_that_answers_otherwise_under_its_own_weights_is_refused(monkeypatch):
    model = tiny_classifier("gpt2")
    real = attended_texts.Want
    broken = lambda change_attention: real(change_attention=lambda block, weights, keys: weights * 1.01)  # noqa: E731
    monkeypatch.setattr(attended_texts, "Want", broken)
    with pytest.raises(ParityBroken, match="when its attention weights are set to what they are"):
        question_of(model).texts(0).own_answers  # noqa: B018


@pytest.mark.parametrize("family", SOME)
def test_permuted_weights_are_the_same_ones_elsewhere_and_words_alone_leave_special_tokens_theirs(family):
    model = tiny_classifier(family)
    rows = model.encode(EXAMPLES).rows

    def shuffled(block, weights, movable):
        return shuffled_weights(weights, movable, noise_of(rows, block, weights.shape, 3, 0))

    before = changed(model, rows, lambda _, weights, __: weights).attention[0]
    for place in (LayerPlace(layer=1), LayerPlace(layer=1, words=True)):
        after = changed(model, rows, place.change(rows, shuffled)).attention[0]
        for own_line, line, row in zip(before, after, rows, strict=True):
            size = len(row)
            a, b = own_line[:, :size], line[:, :size]
            torch.testing.assert_close(a.sort(-1).values, b.sort(-1).values)
            assert (a[..., :size] != b[..., :size]).any() or size < 4
            assert not b[..., size:].any()
            if place.words:
                special = [n for n, segment in enumerate(row.segments) if segment < 0]
                torch.testing.assert_close(a[..., special], b[..., special])
    assert LayerPlace(layer=1, head=2, words=True).__str__() == "layer 1, head 2, words alone"


def test_one_head_alone_is_changed_where_one_is_named():
    model = tiny_classifier("bert")
    rows = model.encode(EXAMPLES[:1]).rows
    place = LayerPlace(layer=2, head=1)
    before = changed(model, rows, lambda _, weights, __: weights).attention
    after = changed(
        model, rows, place.change(rows, lambda _, weights, movable: equal_weights(weights, movable))
    ).attention
    torch.testing.assert_close(before[0], after[0])
    torch.testing.assert_close(before[1][:, 1:], after[1][:, 1:])
    assert (before[1][:, 0] - after[1][:, 0]).abs().max() > 1e-4


@pytest.mark.parametrize("family", SOME)
def test_another_texts_weights_are_those_that_the_other_text_has(family):
    model = tiny_classifier(family)
    pair = as_examples(["dull film dull", "dull dull film"])
    texts = question_of(model, pair).texts(0)
    first, second = texts.windows[0]
    assert len(first) == len(second) and list(texts.donors) == [second, first]
    of_second = changed(model, [second], lambda _, weights, __: weights).attention
    wanted = changed(model, [first], lambda block, _, __: of_second[block]).logits.double().softmax(-1)
    torch.testing.assert_close(texts.with_another_texts(LayerPlace())[:1], wanted, rtol=1e-4, atol=1e-5)


def test_weights_of_another_length_are_those_of_the_nearest_places_and_keep_their_sum():
    weights = torch.rand(1, 2, 5, 5).softmax(-1)
    same = resampled(weights, [5], [5], 5)
    torch.testing.assert_close(same, weights)
    longer = resampled(weights, [5], [9], 10)
    torch.testing.assert_close(longer[0, :, [0, 8]][..., [0, 8]], weights[0, :, [0, 4]][..., [0, 4]])
    torch.testing.assert_close(longer[0, :, 4, 6], weights[0, :, 2, 3])
    assert longer[..., 9].abs().max() == 0
    own = torch.rand(1, 2, 9, 9).softmax(-1).tril()
    movable = torch.ones(9, 9, dtype=torch.bool).tril().expand(1, 2, 9, 9)
    new = weights_from(longer[..., :9, :9], own, movable)
    torch.testing.assert_close(new.sum(-1), own.sum(-1))
    assert new.triu(1).abs().max() == 0


def test_a_text_without_another_one_has_no_others_weights():
    lines = {line.part: line for line in analysed(tiny_classifier("bert"), EXAMPLES[:1], tests=SET).model().lines}
    alone = analysed(tiny_classifier("bert"), EXAMPLES[:1], tests=["layers_of_another_text"]).model()
    assert lines and all(line.n == 0 and line.left_out == 1 for line in alone.lines)


@pytest.mark.parametrize("family", SOME)
def test_a_text_alone_has_the_numbers_that_it_has_beside_others(family, monkeypatch):
    model = tiny_classifier(family)
    together = question_of(model, tests=[*SET, *READ]).tested(0)
    monkeypatch.setattr(layer_question, "PART", 1)
    for place, record in enumerate(together):
        [alone] = question_of(model, tests=[*SET, *READ]).tested(place)
        assert alone["id"] == record["id"]
        for test, lines in record["values"].items():
            for part, draws in lines.items():
                assert alone["values"][test][part] == pytest.approx(draws, abs=2e-5, nan_ok=True), (test, part)


def test_long_texts_are_the_mean_of_their_windows_and_pairs_are_read():
    model = tiny_classifier("bert", max_position_embeddings=32)
    data = [TEXTS[1], LONG, ("A lovely film.", "It was dull."), ("A lovely film.", LONG)]
    answers = [answer.probabilities for answer in pellucid.predict(model, data)]
    texts = question_of(model, as_examples(data)).texts(0)
    assert len(texts.windows[0]) > len(data)
    assert texts.own_answers.numpy() == pytest.approx(np.array(answers), abs=1e-5)
    assert {line.n for line in analysed(model, data).model().lines if line.test in SET} == {4}


def test_only_the_weights_of_one_block_are_in_memory_unless_all_are_wanted():
    model = tiny_classifier("bert")
    rows = model.encode(EXAMPLES).rows
    with torch.no_grad():
        trace = model.trace(rows, Want(change_attention=lambda _, weights, __: weights))
    assert trace.attention == ()


# Models that are made by hand: key words have evidence, and attention goes to words that carry a flag.


def planted(flagged, evidence, gain=4.0):
    """One block and one head. flagged: words that attention goes to. evidence: word -> +1 or -1, what it says. gain: how
    much of what attention carries is added to the first token; at a large one a small weight decides as a large one.

    A word's vector has a pair of numbers for evidence, one for the flag, one for none of both; attention of every
    query goes to the flag, and carries evidence to the first token, which the head reads.
    """
    words = ["good", "bad", "decoy", *(f"filler{n}" for n in range(8))]
    vocabulary = {word: number for number, word in enumerate([*SPECIALS.values(), *words])}
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        hidden_act="relu",
        id2label={0: "no", 1: "yes"},
        label2id={"no": 0, "yes": 1},
        pad_token_id=vocabulary["[PAD]"],
    )
    network = BertForSequenceClassification(config).eval()
    layer = network.bert.encoder.layer[0]
    attention = layer.attention.self
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.fill_(1.0 if name.endswith("LayerNorm.weight") else 0.0)
        table = network.bert.embeddings.word_embeddings.weight
        for word, number in vocabulary.items():
            vector = torch.zeros(8)
            if word in evidence:
                vector[:2] += torch.tensor([1.0, -1.0]) * evidence[word]
            if word in flagged:
                vector[2:4] += torch.tensor([1.0, -1.0])
            if not vector.any():
                vector[4:6] = torch.tensor([1.0, -1.0])
            table[number] = vector
        attention.query.bias[0] = 8.0
        attention.key.weight[0, 2] = 1.0
        attention.value.weight[:2, :2] = torch.eye(2)
        layer.attention.output.dense.weight.copy_(torch.eye(8) * gain)
        network.bert.pooler.dense.weight[0, 0] = 1.0
        network.classifier.weight[:, 0] = torch.tensor([-3.0, 3.0])
    return wrap(network, _tokenizer(vocabulary), name="planted")


def texts_with(*words, count=104):
    """Labelled texts of these words among seven fillers; ?: the word that decides."""
    rng = np.random.default_rng(0)
    texts = []
    for n in range(count):
        fillers = [f"filler{number}" for number in rng.integers(0, 8, 7)]
        mine = [word if word != "?" else ("good", "bad")[n % 2] for word in words]
        texts.append(Example((" ".join(rng.permutation([*fillers, *mine])),), ("yes", "no")[n % 2]))
    return texts


def test_attention_that_goes_to_the_word_that_decides_may_be_read():
    first = analysed(planted({"good", "bad"}, {"good": 1, "bad": -1}), texts_with("?"), tests=[*SET, *READ]).model()
    assert first.accuracy.mean == 1
    assert first.verdict.answer == "may", first.verdict
    assert first.line("layers_permuted", "all layers, words alone").value.low > 0.1
    assert first.line("heaviest_decides", "rollout").value.low > 0.5
    assert first.line("words_hidden", "rollout, less random words").value.low > 0
    assert first.line("words_hidden", "rollout, less the least attended").value.low > 0
    assert math.isnan(first.line("words_hidden", "rollout").idle)
    assert abs(first.line("heaviest_decides", "random order").value.mean) < 0.1
    assert abs(first.line("tau_leave_one_out", "random order").value.mean) < 0.1


def test_attention_that_goes_beside_the_word_that_decides_may_not_be_read():
    first = analysed(planted({"decoy"}, {"good": 1, "bad": -1}, gain=2000.0), texts_with("?", "decoy")).model()
    assert first.accuracy.mean == 1
    assert first.verdict.answer == "may not", first.verdict
    assert first.line("heaviest_decides", "last layer").value.high < 0.5


def test_equal_attention_is_no_explanation_where_words_still_decide():
    first = analysed(planted(set(), {"good": 1, "bad": -1}, gain=100.0), texts_with("?")).model()
    assert first.accuracy.mean == 1 and first.verdict.answer != "may"
    assert first.line("layers_uniform", "all layers").value.high == pytest.approx(0, abs=1e-6)
    hidden = first.line("words_hidden", "last layer, less random words").value.mean
    assert abs(hidden) < first.line("words_hidden", "random words").value.mean / 4  # equal weights choose at random


def interval(mean, half=0.01):
    return Interval(mean, mean - half, mean + half)


def outcomes(moves, points, hides=0.2, n=150):
    values = {("layers_permuted", "all layers, words alone"): (interval(moves), n)}
    for reading, value in zip(attended_texts.READINGS, points, strict=True):
        values[("heaviest_decides", reading)] = (interval(value), n)
        values[("words_hidden", f"{reading}, less random words")] = (interval(hides), n)
    return values


@pytest.mark.parametrize(
    "moves, points, answer",
    [
        (0.3, (0.8, 0.8, 0.8), "may"),
        (0.3, (0.2, 0.2, 0.8), "only as"),
        (0.3, (0.2, 0.2, 0.2), "may not"),
        (0.3, (0.2, 0.2, 0.5), "undecided"),
        (0.01, (0.2, 0.5, 0.2), "may not"),
        (0.01, (0.2, 0.2, 0.8), "undecided"),
        (0.07, (0.8, 0.8, 0.8), "undecided"),
        (0.3, (0.511, 0.8, 0.8), "only as"),  # above .5 by itself, and not for three readings together
    ],
)
def test_the_verdict_asks_what_moves_the_answer_and_each_reading(moves, points, answer):
    verdict = layer_verdict(200, outcomes(moves, points))
    assert verdict.answer == answer and len(verdict.evidence) == 7
    assert layer_verdict(99, outcomes(moves, points)).answer == "undecided"
    assert layer_verdict(200, outcomes(moves, points, hides=-0.1)).answer == "may not"
    assert layer_verdict(200, {}).answer == "undecided"
    if answer == "only as":
        assert verdict.reason.startswith("rollout" if points[0] < 0.5 else "mean of layers or rollout")


@pytest.mark.parametrize(
    "model, settings, error, message",
    [
        ("function", {}, ModelCannot, "no attention weights that can be set, since it shows none; judge the methods"),
        ("joined", {}, ModelCannot, "since it joins the windows of long texts"),
        ("no layers", {}, ModelCannot, "since its blocks do not compute one softmax over all pieces each"),
        ("several", {}, ModelCannot, "several labels"),
        ("bert", {"weights": [[1.0]] * 4}, BadSetting, "leave them away"),
        ("bert", {"train": EXAMPLES}, BadSetting, "leave them away"),
        ("bert", {"tests": ["uniform"]}, BadSetting, "uniform reads .*attention in its layers instead"),
        ("additive", {"tests": ["layers_uniform"]}, BadSetting, "layers_uniform reads the weights of a transformer"),
        ("bert", {"against": "additive"}, BadInput, "models of one kind"),
        ("bert", {"tests": [("layers_permuted", {"n_permutations": 0})]}, BadSetting, "n_permutations=0"),
        ("bert", {"device": "nowhere"}, None, None),
    ],
)
def test_what_it_refuses(model, settings, error, message):
    makers = {
        "function": lambda: pellucid.from_function(lambda texts: [[0.2, 0.3, 0.5]] * len(texts), labels=LABELS),
        "no layers": lambda: family_classifier("bart"),
        "joined": lambda: tiny_composed("mean", positions=32, max_length=200),
        "several": lambda: tiny_classifier("bert", problem_type="multi_label_classification"),
        "bert": lambda: tiny_classifier("bert"),
        "additive": lambda: tiny_composed("additive"),
    }
    if settings.get("against"):
        settings = {"against": [makers[settings["against"]]()]}
    if error is None:
        assert analysed(makers[model](), tests=["layers_uniform"], **settings)  # in memory, it stays where it is
        return
    with pytest.raises(error, match=message) as caught:
        analysed(makers[model](), **settings)
    assert "\n" not in str(caught.value)


def test_models_on_an_encoder_without_such_a_pooler_are_tested_layer_by_layer():
    check_weights(tiny_composed("mean"))
    assert analysed(tiny_composed("mean"), tests=["layers_uniform"]).model().weighs == "pieces in every layer"


def test_a_folder_is_loaded_and_trained_where_the_caller_says(tmp_path):
    source = str(save_tiny(tmp_path / "model", labels=LABELS))
    with pytest.raises(BadSetting, match="device='nowhere' is not possible"):
        analysed(source, tests=["layers_uniform"], device="nowhere")
    assert analysed(source, tests=["layers_uniform"], device="cpu").models[0].n_texts == 3


def test_it_is_saved_read_and_drawn(tmp_path):
    analysis = analysed(tiny_classifier("bert"), tests=[("layers_uniform", {"heads": True}), "layers_permuted", *READ])
    analysis.save(tmp_path / "a.json")
    assert AttentionAnalysis.read(tmp_path / "a.json") == analysis
    record = json.loads((tmp_path / "a.json").read_text())
    record["models"][0]["verdict"] |= {"answer": "only as", "reason": "rollout, whose heaviest words decide; of x not"}
    (tmp_path / "b.json").write_text(json.dumps(record))
    only = AttentionAnalysis.read(tmp_path / "b.json")
    assert "may be read as an explanation only as rollout" in str(only)
    html = pellucid.report(only, path=tmp_path / "a.html").read_text(encoding="utf-8")
    text = parsed(html).text
    text = text[text.index("only as rollout") :]  # the verdict stands first
    assert text.index("What people show") < text.index("Other weights are put")
    for part in ("all layers, words alone", "layer 3", "layer 1, head 2", "random order", "less random words"):
        assert part in text
    assert "an adversary" in text and "each head has a matrix of weights" in text
    assert "Jain & Wallace (2019)" in text
    shown = str(analysis)
    assert "layer 3: " in shown and "random order" in shown
    assert "Other weights, layer by layer" in analysis._repr_html_()
    with pytest.raises(BadInput, match="in layers"):
        pellucid.figure(analysis, tmp_path / "units.svg")


def run(path, fatal=-1):
    with Moments(fatal) as moments:
        AttentionFolder(
            path, {"one": question_of(tiny_classifier("bert"), tests=["layers_permuted", "heaviest_decides"])}
        ).tested(moments.progress)
    return moments


@pytest.mark.whole
def test_work_that_is_killed_at_any_moment_ends_with_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(layer_question, "PART", 1)
    moments = run(tmp_path / "whole").count
    assert len(list((tmp_path / "whole" / "parts").iterdir())) == 4
    for fatal in range(1, moments, 7):
        killed(run, tmp_path / f"killed-{fatal}", fatal)
        run(tmp_path / f"killed-{fatal}")
        assert files_of(tmp_path / f"killed-{fatal}") == files_of(tmp_path / "whole")


def test_the_imitator_is_trained_on_the_device_that_the_caller_names(tmp_path):
    trained(save_encoder(tmp_path / "encoder"), tmp_path / "base", pooler="additive", epochs=1)
    imitator = imitator_of(tmp_path / "base", parts()["train"], tmp_path / "out", 0, "nowhere")
    with pytest.raises(BadSetting, match="device='nowhere' is not possible"):
        imitator(0.0)


@pytest.mark.parametrize(("family", "method"), [("bert", "attention"), ("additive", "unit_attention")])
def test_the_page_names_its_data_and_begins_with_texts_in_the_colours_of_the_weights(family, method, tmp_path):
    model = tiny_composed(pooler="additive") if family == "additive" else tiny_classifier(family)
    analysis = analysed(model, tests=["layers_uniform"] if family == "bert" else ["uniform"])
    assert {text.method for text in analysis.examples} == {method}
    right = {text.prediction.label == text.example.label for text in analysis.examples}
    assert 1 <= len(analysis.examples) <= 3 and all(text.scores.max() > 0 for text in analysis.examples)
    page = pellucid.report(analysis, path=tmp_path / "a.html").read_text(encoding="utf-8")
    opening = page[: page.index("The verdict</bdi></h2>")]
    assert "4 texts of text" in opening and opening.count('class="pl-example"') == len(analysis.examples)
    assert ("Surest mistake" in opening) == (False in right)


def test_an_analysis_that_was_saved_without_texts_is_read_as_ever(tmp_path):
    analysis = analysed(tiny_classifier("bert"), tests=["layers_uniform"])
    analysis.save(tmp_path / "new.json")
    assert AttentionAnalysis.read(tmp_path / "new.json") == analysis
    record = analysis.record()
    del record["examples"], record["about"]["data"]
    (tmp_path / "old.json").write_text(json.dumps(record))
    old = AttentionAnalysis.read(tmp_path / "old.json")
    assert old.examples == () and old.record()["models"] == analysis.record()["models"]
    page = pellucid.report(old, path=tmp_path / "a.html").read_text(encoding="utf-8")
    assert "pl-example" not in page.split("</style>")[1]
    assert "4 texts" in parsed(page).text and "4 texts of" not in parsed(page).text
