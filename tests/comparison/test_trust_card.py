"""The trust card: what it recommends where the truth is known, and what its text says."""

import math
from dataclasses import asdict

import numpy as np
import pytest
from scipy import stats

from pellucid.base.errors import UnknownName
from pellucid.base.kinds import metrics
from pellucid.comparison.leads import (
    Lead,
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


def test_the_p_value_is_that_of_scipy():
    differences = np.random.default_rng(1).normal(0.2, 1, 50)
    assert paired_p(differences) == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, rel=1e-9)
    assert paired_p(np.zeros(5)) == 1.0
    assert paired_p(np.ones(5)) == 0.0
    assert paired_p(np.ones(1)) == 1.0


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
            "Not tested of any method: whether it changes when the model's weights are random (weight_randomisation).",
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
