"""`dtype="auto"`: mixed bfloat16 only where a trial shows that words keep their ranks."""

import numpy as np
import pytest
import torch
from scipy.stats import kendalltau

import pellucid
from pellucid.base.errors import BadSetting, Notice
from pellucid.explaining.inputs.loading import loading_of
from pellucid.models import mixed_precision
from pellucid.models.mixed_precision import TEXTS, kendall_of_trial
from tests.shared.tiny import save_tiny
from tests.shared.tiny_writing import save_tiny_writing


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(mixed_precision, "has_bfloat16_units", lambda _: True)
    return save_tiny(tmp_path / "model")


@pytest.mark.parametrize(("kendall", "number_type"), [(0.98, torch.bfloat16), (0.979, None), (None, None)])
def test_the_trial_decides_and_a_notice_says_so(folder, monkeypatch, kendall, number_type):
    monkeypatch.setattr(mixed_precision, "kendall_of_trial", lambda *_: kendall)
    with pytest.warns(Notice, match="dtype='auto' takes (mixed_bfloat16|float32)"):
        model = pellucid.load(folder, dtype="auto")
    assert model.computes_in == number_type
    monkeypatch.setattr(mixed_precision, "kendall_of_trial", lambda *_: pytest.fail("a worker chooses nothing"))
    assert loading_of(model)().computes_in == number_type


def test_without_units_for_bfloat16_there_is_no_trial(folder, monkeypatch):
    monkeypatch.setattr(mixed_precision, "has_bfloat16_units", lambda _: False)
    with pytest.warns(Notice, match="takes float32 for .*: this processor has no units for bfloat16"):
        assert pellucid.load(folder, dtype="auto").computes_in is None


def test_the_trial_is_kendalls_tau_of_leave_one_out_scores(folder):
    exact, mixed = pellucid.load(folder), pellucid.load(folder, dtype="mixed_bfloat16")
    assert kendall_of_trial(exact, exact) == 1.0
    taus = []
    for text in TEXTS:
        target = exact.predict(text)[0].label
        ours, theirs = (
            np.array(pellucid.explain(model, text, "occlusion", unit="piece", target=target)[0].scores, dtype=float)
            for model in (exact, mixed)
        )
        out = np.abs(ours) >= max(0.05 * np.abs(ours).max(), pellucid.explain(mixed, text, "occlusion")[0].resolution)
        if out.sum() >= 3:
            taus.append(kendalltau(ours[out], theirs[out]).statistic)
    assert kendall_of_trial(exact, mixed) == pytest.approx(np.mean(taus), abs=0.05)


def test_a_model_that_writes_has_no_such_trial(tmp_path):
    save_tiny_writing(tmp_path / "writer")
    with pytest.raises(BadSetting, match="writes texts"):
        pellucid.load(tmp_path / "writer", dtype="auto")
