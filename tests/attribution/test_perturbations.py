"""Methods that take units away: against literal formulas, against peers, on models with known answers, and their own
words.
"""

import itertools

import numpy as np
import pytest
import torch
from captum._utils.models.linear_model import SkLearnLinearRegression, SkLearnRidge
from captum.attr import LimeBase, Occlusion, ShapleyValueSampling
from sklearn.linear_model import Ridge

import pellucid
from pellucid.attribution.as_published import _sample as thermostat_sample
from pellucid.attribution.gaussian_process_shapley import LARGER, TRIPLES, _coalitions, _pairs, hadamard
from pellucid.attribution.kernel_shap import _plan
from pellucid.attribution.kernel_shap import _sample as lime_sample
from pellucid.attribution.shapley_sampling import _Sample
from pellucid.attribution.shared.coalition_game import (
    Sample,
    all_coalitions,
    coalitions,
    even_numbers,
    games,
    ridge,
    surrogate,
)
from pellucid.base.errors import BadSetting
from pellucid.base.processes import silent
from pellucid.models.classifiers.network import from_network
from pellucid.run.blank import generator_for
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.hidden_target import HiddenState
from pellucid.run.scheduler import Scheduler
from pellucid.run.target import Target
from pellucid.text.example import as_examples
from pellucid.text.units import Spans
from tests.reference import coalitions as literal
from tests.shared.asking import FEW, ask
from tests.shared.small_networks import words
from tests.shared.tiny import FAMILIES, tiny_classifier

SHORT, PAIR = ("A gripping film.",), ("It was closed.", "Sad")
LABEL = 1
LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
SAMPLED = ("shapley_sampling", "kernel_shap", "gaussian_process_shapley", "lime")


@pytest.fixture(scope="module")
def doubles():
    """A classifier of each family in float64."""
    classifiers = {family: tiny_classifier(family) for family in FAMILIES}
    for classifier in classifiers.values():
        classifier.network.double()
    return classifiers


def explain_one(classifier, segments, method, of=LABEL, seed=0, **settings):
    text = segments[0] if len(segments) == 1 else tuple(segments)
    return ask(classifier, [text], (method, settings), target=Target(of), seed=seed)[0]


def content(explanation):
    return explanation.scores[~explanation.special]


def game_of(classifier, segments, unit="word"):
    groups = classifier.encode(as_examples([segments if len(segments) > 1 else segments[0]])).pieces_of(0, unit)
    return literal.Game(classifier, segments, groups, LABEL)


@pytest.mark.parametrize("family", FAMILIES)
def test_short_texts_have_their_exact_shapley_values(family, doubles):
    expected = literal.shapley(game_of(doubles[family], SHORT))
    every = {"n_samples": 32}
    for method, settings in (
        ("shapley_sampling", {}),
        ("kernel_shap", every),
        ("gaussian_process_shapley", every),
    ):
        explanation = explain_one(doubles[family], SHORT, method, **settings)
        np.testing.assert_allclose(content(explanation), expected, atol=1e-6)
        assert explanation.diagnostics["exact"] == 1
        assert explanation.diagnostics["standard_error"] == 0
        assert not explanation.scores[explanation.special].any()


def test_kernel_shap_is_the_papers_least_squares(doubles):
    expected = literal.kernel_shap(game_of(doubles["bert"], PAIR))
    np.testing.assert_allclose(content(explain_one(doubles["bert"], PAIR, "kernel_shap")), expected, atol=1e-5)


def test_gaussian_process_shapley_is_what_every_interaction_by_itself_says():
    model, text = words_model(), " ".join(LONG.split()[:11])
    forward = forward_of(model, text)

    def value(present):
        there = torch.tensor([[float(player in present) for player in value.players]])
        with torch.no_grad():
            return float(forward(there)[0, LABEL])

    value.players = range(11)
    drawn = _coalitions(11, 60, generator(model, text, "gaussian_process_shapley"))
    known = [{int(player) for player in np.flatnonzero(row)} for row in drawn[: len(drawn) // 2]]
    expected, error = literal.gaussian_process_shapley(value, known, TRIPLES, LARGER)
    explanation = explain_one(model, (text,), "gaussian_process_shapley", n_samples=60)
    np.testing.assert_allclose(explanation.scores, expected, atol=1e-6)
    assert explanation.diagnostics["standard_error"] == pytest.approx(error, rel=1e-4)
    assert explanation.diagnostics["n_samples"] == 60


@pytest.mark.parametrize("alpha", (1.0, 0.01))
def test_lime_of_a_short_text_is_its_expectation(alpha, doubles):
    game = game_of(doubles["bert"], PAIR)
    expected = literal.expected_lime(game, 100, 25.0, alpha)
    scores = explain_one(doubles["bert"], PAIR, "lime", n_samples=100, alpha=alpha)
    np.testing.assert_allclose(content(scores), expected, atol=1e-6)
    drawn = [content(explain_one(doubles["bert"], PAIR, "lime", n_samples=31, alpha=alpha, seed=s)) for s in range(40)]
    again = literal.expected_lime(game, 31, 25.0, alpha)
    assert np.abs(np.mean(drawn, 0) - again).max() < 0.25 * np.abs(again).max()


# ---- peers, on one game: who of LONG's words is there


class Words(torch.nn.Module):
    """Two logits of the sum of word vectors, bent so that words act together."""

    def __init__(self, scale=1.0, linear=False):
        super().__init__()
        torch.manual_seed(3)
        self.embedding = torch.nn.Embedding(600, 6)
        self.out = torch.nn.Linear(6, 3)
        self.scale, self.linear = scale, linear
        self.double()

    def forward(self, ids, attended):
        summed = (self.embedding(ids) * attended[..., None]).sum(1)
        return self.scale * self.out(summed if self.linear else torch.tanh(summed))


def words_model(**settings):
    network = Words(**settings).eval()
    return from_network(network, tokenize=words, logits=network, embedding=network.embedding, labels=("a", "b", "c"))


def forward_of(model, text, operator="absent"):
    """What a peer explains: who is there [batch word] -> the logits."""
    ids = torch.tensor([[number for number, _, _ in words(text)]])

    def forward(present):
        there = present > 0.5
        rows = ids.expand(len(present), -1)
        if operator == "pad":
            return model.network(rows.where(there, 0), torch.ones_like(there))
        return model.network(rows, there)

    return forward


def ones(text):
    return torch.ones(1, len(text.split()), dtype=torch.float64)


def generator(model, text, method, seed=0):
    return generator_for(model.encode(as_examples([text])).rows[0], method, seed)


@pytest.mark.parametrize("operator", ("absent", "pad"))
def test_shapley_sampling_of_the_same_orders_is_captums(operator):
    model = words_model()
    orders = _Sample(14, 1, generator(model, LONG, "shapley_sampling"), 8).draw(100)
    oracle = ShapleyValueSampling(forward_of(model, LONG, operator))
    oracle.permutation_generator = lambda *_: iter(orders.tolist())
    expected = oracle.attribute(ones(LONG), torch.zeros_like(ones(LONG)), target=LABEL, n_samples=8)
    explanation = explain_one(
        model, (LONG,), "shapley_sampling", operator=operator, draws="independent", n_permutations=8
    )
    np.testing.assert_allclose(explanation.scores, expected[0], atol=1e-6)


def test_thermostats_occlusion_is_captums_with_window_three():
    model = words_model()
    oracle = Occlusion(forward_of(model, LONG, "pad"))
    expected = oracle.attribute(ones(LONG), (3,), baselines=0, target=LABEL)
    np.testing.assert_allclose(explain_one(model, (LONG,), "thermostat_occlusion").scores, expected[0], atol=1e-6)


def fitted_by_captum(model, text, present, weights, *, regression, operator):
    """The coefficients by captum's own surrogate for these samples."""
    rows, weights_ = iter(torch.from_numpy(present).double()), iter(torch.from_numpy(weights))
    oracle = LimeBase(
        forward_of(model, text, operator),
        regression,
        lambda *_, **__: next(weights_),
        lambda *_, **__: next(rows)[None],
        True,
        lambda sample, *_, **__: sample,
        None,
    )
    return oracle.attribute(ones(text), target=LABEL, n_samples=len(present))[0]


@pytest.mark.parametrize("method", ("lime", "thermostat_lime"))
def test_lime_of_the_same_samples_is_captums_and_the_closed_form(method):
    model = words_model()
    source = generator(model, LONG, method)
    sample = lime_sample(14, 64, 25.0, source) if method == "lime" else thermostat_sample(14, 64, source)
    operator = "absent" if method == "lime" else "pad"
    explanation = explain_one(model, (LONG,), method, n_samples=64)
    peer = fitted_by_captum(
        model, LONG, sample.present, sample.weights, regression=SkLearnRidge(alpha=1.0), operator=operator
    )
    np.testing.assert_allclose(explanation.scores, peer, atol=1e-5)
    values = forward_of(model, LONG, operator)(torch.from_numpy(sample.present).double())[:, LABEL].detach()
    expected = literal.weighted_ridge(sample.present, values, sample.weights, 1.0)
    np.testing.assert_allclose(explanation.scores, expected, atol=1e-6)


def test_kernel_shap_of_the_same_samples_is_captums_regression():
    model = words_model()
    plan = _plan(14, 120, generator(model, LONG, "kernel_shap"))
    assert 0 < plan.whole < len(plan.present)
    weights = np.concatenate([[1e6, 1e6], plan.weights, plan.weights])
    peer = fitted_by_captum(
        model, LONG, plan.coalitions, weights, regression=SkLearnLinearRegression(), operator="absent"
    )
    np.testing.assert_allclose(explain_one(model, (LONG,), "kernel_shap", n_samples=120).scores, peer, atol=1e-4)


@pytest.mark.parametrize("alpha", (0.0, 1e-18, 1e-6, 1.0))
@pytest.mark.parametrize("samples", (5, 9, 60))
def test_the_regression_is_scikit_learns_also_with_fewer_samples_than_units(samples, alpha):
    draws = np.random.default_rng(samples)
    present, values, weights = draws.random((samples, 9)) < 0.5, draws.random(samples), draws.random(samples)
    present[:, 8] = present[:, 0]  # two units that always come together
    own, intercept = ridge(present, values, weights, alpha)
    solver = "svd" if alpha < 1e-9 else "auto"  # of coefficients that fit equally well the shortest
    theirs = Ridge(alpha=alpha, solver=solver).fit(present.astype(float), values, sample_weight=weights)
    np.testing.assert_allclose(own, theirs.coef_, atol=1e-6)
    assert intercept == pytest.approx(theirs.intercept_, abs=1e-6)


def test_samples_of_no_weight_leave_every_score_at_0():
    present = np.zeros((8, 1), dtype=bool)
    scores, diagnostics = surrogate(Sample(present, np.zeros(8), 0), np.ones(8), 1.0)
    assert scores.tolist() == [0.0] and np.isfinite(list(diagnostics.values())).all()


def test_lime_weighs_and_fits_as_the_lime_package():
    base = pytest.importorskip("lime.lime_base")
    present = np.random.default_rng(0).random((80, 9)) < 0.6
    present[0] = True
    distances = 100 * (1 - np.sqrt(present.mean(1)))
    kernel = lambda d: np.sqrt(np.exp(-(d**2) / 25.0**2))  # noqa: E731 - as their text explainer has it
    values = np.random.default_rng(1).normal(size=(80, 1))
    peer = base.LimeBase(kernel).explain_instance_with_data(
        present.astype(float), values, distances, 0, 9, feature_selection="none"
    )
    expected = [weight for _, weight in sorted(peer[1])]
    weights = [literal.lime_weight(row, 25.0) for row in present]
    np.testing.assert_allclose(literal.weighted_ridge(present, values[:, 0], weights, 1.0), expected, atol=1e-8)


def test_exact_values_are_shaps():
    shap = pytest.importorskip("shap")
    model, text = words_model(), " ".join(LONG.split()[:8])
    forward = forward_of(model, text)

    def masker(mask, x):
        return (x * mask)[None]

    masker.shape = lambda x: (1, len(x))
    predict = lambda present: forward(torch.tensor(present))[:, LABEL].detach().numpy()  # noqa: E731
    expected = shap.explainers.Exact(predict, masker)(np.ones((1, 8))).values[0]
    for method, settings in (
        ("shapley_sampling", {"n_permutations": 37}),
        ("kernel_shap", {}),
        ("gaussian_process_shapley", {"n_samples": 254}),
    ):
        np.testing.assert_allclose(explain_one(model, (text,), method, **settings).scores, expected, atol=1e-6)


# ---- axioms and known answers


@pytest.mark.parametrize("method", ("leave_one_out", "occlusion", "shapley_sampling", "kernel_shap", "lime"))
def test_a_linear_model_gives_each_word_its_own_part(method):
    model = words_model(linear=True)
    ids = torch.tensor([number for number, _, _ in words(LONG)])
    parts = (model.network.embedding(ids) @ model.network.out.weight[LABEL]).detach().numpy()
    settings = {"alpha": 1e-9} if method == "lime" else {}
    np.testing.assert_allclose(explain_one(model, (LONG,), method, **settings).scores, parts, atol=1e-5)


def test_a_process_takes_a_little_of_a_linear_models_parts_for_interactions():
    model = words_model(linear=True)
    ids = torch.tensor([number for number, _, _ in words(LONG)])
    parts = (model.network.embedding(ids) @ model.network.out.weight[LABEL]).detach().numpy()
    for n_samples in (30, 128):
        scores = explain_one(model, (LONG,), "gaussian_process_shapley", n_samples=n_samples).scores
        np.testing.assert_allclose(scores, parts, atol=0.01 * np.abs(parts).max())


@pytest.mark.parametrize("method", ("shapley_sampling", "kernel_shap", "gaussian_process_shapley"))
@pytest.mark.parametrize("text", (LONG, " ".join(LONG.split()[:6])), ids=("sampled", "exact"))
def test_shares_sum_to_the_rise_and_a_dummy_gets_nothing(method, text):
    model = words_model()
    forward = forward_of(model, text)
    with torch.no_grad():
        model.network.embedding.weight[words(text)[2][0]] = 0  # the third word does nothing
        rise = float((forward(ones(text)) - forward(0 * ones(text)))[0, LABEL])
    explanation = explain_one(model, (text,), method)
    assert explanation.scores.sum() == pytest.approx(rise, abs=1e-6)
    room = 1e-6 if method == "shapley_sampling" or explanation.diagnostics["exact"] else 0.1
    assert abs(explanation.scores[2]) <= room


@pytest.mark.parametrize("method", SAMPLED)
def test_equal_words_at_two_positions_have_two_equal_scores(method):
    model = words_model()
    explanation = explain_one(model, ("good film good story bad end",), method)
    assert len(explanation.scores) == 6
    assert explanation.scores[0] == pytest.approx(explanation.scores[2], abs=1e-6)
    assert len(np.unique(explanation.scores.round(6))) == 5


@pytest.mark.parametrize("method", (*SAMPLED, "thermostat_lime", "leave_one_out"))
def test_scores_follow_the_unit_of_the_output(method):
    small, large = words_model(scale=0.01), words_model(scale=30.0)
    few, many = (explain_one(model, (LONG,), method).scores for model in (small, large))
    np.testing.assert_allclose(3000 * few, many, rtol=1e-3, atol=1e-4)
    assert np.abs(few).min() > 0


@pytest.mark.parametrize("method", SAMPLED)
def test_a_contrast_is_a_difference_also_where_it_is_sampled(method):
    model = words_model()
    whole, one, other = (explain_one(model, (LONG,), method, of=of).scores for of in (("b", "a"), "b", "a"))
    np.testing.assert_allclose(whole, one - other, atol=1e-5)


@pytest.mark.parametrize("method", (*SAMPLED, "thermostat_lime", "thermostat_shapley_sampling", "leave_one_out"))
def test_hidden_states_and_multi_label_models_are_explained(method, bert):
    choice = (method, FEW.get(method, {}))
    several = tiny_classifier("bert", problem_type="multi_label_classification")
    assert several.problem == "multi_label"
    for model, target in ((bert, HiddenState(2)), (several, Target("neutral", "probability"))):
        explanation = ask(model, ["A gripping, lovely film."], choice, target=target)[0]
        assert content(explanation).any()
    if method in ("shapley_sampling", "thermostat_shapley_sampling"):
        batch = several.encode(as_examples(["A gripping, lovely film."]))
        empty = batch.edited(0, batch.units[0].content, "absent" if method in SAMPLED else "pad")
        with torch.no_grad():
            rise = [float(several.trace([row]).logits[0, 1].sigmoid()) for row in (batch.rows[0], empty)]
        assert explanation.scores.sum() == pytest.approx(rise[0] - rise[1], abs=1e-5)


# ---- how far to trust draws


@pytest.mark.parametrize("method", (*SAMPLED, "thermostat_lime"))
def test_the_standard_error_is_how_far_other_seeds_lie_apart(method):
    model, settings = (
        words_model(),
        {"shapley_sampling": {"n_permutations": 24}}.get(method, {"n_samples": 100}),
    )
    explanations = [explain_one(model, (LONG,), method, seed=seed, **settings) for seed in range(30)]
    apart = np.sqrt(np.var([one.scores for one in explanations], axis=0, ddof=1).mean())
    expected = np.sqrt(np.mean([one.diagnostics["standard_error"] ** 2 for one in explanations]))
    assert 0.7 * apart < expected < 1.6 * apart
    largest = [np.abs(one.scores).max() for one in explanations]
    relative = [one.diagnostics["standard_error"] / size for one, size in zip(explanations, largest, strict=True)]
    np.testing.assert_allclose([one.diagnostics["relative_error"] for one in explanations], relative, rtol=1e-4)


@pytest.mark.parametrize("method", ("kernel_shap", "lime", "thermostat_lime"))
def test_stability_is_the_correlation_with_other_seeds(method):
    model = words_model()
    explanations = [explain_one(model, (LONG,), method, n_samples=40, seed=seed) for seed in range(24)]
    pairs = itertools.combinations([one.scores for one in explanations], 2)
    between = np.mean([np.corrcoef(one, other)[0, 1] for one, other in pairs])
    assert np.mean([one.diagnostics["stability"] for one in explanations]) == pytest.approx(between, abs=0.15)


@pytest.mark.parametrize("method", SAMPLED)
def test_a_caveat_says_when_draws_are_too_few(method):
    model, long = words_model(), " ".join(f"{word}{n}" for n in range(4) for word in LONG.split())
    few = {"n_permutations": 8} if method == "shapley_sampling" else {"n_samples": 60}
    explanation = explain_one(model, (long,), method, **few)
    assert explanation.diagnostics["relative_error"] > 0.1
    assert any(
        f"about {explanation.diagnostics['relative_error']:.0%} of the largest" in caveat
        for caveat in explanation.caveats
    )
    assert not any(
        "draws" in caveat for caveat in explain_one(model, (LONG,), method, **dict.fromkeys(few, 4000)).caveats
    )


@pytest.mark.parametrize("method", ("kernel_shap", "gaussian_process_shapley", "lime"))
def test_coalitions_are_doubled_text_by_text_until_the_error_is_small_enough(method):
    """Each text has the scores of as many coalitions as it says, the fewest in doubling whose error is allowed."""
    model, start = tiny_classifier("bert"), 32
    texts = (LONG, "A gripping, lovely film, and a long one at that.", " ".join(LONG.split()[::-1]))
    fixed = {count: ask(model, texts, (method, {"n_samples": count})) for count in (32, 64, 128, 256, 512, 1024)}
    allowed = 1.001 * sorted(each.diagnostics["relative_error"] for each in fixed[128])[1]
    for index, text in enumerate(ask(model, texts, (method, {"n_samples": start, "tolerance": allowed}))):
        enough = (n for n, those in fixed.items() if those[index].diagnostics["relative_error"] <= allowed)
        needed = fixed[next(enough, 1024)][index]
        assert text.diagnostics["n_samples"] == needed.diagnostics["n_samples"]
        np.testing.assert_allclose(text.scores, needed.scores, atol=1e-6)


def test_shapley_sampling_runs_to_a_tolerance_and_no_further_than_needed():
    model = words_model()
    explanation = explain_one(model, (LONG,), "shapley_sampling", n_permutations=8, tolerance=0.02)
    assert explanation.diagnostics["relative_error"] <= 0.02
    coarse = explain_one(model, (LONG,), "shapley_sampling", n_permutations=8, tolerance=0.08)
    assert coarse.diagnostics["n_permutations"] < explanation.diagnostics["n_permutations"] < 20_000


@pytest.mark.parametrize(("count", "drawn"), ((4, 4), (5, 4), (11, 8)))
def test_no_more_orders_are_drawn_than_wanted_and_their_standard_error_is_true(count, drawn):
    model = words_model()
    explanations = [
        explain_one(model, (LONG,), "shapley_sampling", n_permutations=count, seed=seed) for seed in range(60)
    ]
    assert {one.diagnostics["n_permutations"] for one in explanations} == {drawn}
    apart = np.sqrt(np.var([one.scores for one in explanations], axis=0, ddof=1).mean())
    stated = np.sqrt(np.mean([one.diagnostics["standard_error"] ** 2 for one in explanations]))
    assert 0.8 * apart < stated < 1.25 * apart


@pytest.mark.parametrize(
    ("method", "setting"),
    [
        *(("shapley_sampling", {"n_permutations": count}) for count in (4, 9, 24)),
        ("shapley_sampling", {"n_permutations": 5, "draws": "independent"}),
        *((name, {"n_samples": count}) for name in SAMPLED[1:] for count in (8, 21, 60)),
    ],
)
def test_no_method_evaluates_more_than_its_settings_allow(method, setting):
    """Nor fewer than it may where all coalitions fit: then it is exact."""
    limit = next(iter(setting.values()))
    read = set()

    def answer(texts):
        read.update(texts)
        return [[0.5, 0.5 + 0.01 * len(set(text))] for text in texts]

    model = pellucid.from_function(answer, ["no", "yes"], problem="multi_label")
    explain_one(model, ("z y x w",), method, **setting)  # the model's trials come first
    for count in range(1, 13):
        read.clear()
        one = explain_one(model, (" ".join("abcdefghijkl"[:count]),), method, **setting)
        most = limit * (count - 1) + 2 if "n_permutations" in setting else limit + 2
        assert len(read) <= most, (count, most, read)
        if method != "lime":
            assert one.diagnostics["exact"] == (2**count <= most), (count, most)


def test_fewer_orders_than_are_allowed_are_refused():
    model = words_model()
    for settings, least in (
        ({"n_permutations": 3}, "give 4 or more"),
        ({"n_permutations": 4, "tolerance": 0.1}, "give 8 or more"),
    ):
        with pytest.raises(BadSetting, match=least):
            explain_one(model, (LONG,), "shapley_sampling", **settings)


@pytest.mark.parametrize("count", (4, 8))
def test_related_orders_are_exact_where_words_act_alone_or_in_pairs(count):
    model = words_model()
    model.network.forward = lambda ids, attended: _quadratic(model.network, ids, attended)
    few = explain_one(model, (LONG,), "shapley_sampling", n_permutations=count)
    many = explain_one(model, (LONG,), "shapley_sampling", n_permutations=400, draws="independent")
    assert few.diagnostics["standard_error"] < 1e-6 < many.diagnostics["standard_error"]
    kernel = explain_one(model, (LONG,), "kernel_shap", n_samples=100)
    np.testing.assert_allclose(kernel.scores, few.scores, atol=1e-5)


def _quadratic(network, ids, attended):
    summed = (network.embedding(ids) * attended[..., None]).sum(1)
    return network.out(summed * summed[:, [1, 2, 3, 4, 5, 0]])


def test_more_draws_begin_with_the_fewer():
    fresh = lambda: torch.Generator().manual_seed(5)  # noqa: E731
    sizes_at = lambda numbers: (9 * numbers).astype(int)  # noqa: E731
    take = lambda count: list(itertools.islice(coalitions(9, fresh(), sizes_at), count))  # noqa: E731
    np.testing.assert_array_equal(take(50)[:20], take(20))
    few, many = (_Sample(9, 4, fresh(), count).draw(1000) for count in (8, 24))
    np.testing.assert_array_equal(many[:8], few)
    pairs = lambda count: np.array(list(itertools.islice(_pairs(14, fresh()), count)))  # noqa: E731
    np.testing.assert_array_equal(pairs(90)[:33], pairs(33))
    drawn = lambda plan: {row.tobytes() for row in plan.coalitions}  # noqa: E731
    assert drawn(_plan(14, 60, fresh())) <= drawn(_plan(14, 400, fresh()))
    np.testing.assert_array_equal(
        lime_sample(14, 200, 25.0, fresh()).present[:100], lime_sample(14, 100, 25.0, fresh()).present
    )


def test_no_pair_of_coalitions_is_read_twice_and_the_first_are_balanced():
    for players in (3, 5, 8, 12, 14, 40):
        count = min(2 ** (players - 1) - 1, 60)
        rows = list(itertools.islice(_pairs(players, torch.Generator().manual_seed(players)), count))
        both = {row.tobytes() for row in rows} | {(~row).tobytes() for row in rows}
        assert len(both) == 2 * count and all(0 < row.sum() < players for row in rows)
    first = np.array(list(itertools.islice(_pairs(12, torch.Generator().manual_seed(0)), 11)))
    signs = np.where(np.vstack([np.ones((1, 12), dtype=bool), first]), 1, -1)
    np.testing.assert_array_equal(signs.T @ signs, 12 * np.eye(12))


@pytest.mark.parametrize("least", (1, 2, 3, 9, 12, 13, 30, 100))
def test_rows_of_a_hadamard_matrix_are_orthogonal(least):
    matrix = hadamard(least)
    assert len(matrix) >= least and (matrix[0] == 1).all() and (np.abs(matrix) == 1).all()
    np.testing.assert_array_equal(matrix @ matrix.T, len(matrix) * np.eye(len(matrix)))


def test_even_numbers_fall_evenly():
    for count in (10, 50, 300):
        numbers = np.sort(list(itertools.islice(even_numbers(torch.Generator().manual_seed(count)), count)))
        assert np.abs(numbers - (np.arange(count) + 0.5) / count).max() < 2.5 / count


# ---- what the model is evaluated on


def run_of(model, text):
    batch = model.encode(as_examples([text]))
    run = ForwardPass(model, batch, Scheduler(512))
    return run, Target(LABEL).resolve(batch.examples, run.logits, model.labels, model.problem)


def test_a_coalition_is_evaluated_once():
    model = words_model()
    run, target = run_of(model, LONG)
    game = games(run, target, "word", "absent")
    coalitions_twice = np.concatenate([all_coalitions(14)[:40], all_coalitions(14)[:40], np.ones((3, 14), dtype=bool)])
    values = game.values([coalitions_twice])[0]
    assert run.scheduler.rows_run == 41
    expected = forward_of(model, LONG)(torch.from_numpy(coalitions_twice).double())[:, LABEL].detach()
    np.testing.assert_allclose(values, expected, atol=1e-9)


@pytest.mark.parametrize("method, limit", [(method, 0.55) for method in SAMPLED])
def test_absent_words_are_not_computed(method, limit):
    model, scheduler = words_model(), Scheduler(512)
    text = " ".join(f"{word}{n}" for n in range(3) for word in LONG.split())
    settings = {"n_permutations": 8} if method == "shapley_sampling" else {"n_samples": 300}
    request = Request(model, method_calls([(method, settings)], model), Target(LABEL), 0)
    explain_batch(request, model.encode(as_examples([text])), scheduler, silent)
    samples = 8 * 41 if method == "shapley_sampling" else 300
    assert scheduler.tokens_run <= limit * samples * 42


def test_special_tokens_are_in_every_coalition(bert):
    run, target = run_of(bert, "A gripping, lovely film.")
    game = games(run, target, "piece", "mask")
    (row,) = game._rows(0, np.zeros((1, game.sizes[0]), dtype=bool))
    assert (row.ids[0], row.ids[-1]) == (bert.tokenizer.cls_token_id, bert.tokenizer.sep_token_id)
    assert set(row.ids[1:-1]) == {bert.tokenizer.mask_token_id}


# ---- occlusion of spans


@pytest.mark.parametrize("max_width", (1, 2, 9))
def test_a_spans_score_is_the_fall_when_it_goes(max_width, doubles):
    game = game_of(doubles["bert"], PAIR)
    explanation = explain_one(doubles["bert"], PAIR, "occlusion", unit="span", max_width=max_width)
    assert isinstance(explanation.units, Spans)
    player_of = {unit: player for player, unit in enumerate(explanation.units.parts.content)}
    ends = [
        (player_of[a], player_of[b])
        for a, b in zip(explanation.units.first.tolist(), explanation.units.last.tolist(), strict=True)
    ]
    assert len(ends) == sum(min(max_width, n - k) for n in (4, 1) for k in range(n))
    whole = game(game.players)
    expected = [whole - game(set(game.players) - set(range(a, b + 1))) for a, b in ends]
    np.testing.assert_allclose(explanation.scores, expected, atol=1e-6)


def test_a_window_does_not_go_with_spans(bert):
    with pytest.raises(BadSetting, match="max_width"):
        ask(bert, ["A film."], ("occlusion", {"unit": "span", "window": 2}))


def test_leave_one_out_is_occlusion_one_by_one(bert, texts):
    for one, other in zip(ask(bert, texts, "leave_one_out"), ask(bert, texts, "occlusion"), strict=True):
        np.testing.assert_array_equal(one.scores, other.scores)


def test_more_coalitions_than_its_equations_fit_into_memory_are_refused():
    with pytest.raises(BadSetting, match="n_samples"):
        explain_one(words_model(), (LONG,), "gaussian_process_shapley", n_samples=4097)


def test_a_coalition_has_the_players_of_its_smallest_keys():
    sizes_at = lambda numbers: (14 * numbers).astype(int)  # noqa: E731
    drawn = coalitions(13, torch.Generator().manual_seed(3), sizes_at, fewest=4)
    generator = torch.Generator().manual_seed(3)
    numbers, expected = even_numbers(generator), []
    for _ in range(3):
        sizes = [int(14 * number) for number in itertools.islice(numbers, 64)]
        keys = torch.rand(64, 13, generator=generator, dtype=torch.float64).tolist()
        expected += [
            [key in sorted(of_one)[:size] for key in of_one]
            for size, of_one in zip(sizes, keys, strict=True)
            if size >= 4
        ]
    assert {sum(one) for one in expected} == set(range(4, 14))
    assert [one.tolist() for one in itertools.islice(drawn, len(expected))] == expected
