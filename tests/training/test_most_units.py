"""Forms that hold all span vectors take so many units a text: told when texts are checked, not in the middle of
training.
"""

import pytest

from pellucid.base.errors import BadInput
from pellucid.models.pooling.pooler import n_units
from pellucid.run.batch import Row
from pellucid.text.example import Example
from tests.shared.tiny_training import parts, trained


@pytest.mark.parametrize(("part", "unit"), (("train", "word"), ("dev", "piece")))
def test_a_text_of_too_many_units_is_named_before_training(part, unit, encoder, tmp_path, monkeypatch):
    monkeypatch.setattr("pellucid.models.poolers.span.MOST_UNITS", 120)
    data = parts()
    data[part][3] = Example((" ".join(["film"] * 121),), "positive", id="long")
    message = (
        rf"1 {part} texts have more than 120 {unit}s \(first: 'long' with 121\); with interaction='exact' .*factored"
    )
    with pytest.raises(BadInput, match=message):
        trained(encoder, tmp_path / "model", data=data, pooler_settings={"interaction": "exact", "unit": unit})
    assert not (tmp_path / "model").exists()


def test_units_of_a_pair_are_counted_together():
    row = Row((1, 5, 6, 7, 2, 8, 2), (0,) * 7, tuple(range(7)), (-1, 0, 0, 1, -1, 2, -1), (-1, 0, 0, 0, -1, 1, -1))
    assert (n_units(row, "word"), n_units(row, "piece")) == (3, 4)
