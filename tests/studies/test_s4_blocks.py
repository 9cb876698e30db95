"""The quoted tables of S4: what was not run is said, and what was run stands there with its verdicts."""

import json

import pytest

from studies.quoted_blocks.s4_blocks import (
    s4_adversary_claims,
    s4_corpora_claims,
    s4_fragility_claims,
    s4_information_claims,
    s4_layers_claims,
    s4_settings,
    s4_start_claims,
    s4_verdicts_claims,
    s4_weights_claims,
)
from studies.s4_adversary.summary import summarise as summarise_adversary
from studies.s4_fragility.summary import summarise
from studies.s4_start.summary import summarise as summarise_start
from studies.s4_verdicts.summary import summarise as summarise_verdicts
from tests.studies.test_s4_adversary import ABOUT as ABOUT_ADVERSARY
from tests.studies.test_s4_adversary import curves
from tests.studies.test_s4_fragility import measured, run
from tests.studies.test_s4_start import ABOUT as ABOUT_START
from tests.studies.test_s4_start import run as watched
from tests.studies.test_s4_verdicts import ABOUT as ABOUT_VERDICTS
from tests.studies.test_s4_verdicts import CLASSES, records

ABOUT = {"task": "sst2", "seeds": 3, "variants": {"additive": ["base", "tying"]}, "words": None}
ABOUT |= {"n_train": 4000, "n_test": 40, "mean_words": 18.6, "vocabulary": 1234}
ABOUT |= {"information": {"n_words": 1000, "n_groups": 1000, "n_states": 5000}}


@pytest.fixture
def write(tmp_path):
    def write(study, numbers):
        path = tmp_path / "studies" / study / "result.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(numbers))
        return tmp_path

    return write


def test_what_was_not_run_is_listed(tmp_path):
    assert s4_fragility_claims(tmp_path).startswith("SST: not run yet.\n\nAG News, World or Business: not run yet.")
    assert s4_information_claims(tmp_path).startswith("SST: not run yet.\n\nAG News")
    blocks = (s4_adversary_claims, s4_layers_claims, s4_start_claims, s4_verdicts_claims, s4_weights_claims)
    assert {block(tmp_path) for block in blocks} == {"Not run yet."}
    assert "| SST | 17 | 17,310 | not run yet |" in s4_corpora_claims(tmp_path)
    assert "| states, each direction | 150 | 192 |" in s4_settings(tmp_path)


def test_tables_1_and_3_stand_with_the_claims(write):
    trainings = {str(seed): run("base", seed) for seed in range(3)}
    trainings |= {f"t{seed}": run("tying", seed, permuted_wrong=14) for seed in range(2)}
    information = {str(seed): measured("base", seed, 2.0) for seed in range(3)}
    records = {"choice": {}, "trainings": trainings, "information": information, "sentences": {}}
    numbers = summarise(ABOUT, records, {"tying": 10.0})
    root = write("s4_fragility/sst2", numbers)
    block = s4_fragility_claims(root)
    assert "SST: 4,000 texts to learn from, 40 judged; Tying δ = 10." in block and "<br>84.2" in block
    assert "additive tying (seed 2)" in block and "**no verdict: 2 seeds**" in block and "| +13.0 |" in block
    block = s4_information_claims(root)
    assert "SST.\n\n| vocabulary" in block and "2.00 [2.00, 2.00]<br>2.324" in block
    assert block.endswith("MIMIC, anemia: not run yet.")
    assert "| SST | 17 | 17,310 | 4,000 | 19 | 1,234 |" in s4_corpora_claims(root)


def test_starts_and_known_reasons_stand_with_their_verdicts(write):
    runs = [watched(start, seed, 1.5 * (start == "normal")) for start in ("normal", "default") for seed in range(3)]
    root = write("s4_start", summarise_start(ABOUT_START, runs))
    assert s4_start_claims(root).count("**reproduced**") == 2
    write("s4_verdicts", summarise_verdicts(ABOUT_VERDICTS, records(), CLASSES))
    write("s4_adversary", summarise_adversary(ABOUT_ADVERSARY, curves()))
    assert "reproduced" in s4_adversary_claims(root) and "SST; 9 texts to learn from" in s4_adversary_claims(root)
    block = s4_verdicts_claims(root)
    assert "no verdict: 2 seeds" in block and "It deceives:" in block and "| token | Base |" in block
