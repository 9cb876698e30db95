"""What a comparison will cost, judged by a few texts, against what it costs."""

import time

import pytest

import pellucid
from pellucid.base.errors import BadSetting
from pellucid.comparison.compared_part import _times, _tried_texts
from pellucid.data.built_in import first_edition
from pellucid.text.example import as_examples
from tests.shared.tiny import tiny_classifier

METHODS, METRICS = ["gradient", "occlusion"], ["comprehensiveness"]

WORDS = "good film plot dull scene quiet long actor story end".split()
TEXTS = [" ".join((WORDS * 4)[: 2 + number % 24]) + "." for number in range(96)]


@pytest.fixture
def counting_model():
    return pellucid.from_function(
        lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts],
        ["negative", "positive"],
    )


def test_evaluations_are_near_those_of_the_comparison(counting_model):
    methods, metrics = ["occlusion"], ["comprehensiveness", "sufficiency"]
    cost = pellucid.compare_cost(counting_model, TEXTS, methods, metrics)
    table = pellucid.compare(counting_model, TEXTS, methods, metrics, resamples=10)
    assert cost is not None
    assert table.about["rows"] / 1.5 < cost.evaluations < table.about["rows"] * 1.5


def test_few_texts_are_not_tried(counting_model):
    assert pellucid.compare_cost(counting_model, TEXTS[:63], ["occlusion"], ["sufficiency"]) is None


def cost_with(checks, methods=("occlusion",)):
    """The cost with these checks of a function."""
    answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]  # noqa: E731
    model = pellucid.from_function(answer, ["negative", "positive"])
    return pellucid.compare_cost(model, TEXTS, list(methods), ["sufficiency"], checks=checks)


def test_checks_are_in_it_and_those_that_train_are_named():
    plain = cost_with(None)
    assert plain.check_seconds == 0 and plain.unknown == ()
    edits = cost_with([("edit_agreement", {"edits": ["case", "blanks"]})])
    assert 0 < edits.check_seconds < edits.seconds
    nothing = cost_with(["method_agreement", "word_ranks"])
    assert nothing.check_seconds == 0
    random = cost_with(["draw_agreement"], methods=["occlusion", ("lime", {"n_samples": 60})])
    assert random.check_seconds > 0


def test_a_check_without_what_it_needs_is_refused():
    with pytest.raises(BadSetting, match="seed_agreement needs twins"):
        cost_with(["seed_agreement"])


@pytest.mark.parametrize(("again", "times"), [(2, 2), ("n_levels", 3), ("edits", 2), ("twins", 5), ("no", 0)])
def test_how_often_a_check_explains(again, times):
    assert _times(again, {"n_levels": 3, "edits": ("case", "blanks")}, 5) == times


def test_texts_of_all_lengths_are_tried():
    examples = as_examples(["a " * (1 + number) for number in range(160)])
    lengths = [len(one.text) // 2 for one in _tried_texts(examples)]
    assert lengths == [11, 31, 51, 71, 91, 111, 131, 151]
    assert len(_tried_texts(examples[:64])) == 4


@pytest.mark.whole
def test_seconds_are_within_a_factor_of_one_and_a_half(monkeypatch):
    """On a tiny network, in seconds of this process, which other work on the machine hardly changes; one of three trials is enough."""
    monkeypatch.setattr(time, "perf_counter", time.process_time)
    model = tiny_classifier()
    texts = [one.segments[0] for one in first_edition("train")[:96]]
    ratios = []
    for _ in range(3):
        cost = pellucid.compare_cost(model, texts, METHODS, METRICS, checks=["input_shift"])
        began = time.perf_counter()
        pellucid.compare(model, texts, METHODS, METRICS, checks=["input_shift"], resamples=10)
        ratios.append(cost.seconds / (time.perf_counter() - began))
        if 1 / 1.5 < ratios[-1] < 1.5:
            return
    raise AssertionError(ratios)
