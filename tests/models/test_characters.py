"""Characters as units: of functions that read them, in methods, metrics and pages; other models refuse them."""

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import BadSetting
from tests.shared.tiny import tiny_classifier

WEIGHTS = {"!": 2.0, "O": -1.5, "k": 0.5, "_": 0.25}
TEXT = "So good!  OK"


def answer(texts):
    """Letters decide; the second class by their weights, and 0.1 for two words that are joined."""
    values = [sum(WEIGHTS.get(letter, 0.0) for letter in text) + 0.1 * text.count("d!OK") for text in texts]
    high = 1 / (1 + np.exp(-np.array(values)))
    return np.stack([1 - high, high], 1)


def by_characters(model):
    return pellucid.explain(model, [TEXT], "occlusion", target="yes", unit="character")[0]


@pytest.fixture(scope="module")
def model():
    return pellucid.from_function(answer, ["no", "yes"], pieces="character", mask="_")


@pytest.mark.parametrize(("operator", "left"), (("delete", 0.0), ("absent", 0.0), ("mask", 0.25)))
def test_each_character_has_the_fall_of_the_answer_without_it(model, operator, left):
    explanation = pellucid.explain(model, TEXT, "occlusion", target="yes", unit="character", operator=operator)[0]
    assert "".join(explanation.units.labels) == TEXT and explanation.units.kind == "character"
    whole, stand_in = answer([TEXT])[0], "_" if operator == "mask" else ""
    edited = answer([TEXT[:n] + stand_in + TEXT[n + 1 :] for n in range(len(TEXT))])
    falls = [np.log(whole[1] / whole[0]) - np.log(row[1] / row[0]) for row in edited]
    by_log = pellucid.explain(model, TEXT, "occlusion", target=("yes", "no"), unit="character", operator=operator)[0]
    np.testing.assert_allclose(by_log.scores, falls, atol=1e-6)
    assert explanation.words().units.labels == ("So", "good", "!", "OK")
    assert explanation.words().scores.sum() == pytest.approx(explanation.scores.sum(), abs=1e-6)


def test_other_methods_metrics_and_pages_take_characters(model, tmp_path):
    results = pellucid.explain(model, [TEXT], "shapley_sampling", unit="character", target="yes", n_permutations=20)
    page = pellucid.report(results, path=tmp_path / "page.html").read_text(encoding="utf-8")
    assert ">!<" in page and ">O<" in page and ">OK<" not in page
    methods = [(name, {"unit": "character"}) for name in ("occlusion", "chance")]
    table = pellucid.compare(model, [TEXT, "No! ok"], methods, [("comprehensiveness", {"unit": "character"})])
    assert table.cell("occlusion(unit=character)", "comprehensiveness(unit=character)").value.mean > 0
    by_words = pellucid.explain(model, [TEXT], "occlusion", target="yes")[0]
    plain = pellucid.explain(pellucid.from_function(answer, ["no", "yes"]), [TEXT], "occlusion", target="yes")[0]
    np.testing.assert_allclose(by_words.scores, plain.scores, atol=1e-6)
    assert model.hash != pellucid.from_function(answer, ["no", "yes"]).hash
    behind = pellucid.remote(answer, ["no", "yes"], pieces="character")
    assert behind.hash != pellucid.remote(answer, ["no", "yes"]).hash
    np.testing.assert_allclose(by_characters(behind).scores, by_characters(model).scores, atol=1e-6)


def test_models_of_longer_pieces_refuse_them():
    for model in (tiny_classifier("bert"), pellucid.from_function(answer, ["no", "yes"])):
        with pytest.raises(BadSetting, match=r"reads pieces of several characters, such as '.*pieces='character'"):
            pellucid.explain(model, "Some good films", "occlusion", unit="character")
    with pytest.raises(BadSetting, match="pieces='letter' is not possible; give one of character, word"):
        pellucid.from_function(answer, ["no", "yes"], pieces="letter")
