"""Linear models of n-grams: the exact terms of scikit-learn's own decision function, where each n-gram stands."""

import re

import numpy as np
import pytest
import torch
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import SVC, LinearSVC

import pellucid
from pellucid.attribution.choices import linear_coefficients
from pellucid.base.errors import ModelCannot
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.scheduler import Scheduler
from pellucid.run.target import Target
from pellucid.text.example import as_examples
from pellucid.text.units import Spans
from tests.shared.asking import ask

TRAIN = [example for example in pellucid.examples("pocket", "dev") if example.label != "mixed"][:60]
TEXTS = (
    "A gripping, lovely film: not dull, and not a café film.",
    "Nobody  liked\nthe second part; the film was the film, ÉTÉ!",
    "x",
    "  İstanbul ﬁlm ΟΔΟΣ 42, don't. ",
    "好 film 文字 the the the",
)
VECTORIZERS = {
    "counts": CountVectorizer(ngram_range=(1, 2)),
    "tf-idf": TfidfVectorizer(ngram_range=(1, 3), sublinear_tf=True, stop_words="english", strip_accents="unicode"),
    "no norm": TfidfVectorizer(norm=None, use_idf=False, lowercase=False, token_pattern=r"(\S)\S*", binary=True),
    "characters": TfidfVectorizer(analyzer="char", ngram_range=(1, 4), strip_accents="ascii"),
    "inside words": CountVectorizer(analyzer="char_wb", ngram_range=(1, 3)),
    "hashes": HashingVectorizer(n_features=64, ngram_range=(1, 2)),  # several n-grams share a feature
    "hashed signs": HashingVectorizer(n_features=32, binary=True, norm="l1", analyzer="char", ngram_range=(2, 2)),
    "split": CountVectorizer(tokenizer=str.split, token_pattern=None, lowercase=False, ngram_range=(1, 2)),
    "analyser": CountVectorizer(analyzer=str.split),
}
STEPS = {
    **{name: (vectorizer,) for name, vectorizer in VECTORIZERS.items()},
    "transformed": (CountVectorizer(), TfidfTransformer(), "passthrough"),
    "selected": (TfidfVectorizer(ngram_range=(1, 2)), SelectKBest(k=20)),
    "union": (
        make_union(
            make_pipeline(CountVectorizer(), TfidfTransformer()),
            TfidfVectorizer(analyzer="char"),
            HashingVectorizer(n_features=256),
        ),
    ),
}
CLASSIFIERS = {
    "three probabilities": LogisticRegression(C=0.1, tol=1e-2),
    "three scores": LinearSVC(),
    "three ridges": RidgeClassifier(),
}
BINARY = {"one probability": LogisticRegression(), "one score": SGDClassifier(random_state=0), "svm": LinearSVC()}
REGRESSORS = {"ridge": Ridge(), "least squares": LinearRegression()}


def fitted(steps, model, kind="three"):
    texts, labels = [example.text for example in TRAIN], [example.label for example in TRAIN]
    if kind == "two":
        labels = ["good" if label == "positive" else "bad" for label in labels]
    if kind == "value":
        labels = [float(len(text)) for text in texts]
    return make_pipeline(*steps, model).fit(texts, labels)


def scores_of(model, texts, target, **settings):
    """The scores in float64, before they are stored, and the explained values."""
    batch = model.encode(as_examples(texts))
    run = ForwardPass(model, batch, Scheduler(512))
    resolved = target.resolve(batch.examples, run.logits, model.labels, model.problem)
    return linear_coefficients(run, resolved, **settings), run.values(resolved)


def decision(pipeline, text):
    """[class]: scikit-learn's own number for each class; of two classes for (no, yes)."""
    function = getattr(pipeline, "decision_function", pipeline.predict)
    values = np.atleast_1d(function([text])[0])
    return values if len(values) > 1 or not hasattr(pipeline, "classes_") else np.array([-values[0], values[0]])


CASES = [
    *((steps, model, "three") for steps in STEPS for model in CLASSIFIERS),
    *((steps, model, "two") for steps in ("tf-idf", "characters", "hashes", "union") for model in BINARY),
    *((steps, model, "value") for steps in ("counts", "inside words") for model in REGRESSORS),
]


@pytest.mark.filterwarnings("ignore:Liblinear failed to converge")
@pytest.mark.parametrize(("steps", "model", "kind"), CASES)
def test_scores_and_intercept_are_the_decision_function(steps, model, kind):
    estimator = {**CLASSIFIERS, **BINARY, **REGRESSORS}[model]
    pipeline = fitted(STEPS[steps], estimator, kind)
    of = pellucid.from_pipeline(pipeline)
    assert "linear" in of.capabilities
    constants = np.atleast_1d(pipeline[-1].intercept_)
    constants = np.array([-constants[0], constants[0]]) if kind == "two" else constants
    for label in range(len(of.labels)):
        scores, values = scores_of(of, TEXTS, Target(label))
        for text, of_text, value, facts in zip(TEXTS, scores.values, values, scores.diagnostics, strict=True):
            expected = decision(pipeline, text)[label]
            assert float(of_text.sum()) + constants[label] == pytest.approx(expected, rel=1e-9, abs=1e-9)
            assert float(value) == pytest.approx(expected, rel=1e-9, abs=1e-9)
            assert facts["completeness_gap"] < 1e-6


def literal_scores(vectorizer, weights, text, size_of):
    """[character]: for each n-gram of a text without blanks at its ends its share, by loops over all of them."""
    values = vectorizer.transform([text]).toarray()[0]
    grams = list(size_of(text))
    scores = np.zeros(len(text))
    for label, places in grams:
        column = vectorizer.vocabulary_.get(label)
        if column is None:
            continue
        times = sum(other == label for other, _ in grams)
        for start, end in places:
            scores[start:end] += values[column] * weights[column] / times / len(places) / (end - start)
    return scores


def words_of(text, stop_words, most):
    tokens = [match for match in re.finditer(r"\b\w\w+\b", text.lower()) if match.group() not in stop_words]
    for size in range(1, most + 1):
        for first in range(len(tokens) - size + 1):
            part = tokens[first : first + size]
            yield " ".join(match.group() for match in part), [match.span() for match in part]


def characters_of(text, most):
    for size in range(1, most + 1):
        for first in range(len(text) - size + 1):
            yield text[first : first + size].lower(), [(n, n + 1) for n in range(first, first + size)]


@pytest.mark.parametrize("model", CLASSIFIERS)
@pytest.mark.parametrize("kind", ("words", "characters"))
def test_each_ngram_has_its_coefficient_where_it_stands(kind, model):
    vectorizer = (
        TfidfVectorizer(ngram_range=(1, 3), sublinear_tf=True, stop_words="english")
        if kind == "words"
        else TfidfVectorizer(ngram_range=(1, 3), analyzer="char")
    )
    pipeline = fitted((vectorizer,), CLASSIFIERS[model])
    text = "The film was lovely, the film was not a dull film at all."
    stop_words = vectorizer.get_stop_words() or ()
    grams = (lambda text: words_of(text, stop_words, 3)) if kind == "words" else (lambda text: characters_of(text, 3))
    for label, weights in enumerate(pipeline[-1].coef_):
        by_character = literal_scores(pipeline[0], weights, text, grams)
        scores, _ = scores_of(pellucid.from_pipeline(pipeline), [text], Target(label))
        (units,), (of_text,) = scores.units, scores.values
        borders = [0, *units.end]  # a blank belongs to the word after it
        expected = [by_character[borders[n] : borders[n + 1]].sum() for n in range(len(units))]
        np.testing.assert_allclose(of_text, expected, rtol=1e-9, atol=1e-12)


def test_counts_of_single_words_are_what_leaving_them_out_changes():
    """An independent way: of counts without norm the fall of the decision function."""
    of = pellucid.from_pipeline(fitted((CountVectorizer(),), LinearSVC()))
    exact, fall = (ask(of, TEXTS, method, target=Target("positive")) for method in ("linear_coefficients", "occlusion"))
    for one, other in zip(exact, fall, strict=True):
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-6)


def test_hashed_ngrams_of_one_feature_share_it_with_their_signs():
    """All words are one feature here: each has the coefficient by its own sign, as a text of it alone shows."""
    pipeline = fitted((HashingVectorizer(n_features=1, norm=None),), LinearSVC())
    words = ("lovely", "film", "dull", "day", "night")
    signs = {word: pipeline[0].transform([word]).toarray()[0, 0] for word in words}
    assert set(signs.values()) == {-1, 1}
    scores, _ = scores_of(pellucid.from_pipeline(pipeline), [" ".join(words)], Target(0))
    expected = [sign * pipeline[-1].coef_[0, 0] for sign in signs.values()]
    np.testing.assert_allclose(scores.values[0], expected, rtol=1e-9)
    cancelling = [next(word for word in words if signs[word] == sign) for sign in (-1, 1)]
    scores, _ = scores_of(pellucid.from_pipeline(pipeline), [" ".join(cancelling)], Target(0))
    assert not scores.values[0].any()


def test_ngrams_themselves_are_spans():
    pipeline = fitted((TfidfVectorizer(ngram_range=(1, 2)),), LogisticRegression(max_iter=500))
    of = pellucid.from_pipeline(pipeline)
    text, target = "the film, not the film", Target("positive")
    scores, values = scores_of(of, [text], target, unit="span")
    weights = dict(
        zip(
            pipeline[0].get_feature_names_out(),
            pipeline[-1].coef_[list(pipeline.classes_).index("positive")],
            strict=True,
        )
    )
    value = dict(zip(pipeline[0].get_feature_names_out(), pipeline[0].transform([text]).toarray()[0], strict=True))
    (spans,), (of_text,) = scores.units, scores.values
    assert isinstance(spans, Spans)
    for index, score in enumerate(of_text.tolist()):
        _, start, end = spans.characters(index)
        label = " ".join(re.findall(r"\w\w+", text[start:end]))
        times = 2 if label in ("the", "film", "the film") else 1
        assert score == pytest.approx(weights[label] * value[label] / times, rel=1e-9), label
    assert float(of_text.sum()) == pytest.approx(
        float(values[0]) - pipeline[-1].intercept_[list(pipeline.classes_).index("positive")]
    )
    shown = pellucid.explain(of, text, "linear_coefficients", unit="span", progress=False)[0]
    assert "not the" in {each.text for each in shown.top(9)}


def test_a_linear_pipeline_answers_by_its_decision_function_with_the_same_probabilities():
    for kind, problem in (("three", "single_label"), ("two", "one_logit")):
        pipeline = fitted((TfidfVectorizer(),), LogisticRegression(), kind)
        of = pellucid.from_pipeline(pipeline)
        assert of.problem == problem
        chances = [prediction.probabilities for prediction in of.predict(TEXTS)]
        np.testing.assert_allclose(chances, pipeline.predict_proba(TEXTS), atol=1e-12)
    search = GridSearchCV(
        make_pipeline(TfidfVectorizer(), LogisticRegression()), {"logisticregression__C": [1.0]}, cv=2
    )
    search.fit([example.text for example in TRAIN], [example.label for example in TRAIN])
    assert "linear" in pellucid.from_pipeline(search).capabilities


@pytest.mark.parametrize(
    "target", (Target(("positive", "negative")), Target(output="probability"), Target(0, "loss")), ids=str
)
def test_every_target_is_shared_out(target):
    of = pellucid.from_pipeline(fitted((TfidfVectorizer(),), LogisticRegression()))
    scores, _ = scores_of(of, TEXTS[:2], target)
    step = 1e-6
    for index, text in enumerate(TEXTS[:2]):
        grams, contributions = of.linear.contributions(text)
        logits, direction = of.plain_logits(*as_examples([text]))[None], torch.from_numpy(contributions.sum(0))
        resolved = target.resolve(as_examples([text]), logits, of.labels, of.problem)
        moved = [resolved.values(logits + sign * step * direction) for sign in (1, -1)]
        derivative = float(moved[0] - moved[1]) / (2 * step)
        assert float(scores.values[index].sum()) == pytest.approx(derivative, rel=1e-5)
        assert len(grams)


@pytest.mark.parametrize(
    "steps",
    (
        (TfidfVectorizer(), CalibratedClassifierCV(LinearSVC(), cv=2)),
        (CountVectorizer(), MultinomialNB()),
        (TfidfVectorizer(), TruncatedSVD(5), LogisticRegression()),
        (TfidfVectorizer(), SVC(kernel="linear")),
        (TfidfVectorizer(), SGDClassifier(loss="log_loss")),  # of three classes its probabilities are no softmax
    ),
    ids=("calibrated", "naive Bayes", "components", "pairs of classes", "one against the rest"),
)
def test_pipelines_that_are_no_linear_models_are_refused(steps):
    pipeline = fitted(steps[:-1], steps[-1])
    with pytest.raises(
        ModelCannot, match=r"is no fitted scikit-learn pipeline of a vectorizer .* and a linear model. Methods"
    ):
        pellucid.explain(pipeline, "A film.", "linear_coefficients", progress=False)


def test_a_value_that_is_no_sum_is_refused():
    of = pellucid.from_pipeline(fitted((CountVectorizer(),), PoissonRegressor(), "value"))
    assert not of.capabilities


@pytest.mark.parametrize(
    ("vectorizer", "message"),
    (
        (
            CountVectorizer(tokenizer=lambda text: [w[:4] + "*" for w in text.split()], token_pattern=None),
            "reads \\['love.*occlusion",
        ),
        (
            CountVectorizer(preprocessor=lambda text: text.replace("lovely", "fine")),
            "preprocessor .* places .* occlusion",
        ),
        (CountVectorizer(analyzer=lambda text: text.lower().split()[::-1]), "reads \\['film', 'lovely'\\].*occlusion"),
    ),
    ids=("stems", "other words", "another order"),
)
def test_words_without_a_place_are_refused(vectorizer, message):
    of = pellucid.from_pipeline(fitted((vectorizer,), LinearSVC()))
    with pytest.raises(ModelCannot, match=message):
        pellucid.explain(of, "lovely film", "linear_coefficients", progress=False)


FOUR = (["other film bad", "good film", "other bad", "good day"], [0, 1, 0, 1])
DROPPED = {"another", "the", "a"}


def without_dropped(text):
    return [word for word in text.split() if word not in DROPPED]


def turned_round(text):
    return " ".join(reversed(text.split()))


def test_a_token_is_no_part_of_a_word_that_was_dropped():
    vectorizer = CountVectorizer(tokenizer=without_dropped, token_pattern=None)
    pipeline = make_pipeline(vectorizer, LogisticRegression(C=10)).fit(*FOUR)
    scores = dict(pellucid.explain(pipeline, "another other film", "linear_coefficients", target="1")[0])
    coefficient = pipeline[-1].coef_[0, pipeline[0].vocabulary_["other"]]
    assert scores["another"] == 0 and scores["other"] == pytest.approx(coefficient, abs=1e-6)


def test_words_whose_places_are_not_known_get_no_scores():
    vectorizer = CountVectorizer(preprocessor=turned_round)
    pipeline = make_pipeline(vectorizer, LogisticRegression(C=10)).fit(*FOUR)
    with pytest.raises(ModelCannot, match="places of its words are not known"):
        pellucid.explain(pipeline, "good bad", "linear_coefficients")
    once = CountVectorizer(tokenizer=lambda text: sorted(set(text.split())), token_pattern=None)
    pipeline = make_pipeline(once, LogisticRegression(C=10)).fit(*FOUR)
    with pytest.raises(ModelCannot, match="whose places in the text are not known"):
        pellucid.explain(pipeline, "bad bad film", "linear_coefficients")


class TurnedRound(CountVectorizer):
    def build_preprocessor(self):
        return turned_round


@pytest.mark.parametrize(
    ("vectorizer", "text"),
    (
        (TurnedRound(), "good bad"),
        (CountVectorizer(preprocessor=lambda text: text.split()[0] + " film"), "good film"),  # fails on a blank alone
        (CountVectorizer(tokenizer=lambda text: [text[-2:]], token_pattern=None), "aaa"),  # aa stands there twice
        (CountVectorizer(tokenizer=lambda text: text.split(" "), token_pattern=None), "bad  film"),  # "" is a token
    ),
    ids=("a class of its own", "fails on characters", "overlapping parts", "empty tokens"),
)
def test_places_that_only_look_known_are_refused(vectorizer, text):
    pipeline = make_pipeline(vectorizer, LogisticRegression(C=10)).fit([*FOUR[0], text, "day"], [*FOUR[1], 0, 1])
    with pytest.raises(ModelCannot, match="place"):
        pellucid.explain(pipeline, text, "linear_coefficients")


def test_a_token_lies_in_the_word_that_gives_it_alone():
    """The first word is shortened to what the second one, which is dropped, looks like."""
    vectorizer = CountVectorizer(
        tokenizer=lambda text: [w[:4] for w in text.split() if w != "film"], token_pattern=None
    )
    pipeline = make_pipeline(vectorizer, LogisticRegression(C=10)).fit(["filmmaker", "day"], [0, 1])
    scores = dict(pellucid.explain(pipeline, "filmmaker film", "linear_coefficients", target="1")[0])
    coefficient = pipeline[-1].coef_[0, pipeline[0].vocabulary_["film"]]
    assert scores["film"] == 0 and scores["filmmaker"] == pytest.approx(coefficient, abs=1e-6)


def test_pairs_are_refused_in_a_sentence():
    of_texts = make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(*FOUR)
    with pytest.raises(ModelCannot, match=r"^Pipeline reads single texts, and a pair came; give one text\.$"):
        pellucid.explain(of_texts, [("a", "b")], "linear_coefficients")
    joined = CountVectorizer(preprocessor=lambda text: text if isinstance(text, str) else " ".join(text))
    of_pairs = make_pipeline(joined, LogisticRegression()).fit(*FOUR)
    pellucid.explain(of_pairs, [("good", "bad")], "occlusion")
    with pytest.raises(ModelCannot, match="shown in single texts, and a pair came"):
        pellucid.explain(of_pairs, [("good", "bad")], "linear_coefficients")
