"""`compare` and `error_analysis` take saved explanations: they judge those, of the same model and texts, or say why not."""

from dataclasses import replace

import pytest

import pellucid
from pellucid.base.errors import BadFile, BadInput, BadSetting
from tests.shared.tiny import LABELS, save_tiny

DATA = [
    (text, LABELS[index % 2]) for index, text in enumerate(["A lovely film.", "Dull, but kind.", "The end.", "No."])
]
METHODS = ["occlusion", "integrated_gradients"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny(tmp_path_factory.mktemp("model"), "bert", LABELS)


@pytest.fixture(scope="module")
def model(folder):
    return pellucid.load(folder)


@pytest.fixture(scope="module")
def saved(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "explained.parquet"
    pellucid.save([each for method in METHODS for each in pellucid.explain(model, DATA, method)], path)
    return path


def means(table):
    return {(cell.method, cell.metric): cell.value.mean for cell in table.cells if cell.method != "chance"}


def test_a_comparison_of_saved_explanations_is_that_of_computed_ones(model, saved, tmp_path):
    computed = pellucid.compare(model, DATA, METHODS, ["comprehensiveness"], resamples=20)
    judged = pellucid.compare(model, explained=saved, metrics=["comprehensiveness"], resamples=20)
    assert means(judged) == pytest.approx(means(computed), abs=1e-7)  # rows of other batches
    pellucid.save(pellucid.explain(model, DATA, "occlusion", window=2, operator="mask"), tmp_path / "two.parquet")
    two = pellucid.compare(model, explained=tmp_path / "two.parquet", metrics=["comprehensiveness"], resamples=20)
    assert {cell.method for cell in two.cells} == {"occlusion(window=2, operator=mask)", "chance"}
    some = pellucid.compare(model, DATA[1:], ["occlusion"], ["comprehensiveness"], explained=saved, resamples=20)
    assert {cell.method for cell in some.cells} == {"occlusion", "chance"} and some.about["examples"] == 3


def test_what_is_judged_is_what_was_saved(model, saved, tmp_path):
    results = pellucid.read(saved)
    turned = type(results)(tuple(replace(result, scores=-result.scores) for result in results))
    call = {"metrics": ["comprehensiveness"], "resamples": 20}
    assert means(pellucid.compare(model, explained=turned, **call)) != means(
        pellucid.compare(model, explained=saved, **call)
    )
    pellucid.compare(model, explained=saved, folder=tmp_path / "compared", **call)
    with pytest.raises(BadFile, match="saved explanations: there"):
        pellucid.compare(model, explained=turned, folder=tmp_path / "compared", **call)
    before = pellucid.error_analysis(model, explained=saved, method="occlusion")
    assert str(before) == str(pellucid.error_analysis(model, DATA, method="occlusion"))


def test_what_does_not_fit_ends_in_one_sentence(model, saved, folder, tmp_path_factory):
    other = save_tiny(tmp_path_factory.mktemp("other"), "bert", LABELS, initializer_range=0.05)
    with pytest.raises(
        BadInput, match=r"holds 8 explanations of another model .* explain the texts again by this one\.$"
    ):
        pellucid.compare(other, explained=saved)
    with pytest.raises(BadInput, match=r"no explanation by occlusion of 1 of 2 texts \(first: 'Unseen"):
        pellucid.compare(model, [DATA[0], ("Unseen words.", LABELS[0])], explained=saved)
    unlikeliest = min(
        zip(*(getattr(pellucid.read(saved)[0].prediction, of) for of in ("logits", "labels")), strict=True)
    )[1]
    with pytest.raises(BadSetting, match=r"explains the .* give target= as it was when they were saved"):
        pellucid.compare(model, explained=saved, target=unlikeliest)
    with pytest.raises(BadSetting, match="explanations of 2 methods; give method= with one of: occlusion"):
        pellucid.error_analysis(model, explained=saved)
    with pytest.raises(BadInput, match="There are no texts"):
        pellucid.compare(model)
