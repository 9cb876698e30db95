"""Table 1 and figure 2: trainings are kept, claims get the verdict that their interval says."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pellucid.base.errors import BadFile
from pellucid.base.processes import silent
from pellucid.results.table import Interval
from pellucid.text.example import Example
from pellucid.text.units import Spans, Units
from studies.s0_accuracy.page import as_page, claims, summarise
from studies.s0_accuracy.trials import ROBERTA, SIZES, trials
from studies.s0_eraser import settings as eraser
from studies.s0_transfers import rows as transfers
from studies.shared.claims import Claim, SameClaim
from studies.shared.runner import main
from studies.shared.self_explaining_models import PAPER_RECIPE
from studies.shared.span_sharpness import places_of, span_sharpness, spans_beside
from studies.shared.study import Settings
from studies.shared.trainings import Corpus, trial_units
from studies.shared.unit_files import has_unit, unpack_units
from studies.shared.units import run_units
from tests.shared.tiny import tiny_composed
from tests.shared.tiny_training import save_encoder

NAMES = {"title": "SST-5", "encoder": "MiniLM"}
STUDY = Path(__file__).parents[2] / "studies" / "s0_accuracy" / "sst5"


def _run(model, seed, share, n=200):
    right = np.random.default_rng(seed).random(n) < share
    history = [{"dev_accuracy": share - 0.1}, {"dev_accuracy": share}]
    return {
        "model": model,
        "seed": seed,
        "history": history,
        "right": "".join("01"[int(one)] for one in right),
        "sharpness": {"effective_spans": 2.0, "top_weight": 0.5, "top_share": 0.2} if "lambda" in model else None,
    }


SHARES = {"plain": 0.5, "average": 0.4, "lambda-0": 0.55, "lambda-1": 0.9, "lambda-5": 0.3}
RUNS = [_run(model, seed, share) for seed in range(3) for model, share in SHARES.items()]


def test_lambda_is_selected_on_dev_and_differences_are_paired():
    numbers = summarise(RUNS)
    assert numbers["chosen"] == "lambda-1"
    plain, ours = (numbers["models"][name]["test"]["mean"] for name in ("plain", "lambda-1"))
    assert numbers["models"]["lambda-1"]["over_plain"]["mean"] == pytest.approx(ours - plain)
    assert numbers["differences"]["chosen - plain"]["mean"] == pytest.approx(ours - plain)


def test_models_are_compared_over_the_seeds_that_both_have():
    stopped = [run for run in RUNS if run["seed"] == 0 or run["model"] in ("plain", "average")]
    numbers = summarise(stopped)
    first = [run for run in RUNS if run["seed"] == 0]
    assert numbers["models"]["lambda-1"]["over_plain"] == summarise(first)["models"]["lambda-1"]["over_plain"]
    assert numbers["models"]["average"]["seeds"] == 3


def test_every_claim_of_the_paper_gets_its_number_and_a_verdict():
    by_paper = claims("sst5", summarise(RUNS))
    assert [round(claim.paper, 1) for claim in by_paper] == [1.4, 0.8, 0.6, 0.2, 1.6, 1.4]
    assert by_paper[0].verdict == "reproduced"
    assert "λ chosen on dev: **1**." in as_page("sst5", "small", NAMES | summarise(RUNS))


@pytest.mark.parametrize(
    "interval, verdict",
    [((2, 1, 3), "reproduced"), ((-2, -3, -1), "not reproduced"), ((1, -1, 3), "undecided")],
)
def test_a_verdict_is_what_the_interval_says(interval, verdict):
    assert Claim("words", 1.0, Interval(*interval), seeds=3).verdict == verdict


@pytest.mark.parametrize("seeds, verdict", [(1, "no verdict: 1 seed"), (2, "no verdict: 2 seeds")])
def test_fewer_than_three_seeds_give_no_verdict(seeds, verdict):
    assert Claim("words", 1.0, Interval(2, 1, 3), seeds).verdict == verdict
    runs = [run for run in RUNS if run["seed"] < seeds]
    assert {claim.verdict for claim in claims("sst5", summarise(runs))} == {verdict}


def test_lambda_zero_can_be_best_and_the_penalty_is_judged_by_the_best_other():
    shares = SHARES | {"lambda-0": 0.95}
    numbers = summarise([_run(model, seed, share) for seed in range(3) for model, share in shares.items()])
    assert (numbers["chosen"], numbers["penalised"]) == ("lambda-0", "lambda-1")
    assert numbers["differences"]["penalised - lambda 0"]["mean"] < 0
    assert "λ chosen on dev: **0**; of those above 0: **1**" in as_page("sst5", "small", NAMES | numbers)


def test_the_papers_other_penalty_is_judged_as_the_same_within_a_point():
    assert SameClaim("words", None, Interval(0.1, -0.6, 0.8), 3).verdict == "reproduced"
    assert SameClaim("words", None, Interval(2.1, 1.2, 3.0), 3).verdict == "not reproduced"
    assert SameClaim("words", None, Interval(0.1, -1.6, 0.8), 3).verdict == "undecided"
    assert SameClaim("words", None, Interval(0.1, -0.6, 0.8), 2).verdict == "no verdict: 2 seeds"
    runs = [*RUNS, *(_run("entropy-0.1", seed, 0.9) for seed in range(3))]
    assert "footnote 2" in claims("sst5", summarise(runs))[-1].words


@pytest.mark.skipif("PELLUCID_DATA" not in os.environ, reason="PELLUCID_DATA is not set")
def test_the_runs_of_the_repository_are_of_the_studys_trainings_and_texts_and_of_no_others():
    size, source = SIZES["small"]["sst5"], str(Path(os.environ["PELLUCID_DATA"]) / "sst5")
    corpus = Corpus(source, size.most)
    finished = [one for one in trials("sst5", size) if has_unit(STUDY / "runs", one.name)]

    def run(wanted, corpus):
        return run_units(trial_units(wanted, corpus, STUDY, "cpu"), STUDY / "runs", 1, silent).values()

    names = [f"{numbers['model']}-{numbers['seed']}" for numbers in run(finished, corpus)]
    assert names == [trial.name for trial in finished] != []
    other = replace(finished[0], recipe=replace(finished[0].recipe, learning_rate=1.0))
    for wanted, of in (
        ([other], corpus),
        (finished, Corpus(source, {"train": 9})),
        (finished, Corpus("pocket")),
    ):
        with pytest.raises(BadFile, match="give another folder"):
            run(wanted, of)


@pytest.mark.whole
def test_the_study_runs_and_repeats_no_training(tmp_path, capsys):
    words = ["s0_accuracy", "--task", "pocket", "--size", "tiny", "--data", "pocket", "--out", str(tmp_path)]
    words += ["--encoder", str(save_encoder(tmp_path / "encoder"))]
    main([*words, "--processes", "2"])
    first = (tmp_path / "README.md").read_text(encoding="utf-8")
    packed = (tmp_path / "units.jsonl.xz").read_bytes()
    unpack_units(tmp_path / "runs")
    runs = sorted((tmp_path / "runs").iterdir())
    assert [path.stem for path in runs] == ["average-0", "lambda-0-0", "lambda-1-0", "mean-0", "plain-0"]
    texts = {path.stem: path.read_text() for path in runs}
    (tmp_path / "runs" / "mean-0.json").unlink()
    main(words)  # only what is missing, and with one process the same numbers
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == first
    assert not (tmp_path / "runs").exists()
    main(words)
    unpack_units(tmp_path / "runs")
    again = {path.stem: path.read_text() for path in (tmp_path / "runs").iterdir()}
    assert again.pop("mean-0") and again == {name: text for name, text in texts.items() if name != "mean-0"}
    assert packed
    assert json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["texts"] == 16
    assert "Made by" in capsys.readouterr().out


def test_models_without_the_final_full_stop_come_last_and_are_compared_with_their_own_plain_twin():
    every = trials("snli", SIZES["small"]["snli"])
    stripped = [trial for trial in every if trial.plan.strip_final_full_stop]
    assert {trial.model for trial in stripped} == {
        *(f"stripped-{name}" for name in ("plain", "lambda-0", "lambda-1", "lambda-2", "entropy-0.1"))
    }
    assert every[-len(stripped) :] == stripped and {trial.recipe.seed for trial in stripped} == {0, 1, 2}
    models = {"plain": 0.5, "stripped-plain": 0.9, "stripped-lambda-1": 0.9, "lambda-1": 0.5}
    runs = [_run(model, seed, share) for seed in range(3) for model, share in models.items()]
    numbers = summarise(runs)
    assert numbers["models"]["stripped-lambda-1"]["over_plain"]["mean"] == 0
    assert (numbers["chosen"], numbers["models"]["stripped-plain"]["over_plain"]["mean"]) == ("lambda-1", 0)


def test_the_papers_recipe_is_that_of_its_appendix():
    recipes = [trial.recipe for trial in trials("sst5", SIZES["paper"]["sst5"])]
    assert {(one.beta2, one.warmup, one.clip, one.weight_decay, one.new_parts_factor) for one in recipes} == {
        (0.98, 0.0, 0.0, 0.0, 1.0)
    }
    assert PAPER_RECIPE.items() <= ROBERTA.items()


@pytest.mark.parametrize("study", (eraser, transfers), ids=("s0_eraser", "s0_transfers"))
def test_the_other_studies_take_the_papers_recipe_at_its_size(study):
    """`s0_evidence` trains as `s0_transfers` does."""
    settings = Settings(
        "paper", study.SIZES["paper"], Path(), "pocket", encoder="roberta-base", own={"concentration": 1.0}
    )
    assert study.own_recipe(settings) == PAPER_RECIPE
    assert study.own_recipe(replace(settings, size_name="small", size=study.SIZES["small"])) == {}


def test_what_was_not_run_is_listed_by_model_and_seed():
    page = as_page("sst5", "small", NAMES | summarise(RUNS) | {"unfinished": {"lambda-0.5": [1, 2]}})
    assert "**Not run yet, so not judged:** self-explaining, λ = 0.5 (seeds 1, 2)." in page


def test_how_many_heaviest_spans_are_empty_is_shown_where_it_was_recorded():
    assert "| 0.50 | 20% | not measured |" in as_page("sst5", "small", NAMES | summarise(RUNS))
    sharp = {"effective_spans": 2.0, "top_weight": 0.5, "top_share": 0.2, "heaviest_without_content": 0.86}
    runs = [run | {"sharpness": sharp} if run["model"] == "lambda-1" else run for run in RUNS]
    assert "| 0.50 | 20% | 86%, 86%, 86% | not measured |" in as_page("sst5", "small", NAMES | summarise(runs))


def test_spread_and_collapsed_models_are_named_beside_their_verdict():
    sharp, spread = (
        {"effective_spans": 1.5, "one_place": 0.3},
        {"effective_spans": 111.0, "top_weight": 0.02, "top_share": 0.3},
    )
    assert spans_beside([sharp, sharp]) == "effective spans 1.5, 1.5"
    assert spans_beside([None, None]) == "effective spans not measured"
    assert spans_beside([spread, None]) == "effective spans 111, –: spread"
    assert spans_beside([sharp, sharp | {"one_place": 0.6}]).endswith(": collapsed with seed 1")
    assert spans_beside([sharp | {"heaviest_without_content": 0.3}, spread]).endswith(": spread, collapsed with seed 0")
    runs = [run | {"sharpness": spread} if run["model"] == "lambda-1" else run for run in RUNS]
    page = as_page("sst5", "small", NAMES | summarise(runs))
    claims_of_paper = page.partition("## The paper's claims")[2]
    assert "**; self-explaining, λ = 1: effective spans 111, 111, 111: spread |" in claims_of_paper


def test_the_place_of_the_heaviest_spans_is_counted_in_words():
    texts = [Example(("A truly good film .",)), Example(("It was dull .",)), Example(("Nobody came",))]

    def weighed(*places):
        """For each text the range of words whose span has the weight; one other span beside it."""
        for text, place in zip(texts, places, strict=True):
            words = tuple(text.segments[0].split())
            starts = [text.segments[0].index(word) for word in words]
            ends = [start + len(word) for start, word in zip(starts, words, strict=True)]
            units = Units("word", words, (0,) * len(words), tuple(starts), tuple(ends))
            first, last = np.array([0, place[0]]), np.array([0, place[1]])
            yield text, Spans(units, first, last), np.array([0.1, 0.9])

    marks = places_of(weighed((4, 4), (3, 3), (1, 1)))
    assert marks == {"content_words": 1 / 3, "final_mark": pytest.approx(2 / 3), "one_place": 1.0}
    spread = places_of(weighed((1, 2), (1, 2), (0, 1)))
    assert spread["final_mark"] == 0 and spread["content_words"] >= 0.5 and spread["one_place"] == pytest.approx(2 / 3)


def test_a_span_model_gives_all_numbers_of_its_spans():
    numbers = span_sharpness(tiny_composed("span"), [Example((text,)) for text in ("a good film", "a dull plot here")])
    assert {"effective_spans", "content_words", "final_mark", "one_place"} <= numbers.keys()
