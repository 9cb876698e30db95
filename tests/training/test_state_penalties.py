"""Penalties that read states and word vectors: what they are by a loop, their signs, and where they are refused."""

import pytest
import torch

from pellucid.base.errors import BadSetting
from pellucid.base.kinds import penalties
from pellucid.models.composed.networks import Plan
from pellucid.run.trace import StateTrace
from pellucid.text.example import as_examples
from pellucid.training.objective import check_widths
from pellucid.training.train import train_model
from tests.shared.tiny import LABELS, tiny_composed, tiny_on_vectors
from tests.shared.tiny_training import parts, recipe

NAMES = ("tying", "tying_unsquared", "conicity")
LENGTHS = (3, 1, 0, 5)


def trace(states=None):
    """Texts of several lengths, one of them without any piece of text; special tokens first."""
    generator = torch.Generator().manual_seed(0)
    table = torch.randn(9, 4, generator=generator, dtype=torch.float64)
    ids = torch.randint(0, 9, (len(LENGTHS), 7), generator=generator)
    real = torch.stack([torch.arange(7).sub(1).ge(0) & torch.arange(7).le(length) for length in LENGTHS])
    drawn = torch.randn(len(LENGTHS), 7, 4, generator=generator, dtype=torch.float64)
    states = (drawn if states is None else states(table[ids])).requires_grad_()
    return StateTrace(states, ids, table, real)


def literal(name, states):
    """The penalty, text by text and piece by piece."""
    values = []
    for number, length in enumerate(LENGTHS):
        rows = [(states.states[number, 1 + n], states.table[states.ids[number, 1 + n]]) for n in range(length)]
        if not rows:
            values.append(0.0)
            continue
        if name == "conicity":
            mean = sum(h for h, _ in rows) / length
            numbers = [float(h @ mean) / float(h.norm() * mean.norm()) for h, _ in rows]
        else:
            squares = [sum(float(one - other) ** 2 for one, other in zip(h, e, strict=True)) for h, e in rows]
            numbers = squares if name == "tying" else [square**0.5 for square in squares]
        values.append(sum(numbers) / length)
    return values


@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_mean_over_pieces_of_text(name):
    states = trace()
    values = penalties.get(name).make(states)
    assert values.tolist() == pytest.approx(literal(name, states), abs=1e-9)
    values.sum().backward()
    assert states.states.grad.isfinite().all()
    assert not states.states.grad[~states.real].any() and states.states.grad[states.real].any()


@pytest.mark.parametrize("name", ("tying", "tying_unsquared"))
def test_equal_states_cost_nothing_and_have_a_finite_gradient(name):
    """A4.5: h = e gives 0."""
    states = trace(lambda vectors: vectors.clone())
    values = penalties.get(name).make(states)
    assert not values.any()
    values.sum().backward()
    assert states.states.grad.isfinite().all()


def test_states_that_all_point_one_way_are_as_conical_as_can_be():
    states = trace(lambda vectors: torch.ones_like(vectors))
    values = penalties.get("conicity").make(states)
    assert values.tolist() == pytest.approx([1.0, 1.0, 0.0, 1.0])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("pooler", ("additive", "first_token", "rationale"))
def test_a_step_on_the_penalty_alone_lowers_it(name, pooler, texts):
    torch.manual_seed(0)
    classifier = tiny_composed(pooler)
    network, rows = classifier.network.double(), classifier.encode(as_examples(texts)).rows
    optimizer = torch.optim.SGD(network.encoder.parameters(), lr=1e-4)
    values = []
    for _ in range(2):
        optimizer.zero_grad()
        loss = penalties.get(name).make(network(**classifier.place(rows)).states).mean()
        loss.backward()
        optimizer.step()
        values.append(float(loss.detach()))
    assert values[1] < values[0]


def test_the_states_are_the_encoders_and_the_vectors_the_tables(texts):
    model = tiny_on_vectors("bilstm", "additive", vectors="random", vector_width=16)
    rows = model.encode(as_examples(texts)).rows
    with torch.no_grad():
        output = model.network.train()(**model.place(rows))  # dropout is at work
    trace, table = output.states, model.network.get_input_embeddings().weight
    for number, row in enumerate(rows):
        content = [piece for piece, segment in enumerate(row.segments) if segment >= 0]
        assert trace.real[number].nonzero()[:, 0].tolist() == content
        assert torch.equal(trace.vectors[number, content], table[[row.ids[piece] for piece in content]])


@pytest.mark.whole
def test_frozen_vectors_stay_and_states_come_nearer(encoder, tmp_path):
    """A4.7: one field of the recipe, whatever the variant; the table has the bytes that it began with."""
    settings = {"vectors": "random", "width": 16, "vector_width": 16, "dropout": 0.0}
    plan = Plan("bilstm", "additive", {}, LABELS, encoder_settings=settings)
    distances, tables = [], []
    for weight in (0.0, 10.0):
        how = recipe(penalties={"tying": weight}, freeze_vectors=True, learning_rate=1e-2)
        model = train_model(parts(), plan, how, tmp_path / str(weight), "cpu", progress=lambda *_: None)
        rows = model.encode(parts()["dev"]).rows
        with torch.no_grad():
            output = model.network.eval()(**model.place(rows))
        distances.append(float(penalties.get("tying").make(output.states).mean()))
        tables.append(model.network.get_input_embeddings().weight)
    assert distances[1] < distances[0]
    assert torch.equal(*tables)


def test_other_widths_are_refused_in_one_sentence():
    concat = tiny_on_vectors("bilstm", "additive", vectors="random", vector_width=16, retention="concat")
    for name in ("tying", "tying_unsquared"):
        with pytest.raises(BadSetting, match=f"{name} compares states of 32 numbers with word vectors of 16; give"):
            check_widths({name: 1.0}, concat.network)
        check_widths({name: 0.0}, concat.network)
    check_widths({"conicity": 1.0}, concat.network)
    check_widths({"tying": 1.0}, tiny_composed("mean").network)
