"""The trust card: what it recommends where the truth is known, and what its text says."""

import math
from dataclasses import asdict
from itertools import product

import numpy as np
import pytest
from scipy import stats

from pellucid.base.catalogue import Call
from pellucid.base.errors import UnknownName
from pellucid.base.kinds import metrics
from pellucid.comparison.leads import (
    Lead,
    fewest_texts_for_marks,
    holm,
    leads_over_chance,
    overall_leads,
    paired_p,
    pseudo_values,
)
from pellucid.comparison.trust_card import LIMITS, texts_needed, trust_card
from pellucid.results.bootstrap import MetricValues, combined
from pellucid.results.interval import TrustCard
from pellucid.results.table import Cell, Interval, Table

METRICS = ("hiding", "revealing", "comprehensiveness", "sufficiency")
NOISE = tuple(f"noise_{number}" for number in range(6))


def metric_leads(
    seed: int = 0,
    texts: int = 200,
    better: dict[str, float] | None = None,
    names: tuple[str, ...] = METRICS,
    methods: tuple[str, ...] = NOISE,
) -> list[Lead]:
    """Leads of simulated values: all draws from one normal distribution; those of `better` are moved towards the good
    side.
    """
    generator, calls = np.random.default_rng(seed), metrics.calls(names)
    values = {}
    for method in (*methods, *(better or {}), "chance"):
        for call in calls:
            sign = 1 if call.entry.facts["better"] == "higher" else -1
            lead = sign * (better or {}).get(method, 0.0)
            values[method, call.title] = MetricValues(generator.normal(lead, 1, (1, texts, 1)), "mean")
    return leads_over_chance(values, [*methods, *(better or {}), "chance"], "chance", calls)


def a_card(leads: list[Lead], n_texts: int = 200, **settings) -> TrustCard:
    facts = {"failures": {}, "seconds": {}, "unmeasured": ()} | settings
    return trust_card("my-model", n_texts, leads, **facts)


def test_of_noise_alone_nothing_is_recommended():
    """200 sets of methods that are no better than chance: 95 % of the cards or more recommend none."""
    recommended = [bool(a_card(metric_leads(seed)).recommended) for seed in range(200)]
    assert np.mean(recommended) <= 0.05


def test_no_single_lead_of_noise_is_called_real_too_often():
    """The correction holds over all methods and metrics together, although all are compared with the same chance."""
    wrong = [any(lead.p < 0.05 for lead in metric_leads(seed)) for seed in range(200)]
    assert np.mean(wrong) <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200)


def test_a_method_that_is_truly_better_is_recommended():
    """Half a deviation better on 200 texts: recommended as the best in 80 % or more of the sets."""
    best = [a_card(metric_leads(seed, better={"good": 0.5})).recommended[:1] == ("good",) for seed in range(100)]
    assert np.mean(best) >= 0.8


def test_pseudo_values_of_a_mean_are_the_values():
    columns = np.array([[0.5], [math.nan], [1.0]])
    np.testing.assert_equal(pseudo_values(columns), columns[:, 0])


def test_pseudo_values_of_an_f1_equal_the_definition():
    columns = np.random.default_rng(0).uniform(size=(7, 2))
    columns[3] = math.nan
    rows = np.delete(columns, 3, axis=0)
    whole = combined(rows, "f1")
    expected = [6 * whole - 5 * combined(np.delete(rows, left_out, axis=0), "f1") for left_out in range(6)]
    np.testing.assert_allclose(np.delete(pseudo_values(columns, "f1"), 3), expected, rtol=1e-12)


def test_holm_equals_its_definition():
    """Written out: the i-th smallest of m values times m - i + 1, and never below the one before."""
    values = [0.01, 0.04, 0.03, 0.005, 0.9]
    assert holm(values) == pytest.approx([0.04, 0.09, 0.09, 0.025, 0.9])
    assert holm([]) == []


def test_with_many_texts_the_p_value_is_that_of_a_t_test():
    differences = np.random.default_rng(1).normal(0.2, 1, 50)
    assert paired_p(differences) == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, rel=1e-9)


@pytest.mark.parametrize(
    "differences", [[0.5, 0.5], [1, -0.25, 3, 0, 0, 0, 2], np.random.default_rng(2).normal(1, 1, 9)]
)
def test_with_few_differences_the_p_value_counts_all_choices_of_signs(differences):
    signs = product((-1, 1), repeat=len(differences))
    as_far = [abs(np.dot(choice, differences)) >= abs(sum(differences)) - 1e-9 for choice in signs]
    assert paired_p(np.asarray(differences, dtype=float)) == pytest.approx(np.mean(as_far))
    assert paired_p(np.zeros(5)) == paired_p(np.ones(1)) == paired_p(np.zeros(0)) == 1.0


@pytest.mark.parametrize(
    ("kind", "n"),
    [
        *(("normal", n) for n in (2, 3, 5, 8, 15, 40)),
        *((kind, n) for kind in ("shares", "mostly equal", "marks") for n in (2, 6, 20)),
    ],
)
def test_noise_is_marked_in_six_per_cent_of_tables_at_most(kind, n):
    """A method that is itself random, one metric: at any number of texts, whatever its values look like."""
    generator = np.random.default_rng(n + 1)
    (call,) = metrics.calls(["iou_f1" if kind == "marks" else "comprehensiveness"])
    marked = [
        leads_over_chance(noise(generator, kind, n, call), ["random", "chance"], "chance", [call]) for _ in range(2000)
    ]
    assert np.mean([lead.p < 0.05 for (lead,) in marked]) <= 0.06  # 2,000 tables: 5 % is known to .5 %


def noise(generator: np.random.Generator, kind: str, n: int, call: Call) -> dict[tuple[str, str], MetricValues]:
    """Values of a metric for two methods that are equally random."""
    draws = {
        "normal": lambda: generator.normal(size=(1, n, 1)),
        "shares": lambda: generator.beta(0.5, 0.5, size=(1, n, 1)).round(1),
        "mostly equal": lambda: generator.exponential(size=(1, n, 1)) * (generator.random((1, n, 1)) < 0.1),
        "marks": lambda: generator.integers(0, 2, (1, n, 2)).astype(float),
    }[kind]
    combine = "f1" if kind == "marks" else "mean"
    return {(method, call.title): MetricValues(draws(), combine) for method in ("random", "chance")}


def test_the_fewest_texts_for_a_mark_can_reach_it_and_no_fewer():
    for n_tests in (1, 12, 96):
        fewest = fewest_texts_for_marks(n_tests)
        assert n_tests * paired_p(np.ones(fewest)) < 0.05 <= n_tests * paired_p(np.ones(fewest - 1))


def test_a_lower_value_leads_where_lower_is_better():
    leads = metric_leads(better={"good": 2.0})
    assert all(lead.mean.mean > 1 for lead in leads if lead.method == "good")
    overall = overall_leads(leads)
    assert overall["good"].mean() > 1
    assert abs(overall[NOISE[0]].mean()) < 0.3


def test_a_method_that_fails_a_check_is_not_recommended():
    leads = metric_leads(better={"good": 1.0, "second": 0.9})
    card = a_card(leads, failures={"good": ["fails weight randomisation"]})
    assert card.recommended == ("second",)
    (avoided,) = [one for one in card.points("avoid") if "good" in one.methods]
    assert "fails weight randomisation" in avoided.sentence


def test_methods_that_are_equally_good_are_named_together():
    """The same values twice cannot be told apart."""
    leads = metric_leads(better={"good": 1.0})
    twin = [
        Lead("twin", *(getattr(lead, name) for name in ("metric", "judges", "by_text", "mean", "p")))
        for lead in leads
        if lead.method == "good"
    ]
    card = a_card([*leads, *twin])
    assert set(card.recommended) == {"good", "twin"}
    assert "cannot be told apart" in card.points("use")[0].sentence


def test_few_texts_give_no_recommendation():
    card = a_card(metric_leads(texts=99, better={"good": 3.0}), n_texts=99)
    assert card.recommended == ()
    assert "Undecided: 99 texts were compared" in card.points("use")[0].sentence


def test_no_tick_stands_beside_advice_that_recommends_nothing():
    few = a_card(metric_leads(texts=99, better={"good": 3.0}), n_texts=99)
    for card in (few, a_card(metric_leads())):
        assert card.recommended == ()
        for view in (str(card), card._repr_html_()):
            assert "✓" not in view and "No method is recommended" in view
    assert "✓ Use for faithful reading" in str(a_card(metric_leads(better={"good": 3.0})))


def test_few_texts_give_intervals_only():
    assert texts_needed(40) == "Advice takes 100 texts or more; 40 texts give intervals only."
    assert texts_needed(1).endswith("1 text gives intervals only.") and texts_needed(100) == ""


def test_measures_that_judged_few_texts_do_not_count():
    """A measure that judged 50 of 200 texts decides nothing."""
    leads = metric_leads(better={"good": 1.0})
    few = metric_leads(texts=50, better={"good": 3.0}, names=("auprc",))
    card = a_card([*leads, *few])
    assert card.points("people") == ()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which method to use?", "good: better than random scores on 4 of 4 measures of faithfulness"),
        ("how sure is that?", "n = 200, p < .001"),
        ("which one where time is short?", "second: faithful too, and 10 times as fast as good"),
        ("which one marks what people mark?", "second agrees best with what people marked."),
        ("which ones not, and why?", "no better than random scores on any of 4 measures"),
        (
            "what was not tested?",
            "Not tested of any method: whether it changes when the model's weights are random (weight_randomisation). "
            "Each of these is a check, to be named in checks= (--checks).",
        ),
        ("how were the tests made?", "Holm's correction"),
        ("what do the numbers not say?", LIMITS[1]),
    ],
)
def test_the_card_answers(question, answer):
    faithful = metric_leads(better={"good": 1.5, "second": 0.9})
    people = metric_leads(better={"good": 0.0, "second": 0.9}, names=("auprc",))
    card = a_card(
        [*faithful, *people],
        seconds={"good": 1.0, "second": 0.1},
        unmeasured=("weight_randomisation",),
    )
    assert answer in " ".join(str(card).split()), question


def test_the_card_reads_what_it_wrote():

    card = a_card(metric_leads(better={"good": 1.0}))
    assert TrustCard.read(asdict(card)) == card


def test_a_recommendation_is_cheaper_only_where_it_is_much_cheaper():
    leads = metric_leads(better={"good": 1.5, "second": 0.9})
    assert not a_card(leads, seconds={"good": 1.0, "second": 0.9}).points("fast")
    assert a_card(leads, seconds={"good": 1.0, "second": 0.5}).points("fast")[0].methods == ("second",)


def test_a_table_by_a_metric_has_its_best_method_first_and_chance_last():
    def cell(method, metric, mean, better):
        return Cell(method, metric, Interval(mean, mean, mean), 10, better)

    cells = [
        cell(method, metric, mean, better)
        for metric, better, means in (("up", "higher", (1, 3, 2, 9)), ("down", "lower", (1, 3, math.nan, 0)))
        for method, mean in zip(("a", "b", "c", "chance"), means, strict=True)
    ]
    table = Table(tuple(cells), (), {})
    assert table.by("up").methods == ("b", "c", "a", "chance")
    assert table.by("down").methods == ("a", "b", "c", "chance")
    assert table.by("up").by("up") == table.by("up") and len(table.by("up").cells) == len(cells)
    with pytest.raises(UnknownName):
        table.by("sideways")
