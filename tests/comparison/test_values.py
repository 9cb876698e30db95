"""Models that give a value are judged by it, in its own unit; what asks for classes is left out with the reason."""

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import ModelCannot
from tests.models.test_several_readings import PAIRS, bi_encoder

STARS = {"good": 3.0, "fine": 1.5, "dull": -4.0, "film": 0.5}
TEXTS = ("A good film.", "A fine, good evening.", "The film was dull.", "Dull, dull film with a good end.")


def stars(texts):
    """A value far from 0 to 1."""
    return [sum(STARS.get(word, 0.0) for word in text.lower().strip(".").replace(",", "").split()) for text in texts]


def test_falls_are_those_of_the_value():
    model = pellucid.from_function(stars, ["stars"], problem="regression")
    table = pellucid.compare(model, list(TEXTS), ["occlusion"], resamples=20)
    edited = ["A film", "A fine  evening", "The  was dull", "Dull dull film with a  end"]  # the word of highest score
    falls = np.array(stars(list(TEXTS))) - np.array(stars(edited))
    of_one = pellucid.compare(model, list(TEXTS), ["occlusion"], [("comprehensiveness", {"fractions": (0.01,)})])
    assert of_one.cells[0].value.mean == pytest.approx(falls.mean())
    assert {cell.metric for cell in table.cells} == {"comprehensiveness", "sufficiency"}
    assert any("falls are those of “stars” in its own unit" in caveat for caveat in table.caveats)
    assert any("gives no class, by which they judge: hiding and revealing." in caveat for caveat in table.caveats)


@pytest.mark.parametrize("metric", ("infidelity", "sensitivity_n", "span_comprehensiveness", "soft_sufficiency"))
def test_other_metrics_judge_a_similarity(metric):
    table = pellucid.compare(bi_encoder(), list(PAIRS[:2]), ["occlusion"], [metric], resamples=20)
    assert all(np.isfinite(cell.value.mean) for cell in table.cells)


def test_what_asks_for_classes_is_refused_where_nothing_else_is_named():
    model = pellucid.from_function(stars, ["stars"], problem="regression")
    with pytest.raises(
        ModelCannot, match=r"gives a value and no class, by which hiding would judge\. Metrics .*infidelity"
    ):
        pellucid.compare(model, list(TEXTS), ["occlusion"], ["hiding"])
    with pytest.raises(ModelCannot, match="gives a value, and checks read classes"):
        pellucid.compare(model, list(TEXTS), ["occlusion"], checks=["invariance"])
