"""Figure 1 of S2 in small: curves of texts that are right at first, claims over seeds, the released code beside the
corrected methods.
"""

import numpy as np
import pytest

import pellucid
from pellucid.base.kinds import attributions
from pellucid.base.processes import no_report
from studies.s2_deletion import study
from studies.s2_deletion.methods import CHANCE, PAPER, RELEASED, VARIANTS
from studies.s2_deletion.numbers import claims, curves_of, difference, summarise
from studies.s2_deletion.page import as_page, as_picture, claims_of
from studies.s2_deletion.paper import FIGURE_1, WORD_COUNTS
from studies.s2_deletion.study import SIZES, digits, right_answers
from studies.s2_models.tasks import TASKS
from studies.shared.study import Settings
from tests.shared.tiny_training import save_encoder

ABOUT = {
    "tasks": {"sst5": {"title": "SST-5", "n_texts": 20, "last_class": "very positive"}},
    "seeds": 3,
    "most": 10,
    "draws": 2,
}
POINTS = list(WORD_COUNTS)


def text(right_until, scale=1):
    """Digits of a text whose answer is right until so many words are out."""
    return "".join(str(scale * (k <= right_until)) for k in range(11))


def unit(seed, group="corrected", **right_until):
    """A unit of 20 texts, of which the last is answered wrongly at first; methods by how long answers stay right."""
    right = {
        name.replace("_", " "): [
            *(text(until + number % 2, 2 if name == CHANCE else 1) for number in range(19)),
            "",
        ]
        for name, until in right_until.items()
    }
    return {
        "task": "sst5",
        "seed": seed,
        "right": {"delete": right},
        "about": {"group": group},
        "seconds": 1.0,
    }


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("s2")
    own, encoder = {"phrases": False}, str(save_encoder(folder / "encoder"))
    return Settings("tiny", SIZES["tiny"], folder / "out", "pocket", folder / "work", encoder=encoder, own=own)


@pytest.fixture(scope="module")
def measured(settings):
    return [study._measure(settings, "sst5", group, 0, no_report) for group in ("corrected", "released")]


def test_digits_count_the_right_draws_and_say_nothing_of_texts_that_are_not_judged():
    assert digits(np.array([1.0, 0.5, 0.0]), 2) == "210" and digits(np.full(3, np.nan), 2) == ""
    units = [unit(0, chance=8, GS=1), unit(1, chance=8, GS=1)]
    shares = curves_of(units, 2, 10)["delete"]
    assert shares[CHANCE][0].shape == (20, 11) and shares[CHANCE][0][0].tolist() == [1.0] * 9 + [0.0] * 2
    assert np.isnan(shares["GS"][1][-1]).all()


def test_a_difference_is_in_points_over_one_five_and_ten_words():
    of = curves_of([unit(seed, chance=8, GS=0) for seed in range(3)], 2, 10)["delete"]
    measured, seeds, texts = difference(of, CHANCE, "GS", POINTS)
    # random words: right without 1 and 5 of these; GS: right without 1 in the 9 of 19 texts of odd number
    assert seeds == 3 and texts == 19 and measured.mean == pytest.approx(100 * (2 / 3 - 9 / 19 / 3))


def test_claims_are_positive_where_the_paper_says_so():
    units = [unit(seed, chance=8, GS=0, GI=0, LRP=0, LAT=9) for seed in range(3)]
    units += [unit(seed, "released", LRP_as_released=6) for seed in range(3)]
    tested = {one.words: one for one in claims("sst5", curves_of(units, 2, 10), 10)["delete"]}
    gradients = tested["GS takes more answers away than random words"]
    assert gradients.verdict == "reproduced" and gradients.paper == 19.7
    assert tested["GI and GS are almost the same"].verdict == "reproduced"
    assert tested["LAT and random words are almost the same"].paper == 1.3
    assert tested["LAT takes fewer answers away than random words, by its first word"].paper == 3.0
    ours = tested["LRP takes more answers away than as released"]
    assert ours.paper is None and ours.measured.mean > 30
    few = claims("sst5", curves_of(units[:2], 2, 10), 10)["delete"]
    assert {one.verdict for one in few} == {"no verdict: 2 seeds"}


def test_the_page_has_claims_and_what_was_not_run():
    units = {str(seed): unit(seed, chance=8, GS=0, LAT=9) for seed in range(2)}
    numbers = summarise(ABOUT, {"deletion": units})
    page = as_page(numbers)
    assert "SST-5, corrected (seed 2); SST-5, released (seeds 0, 1, 2)" in page
    assert "| GS | 19 | 0.47" in page and "0.72 / 0.38 / 0.24 |" in page and "no verdict: 2 seeds" in page
    assert "of which 19 are right at first" in page
    assert as_picture(numbers, "sst5").count("<polyline") == 3
    assert "<svg" in as_picture(numbers, "imdb") and claims_of(numbers, "sst5", "pad") == []


@pytest.mark.whole
def test_both_groups_are_measured_with_their_operators(measured):
    corrected, released = measured
    assert set(corrected["right"]) == {"delete", "pad"} and set(released["right"]) == {"pad"}
    assert set(corrected["right"]["pad"]) == {*PAPER, *VARIANTS, CHANCE}
    assert set(released["right"]["pad"]) == {f"{name} as released" for name in RELEASED}
    right = [[bool(one) for one in texts] for of in corrected["right"].values() for texts in of.values()]
    assert len(right[0]) == 4 and all(one == right[0] for one in right)  # the same texts are judged by all


def test_what_was_measured_becomes_a_page(settings, measured):
    units = {
        str(number): one | {"about": {"group": group}}
        for number, (one, group) in enumerate(zip(measured, ("corrected", "released"), strict=True))
    }
    numbers = summarise(study.about(settings), {"deletion": units})
    assert "### Words deleted" in as_page(numbers)
    assert [one.name for one in study.deletion_units(settings, {})][:4] == [
        "sst5-corrected-0",
        "sst5-released-0",
        "sst5-corrected-1",
        "sst5-released-1",
    ]


def test_a_method_that_knows_the_word_takes_the_answer_away_at_once():
    model = pellucid.from_function(
        lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts],
        ["negative", "positive"],
    )
    texts = [pellucid.Example(("a good long day out",), label) for label in ("positive", "negative")]
    curves = right_answers(model, texts, {"first": "occlusion"}, "predicted", ("delete",), 3, no_report)["delete"][
        "first"
    ]
    assert curves[0].tolist() == [1.0, 0.0, 0.0, 0.0] and np.isnan(curves[1]).all()


def test_the_paper_s_numbers_cover_its_data_sets():
    assert set(FIGURE_1) == set(TASKS) == set(SIZES["small"].texts)
    assert FIGURE_1["sst5"]["LAT"] == (0.96, 0.66, 0.35) and SIZES["small"].texts["sst5"] == 300
    assert all(len(values) == 3 for of in FIGURE_1.values() for values in of.values())
    names = {one if isinstance(one, str) else one[0] for one in [*RELEASED.values(), *VARIANTS.values()]}
    assert names <= set(attributions.names())
