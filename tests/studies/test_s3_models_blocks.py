"""The quoted tables of S3's trained models: what was not run is said, and every claim stands there with its verdict."""

import json

import pytest

from studies.quoted_blocks.s3_models_blocks import (
    s3_accuracy_claims,
    s3_decay_claims,
    s3_training_claims,
)
from studies.s3_accuracy.models import PRETRAINED

NUMBERS = {"mean": 1.0, "low": -0.5, "high": 2.5}
CLAIM = {"words": "BERT (here MiniLM) beats the CNN", "paper": 11.2, "measured": NUMBERS, "seeds": 3}


@pytest.fixture
def write(tmp_path):
    def write(study, numbers):
        path = tmp_path / "studies" / study / "result.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(numbers))
        return tmp_path

    return write


def test_what_was_not_run_is_listed(tmp_path):
    assert s3_accuracy_claims(tmp_path) == "SST-2: not run yet.\n\nCoLA: not run yet.\n\nQQP: not run yet."
    assert s3_decay_claims(tmp_path) == s3_training_claims(tmp_path) == "Not run yet."


def test_models_stand_with_the_papers_number_and_how_far_they_are_behind(write):
    model = {"seeds": 3, "score": NUMBERS}
    about = {"n_train": 3000, "n_test": 1000}
    numbers = {
        "about": about,
        "models": {PRETRAINED: model, "cnn": model},
        "claims": [CLAIM],
        "missing": ["BiLSTM (seed 2)"],
    }
    block = s3_accuracy_claims(write("s3_accuracy/sst2", numbers))
    assert "| MiniLM | 93.2 | 3 | 1.0 [-0.5, 2.5] | – |  |" in block
    assert "| CNN | 82.0 | 3 | 1.0 [-0.5, 2.5] | +1.0 [−0.5, +2.5] | **undecided** |" in block
    assert "BiLSTM (seed 2)" in block and "3,000 texts" in block and "CoLA: not run yet." in block


def test_claims_stand_with_their_units_and_verdicts(write):
    about = {"n_explained": 24, "n_train": 2500, "watched": 6, "every": 50}
    change = {"l2": "0.001", "why_not": "", "n_stopped": 2, "n_words": 9, "n_more": 0}
    numbers = {
        "about": about,
        "claims": {"accuracy": [CLAIM | {"seeds": 2}]},
        "missing": [],
        "changes": [change],
    }
    block = s3_decay_claims(write("s3_decay", numbers))
    assert "| 2 | – | +1.0 [−0.5, +2.5] | **no verdict: 2 seeds** |" in block and "here, points [95 %]" in block
    assert "α = 0.001: 2 of 9 words no longer used, 0 used more" in block
    root = write("s3_training", {"about": about, "claims": {"nats": [CLAIM]}, "missing": []})
    block = s3_training_claims(root)
    assert "here, nats a text [95 %]" in block and "| **undecided** |" in block
