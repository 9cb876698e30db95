"""Blocks of the papers' pages: what was not run is said, and what was run stands there with its verdict."""

import json

import pytest

from studies.quoted_blocks.blocks import BLOCKS, blocks_of_files
from studies.quoted_blocks.s1_blocks import s1_planted_claims
from studies.quoted_blocks.s3_steps_blocks import s3_steps_claims
from studies.s1_planted.summary import summarise
from studies.s3_steps.page import CLAIMS, LAYERS
from tests.studies.test_s1_planted import run


def written(root, study, numbers):
    (root / "studies" / study).mkdir(parents=True)
    (root / "studies" / study / "result.json").write_text(json.dumps(numbers))


@pytest.mark.parametrize("block", [s3_steps_claims, s1_planted_claims])
def test_a_study_that_was_not_run_is_named_so(block, tmp_path):
    assert block(tmp_path) == "Not run yet."


def test_blocks_are_those_of_the_files_in_the_folder():
    assert {
        "s1_games_claims",
        "s1_words_claims",
        "s1_planted_claims",
        "s3_steps_claims",
    } <= blocks_of_files().keys()
    assert all(BLOCKS[name] is block for name, block in blocks_of_files().items())


def test_each_layer_has_its_shares_and_a_verdict(tmp_path):
    shares = {"layer-1": (0.4, 0.3, 0.5), "layer-2": (0.9, 0.8, 1.0), "layer-3": (0.99, 0.95, 1.0)}
    layers = {
        name: {claim: dict(zip(("mean", "low", "high"), of_layer, strict=True)) for claim in CLAIMS}
        for name, of_layer in shares.items()
    }
    written(tmp_path, "s3_steps", {"layers": layers, "seeds": 3})
    lines = s3_steps_claims(tmp_path).splitlines()
    assert lines[-1].endswith("| **not met** | **undecided** | **met** |")
    assert all(name in lines[2] for name in LAYERS.values()) and len(lines) == 2 + 2 + len(CLAIMS) + 1
    assert "0.990 [0.950, 1.000]" in lines[4]


def test_the_planted_word_has_a_line_a_claim(tmp_path):
    written(tmp_path, "s1_planted", summarise([run(seed) for seed in range(3)], ""))
    block = s1_planted_claims(tmp_path)
    assert block.count("reproduced") == 3 and "l = 1" in block and "+50.0 [" in block
