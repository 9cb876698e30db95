"""Tests of what the overlap of lists says in sentences."""

import pytest

from pellucid.drawing.wording import overlap_in_words
from pellucid.results.word_lists import OverlapCurve, WordLists


def sentences(rarest: float, n_idf_texts: int) -> str:
    curve = OverlapCurve(
        lists=(0.007,),
        random_mean=(0.2,),
        random_low=(0.1,),
        random_high=(0.3,),
        rarest=(rarest,),
        n_draws=200,
    )
    lists = WordLists(("neg", "pos"), (), {"neg": 3, "pos": 3}, "word", n_idf_texts)
    return " ".join(overlap_in_words(lists, curve))


@pytest.mark.parametrize(("rarest", "warned"), ((0.007, True), (0.2, False)))
def test_few_shared_words_are_no_evidence_where_the_rarest_words_share_as_few(rarest, warned):
    assert ("no evidence" in sentences(rarest, 5000)) is warned


@pytest.mark.parametrize(("n_texts", "warned"), ((3, True), (5000, False)))
def test_an_idf_of_few_texts_has_a_caution(n_texts, warned):
    assert ("The idf is of" in sentences(0.2, n_texts)) is warned
