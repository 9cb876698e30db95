"""Tables 1, 3 and 5 of S4 in small: F1 under other weights, the choice on dev, claims over seeds, and what is
missing.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import f1_score

from pellucid.attention.question import plotted
from pellucid.attention.weighed_texts import attention_outcome, weighed_texts
from pellucid.attention.weight_tests.mutual_information import mutual_information
from pellucid.base.errors import BadFile, BadInput, BadSetting, UnknownName
from pellucid.base.processes import no_report
from pellucid.data.load import load_examples
from pellucid.text.example import Example
from studies.s4_fragility import study
from studies.s4_fragility.choice import best_weights, candidates, read_choice
from studies.s4_fragility.information import information_of
from studies.s4_fragility.information_numbers import information_numbers
from studies.s4_fragility.information_page import information_table
from studies.s4_fragility.numbers import (
    OWN,
    PER_UNIT,
    change,
    claims,
    combined,
    extra_fall,
    is_degenerate,
    model_numbers,
)
from studies.s4_fragility.page import as_page, as_picture
from studies.s4_fragility.sentences import SENTENCES
from studies.s4_fragility.sentences_picture import sentences_picture
from studies.s4_fragility.summary import summarise
from studies.s4_fragility.tasks import (
    SIZES,
    TASKS,
    InformationSize,
    corpus_size,
    labelled_parts,
    two_classes,
)
from studies.shared.attention_answers import attention_answers, heaviest_words
from studies.shared.attention_models import VARIANTS, AttentionModel
from studies.shared.claims import claim_of
from studies.shared.study import Settings
from tests.attention.test_mutual_information import occurrences
from tests.data.formats.originals import DIAGNOSES, NOTES_HEADER, write
from tests.shared.tiny import tiny_composed

LABELS = "01" * 20


def answers(wrong=0, permuted_wrong=4, per_unit=0.7):
    """A part whose last texts are answered wrongly, with its own weights and with permuted ones."""

    def with_wrong(count):
        return "".join(
            str(1 - int(label)) if number >= len(LABELS) - count else label for number, label in enumerate(LABELS)
        )

    draws = [with_wrong(permuted_wrong + number % 2) for number in range(10)]
    return {
        "labels": LABELS,
        "own": [with_wrong(wrong)],
        "uniform": [with_wrong(permuted_wrong)],
        "permuted": draws,
        "per_unit": [per_unit] * len(LABELS),
        "units": [5, 7] * 20,
        "effective": [2.0] * len(LABELS),
        "heaviest": [["good", 3]],
    }


def run(variant, seed, weight=0.0, pooler="additive", **of_answers):
    part = answers(**of_answers)
    about = {"pooler": pooler, "variant": variant, "weight": weight, "layers": 1, "seed": seed}
    return {**about, "test": part, "dev": part, "seconds": 1.0}


def measured(variant, seed, nats, joint=None):
    """What a state says of its word, grouped apart and, if it is given, together."""
    one = {"information": nats, "entropy": 5.0, "shuffled": 0.1, "words": 30, "states": 900}
    cell = {"separate": one} | ({} if joint is None else {"joint": one | {"information": joint}})
    return {
        "variant": variant,
        "seed": seed,
        "information": dict.fromkeys(("most frequent words", "random words"), cell),
    }


def test_f1_under_other_weights_is_the_mean_over_draws():
    numbers = model_numbers([run("base", 0, wrong=2, permuted_wrong=8)])
    part = run("base", 0, wrong=2, permuted_wrong=8)["test"]

    def expected(draw):
        return 100 * f1_score(list(map(int, part["labels"])), list(map(int, draw)))

    of_draws = [expected(draw) for draw in part["permuted"]]
    assert numbers["own"]["mean"] == pytest.approx(expected(part["own"][0]))
    assert numbers["permuted"]["mean"] == pytest.approx(np.mean(of_draws) - expected(part["own"][0]))
    assert numbers["deviation"] == pytest.approx(np.std(of_draws, ddof=1))
    assert numbers["uniform"]["mean"] < 0 and numbers["units"] == 6 and numbers["class_1"] == 0.5


def test_a_single_words_probability_is_over_right_answers_alone():
    one = run("base", 0, wrong=20)
    one["test"]["per_unit"] = [0.8] * 20 + [0.1] * 20
    assert combined([(1, [one], PER_UNIT)]).mean == pytest.approx(80)


def test_differences_pair_seeds_and_texts():
    base = [run("base", seed, permuted_wrong=4 + seed) for seed in range(3)]
    same = [run("tying", seed, permuted_wrong=4 + seed) for seed in range(3)]
    over = extra_fall(same, base, "permuted")
    assert over.mean == over.low == over.high == 0
    fragile = [run("tying", seed, permuted_wrong=14 + seed) for seed in range(4)]
    over = extra_fall(fragile, base, "permuted")
    assert over.low > 0
    assert over.mean == pytest.approx(
        change(base, "permuted").mean - change(fragile[:3], "permuted").mean
    )  # the fourth seed has no partner
    assert combined([(1, fragile, OWN), (-1, base, OWN)]).mean == 0


@pytest.mark.parametrize("seeds, verdict", [(2, "no verdict: 2 seeds"), (3, "reproduced")])
def test_claims_stand_beside_the_papers_numbers(seeds, verdict):
    models = {
        ("additive", "base"): [run("base", seed) for seed in range(seeds)],
        ("additive", "tying"): [run("tying", seed, permuted_wrong=12, per_unit=0.5) for seed in range(seeds)],
    }
    every = claims("SST", models)
    assert [one.paper for one in every["fragile"]] == [4.2, 13.0] and every["per_unit"][0].paper == 12.6
    assert every["per_unit"][0].measured.mean == pytest.approx(20)
    assert {one.verdict for one in (*every["fragile"], *every["per_unit"], *every["same"])} == {verdict}
    assert claims("", models)["fragile"][0].paper is None and claims("SST", {})["same"] == []


def test_a_model_of_one_answer_or_of_equal_weights_is_named():
    assert not is_degenerate(answers())
    assert is_degenerate(answers() | {"own": ["1" * 40]})
    assert is_degenerate(answers() | {"effective": [5.0, 7.0] * 20})


def test_dev_chooses_the_weight_and_the_smallest_of_equal_ones():
    weights = {"tying": (1.0, 10.0, 20.0), "masked_words": (0.1, 0.3)}
    wrong = {1.0: 4, 10.0: 2, 20.0: 2, 0.1: 9, 0.3: 2}
    runs = [run(model.variant, 0, model.weight, wrong=wrong[model.weight]) for model in candidates(weights)]
    assert best_weights(runs, weights) == {"tying": 10.0, "masked_words": 0.3}
    assert best_weights(runs[:-1], weights) == {"tying": 10.0}


def test_the_choice_of_another_corpus_is_read(tmp_path):
    with pytest.raises(BadFile, match="with chosen weights; give the --out folder"):
        read_choice(str(tmp_path))
    weights = {"tying": 20.0, "masked_words": 0.3}
    (tmp_path / "result.json").write_text(json.dumps({"choice": {"weights": weights}}))
    assert read_choice(str(tmp_path)) == weights


def settings_of(tmp_path, task="pocket", size="tiny", choice=""):
    own = {"task": task, "choice": choice, "keep_models": False}
    return Settings(size, SIZES[size], tmp_path / "out", "pocket", tmp_path / "work", own=own)


def test_tasks_without_a_choice_of_their_own_ask_for_one(tmp_path):
    with pytest.raises(BadSetting, match="takes the weights that were chosen on sst2; give --choice"):
        study.choice_units(settings_of(tmp_path, "ag_news", "small"), {})
    with pytest.raises(UnknownName, match="sst2 has the sizes small"):
        corpus_size("sst2", SIZES, "tiny")


def test_texts_are_of_two_classes_and_cut(tmp_path):
    parts = labelled_parts("pocket", "pocket", corpus_size("pocket", SIZES, "tiny"))
    assert {one.label for one in parts["train"]} == set(TASKS["pocket"].labels)
    assert max(len(one.segments[0].split()) for one in parts["test"]) <= 12
    with pytest.raises(
        BadInput, match="needs texts of the classes World and Business; the train part of pocket has no"
    ):
        two_classes("ag_news", "pocket", "train", None)


def test_a_variant_waits_for_its_weight(tmp_path):
    settings = settings_of(tmp_path)
    runs = {"a": run("tying", 0, 1.0), "b": run("tying", 0, 10.0)}
    names = [unit.name for unit in study.training_units(settings, {"choice": runs})]
    assert names[:4] == ["additive-base-0", "additive-concat-0", "additive-residual-0", "additive-tying-1-0"]
    assert not any("masked" in name for name in names) and names[5].endswith("-1")


def test_what_is_missing_is_listed_and_degenerate_models_are_named():
    about = {
        "task": "sst2",
        "title": "SST",
        "seeds": 2,
        "epochs": 1,
        "words": None,
        "variants": {"additive": ["base", "tying"]},
        "n_train": 9,
        "n_dev": 3,
        "n_test": 40,
        "batch_size": 32,
        "mean_words": 6.4,
        "vocabulary": 33,
        "own_choice": True,
        "information": {"n_words": 1000, "n_groups": 1000, "n_states": 5000},
        "choice_model": "additive, seed 0",
    }
    one = run("base", 0)
    one["test"]["own"] = ["1" * 40]
    records = {
        "choice": {"c": run("tying", 0, 10.0)},
        "trainings": {"a": one, "b": run("tying", 0, 10.0)},
        "information": {"i": measured("base", 0, 2.0)},
        "sentences": {},
    }
    numbers = summarise(about, records, {"tying": 10.0})
    page = as_page(numbers)
    assert "additive base (seed 1); additive tying (seed 1); table 2, Base (seed 1)" in page
    assert "| most frequent words | Base | 2.00 [–, –]<br>2.324 | 40% | 0.100 | – | – | – | 900 |" in page
    assert "alike: additive base (seed 0).**" in page and "| Tying δ = 10 | 100.0 |" in page
    assert "<br>84.2" in page and "17310" in page and as_picture(numbers).startswith("<svg")


@pytest.mark.parametrize("pooler", ["additive", "dot"])
def test_answers_are_those_of_the_tests_of_attention(pooler):
    model = tiny_composed(pooler, ("negative", "positive"))
    examples = load_examples("pocket", "test")[:12]
    examples = [one for one in examples if one.label in model.labels]
    saved, texts = attention_answers(model, examples), weighed_texts(model, examples)
    labels = np.array(list(map(int, saved["labels"])))

    def accuracy(draw):
        return float((np.array(list(map(int, draw))) == labels).mean())

    fall = accuracy(saved["own"][0]) - accuracy(saved["uniform"][0])
    assert fall == pytest.approx(attention_outcome("uniform", texts).value.mean)
    fall = accuracy(saved["own"][0]) - np.mean([accuracy(draw) for draw in saved["permuted"]])
    assert len(saved["permuted"]) == 10
    assert fall == pytest.approx(attention_outcome("permuted", texts).value.mean)
    words = heaviest_words(model, examples, texts)
    assert all(word in one.segments[0].lower() for word, one in zip(words, examples, strict=True))


def test_models_are_those_of_the_paper():
    models = {variant: AttentionModel("dot", variant, 3.0) for variant in VARIANTS}
    recipes = {variant: one.recipe(2, 1) for variant, one in models.items()}
    assert recipes["tying"].penalties == {"tying": 3.0} and not recipes["base"].penalties
    assert recipes["masked_words"].objectives == {"masked_words": 3.0}
    assert all(one.freeze_vectors and one.seed == 1 for one in recipes.values())
    assert models["concat"].plan(("a", "b")).encoder_settings["retention"] == "concat"
    assert AttentionModel("dot", "tying", 10.0, 3).name == "dot-tying-10-3layers"


def test_what_states_say_of_their_words_is_compared_seed_by_seed():
    runs = [measured("base", seed, 2.0 + seed / 10, 2.5) for seed in range(3)]
    runs += [measured("tying", seed, 3.0 + seed / 10, 2.5 - seed / 10) for seed in range(4)]
    runs += [measured("concat", seed, 4.0) for seed in range(3)]
    numbers = information_numbers("SST", runs)
    apart, together = (claim_of(one) for one in numbers["claims"][:2])
    assert apart.verdict == "reproduced" and apart.seeds == 3 and apart.paper == 2.546
    assert apart.measured.mean == pytest.approx(1.0) and together.verdict == "undecided"
    assert numbers["models"]["tying"]["random words"]["separate"]["share"] == pytest.approx(0.63)
    assert "joint" not in numbers["models"]["concat"]["random words"]
    assert "| random words | Concat | 4.00 [4.00, 4.00] | 80% | 0.100 | – | – | – |" in information_table(
        numbers, "SST"
    )


@pytest.mark.parametrize("width, groupings", [(8, {"separate", "joint"}), (16, {"separate"})])
def test_information_is_that_of_the_package_and_wider_states_are_grouped_apart(width, groupings):
    states = occurrences(0.5, count=300, words=30)
    wide = replace(states, states=states.states.repeat(1, width // 8))
    saved = information_of(wide, InformationSize(20, 20, 200), 1)
    assert {frozenset(cells) for cells in saved.values()} == {frozenset(groupings)}
    expected = mutual_information(wide, vocabulary="random_sample", n_words=20, n_groups=20, n_states=200, seed=1)
    assert saved["random words"]["separate"]["information"] == expected.information


def test_every_task_has_sentences_that_are_drawn_word_by_word():
    assert set(SENTENCES) == set(TASKS)
    model = tiny_composed("additive", ("negative", "positive"))
    texts = [Example((sentence,), id=sentence) for sentence in SENTENCES["sst2"]]
    plots = [plotted(text, one, model.labels) for text, one in zip(weighed_texts(model, texts), texts, strict=True)]
    picture = sentences_picture({"base": plots, "tying": plots}, "positive")
    assert picture.count("<polyline") == picture.count("stroke-dasharray") == 2 * len(texts)
    assert ">tender</text>" in picture and ">MLM<" not in picture and "<polyline" not in sentences_picture({}, "a")


@pytest.mark.parametrize("keeps", [True, False])
def test_a_model_stays_only_on_request(tmp_path, keeps):
    settings = settings_of(tmp_path)
    settings = replace(settings, own={**settings.own, "keep_models": keeps})
    [unit] = [one for one in study.sentences_units(settings, {"choice": {}}) if "base" in one.name]
    numbers = unit.work(no_report)
    assert len(numbers["plots"]) == len(SENTENCES["pocket"]) and numbers["variant"] == "base"
    assert (tmp_path / "work" / "additive-base-0").exists() == keeps


def test_the_tasks_of_mimic_read_a_users_folder(tmp_path):
    """Rows of our own in the form of MIMIC-III; patients are divided by digest, so that all parts have both classes."""
    codes = "".join(f'1,"p{n}","a{n}",1,"{("2851", "28521")[n % 2]}"\n' for n in range(60))
    notes = "".join(f'1,"p{n}","a{n}","","Discharge summary","Report","","Patient {n} was seen."\n' for n in range(60))
    write(tmp_path / "DIAGNOSES_ICD.csv", DIAGNOSES.split("\n")[0] + "\n" + codes)
    write(tmp_path / "NOTEEVENTS.csv", NOTES_HEADER + notes)
    size = replace(SIZES["small"].corpora["anemia"], train=20, words=2)
    parts = labelled_parts("anemia", str(tmp_path), size)
    assert {one.label for one in parts["train"]} == {"acute", "chronic"} and len(parts["train"]) == 20
    assert {len(one.segments[0].split()) for texts in parts.values() for one in texts} == {2}
    with pytest.raises(BadInput, match="needs texts of the classes no diabetes and diabetes; the train part"):
        two_classes("diabetes", str(tmp_path), "train", None)
