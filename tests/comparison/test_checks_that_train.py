"""Checks that train models: by the recipe in the model's folder, once, and with the outcome that is known."""

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import BadInput, BadSetting
from pellucid.comparison.checks.changed_models import with_random_labels
from pellucid.comparison.checks.trained_again import with_random_gaps
from pellucid.comparison.scored_text import ScoredText, without_highest
from pellucid.data.shared.part_files import split_parts
from pellucid.text.example import Example, Rationale, group_of
from tests.shared.tiny import tiny_classifier
from tests.shared.tiny_training import parts, save_encoder, trained

pytestmark = pytest.mark.whole

METHODS = ["gradient", ("chance", {"n_draws": 2})]
CHANCE = "chance(n_draws=2)"


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    trained(save_encoder(folder / "encoder"), folder / "model", pooler="mean", epochs=1)
    return str(folder / "model")


def compared(base, out, checks):
    texts = parts()["train"]
    return pellucid.compare(
        base,
        texts[:8],
        METHODS,
        ["comprehensiveness"],
        checks=checks,
        train=texts,
        folder=out,
        progress=False,
    )


def test_chance_fails_label_randomisation_and_the_trained_model_stays(base, tmp_path):
    table = compared(base, tmp_path, ["label_randomisation"])
    chance = table.check("label_randomisation").line(CHANCE)
    assert chance.passed is False and chance.value.mean == pytest.approx(1)
    assert table.check("label_randomisation").line("gradient").value.mean < 1
    models = {path: path.stat().st_mtime_ns for path in (tmp_path / "trained").rglob("*.safetensors")}
    assert len(models) == 1
    assert str(compared(base, tmp_path, ["label_randomisation"])) == str(table)
    assert models == {path: path.stat().st_mtime_ns for path in (tmp_path / "trained").rglob("*.safetensors")}


def test_roar_trains_a_model_for_each_method_and_share(base, tmp_path):
    table = compared(base, tmp_path, [("roar", {"shares": [0.3]})])
    (one,) = table.checks
    folders = sorted(path.name for path in (tmp_path / "trained").iterdir())
    assert folders == ["roar-chance(n_draws=2)-0.3", "roar-gradient-0.3"]
    texts = parts()["train"][:8]
    retrained = pellucid.load(tmp_path / "trained" / "roar-gradient-0.3")
    explained = [each for each in pellucid.read(tmp_path) if each.method == "gradient"]
    shorter = [_without_best(text, own) for text, own in zip(texts, explained, strict=True)]
    answers = [each.label for each in retrained.predict(shorter)]
    accuracy = sum(a == text.label for a, text in zip(answers, texts, strict=True)) / 8
    assert one.line("gradient", beside="30% removed").value.mean == pytest.approx(accuracy)
    assert one.curves[0].grid == (0.0, 0.3)
    assert [line.measure for line in one.of_method(CHANCE)] == ["accuracy after retraining"]


def _without_best(example, explanation):
    """The text's words, less the three in ten with the highest scores, joined by blanks."""
    words = list(explanation)
    best = sorted(range(len(words)), key=lambda place: (-words[place][1], place))[: max(1, round(0.3 * len(words)))]
    text = example.segments[0]
    view = explanation.words()
    for place in best:
        unit = view.units.content[place]
        start, end = view.units.start[unit], view.units.end[unit]
        text = text[:start] + " " * (end - start) + text[end:]
    return " ".join(text.split())


def test_words_are_deleted_as_a_person_would():
    example = Example(("A good film.", "Yes"), "positive", (Rationale(0, 2, 6),), id="x")
    text = ScoredText(("A", "good", "film", ".", "Yes"), np.array([0.1, 0.9, 0.2, 0.0, 0.8]), "positive", "positive")
    assert without_highest(example, text, 0.2) == Example(("A film.", "Yes"), "positive", id="x")
    assert without_highest(example, text, 0.4).segments == (
        "A film.",
        "Yes",
    )  # nothing would be left of the second


def test_random_labels_are_the_same_labels_in_another_order():
    texts = parts()["train"]
    random = with_random_labels(texts, 0)
    assert [one.segments for one in random] == [one.segments for one in texts]
    assert sorted(one.label for one in random) == sorted(one.label for one in texts)
    assert [one.label for one in random] != [one.label for one in texts]
    assert random == with_random_labels(texts, 0) != with_random_labels(texts, 1)


def test_a_model_without_a_recipe_and_texts_without_labels_are_refused(base, tmp_path):
    texts = parts()["train"]
    with pytest.raises(BadSetting, match="give the folder's path as the model"):
        pellucid.compare(tiny_classifier("bert"), texts[:2], checks=["label_randomisation"], train=texts)
    with pytest.raises(BadSetting, match="label_randomisation needs texts to train on: give train="):
        pellucid.compare(base, texts[:2], checks=["label_randomisation"])
    with pytest.raises(BadInput, match="roar counts right answers, and 2 of 2 texts have no label"):
        pellucid.compare(base, ["fine", "dull"], METHODS, ["comprehensiveness"], checks=["roar"], train=texts)
    with pytest.raises(BadSetting, match="Texts to train on are read by checks, and none was named"):
        pellucid.compare(base, texts[:2], METHODS, ["comprehensiveness"], train=texts)


def test_metrics_are_judged_again_under_a_model_trained_with_gaps(base, tmp_path):
    """As a comparison of that very model has them."""
    one = compared(base, tmp_path, ["masked_training"]).check("masked_training")
    again = pellucid.compare(
        tmp_path / "trained" / "masked-0.5",
        parts()["train"][:8],
        METHODS,
        ["comprehensiveness"],
        progress=False,
    )
    for method in ("gradient", CHANCE):
        cell = again.cell(method, "comprehensiveness")
        assert one.line(method, beside="mean").value == cell.value
    assert one.line("gradient", beside="from chance").value == again.cell("gradient", "comprehensiveness").over_chance


def test_texts_with_gaps_lose_some_words_and_stay_beside_their_originals():
    texts = parts()["train"]
    gaps = with_random_gaps(texts, 0.5, 0)
    assert gaps == with_random_gaps(texts, 0.5, 0) != with_random_gaps(texts, 0.5, 1)
    for text, shorter in zip(texts, gaps, strict=True):
        count, before = len(shorter.segments[0].split()), len(text.segments[0].split())
        assert before * 0.3 <= count <= before and shorter.segments != text.segments
        assert shorter.meta["group"] == text.meta.get("group", text.id) and shorter.id != text.id


def test_a_text_without_an_id_and_its_copy_go_into_one_part():
    texts = [Example((f"the film number {n} was a fine one",), "ab"[n % 2]) for n in range(40)]
    cut = split_parts([*texts, *with_random_gaps(texts, 0.5, 0)])
    groups = [{group_of(one) for one in part} for part in cut.values()]
    assert all(cut.values()) and not groups[0] & groups[1] and not groups[1] & groups[2] and not groups[0] & groups[2]
    assert sorted(len(part) for part in cut.values()) == [12, 12, 56]
