"""All methods at once: which of them run, why the others do not, and that one that fails does not end the call."""

import numpy as np
import pytest

import pellucid
from pellucid.base.entry import imported_entry
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.base.kinds import attributions
from tests.shared.tiny import tiny_classifier

TEXTS = ["A film.", "Dull"]  # short: all methods explain them, as they are usually set


@pytest.fixture
def stubborn(monkeypatch):
    """Two methods more: one that fails while it runs, and one that is not part of all methods."""

    def stubborn(run, target):
        raise ModelCannot("Its third layer is unknown.")

    facts = dict(attributions.get("gradient").facts)
    attributions.names()
    entries = {
        "stubborn": imported_entry("stubborn", stubborn, facts),
        "rare": imported_entry("rare", attributions.get("gradient").make, facts | {"usual": False}),
    }
    monkeypatch.setattr(attributions, "_entries", attributions._entries | entries)


def test_all_means_what_the_model_supports_and_is_usual(bert, stubborn):
    side = pellucid.explain_all(bert, TEXTS, ["all"])
    assert (
        set(side)
        == {*attributions.names()}
        - {"span_attention", "unit_attention", "rationale", "b_cos", "linear_coefficients", "stubborn", "rare"}
        - _unusual()
    )
    assert all(len(explanations) == 2 for explanations in side.values())
    assert side.left_out["rare"] == 'not part of "all methods"; add it by name'
    assert side.left_out["stubborn"] == "does not work here: Its third layer is unknown."
    assert "has no span weights (it was not trained with" in side.left_out["span_attention"]
    assert side == pellucid.explain_all(bert, TEXTS)


def _unusual():
    return {name for name in attributions.names() if not attributions.get(name).facts["usual"]}


def test_a_named_method_replaces_itself_and_must_work(bert, stubborn):
    side = pellucid.explain_all(bert, TEXTS, ["all", ("occlusion", {"window": 2}), "rare"])
    assert {"occlusion(window=2)", "rare"} <= set(side) and "occlusion" not in side
    assert not {"rare", "occlusion"} & set(side.left_out)
    for methods in (["stubborn"], ["all", "stubborn"]):
        with pytest.raises(ModelCannot, match="third layer"):
            pellucid.explain_all(bert, TEXTS, methods)
    with pytest.raises(BadSetting, match=r"write \['all'\]"):
        pellucid.explain_all(bert, TEXTS, "all")


def test_alone_or_among_all_a_method_gives_the_same(bert):
    among = pellucid.explain_all(bert, TEXTS)
    for title in ("occlusion", "gradient", "chance"):
        for one, other in zip(pellucid.explain(bert, TEXTS, title), among[title], strict=True):
            assert np.allclose(one.scores, other.scores, atol=1e-6), title


def test_a_method_that_fails_for_one_text_is_left_out_whole(monkeypatch):
    model = tiny_classifier("bert")
    real = attributions.get("occlusion")

    def occlusion(run, target, **settings):
        if len(run.batch) and any(example.id == "1" for example in run.batch.examples):
            raise ModelCannot("Not this text.")
        return real.make(run, target, **settings)

    monkeypatch.setitem(attributions._entries, "occlusion", imported_entry("occlusion", occlusion, real.facts))
    side = pellucid.explain_all(model, TEXTS)
    assert "occlusion" not in side and side.left_out["occlusion"].endswith("Not this text.")
    assert "gradient" in side


def test_no_texts_give_nothing_to_report(bert, tmp_path):
    side = pellucid.explain_all(bert, [])
    assert side["occlusion"] == [] and side.by_text == [] and "Left out" in str(side)
    with pytest.raises(BadInput, match="nothing to report"):
        pellucid.report(side, path=tmp_path / "page.html")
