"""The quoted tables of S2 and of which_explanation: what was not run is said, and what was run stands there with its
verdicts.
"""

import json
import re

import pytest

from studies.quoted_blocks import s2_blocks, which_explanation_blocks
from studies.s2_agreement.numbers import summarise as summarise_agreement
from studies.s2_deletion.numbers import summarise as summarise_deletion
from studies.s2_models.numbers import summarise as summarise_models
from studies.s2_words.numbers import summarise as summarise_words
from studies.which_explanation.corpora import PLANTED
from studies.which_explanation.numbers import summarise as summarise_which
from tests.studies.test_s2_agreement import ABOUT as ABOUT_AGREEMENT
from tests.studies.test_s2_agreement import all_pairs, grid
from tests.studies.test_s2_deletion import ABOUT as ABOUT_DELETION
from tests.studies.test_s2_deletion import unit as deleted
from tests.studies.test_s2_models import ABOUT as ABOUT_MODELS
from tests.studies.test_s2_models import run
from tests.studies.test_s2_words import ABOUT as ABOUT_WORDS
from tests.studies.test_s2_words import unit as words
from tests.studies.test_which_explanation import ABOUT as ABOUT_WHICH
from tests.studies.test_which_explanation import compared, trained

BLOCKS = {
    name: block
    for module in (s2_blocks, which_explanation_blocks)
    for name, block in vars(module).items()
    if name.endswith("_claims") and not name.startswith("_") and callable(block) and name.startswith(("s2_", "which_"))
}


@pytest.fixture
def write(tmp_path):
    def write(study, numbers):
        path = tmp_path / "studies" / study / "result.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(numbers))
        return tmp_path

    return write


def test_what_was_not_run_stands_there(tmp_path):
    assert len(BLOCKS) == 10
    assert {block(tmp_path) for block in BLOCKS.values()} == {"Not run yet."}


def test_models_and_deletion_stand_with_their_claims(write):
    runs = {"one": run("sst5", "pretrained", 0, [0, 1, 0, 1])}
    assert "| SST-5 | MiniLM | 156,817 |" in s2_blocks.s2_models_claims(
        write("s2_models", summarise_models(ABOUT_MODELS, {"trainings": runs}))
    )
    units = {str(seed): deleted(seed, chance=8, GS=0) for seed in range(3)}
    block = s2_blocks.s2_deletion_claims(write("s2_deletion", summarise_deletion(ABOUT_DELETION, {"deletion": units})))
    assert "**SST-5. Words deleted.**" in block and "SST-5, released (seeds 0, 1, 2)" in block
    assert (
        "| GS takes more answers away than random words | +19.7 | 3 | 19 |" in block and "| **reproduced** |" in block
    )


def test_agreement_and_words_stand_with_their_claims(write):
    units = {str(number): one for number, one in enumerate([*all_pairs(), *map(grid, range(3))])}
    root = write("s2_agreement", summarise_agreement(ABOUT_AGREEMENT, {"agreement": units}))
    block = s2_blocks.s2_seeds_claims(root)
    assert "**Over tokens.**" in block and "short texts agree more across seeds than long ones | +6.6 | 3 |" in block
    assert "| LAT: words' scores correlate above 0.5" in s2_blocks.s2_corpora_claims(root)
    listed = {str(seed): words(seed, "good dull", "the of") for seed in range(3)}
    numbers = summarise_words(ABOUT_WORDS, {"words": listed, "sentences": {}})
    assert "| GS | highest | good, dull |" in s2_blocks.s2_words_claims(write("s2_words", numbers))


def test_corpora_are_joined(write):
    records = {
        "trainings": {str(seed): trained(seed) for seed in range(3)},
        "comparisons": {str(seed): compared(seed) for seed in range(3)},
    }
    root = write(f"which_explanation/{PLANTED}", summarise_which(ABOUT_WHICH, records))
    standing = BLOCKS["which_explanation_claims"](root)
    assert "**Not run yet:** pocket, SST-2, AG News" in standing
    assert "| good | 3 ahead, 1 behind, of 4 |" in standing
    leads = BLOCKS["which_explanation_leads_claims"](root)
    assert re.search(r"\| good \| \+0\.(59|6\d) \(\+0\.(59|6\d) to", leads)
    assert "| good | 3 pass, 0 fail |" in BLOCKS["which_explanation_checks_claims"](root)
    assert "| auprc |" in BLOCKS["which_explanation_truth_claims"](root)
    assert "| **all** | 6 of 6 | 6 | 0 | 0 | 0 |" in BLOCKS["which_explanation_advice_claims"](root)
