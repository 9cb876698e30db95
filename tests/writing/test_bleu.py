"""BLEU is sacrebleu's own; its intervals come from the sums that BLEU is a function of."""

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import BadInput, BadSetting, MissingPackage, ModelCannot
from pellucid.writing import bleu as scores_file
from pellucid.writing.bleu import translation_scores
from tests.shared.tiny import tiny_classifier
from tests.writing.conftest import PAIRS

pytestmark = pytest.mark.whole

sacrebleu = pytest.importorskip("sacrebleu")

TEXTS = [
    "the cat sat on a mat",
    "a dog runs on the beach",
    "two men stand near a house .",
    "nothing at all here",
]
REFERENCES = [
    "the cat sat on the mat",
    "a dog runs along the beach",
    "two men stand in front of a house .",
    "it rains",
]
WORSE = ["cat mat", "a dog on the beach runs", "men stand near", "nothing"]


@pytest.mark.parametrize("tokenize", scores_file.TOKENIZERS)
def test_scores_are_sacrebleus_own(tokenize):
    scores = translation_scores(TEXTS, REFERENCES, tokenize=tokenize)
    metric = sacrebleu.metrics.BLEU(tokenize=tokenize)
    assert scores.bleu.mean == metric.corpus_score(TEXTS, [REFERENCES]).score
    assert scores.chrf == sacrebleu.corpus_chrf(TEXTS, [REFERENCES]).score
    assert scores.signature == str(metric.get_signature()) and f"tok:{tokenize}" in scores.signature


def test_sums_of_sentences_give_the_score_of_a_draw():
    """A literal draw: the texts are put together and scored again."""
    metric = sacrebleu.metrics.BLEU()
    rows = scores_file._statistics(metric, TEXTS, REFERENCES)
    for draw in ([0, 0, 1, 2], [3, 1, 1, 2], [2, 2, 2, 2]):
        literal = metric.corpus_score([TEXTS[i] for i in draw], [[REFERENCES[i] for i in draw]]).score
        (score,) = scores_file._bleu(metric, rows[draw].mean(0)[None], len(draw))
        assert score == pytest.approx(literal)


def test_a_difference_is_of_the_same_draws():
    texts, references, worse = TEXTS * 5, REFERENCES * 5, WORSE * 5
    scores = translation_scores(texts, references, baseline=worse)
    assert scores.difference.low > 0 and "better on these sentences" in str(scores)
    assert scores.bleu.low < scores.bleu.mean < scores.bleu.high
    same = translation_scores(texts, references, baseline=texts).difference
    assert (same.mean, same.low, same.high) == (0, 0, 0) and "not told apart" in str(
        translation_scores(texts, references, baseline=texts)
    )
    back = translation_scores(worse, references, baseline=texts)
    np.testing.assert_allclose(back.difference.mean, -scores.difference.mean)
    assert "worse on these sentences" in str(back)
    assert translation_scores(texts, references, seed=1) == translation_scores(texts, references, seed=1)


def test_a_translator_is_scored_on_pairs(learnt):
    scores = pellucid.bleu(learnt, PAIRS, baseline=learnt, resamples=100)
    assert scores.bleu.mean == pytest.approx(100) and scores.sentences == len(PAIRS)
    assert scores.difference.mean == 0 and scores.length == 1


def test_what_does_not_fit_ends_in_one_sentence(monkeypatch):
    with pytest.raises(BadInput, match="2 translations and 1 texts in references"):
        pellucid.bleu(["a", "b"], [("x", "y")])
    with pytest.raises(BadInput, match="give pairs: a source and its reference"):
        pellucid.bleu(["a"], ["x"])
    with pytest.raises(BadSetting, match="tokenize"):
        pellucid.bleu(["a"], [("x", "y")], tokenize="words")
    with pytest.raises(ModelCannot, match="is a classifier and translates nothing"):
        pellucid.bleu(tiny_classifier(), [("x", "y")])

    def missing(name):
        raise MissingPackage(f"This needs the package {name}, which is not installed: pip install {name}")

    monkeypatch.setattr("pellucid.writing.scoring.optional_package", missing)
    with pytest.raises(MissingPackage, match="pip install sacrebleu"):
        pellucid.bleu(["a"], [("x", "y")])
