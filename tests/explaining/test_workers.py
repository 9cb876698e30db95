"""Texts that several processes explain have the scores that one process gives them."""

import numpy as np
import pytest
import torch

import pellucid
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.explaining import explained_texts
from pellucid.explaining.explained_texts import GROUP
from pellucid.text.example import Example, Rationale
from tests.shared.tiny import LABELS, save_tiny, tiny_classifier

TEXTS = [
    Example(
        (f"A gripping film of {1900 + number % 150}, and lovely.",),
        label="positive",
        id=f"text {number}",
        meta={"page": number, "things": object()},  # which no file can hold
        rationales=(Rationale(0, 2, 10),),
    )
    for number in range(2 * GROUP + 30)
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return pellucid.load(save_tiny(tmp_path_factory.mktemp("model"), labels=LABELS))


@pytest.mark.whole
def test_workers_give_the_scores_of_one_process(model):
    """In the order of the texts, with their own ids, marks, meta and passages. To the last bit those of the same groups in one
    process, so the number of workers is of no matter.
    """
    question = {"methods": ["gradient", ("chance", {"n_draws": 2})], "target": "gold", "progress": False}
    pages = [["A gripping film"]] * len(TEXTS)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        two = pellucid.explain_all(model, TEXTS, passages=pages, workers=2, **question)
        one = pellucid.explain_all(model, TEXTS, passages=pages, **question)
        groups = [slice(first, first + GROUP) for first in range(0, len(TEXTS), GROUP)]
        alone = [pellucid.explain_all(model, TEXTS[group], passages=pages[group], **question) for group in groups]
    finally:
        torch.set_num_threads(threads)
    assert len(groups) == 3 and list(one) == list(two)
    for title, results in one.items():
        assert [each.example for each in two[title]] == TEXTS
        assert two[title][-1].units.labels[1] == "A gripping film"
        by_group = [each for group in alone for each in group[title]]
        for ours, theirs, others in zip(two[title], by_group, results, strict=True):
            assert np.array_equal(ours.scores, theirs.scores)
            np.testing.assert_allclose(ours.scores, others.scores, atol=1e-6)
            assert ours.prediction.label == others.prediction.label


@pytest.mark.whole
def test_a_method_that_fails_in_a_worker_fails_as_in_one_process(model):
    """By its name an error, by "all" a method that is left out; the error says the same."""
    function = pellucid.from_function(lambda texts: [[0.4, 0.6] for _ in texts], ["no", "yes"])
    with pytest.raises(ModelCannot, match="only in the memory of this process"):
        pellucid.explain(function, ["Good."], "occlusion", workers=2)
    with pytest.raises(BadSetting, match="workers='2'"):
        pellucid.explain(model, TEXTS, "gradient", workers="2")
    pages = [*[["A gripping film"]] * (len(TEXTS) - 1), ["A gripping film of nowhere"]]
    with pytest.raises(BadInput, match="A gripping film of"):
        pellucid.explain(model, TEXTS, "gradient", passages=pages, workers=2)


@pytest.mark.whole
def test_weights_that_were_changed_in_memory_are_not_those_of_the_files(tmp_path):
    changed = pellucid.load(save_tiny(tmp_path / "model", labels=LABELS))
    with torch.no_grad():
        next(changed.network.parameters()).mul_(2)
    with pytest.raises(ModelCannot, match="other weights in its files than in memory"):
        pellucid.explain(changed, TEXTS, "gradient", workers=2)


def test_few_texts_need_no_workers(model):
    """One group is explained here, so a second process would only take time."""
    few = pellucid.explain(model, TEXTS[:3], "gradient", workers=4)
    assert [each.example.id for each in few] == ["text 0", "text 1", "text 2"]


def test_of_many_texts_few_are_encoded_at_once(monkeypatch):
    model, texts = tiny_classifier(), [f"A {'very ' * count}dull film" for count in range(7)]
    whole = pellucid.explain(model, texts, "occlusion")
    sizes: list[int] = []
    encode = type(model).encode

    def counted(self, examples):
        sizes.append(len(examples))
        return encode(self, examples)

    monkeypatch.setattr(type(model), "encode", counted)
    monkeypatch.setattr(explained_texts, "ENCODED", 3)
    seen: list[tuple[str, int, int]] = []
    parts = pellucid.explain(model, texts, "occlusion", progress=lambda *moment: seen.append(moment))
    assert max(sizes) == 3
    for ours, theirs in zip(parts, whole, strict=True):
        assert ours.example == theirs.example
        np.testing.assert_allclose(ours.scores, theirs.scores, atol=1e-6)
    counts = [(done, total) for stage, done, total in seen if stage == "explaining"]
    assert counts == sorted(counts) and counts[-1] == (7, 7)
