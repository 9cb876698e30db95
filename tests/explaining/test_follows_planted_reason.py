"""A model counts as having learnt a planted reason only if its answers follow every edit of it, and of the decoy."""

import pytest

import pellucid
from pellucid.base.errors import BadInput, ModelCannot
from pellucid.data.plant import WORDS
from pellucid.explaining.planting import FollowsPlantedReason
from pellucid.results.table import Interval
from tests.shared.reader import reader

BLICKET, WUG, *DECOYS = WORDS[:4]


@pytest.fixture(scope="module")
def parts():
    return pellucid.plant("token", n=100)


def test_a_reader_of_the_reason_has_learnt_it(parts):
    shares = pellucid.follows_planted_reason(reader(BLICKET, WUG), parts["test"])
    assert (shares.accuracy.mean, shares.counterfactual.mean, shares.distractor.mean) == (1, 1, 1)
    assert shares.holds()
    shares.check()


def test_a_reader_of_the_decoy_has_not_though_it_is_mostly_right_on_train(parts):
    model = reader(*DECOYS)
    assert pellucid.accuracy(model, parts["train"]).mean == 0.9
    shares = pellucid.follows_planted_reason(model, parts["test"])
    assert (shares.accuracy.mean, shares.counterfactual.mean, shares.distractor.mean) == (0.5, 0.5, 0.5)
    assert not shares.holds()
    with pytest.raises(
        ModelCannot,
        match=r"not learnt, so nothing can be said about explainers: right on 0\.500 .* 0\.95 is needed",
    ):
        shares.check()


def test_edits_tell_the_decoy_from_the_reason_even_where_both_always_agree(parts):
    """On train texts that the decoy gets right, accuracy alone sees no difference; the edits do."""
    right = [one for one in parts["train"] if one.label == ("no", "yes")[DECOYS[1] in one.text.split()]]
    shares = pellucid.follows_planted_reason(reader(*DECOYS), right)
    assert (shares.accuracy.mean, shares.counterfactual.mean, shares.distractor.mean) == (1, 0, 0)
    assert not shares.holds()


@pytest.mark.parametrize("weak", range(3))
def test_every_share_counts(weak):
    shares = [Interval(0.94 if number == weak else 1.0, 0.9, 1.0) for number in range(3)]
    assert not FollowsPlantedReason(*shares).holds()
    assert FollowsPlantedReason(*shares).holds(0.9)


def test_texts_without_decoys_are_judged_without():
    shares = pellucid.follows_planted_reason(reader(BLICKET, WUG), pellucid.examples("planted_token")[:20])
    assert shares.distractor is None and shares.holds()
    assert "decoy" not in str(shares)


def test_texts_that_nothing_was_planted_in_raise(parts):
    bare = [pellucid.Example(("a text",), "yes", id="a")]
    with pytest.raises(BadInput, match="carry no counterfactual"):
        pellucid.follows_planted_reason(reader(BLICKET, WUG), bare)
