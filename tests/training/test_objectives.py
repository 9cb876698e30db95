"""Masked words, imitation and deception: what they are by a loop, what they share, and where they are refused."""

import math
import shutil
from dataclasses import replace

import pytest
import torch

from pellucid.base.errors import BadFile, BadInput, BadSetting
from pellucid.base.processes import silent
from pellucid.data.load import load_examples
from pellucid.models.composed.networks import Plan
from pellucid.models.load import load_classifier
from pellucid.run.readout import jensen_shannon, kullback_leibler, total_variation
from pellucid.text.example import Example, Rationale
from pellucid.training.objective import ObjectiveContext, StepPart, check_objective_widths, objectives_of
from pellucid.training.recipe import Recipe
from pellucid.training.recipes import recipe_of
from pellucid.training.train import train_model
from tests.shared.tiny import tiny_composed, tiny_on_vectors
from tests.shared.tiny_training import parts, trained

TEXTS = ("Fine", "A gripping, lovely film.", "Dull and long, and in the end not worth the evening.")
EXAMPLES = [Example((text,), label="positive") for text in TEXTS]
MASKED = {"objectives": {"masked_words": 1.0}, "freeze_vectors": True}


def objective_of(classifier, examples, precision="float32", **recipe):
    context = ObjectiveContext(classifier, classifier.encode(examples), Recipe(precision=precision, **recipe))
    [(_, objective)] = objectives_of(context)
    return objective


def part_of(classifier, examples, done=0):
    output = classifier.network(**classifier.place(classifier.encode(examples).rows))
    return StepPart(list(range(len(examples))), output, done)


def test_the_decoder_and_the_word_vectors_share_storage():
    """A4.7."""
    classifier = tiny_on_vectors("bilstm", "additive", vectors="random", vector_width=16)
    objective = objective_of(classifier, EXAMPLES, **MASKED)
    table = classifier.network.get_input_embeddings().weight
    assert objective.table is table
    assert objective.table.untyped_storage().data_ptr() == table.untyped_storage().data_ptr()


@pytest.mark.parametrize("settings", [{}, {"reduction": "sum", "frequencies": False}])
def test_masked_words_is_the_mean_or_summed_loss_of_a_texts_hidden_pieces(settings):
    """With the second settings as the paper writes it: a sum, of logits without frequencies."""
    classifier = tiny_on_vectors("bilstm", "additive", vectors="random", vector_width=16)
    network = classifier.network.double().eval()
    objective = objective_of(classifier, EXAMPLES, **MASKED, objective_settings={"masked_words": settings})
    part = part_of(classifier, EXAMPLES, done=2)
    rows, hidden = objective.masked(part)
    table, batch = network.get_input_embeddings().weight, classifier.encode(EXAMPLES)
    ids = [batch.rows[n].ids[p] for n in range(3) for p in batch.units[n].content]
    real = sorted(set(ids))
    expected = []
    for number, pieces in enumerate(hidden):
        states = network.states(classifier.place([rows[number]])["pieces"])[0]
        losses = []
        for piece in pieces:
            logits = {
                id: float((states[piece] @ table[id]).detach())
                + (0 if settings else math.log(ids.count(id) / len(ids)))
                for id in real
            }
            highest = max(logits.values())
            total = sum(math.exp(value - highest) for value in logits.values())
            losses.append(math.log(total) + highest - logits[batch.rows[number].ids[piece]])
        expected.append(sum(losses) / (1 if settings else max(1, len(losses))))
    assert objective.losses(part).tolist() == pytest.approx(expected, rel=1e-6)


def test_pieces_are_hidden_as_often_and_in_the_ways_that_the_paper_says():
    classifier = tiny_on_vectors("bilstm", "additive", vectors="random", vector_width=16)
    text = " ".join(["a long and winding but in the end rather fine film"] * 10)
    examples = [Example((text,), label="positive")]
    objective, mask = objective_of(classifier, examples, **MASKED), classifier.blank_ids()["mask"]
    before = classifier.encode(examples).rows[0]
    ways = {"mask": 0, "other": 0, "same": 0}
    count = pieces = 0
    for done in range(200):
        [row], [hidden] = objective.masked(StepPart([0], None, done))
        assert [p for p in range(len(row)) if row.ids[p] != before.ids[p] and p not in hidden] == []
        for piece in hidden:
            id = row.ids[piece]
            ways["mask" if id == mask else "same" if id == before.ids[piece] else "other"] += 1
        count, pieces = count + len(hidden), pieces + sum(segment >= 0 for segment in row.segments)
    assert count / pieces == pytest.approx(0.15, abs=0.01)
    assert ways["mask"] / count == pytest.approx(0.8, abs=0.03)
    assert ways["other"] / count == pytest.approx(0.1, abs=0.03)  # another piece can be the same one


def test_masked_words_freezes_word_vectors_unless_they_are_to_be_trained(encoder, tmp_path):
    assert recipe_of("span", 0, None, objectives={"masked_words": 1}).freeze_vectors
    assert not recipe_of("span", 0, None, objectives={"masked_words": 0}).freeze_vectors
    with pytest.raises(
        BadSetting, match="masked_words needs word vectors that stay as they are; give freeze_vectors=True"
    ):
        trained(encoder, tmp_path, **{**MASKED, "freeze_vectors": False})


def test_texts_in_which_nothing_can_be_hidden_are_refused(encoder, tmp_path):
    data = {split: [Example(("film",), label="positive")] for split in ("train", "dev")}
    with pytest.raises(BadInput, match="masked_words finds no train text of 2 pieces or more"):
        trained(encoder, tmp_path, data=data, **MASKED)


def test_states_of_another_width_have_no_decoder():
    concat = tiny_on_vectors("bilstm", "additive", vectors="random", vector_width=16, retention="concat")
    with pytest.raises(BadSetting, match="compares states of 32 numbers with word vectors of 16; give"):
        check_objective_widths(Recipe(**MASKED), concat.network)


def test_distances_of_distributions():
    """A4.2: of two classes |Δp|; the divergence is at most log 2, and 0 of a distribution from itself."""
    one, other = torch.tensor([[0.9, 0.1], [1.0, 0.0]]), torch.tensor([[0.3, 0.7], [0.0, 1.0]])
    torch.testing.assert_close(total_variation(one, other), (one - other)[:, 0].abs())
    assert jensen_shannon(one, other)[1] == pytest.approx(math.log(2))
    assert jensen_shannon(one, one).abs().max() < 1e-7 and kullback_leibler(one, one).abs().max() < 1e-7
    expected = 0.9 * math.log(0.9 / 0.3) + 0.1 * math.log(0.1 / 0.7)
    assert float(kullback_leibler(one, other)[0]) == pytest.approx(expected, rel=1e-5)


@pytest.fixture(scope="module")
def base(encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("base") / "additive"
    trained(encoder, folder, pooler="additive", epochs=2)
    return folder


def imitating(base, **settings):
    return {
        "objectives": {"imitation": 1.0},
        "objective_settings": {"imitation": {"model": str(base), **settings}},
    }


@pytest.mark.whole
def test_imitation_is_distance_of_answers_minus_divergence_of_weights(base):
    classifier = tiny_composed("additive")
    part = part_of(classifier, EXAMPLES)
    for divergence, function in (("jsd", jensen_shannon), ("kl", kullback_leibler)):
        objective = objective_of(classifier, EXAMPLES, **imitating(base, divergence=divergence, divergence_weight=0.5))
        other = part_of(objective.base, EXAMPLES).output
        expected = [
            0.5 * sum(abs(one.softmax(-1)[n] - two.softmax(-1)[n]) for n in range(3)) - 0.5 * function(weights, theirs)
            for one, two, weights, theirs in zip(
                part.output.logits, other.logits, part.output.units.weights, other.units.weights, strict=True
            )
        ]
        torch.testing.assert_close(objective.losses(part), torch.stack(expected), rtol=1e-5, atol=1e-6)


def test_a_model_is_at_no_distance_from_itself(base):
    classifier = load_classifier(base)
    objective = objective_of(classifier, EXAMPLES, **imitating(base))
    assert objective.losses(part_of(classifier, EXAMPLES)).abs().max() < 1e-6


@pytest.mark.whole
def test_without_a_divergence_the_answers_become_those_of_the_model(encoder, base, tmp_path):
    """A4.1: lambda = 0 drives the distance to 0; the labels, which are wrong here, are not learnt."""
    examples = parts()["train"]
    wrong = [Example(one.segments, label="neutral") for one in examples]
    data = {"train": [*wrong[:-2], *examples[-2:]], "dev": examples}
    distances = []
    for epochs in (1, 30):
        model = trained(
            encoder,
            tmp_path / str(epochs),
            pooler="additive",
            data=data,
            epochs=epochs,
            learning_rate=2e-3,
            **imitating(base, divergence_weight=0),
        )
        objective = objective_of(model, examples, **imitating(base, divergence_weight=0))
        with torch.no_grad():
            distances.append(float(objective.losses(part_of(model, examples)).mean()))
    assert distances[1] < 0.02 < distances[0]


@pytest.mark.whole
def test_models_that_cannot_be_imitated_are_refused_in_one_sentence(encoder, base, tmp_path):
    with pytest.raises(BadSetting, match="needs another model; give its folder"):
        trained(encoder, tmp_path / "none", pooler="additive", objectives={"imitation": 1.0})
    with pytest.raises(BadFile, match="There is no folder"):
        trained(encoder, tmp_path / "missing", pooler="additive", **imitating(tmp_path / "gone"))
    with pytest.raises(BadSetting, match="has others, or none; give both models the same pooler"):
        trained(encoder, tmp_path / "other", pooler="first_token", **imitating(base))
    other = tiny_composed("additive", labels=("bad", "good"))
    with pytest.raises(BadSetting, match="has the classes negative, neutral, positive, and the data have bad, good"):
        objective_of(other, EXAMPLES, **imitating(base))
    with pytest.raises(BadSetting, match="cuts texts into other pieces; give a model with the same tokenizer"):
        objective_of(tiny_composed("additive", family="roberta"), EXAMPLES, **imitating(base))
    with pytest.raises(BadSetting, match="uniform"):
        objective_of(tiny_composed("additive", weights="uniform"), EXAMPLES, **imitating(base))


def test_deception_is_the_log_of_the_weight_on_unmarked_words():
    examples = [
        Example((TEXTS[0],), label="positive", rationales=(Rationale(0, 0, 4),)),  # marked all over
        Example((TEXTS[1],), label="positive", rationales=(Rationale(0, 2, 10),)),
        Example((TEXTS[2],), label="positive"),
    ]
    for pooler in ("additive", "span"):
        classifier = tiny_composed(pooler)
        part = part_of(classifier, examples)
        values = objective_of(classifier, examples, objectives={"deception": 1.0}).losses(part)
        assert values[0] == 0 and values[2] == 0
        if pooler == "additive":
            share = 1 - float(part.output.units.weights[1, 1])  # "gripping" is the second word
        else:
            weights = part.output.spans.weights[1]
            share = float(weights[0, 0] + weights[2:, 2:].sum())
        assert float(values[1]) == pytest.approx(-math.log(share), abs=1e-5)


def test_deception_needs_marks(encoder, tmp_path):
    with pytest.raises(BadInput, match="no train text has such marks; give data with rationales"):
        data = {split: [Example(one.segments, label=one.label) for one in parts()[split]] for split in ("train", "dev")}
        trained(encoder, tmp_path, data=data, pooler="additive", objectives={"deception": 1.0})


def test_settings_of_an_objective_without_a_weight_are_refused():
    with pytest.raises(BadSetting, match="settings of masked_words, which is not among the objectives"):
        Recipe(objective_settings={"masked_words": {"share": 0.2}})


@pytest.mark.whole
def test_other_marks_and_another_imitated_model_are_another_training(encoder, base, tmp_path):
    first, other = (
        {
            split: [replace(one, rationales=(Rationale(0, start, start + 4),)) for one in examples]
            for split, examples in parts().items()
        }
        for start in (0, 1)
    )
    deceptive = {"pooler": "additive", "epochs": 1, "objectives": {"deception": 1.0}}
    trained(encoder, tmp_path / "deceptive", data=first, **deceptive)
    assert trained(encoder, tmp_path / "deceptive", data=first, **deceptive).labels
    with pytest.raises(BadFile, match="trained otherwise"):
        trained(encoder, tmp_path / "deceptive", data=other, **deceptive)
    copy = tmp_path / "copy"
    shutil.copytree(base, copy)
    imitation = {"pooler": "additive", "epochs": 1, **imitating(copy)}
    trained(encoder, tmp_path / "imitation", **imitation)
    assert trained(encoder, tmp_path / "imitation", **imitation).labels
    shutil.rmtree(copy)
    trained(encoder, copy, pooler="additive", epochs=2, seed=1)
    with pytest.raises(BadFile, match="trained otherwise"):
        trained(encoder, tmp_path / "imitation", **imitation)


@pytest.mark.whole
def test_a_deceptive_model_has_hardly_any_weight_on_marked_words(encoder, tmp_path):
    data = [
        Example((f"the {word} film {number}",), label=label, rationales=(Rationale(0, 4, 4 + len(word)),))
        for number in range(8)
        for word, label in (("good", "positive"), ("bad", "negative"))
    ]
    model = trained(
        encoder,
        tmp_path,
        data={"train": data, "dev": data},
        pooler="additive",
        epochs=20,
        learning_rate=2e-3,
        objectives={"deception": 1.0},
    )
    with torch.no_grad():
        output = part_of(model, data).output
    assert [model.labels[int(n)] for n in output.logits.argmax(-1)] == [one.label for one in data]
    assert float(output.units.weights[:, 1].max()) < 0.05


@pytest.mark.whole
def test_the_task_is_learnt_beside_masked_words(tmp_path):
    """Its loss is far larger than that of the labels, the logarithm of a vocabulary, and yet a planted word decides."""
    data = {
        "train": load_examples("planted_token", "train")[:300],
        "dev": load_examples("planted_token", "dev")[:50],
    }
    plan = Plan(
        "bilstm",
        "additive",
        {},
        ("no", "yes"),
        encoder_settings={"vectors": "random", "width": 64, "vector_width": 64},
    )
    recipe = Recipe(epochs=10, learning_rate=3e-3, new_parts_factor=1.0, precision="float32", **MASKED)
    model = train_model(data, plan, recipe, tmp_path / "model", "cpu", progress=silent)
    right = [model.labels[int(model.plain_logits(one).argmax())] == one.label for one in data["dev"]]
    assert sum(right) >= 45
