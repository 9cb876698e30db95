"""The models of S2 in small: texts as the paper's, epochs by dev, accuracy over seeds, and trainings that stay."""

import pytest

from pellucid.base.processes import no_report
from pellucid.text.example import Example
from studies.s2_models import study
from studies.s2_models.numbers import accuracy, best_epoch, summarise
from studies.s2_models.page import as_page, as_picture
from studies.s2_models.tasks import (
    SIZES,
    TASKS,
    distinct_phrases,
    first_pieces,
    labels_of,
    masked_tweet,
    models_of,
    task_parts,
    texts_longer_than,
)
from studies.s2_models.trained_models import model_folder, trained
from studies.shared.study import Settings
from tests.shared.tiny import word_piece
from tests.shared.tiny_training import save_encoder

ABOUT = {
    "tasks": {
        "sst5": {"title": "SST-5", "labels": ["a", "b"], "n_train": 4000},
        "imdb": {"title": "IMDb", "labels": ["a", "b"], "n_train": 1200},
    },
    "seeds": 2,
    "width": 8,
    "phrases": False,
}


def run(task, name, seed, answers):
    history = [{"dev_accuracy": 0.5}, {"dev_accuracy": 0.75}]
    labels = [0, 1] * (len(answers) // 2)
    return {"task": task, "model": name, "seed": seed, "labels": labels, "answers": answers} | {
        "history": history,
        "seconds": 1.0,
    }


@pytest.fixture
def settings(tmp_path):
    encoder = str(save_encoder(tmp_path / "encoder"))
    own = {"phrases": False}
    out, work = tmp_path / "out", tmp_path / "work"
    return Settings("tiny", SIZES["tiny"], out, "pocket", work, encoder=encoder, own=own)


def test_phrases_are_distinct_and_labelled_by_their_tree():
    tree = "(3 (2 a) (3 (4 fine) (2 (2 film) (2 film))))"
    phrases = distinct_phrases([Example(("a fine film film",), "positive", id="s", meta={"tree": tree})])
    assert {(one.segments[0], one.label) for one in phrases} == {
        ("a fine film film", "positive"),
        ("a", "neutral"),
        ("fine film film", "positive"),
        ("fine", "very positive"),
        ("film film", "neutral"),
        ("film", "neutral"),
    }
    whole = Example(("no tree",), "neutral")
    assert distinct_phrases([whole, Example(("No tree",), "negative")]) == [whole]  # case makes no difference


def test_a_tweet_is_masked_as_the_texts_that_are_learnt_from():
    tweet = masked_tweet(Example(("@user likes #films and #pop_corn http see https://t.co/x",)))
    assert tweet.segments[0] == "@user likes @hashtag and @hashtag @url see @url"


def test_a_long_text_ends_after_its_first_pieces_and_a_short_one_stays():
    tokenizer, text = word_piece(), "good bad good bad good bad"
    short = Example((text,))
    assert first_pieces(short, tokenizer, 100) is short
    cut = first_pieces(short, tokenizer, 5)
    assert text.startswith(cut.segments[0]) and len(tokenizer(cut.segments[0])["input_ids"]) == 5
    assert texts_longer_than([short, cut], 4) == [short]


def test_two_data_sets_are_cut_and_two_are_not():
    assert {task: one.pieces for task, one in TASKS.items()} == {
        "sst5": None,
        "semeval": None,
        "imdb": 128,
        "yelp5": 128,
    }
    assert models_of("sst5") == ("pretrained", "transformer", "bilstm") and models_of("imdb") == ("pretrained",)
    assert labels_of("sst5", "elsewhere")[-1] == "very positive" and SIZES["paper"].phrases
    assert labels_of("sst5", "pocket") == ("negative", "neutral", "positive")


def test_parts_of_a_task_are_those_with_the_smallest_digests(settings):
    parts = task_parts("imdb", "pocket", settings.encoder, "tiny")
    assert {split: len(texts) for split, texts in parts.items()} == {"train": 24, "dev": 9, "test": 18}


def test_accuracy_is_in_percent_and_dev_chooses_the_epoch():
    runs = [run("sst5", "pretrained", seed, [0, 1, 0, seed]) for seed in (0, 1)]
    assert accuracy(runs, 2).mean == pytest.approx(87.5)
    assert best_epoch(runs[0]["history"]) == 2
    assert best_epoch([{"dev_accuracy": 0.5}, {"dev_accuracy": 0.5}]) == 1


def test_what_is_missing_is_listed(settings):
    records = {"trainings": {"one": run("sst5", "pretrained", 0, [0, 1, 0, 1])}}
    numbers = summarise(ABOUT, records)
    page = as_page(numbers)
    assert "MiniLM on SST-5 (seed 1)" in page and "MiniLM on IMDb (seeds 0, 1)" in page
    assert "| SST-5 | MiniLM | 156,817 | 56.9 | 4,000 | 1 | 100.0" in page
    assert as_picture(numbers).startswith("<svg")


def test_each_seed_has_all_models_before_the_next(settings):
    names = [unit.name for unit in study.training_units(settings, {})]
    assert names == [
        f"{one}-{seed}"
        for seed in (0, 1)
        for one in ("sst5-pretrained", "sst5-transformer", "sst5-bilstm", "imdb-pretrained")
    ]


def test_a_trained_model_stays_and_is_not_trained_again(settings, monkeypatch):
    numbers = study._answers(settings, "imdb", "pretrained", 1, no_report)
    assert len(numbers["labels"]) == len(numbers["answers"]) == 18 and len(numbers["history"]) == 1
    assert model_folder(settings, "imdb", "pretrained", 1).exists()
    monkeypatch.setattr("pellucid.training.train.train", None)  # it would be called to train again
    assert trained(settings, "imdb", 1).hash == numbers["digest"]
