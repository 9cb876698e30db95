"""Tables 2 and 4 to 6 of S2 in small: lists beside the paper's, words that all seeds have, our sentences in colours."""

import pytest

from pellucid.base.processes import no_report
from studies.s2_agreement.explained import SIZES
from studies.s2_deletion.methods import PAPER
from studies.s2_models.tasks import TASKS
from studies.s2_words import study
from studies.s2_words.numbers import common_words, summarise
from studies.s2_words.page import as_page
from studies.s2_words.paper import ENDS, TABLES
from studies.s2_words.picture import sentences_picture
from studies.shared.study import Settings
from tests.shared.tiny_training import save_encoder

ABOUT = {"tasks": {"sst5": {"title": "SST-5", "n_texts": 8}}, "seeds": 3}


def unit(seed, highest, lowest):
    words = {
        "GS": {
            end: [{"word": word, "mean": 0.5, "n": 6} for word in listed.split()]
            for end, listed in zip(ENDS, (highest, lowest), strict=True)
        }
    }
    overlap = {"GS": {"the method": {"share": 0.2 + seed / 100, "k": 10}}}
    return {"task": "sst5", "seed": seed, "words": words, "overlap": overlap}


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("s2")
    own, encoder = {"phrases": False}, str(save_encoder(folder / "encoder"))
    return Settings("tiny", SIZES["tiny"], folder / "out", "pocket", folder / "work", encoder=encoder, own=own)


def test_the_words_of_the_first_seed_stand_beside_the_paper_s():
    units = {"b": unit(1, "good dull", "the of"), "a": unit(0, "good a|b", "the a")}
    numbers = summarise(ABOUT, {"words": units, "sentences": {}})
    page = as_page(numbers)
    assert "| GS | highest | good, a\\|b | mess, disturbing, slick, fine, laugh | 1 of 2 |" in page
    assert "SST-5 (seed 2); our sentences (seeds 0, 1, 2)" in page and "| GS | 20% [" in page
    assert numbers["tasks"]["sst5"]["words"]["GS"]["lowest"]["common"] == 1
    assert common_words([["a", "b"], ["b", "c"], ["b"]]) == 1 and common_words([]) == 0


@pytest.mark.whole
def test_a_model_has_words_and_sentences(settings):
    records = {
        "words": {"words": study._words(settings, "sst5", 0, no_report)},
        "sentences": {"one": study._sentences(settings, 0, no_report)},
    }
    numbers = summarise(study.about(settings), records)
    assert set(PAPER) <= set(numbers["tasks"]["sst5"]["words"])
    assert all(0 < len(of["highest"]["words"]) <= 5 for of in numbers["tasks"]["sst5"]["words"].values())
    first = numbers["sentences"][0]
    assert [set(one["scores"]) for one in numbers["sentences"]] == [set(PAPER)] * len(study.SENTENCES)
    assert all(max(map(abs, scores)) == pytest.approx(1.0) for scores in first["scores"].values())
    drawn = sentences_picture(numbers["sentences"])
    assert drawn.count("<rect") == 1 + sum(4 * len(one["words"]) for one in numbers["sentences"])
    assert "table 2" in as_page(numbers) and sentences_picture([]).startswith("<svg")


def test_the_paper_s_tables_are_whole():
    assert set(TABLES) == set(TASKS)
    lists = [end for of in TABLES.values() for ends in of.values() for end in ends]
    assert len(lists) == 32 and all(len(listed.split()) == 5 for listed in lists)
