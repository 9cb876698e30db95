"""Models that are no Hugging Face classifiers: any torch network, any function of texts, a scikit-learn pipeline."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from torch import nn

import pellucid
from pellucid.base.errors import BadInput, BadSetting, ModelCannot, ParityBroken
from pellucid.base.kinds import attributions
from pellucid.explaining.inputs.scikit import from_pipeline
from pellucid.models.classifiers.function import PROBES, from_function
from pellucid.models.classifiers.network import from_network
from pellucid.run.batch import OPERATORS
from pellucid.run.packing import packing_of
from pellucid.run.target import Target
from pellucid.text.example import as_examples
from tests.shared.asking import FEW, ask, works
from tests.shared.small_networks import Bag, Layered, Recurrent, words
from tests.shared.tiny import LABELS

PINNED_PIECES = (4681665781835383343, 6344654871623668966)
TEXT, PAIR = "  A gripping,\nlovely film.  ", ("The café was closed.", "Nobody could eat there.")


def wrapped(kind=Bag, **settings):
    torch.manual_seed(3)
    network = kind().eval()
    arguments = {"tokenize": words, "logits": network, "embedding": network.embedding, "labels": LABELS}
    arguments["layers"] = getattr(network, "layers", None)
    return from_network(network, **{**arguments, "separator": 599, "mask": 598, **settings})


def closed_form(model, text, label):
    """Each word's share of a bag's logit."""
    ids = torch.tensor([number for number, _, _ in words(text)])
    return (model.network.embedding(ids) @ model.network.head.weight[label]).detach().numpy()


@pytest.mark.parametrize("method", ("gradient_x_input", "occlusion", "integrated_gradients"))
def test_a_linear_network_gets_its_closed_form(method):
    model = wrapped()
    settings = {"baselines": "zero"} if method == "integrated_gradients" else {}
    explanation = ask(model, ["a gripping and lovely film"], (method, settings), target=Target("positive"))[0]
    np.testing.assert_allclose(explanation.scores, closed_form(model, "a gripping and lovely film", 2), atol=1e-5)


@pytest.mark.parametrize("method", [name for name in attributions.names() if name != "span_attention"])
@pytest.mark.parametrize("kind", (Bag, Recurrent, Layered))
def test_every_method_works_that_can(method, kind):
    model = wrapped(kind)
    if not works(method, model):
        with pytest.raises(ModelCannot, match=r"Methods that work with it: .*chance, .*gradient"):
            ask(model, [TEXT], method)
        return
    few = {name: value for name, value in FEW.get(method, {}).items() if name != "layer" or model.n_layers}
    fresh = wrapped(kind)  # it has read nothing yet, and reads the texts in another order
    alone = [ask(fresh, [text], (method, few))[0] for text in (PAIR, TEXT)][::-1]
    for one, other in zip(alone, ask(model, [TEXT, PAIR, "fine"], (method, few)), strict=False):
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-5)
        assert one.scores.any()
        assert one.diagnostics["parity"] < 1e-5


def test_without_an_embedding_only_methods_without_gradients_work():
    model = wrapped(embedding=None)
    assert ask(model, [TEXT], "occlusion")[0].scores.any()
    with pytest.raises(
        ModelCannot,
        match="Methods that work with it: chance, gaussian_process_shapley, kernel_shap, leave_one_out, lime, "
        "occlusion",
    ):
        ask(model, [TEXT], "gradient")


@pytest.mark.parametrize("kind", (Bag, Recurrent))
def test_every_metric_judges_a_network(kind):
    examples = pellucid.examples("pocket", "test")[:4]
    table = pellucid.compare(wrapped(kind), examples, ["gradient", "occlusion"], resamples=20)
    assert all(np.isfinite(cell.value.mean) for cell in table.cells)


@pytest.mark.parametrize("operator", OPERATORS)
def test_absent_closes_up_or_stays_behind_the_mask(operator):
    closing, masking = wrapped(Recurrent), wrapped(gaps="mask")
    for model in (closing, masking):
        batch = model.encode(as_examples(["a gripping and lovely film"]))
        with torch.no_grad():
            logits = model.trace([batch.edited(0, {1, 2}, operator)]).logits[0]
            own = {
                "mask": lambda ids: [ids[0], 598, 598, *ids[3:]],
                "pad": lambda ids: [ids[0], 0, 0, *ids[3:]],
            }.get(operator, lambda ids: [ids[0], *ids[3:]])
            ids = torch.tensor([own([number for number, _, _ in words("a gripping and lovely film")])])
            expected = model.network(ids, torch.ones_like(ids, dtype=torch.bool))[0]
        torch.testing.assert_close(logits, expected, rtol=0, atol=1e-6)


def test_a_network_with_a_limit_reads_windows():
    text = " ".join(f"word{number} film" for number in range(60))
    explanation = ask(wrapped(max_length=20), [text], "gradient_x_input")[0]
    assert explanation.diagnostics["windows"] > 5
    assert len(explanation.scores) == 120


def test_a_network_that_looks_at_padding_runs_without():
    model = wrapped()
    careless = replace(model, logits=lambda ids, attended: model.network(ids, torch.ones_like(attended)))
    texts = [TEXT, "one two three four five six seven"]
    for text, one in zip(texts, ask(careless, texts, "gradient"), strict=True):
        np.testing.assert_allclose(one.scores, ask(careless, [text], "gradient")[0].scores, atol=1e-6)
    assert set(careless.packings.values()) == {"equal"}


@pytest.mark.parametrize(
    ("settings", "message"),
    (
        ({"tokenize": lambda text: []}, "tokenize leaves nothing"),
        ({"tokenize": lambda text: [(1, 0, 999)]}, "must give .id, start, end."),
        ({"tokenize": lambda text: [1, 2]}, "must give .id, start, end."),
        ({"tokenize": lambda text: [("x", 0, 1)]}, "must give .id, start, end."),
        ({"logits": lambda ids, attended: [0.0]}, "must give a tensor"),
        ({"logits": lambda ids, attended: torch.zeros(len(ids), 2)}, r"of shape \(1, 3\).*\(1, 2\) came"),
        ({"logits": lambda ids, attended: torch.zeros(len(ids), 3, dtype=torch.long)}, "floating-point"),
        ({"embedding": nn.Embedding(3, 3)}, "used the embedding 0 times"),
        (
            {"logits": torch.no_grad()(lambda ids, attended: torch.rand(len(ids), 3))},
            "logits gives numbers that have no gradient; take no_grad",
        ),
    ),
)
def test_functions_that_do_not_fit_raise(settings, message):
    with pytest.raises((BadInput, ModelCannot), match=message):
        ask(wrapped(**settings), ["a film"], "gradient")


@pytest.mark.parametrize("labels", ((), ("a", "a", "b")))
def test_labels_that_do_not_fit_raise(labels):
    with pytest.raises(BadSetting, match="different names"):
        wrapped(labels=labels)


LONG = "We saw the new film with our friends, and it was a very good one in the end."


class Hostile(nn.Module):
    """A network of the user's that takes some inputs and no others."""

    def __init__(self, answer, **parts):
        super().__init__()
        self.embedding, self.head, self.answer = nn.Embedding(600, 8), nn.Linear(8, len(LABELS)), answer
        self.parts = nn.ModuleDict(parts)

    def forward(self, ids, attended):
        """[batch class]"""
        return self.answer(self, self.embedding(ids), attended)


class Odd(Exception):
    """No error that Python or torch knows."""


def packed(network, states, attended):
    lengths = attended.sum(1)
    states = nn.utils.rnn.pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
    return network.head(network.parts["recurrent"](states)[1][0][-1])


def refused(condition, error):
    if condition:
        raise error


HOSTILE = {
    "a place": Hostile(lambda net, states, _: net.head(states[:, 5])),
    "a least length": Hostile(
        lambda net, states, _: net.head(net.parts["filter"](states.transpose(1, 2)).amax(-1)), filter=nn.Conv1d(8, 8, 5)
    ),
    "windows": Hostile(lambda net, states, _: net.head(states.unfold(1, 4, 4).mean((1, 3)))),
    "pairs of pieces": Hostile(lambda net, states, _: net.head(states.view(len(states), -1, 2, 8).mean((1, 2)))),
    "one row": Hostile(lambda net, states, _: refused(len(states) > 1, Odd("one!")) or net.head(states.mean(1))),
    "no short text": Hostile(
        lambda net, states, _: refused(states.shape[1] < 6, StopIteration) or net.head(states.mean(1))
    ),
    "a packed recurrence": Hostile(packed, recurrent=nn.LSTM(8, 8, batch_first=True)),
}
HOLDS_ALL = ("one row", "a packed recurrence")  # the others cannot read every edit


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_a_network_cannot_take_is_no_fault_of_the_text(kind):
    """Trials that it cannot take make each text run alone; edits that it cannot take are named with their shape."""
    network = HOSTILE[kind].eval()
    model = from_network(
        network, tokenize=words, logits=network, embedding=network.embedding, labels=LABELS, name="Hostile"
    )
    for method in ("gradient_x_input", "integrated_gradients", "relevance"):
        assert ask(model, [LONG], method)[0].scores.any()
    try:
        ask(model, [LONG], ("kernel_shap", FEW["kernel_shap"]))
    except ModelCannot as error:
        assert kind not in HOLDS_ALL
        assert re.match(
            r"Hostile: logits failed on ids of shape \(1, \d+\): .*; it has read ids of shape \(1, 18\)", str(error)
        )
    else:
        assert kind in HOLDS_ALL


def test_what_fails_beside_the_logits_is_a_sentence_too():
    failing = wrapped(tokenize=lambda text: refused(True, Odd("no")))
    with pytest.raises(ModelCannot, match="tokenize failed on '  A gripping"):
        ask(failing, [TEXT], "occlusion")
    with pytest.raises(ModelCannot, match=r"cannot read the ids \[600\]: .*; give pad= and mask= as it knows them"):
        ask(wrapped(pad=600), [TEXT], "integrated_gradients")
    with pytest.raises(ModelCannot, match=r"\(1, 3\) of torch.int64 came"):
        network = Bag()
        ask(wrapped(logits=lambda *columns: network(*columns).long()), [TEXT], "occlusion")


def test_a_trial_asks_a_function_for_a_text_alone_once_and_beside_others_once():
    calls = []

    def answer(texts):
        calls.append(list(texts))
        return [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]

    model = from_function(answer, ["negative", "positive"])
    packing_of(model, model.encode(as_examples([LONG])).rows, 640)
    *alone, together = calls
    assert [text for (text,) in alone] == together and len(set(together)) == len(together)


def test_a_pair_needs_a_separator():
    with pytest.raises(BadInput, match="separator"):
        ask(wrapped(separator=None), [PAIR], "occlusion")


def test_a_wrapped_hugging_face_network_is_explained_as_itself(bert):
    """The same network through three functions and through its own loader."""

    def tokenize(text):
        encoded = bert.tokenizer(text, return_offsets_mapping=True)
        places = zip(encoded["input_ids"], encoded["offset_mapping"], strict=True)
        return [(number, start, end) if start < end else (number, None, None) for number, (start, end) in places]

    model = from_network(
        bert.network,
        tokenize=tokenize,
        logits=lambda ids, attended: bert.network(ids, attended.long()).logits,
        embedding=bert.embedding,
        labels=LABELS,
        gaps="mask",
    )
    for method in ("gradient", "gradient_x_input", "integrated_gradients", "occlusion"):
        one, other = (ask(each, ["A gripping, lovely film."], method)[0] for each in (model, bert))
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-5)


def rules(texts):
    """Probabilities that depend on a few words and on order."""
    probabilities = []
    for text in texts:
        whole = text if isinstance(text, str) else " ".join(text)
        good, bad = 1.0 * ("lovely" in whole), 0.5 * ("closed" in whole) + 0.1 * len(whole.split())
        probabilities.append(torch.tensor([bad, 0.2, good]).softmax(0).tolist())
    return probabilities


def function(**settings):
    return from_function(rules, **{"labels": LABELS, "name": "rules", **settings})


def test_a_function_reads_what_is_left_of_the_text():
    heard = []

    def listening(texts):
        heard.extend(texts)
        return rules(texts)

    model = from_function(listening, LABELS)
    ask(model, [TEXT], "occlusion")  # tries whether neighbours matter
    heard.clear()
    explanation = ask(model, [TEXT], "occlusion", target=Target(output="probability"))[0]
    assert heard[0] == TEXT
    left = {"gripping,\nlovely film.  ", "  A,\nlovely film.  ", "  A gripping\nlovely film.  "}
    left |= {"  A gripping, film.  ", "  A gripping,\nlovely.  ", "  A gripping,\nlovely film"}
    assert set(heard) - set(PROBES) == {TEXT, *left}
    for index, scored in enumerate(explanation.top(99)):
        assert TEXT[scored.start : scored.end] == scored.text, index
    label = LABELS.index(explanation.target.label)
    without = rules(["  A gripping, film.  "])[0][label]
    assert explanation.scores[explanation.units.labels.index("lovely")] == pytest.approx(
        rules([TEXT])[0][label] - without
    )


def test_a_function_answers_for_pairs_and_texts_together():
    for one in ask(function(), [TEXT, PAIR, "fine"], "occlusion"):
        other = ask(
            function(),
            [one.example.segments if len(one.example.segments) > 1 else one.example.text],
            "occlusion",
        )[0]
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-12)
        assert sum(one.prediction.probabilities) == pytest.approx(1)


OF_FUNCTIONS = [  # functions have no padding, which ThermoStat's variants write
    name
    for name in attributions.names()
    if not attributions.get(name).facts["needs"] and not name.startswith("thermostat")
]
LONGER = "Nobody liked the second part, and neither did I, but the film made a lovely evening of a dull one."


@pytest.mark.parametrize("method", OF_FUNCTIONS)
def test_what_a_function_has_read_before_changes_nothing(method):
    choice, examples = (method, FEW.get(method, {})), as_examples([LONGER, "fine", PAIR, "Other words"])
    together = ask(function(mask="[MASK]"), examples, choice)
    backwards = ask(function(mask="[MASK]"), examples[::-1], choice)[::-1]
    alone = [ask(function(mask="[MASK]"), [example], choice)[0] for example in examples]
    assert together == backwards == alone


def test_the_pieces_of_a_function_have_the_same_numbers_in_every_process():
    [row] = function().encode(as_examples(["a film"])).rows
    assert row.ids == PINNED_PIECES
    assert max(function().encode(as_examples([LONGER])).rows[0].ids) < 2**63


def test_two_pieces_of_one_number_are_refused():
    model = function()
    model._pieces.by_number[PINNED_PIECES[0]] = "another"
    with pytest.raises(ModelCannot, match=r"'another'.*'a'.*same number"):
        model.encode(as_examples(["a film"]))


@pytest.mark.parametrize("operator", ("absent", "delete", "mask"))
def test_operators_of_a_function(operator):
    assert ask(function(mask="[MASK]"), [TEXT], ("occlusion", {"operator": operator}))[0].scores.any()


def test_a_mask_stands_where_the_word_stood():
    model = function(mask="[MASK]")
    batch = model.encode(as_examples([TEXT]))
    assert model._pieces.text_of(batch.edited(0, {1}, "mask")) == "  A [MASK],\nlovely film.  "
    with pytest.raises(ModelCannot, match="no mask token"):
        ask(function(), [TEXT], ("occlusion", {"operator": "mask"}))


def test_every_metric_judges_a_function():
    examples = pellucid.examples("pocket", "test")[:4]
    table = pellucid.compare(function(), examples, resamples=20)
    assert all(np.isfinite(cell.value.mean) for cell in table.cells)
    assert {cell.method for cell in table.cells} == {
        "chance",
        "kernel_shap",
        "lime",
        "occlusion",
        "shapley_sampling",
    }


@pytest.mark.parametrize(
    ("answer", "message"),
    (
        ([[0.5, 0.5]], "1 x 3 numbers.*1 x 2 came"),
        ([0.2, 0.3, 0.5], "1 x 3 numbers.*3 came"),
        ([[0.9, 0.9, 0.9]], "sum to 1.*gives='logits'"),
        ([[-1.0, 1.0, 1.0]], "between 0 and 1"),
        ([[float("nan"), 0, 1]], "no finite number"),
        ("no", "failed on 1 texts"),
        (None, r"the function returned None; for 1 texts it must return 1 x 3 numbers, one a class \(.*Does it end"),
    ),
)
def test_answers_that_are_no_probabilities_raise(answer, message):
    with pytest.raises(ModelCannot, match=message):
        ask(from_function(lambda texts: answer, LABELS), ["a film"], "occlusion")


def test_a_function_that_fails_is_named_with_its_error():
    def failing(texts):
        raise KeyError("no such service")

    with pytest.raises(ModelCannot, match=r"KeyError.*no such service"):
        ask(from_function(failing, LABELS, name="service"), ["a film"], "occlusion")


def test_a_function_that_does_not_repeat_itself_raises():
    draw = np.random.default_rng(0)
    random = lambda texts: draw.dirichlet([1, 1, 1], len(texts))  # noqa: E731
    with pytest.raises(ParityBroken):
        ask(from_function(random, LABELS), ["a film"], "occlusion")


def test_certain_probabilities_are_explained():
    certain = from_function(lambda texts: [[0.0, 0.0, 1.0]] * len(texts), LABELS)
    assert not ask(certain, ["a film"], "occlusion")[0].scores.any()
    several = from_function(lambda texts: [[0.0, 1.0, 1.0]] * len(texts), LABELS, problem="multi_label")
    assert np.isfinite(ask(several, ["a film"], "occlusion")[0].prediction.logits).all()


def test_functions_that_answer_otherwise_have_other_digests():
    assert function().hash == function().hash
    assert function().hash != from_function(lambda texts: [[1, 0, 0]] * len(texts), LABELS, name="rules").hash


@pytest.mark.parametrize("classes", (2, 3))
@pytest.mark.parametrize("classifier", (LogisticRegression(), LinearSVC()), ids=("probabilities", "scores"))
def test_a_pipeline_is_explained(classifier, classes):
    train = [example for example in pellucid.examples("pocket", "dev") if example.label in LABELS[-classes:]]
    pipeline = make_pipeline(CountVectorizer(), classifier)
    pipeline.fit([example.text for example in train], [example.label for example in train])
    model = from_pipeline(pipeline)
    texts = [example.text for example in train[:8]]
    for text, explanation in zip(texts, ask(model, texts, "occlusion"), strict=True):
        assert explanation.prediction.label == pipeline.predict([text])[0]
        assert model.labels == tuple(pipeline.classes_)
    with pytest.raises(
        ModelCannot,
        match="Methods that work with it: chance, gaussian_process_shapley, kernel_shap, leave_one_out, lime, "
        "linear_coefficients, occlusion",
    ):
        ask(model, texts, "gradient")


@pytest.mark.parametrize("classifier", (LogisticRegression(), LinearSVC()), ids=("probabilities", "scores"))
@pytest.mark.parametrize("classes", (2, 3))
def test_a_pipeline_of_several_labels_is_multi_label(classifier, classes):
    texts = ["lovely film", "dull film", "lovely book", "dull book", "lovely dull book", "film"]
    labels = np.array([[1, 0, 1], [0, 1, 1], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])[:, :classes]
    pipeline = make_pipeline(CountVectorizer(), OneVsRestClassifier(classifier)).fit(texts, labels)
    model = from_pipeline(pipeline)
    assert model.problem == "multi_label"
    explanation = ask(model, ["lovely dull book"], "occlusion", target=Target(1))[0]
    if hasattr(pipeline, "predict_proba"):
        np.testing.assert_allclose(
            explanation.prediction.probabilities, pipeline.predict_proba(["lovely dull book"])[0], atol=1e-6
        )
    assert explanation.top(1)[0].text == "dull"


def test_a_column_of_single_labels_is_no_row_of_several():
    """As some classifiers of three classes predict them."""
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression()).fit(
        ["a film", "a book", "a day"], ["x", "y", "z"]
    )

    class Columns:
        classes_ = pipeline.classes_
        predict_proba = staticmethod(pipeline.predict_proba)

        def predict(self, texts):
            return pipeline.predict(texts)[:, None]

    assert from_pipeline(Columns()).problem == "single_label"


def test_a_pipeline_with_several_outputs_is_refused():
    labels = [["a", "x"], ["b", "y"], ["a", "y"]]
    pipeline = make_pipeline(CountVectorizer(), MultiOutputClassifier(LogisticRegression()))
    with pytest.raises(BadInput, match="several outputs, each with classes of its own"):
        from_pipeline(pipeline.fit(["one", "two", "three"], labels))


def test_one_probability_a_text_is_that_of_the_second_class():
    model = from_function(lambda texts: [0.9] * len(texts), ("no", "yes"), problem="one_logit")
    (prediction,) = model.predict(["a film"])
    assert prediction.label == "yes" and prediction.probabilities == pytest.approx((0.1, 0.9))


def test_probabilities_may_be_rounded_and_messages_say_what_else_they_may_be():
    rounded = from_function(lambda texts: [[1.0000001, -1e-8, 0.0]] * len(texts), LABELS)
    assert rounded.predict(["a film"])[0].label == LABELS[0]
    several = from_function(lambda texts: [[0.5, 0.9, 0.8]] * len(texts), LABELS)
    with pytest.raises(ModelCannot, match="If a text may have several labels, say problem='multi_label'"):
        several.predict(["a film"])
    scores = from_function(lambda texts: [[-2.0, 1.0, 3.0]] * len(texts), LABELS)
    with pytest.raises(ModelCannot, match="If these are scores, say gives='logits'"):
        scores.predict(["a film"])


def test_a_function_may_empty_its_list():
    def answer(texts):
        count = len(texts)
        texts.clear()
        return [[0.2, 0.3, 0.5]] * count

    assert len(from_function(answer, LABELS).predict(["a film", "a book"])) == 2


def test_a_linear_pipeline_gets_its_closed_form():
    texts = ["lovely film", "dull film", "lovely book", "dull book"]
    pipeline = make_pipeline(CountVectorizer(), LinearSVC()).fit(texts, ["up", "down", "up", "down"])
    weights = dict(zip(pipeline[0].get_feature_names_out(), pipeline[1].coef_[0], strict=True))
    explanation = ask(from_pipeline(pipeline), ["dull lovely book"], "occlusion", target=Target("up"))[0]
    np.testing.assert_allclose(explanation.scores, [weights[word] for word in ("dull", "lovely", "book")], atol=1e-6)


def test_what_is_no_fitted_classifier_raises():
    with pytest.raises(BadInput, match="fit it first"):
        from_pipeline(make_pipeline(CountVectorizer(), LogisticRegression()))
    with pytest.raises(BadInput, match="must be a function"):
        from_function("rules", LABELS)
    with pytest.raises(BadSetting, match="two or more different names"):
        from_function(rules, ("one",))


def test_results_are_saved_and_reported(tmp_path):
    for model in (function(), wrapped()):
        results = pellucid.explain(model, [TEXT, PAIR], "occlusion")
        pellucid.save(results, tmp_path / "found.parquet")
        assert pellucid.read(tmp_path / "found.parquet") == results
        assert "lovely" in pellucid.report(results, path=tmp_path / "page.html").read_text(encoding="utf-8")
