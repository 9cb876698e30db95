"""The reversing network: what it reads, what its states can know, how it is trained and judged, and its study."""

import numpy as np
import pytest
import torch

from pellucid.base.errors import BadFile, ModelCannot
from pellucid.base.kinds import attributions
from pellucid.base.processes import no_report
from pellucid.results.table import Interval
from pellucid.run.hidden_target import HiddenState
from pellucid.run.trace import Want
from pellucid.text.example import as_examples
from studies.s3_steps.network import LABELS, START, ReversingNetwork, as_model
from studies.s3_steps.page import verdict
from studies.s3_steps.study import TINY, judge, step_maps
from studies.s3_steps.training import columns, is_held_out, load, reversed_by, strings, train
from tests.shared.asking import ask

PAIRS = [("abcd", "dc"), ("ba", "a"), ("dcbaabcd", "dcba")]


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(1)
    network = ReversingNetwork(8).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(2.0)
    return network


def literal(network, source, target):
    """The states of one pair, one step after the other: [layer][piece width], and the logits after the last piece."""
    ids = [*source, START, *target]
    states = [network.embedding.weight[number] for number in ids]
    n = len(source)
    layers = []
    for layer in (network.first, network.second):
        hidden = cell = torch.zeros(8)
        after = []
        for place, vector in enumerate(states):
            lstm = layer.encoder if place < n else layer.decoder
            gates = lstm.weight_ih_l0 @ vector + lstm.bias_ih_l0 + lstm.weight_hh_l0 @ hidden + lstm.bias_hh_l0
            enter, stay, signal, leave = gates.chunk(4)
            cell = stay.sigmoid() * cell + enter.sigmoid() * signal.tanh()
            hidden = leave.sigmoid() * cell.tanh()
            after.append(hidden)
        states = after
        layers.append(torch.stack(states))
    looking, after = network.attention, []
    for place, state in enumerate(states):
        if place < n:
            after.append(state)
            continue
        looks = torch.stack([state @ (looking.key.weight @ other) for other in states[:n]]).softmax(0)
        seen = sum(share * other for share, other in zip(looks, states[:n], strict=True))
        after.append((looking.joined.weight @ torch.cat([seen, state]) + looking.joined.bias).tanh())
    layers.append(torch.stack(after))
    return layers, network.head(after[-1])


def test_its_states_are_those_of_the_formulas(network):
    model = as_model(network)
    rows = model.encode(as_examples(PAIRS)).rows
    trace = model.trace(rows, Want(hidden=True))
    for number, row in enumerate(rows):
        border = row.ids.index(START)
        with torch.no_grad():
            layers, logits = literal(network, row.ids[:border], row.ids[border + 1 :])
        for layer, states in enumerate(layers, start=1):
            torch.testing.assert_close(trace.hidden[layer][number, : len(row)], states, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(trace.logits[number], logits, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("layer", (1, 2, 3))
@pytest.mark.parametrize("method", ("gradient", "integrated_gradients"))
def test_letters_that_come_later_do_not_matter(network, method, layer):
    """Their scores are exactly 0; the last letter and the whole source have some."""
    (explanation,) = ask(as_model(network), [("abcd", "dcba")], method, target=HiddenState(layer, (6,)))
    assert not explanation.scores[7:].any()
    assert explanation.scores[[0, 1, 2, 3, 5, 6]].all()


def test_alone_and_beside_longer_pairs_are_one(network):
    together = ask(as_model(network), PAIRS, "gradient", target=HiddenState(3, "last"))
    for pair, one in zip(PAIRS, together, strict=True):
        (alone,) = ask(as_model(network), [pair], "gradient", target=HiddenState(3, "last"))
        np.testing.assert_allclose(one.scores, alone.scores, rtol=0, atol=1e-6)


def test_an_empty_source_is_read(network):
    model = as_model(network)
    batch = model.encode(as_examples([("ab", "b")]))
    trace = model.trace([batch.edited(0, {0, 1}, "absent"), batch.rows[0]])
    assert trace.logits.isfinite().all() and len(LABELS) == trace.logits.shape[1]


def test_strings_to_judge_by_are_never_trained_on():
    trained = strings(300, 3, held_out=False, shortest=3, longest=5)
    tested = strings(300, 3, held_out=True, shortest=3, longest=5)
    assert not set(trained) & set(tested)
    assert all(map(is_held_out, tested)) and {len(one) for one in trained} == {3, 4, 5}
    assert strings(5, 9, held_out=True, shortest=3, longest=5) == strings(5, 9, held_out=True, shortest=3, longest=5)


def test_training_learns_and_is_the_same_twice(tmp_path):
    before = torch.get_rng_state()
    one, two = (train(TINY, 0, tmp_path / name, no_report) for name in ("one", "two"))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert one["right"] == two["right"] and torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(0)
    fresh = ReversingNetwork(TINY.width).eval()
    trained = load(TINY, tmp_path / "one")
    ids, attended = columns([(one, one[::-1]) for one in strings(50, 5, held_out=True, shortest=3, longest=5)])
    losses = []
    for network in (fresh, trained):
        logits = network.every_step(ids, attended).log_softmax(-1)
        sources = (ids == START).int().argmax(1)
        losses.append(
            -float(logits[torch.arange(50), sources].gather(1, ids[torch.arange(50), sources - 1, None] - 1).mean())
        )
    assert losses[1] < losses[0]
    assert all(len(answer) <= 7 for answer in reversed_by(trained, ["abcda"]))


def test_the_judge_counts_a_perfect_and_a_spoilt_map():
    letters = 4
    perfect = np.full((5, 9), 0.1)
    for step in range(5):
        perfect[step, 5 + step :] = 0.0
        if step < letters:
            perfect[step, letters - 1 - step] = 1.0
        if step:
            perfect[step, letters + step] = 1.0
    good = judge([[perfect.tolist()] * 3] * 2, letters)
    assert [good[name].mean for name in ("mirrored", "near", "last", "beside", "later")] == [1, 1, 1, 1, 0]
    spoilt = perfect.copy()
    spoilt[1, 8], spoilt[0] = 0.5, perfect[1]
    bad = judge([[spoilt.tolist()] * 3] * 2, letters)
    assert bad["mirrored"].mean == 0.75 and bad["near"].mean == 1.0 and bad["later"].mean == 1.0


def test_a_claim_is_met_when_its_whole_interval_is_and_judged_only_over_enough_trainings():
    assert verdict(Interval(0.97, 0.91, 1.0), 3) == "met"
    assert verdict(Interval(0.93, 0.85, 1.0), 3) == "undecided"
    assert verdict(Interval(0.6, 0.4, 0.8), 3) == "not met"
    assert verdict(Interval(1.0, 1.0, 1.0), 2) == "no verdict: 2 seeds"


def test_another_network_under_the_name_is_refused(tmp_path):
    numbers = train(TINY, 0, tmp_path / "one", no_report)
    with pytest.raises(BadFile, match="is not the network of this study's training"):
        step_maps(TINY, tmp_path / "one", "0" * 32, 3, no_report)
    assert "seconds" in numbers


def test_methods_that_read_attention_say_that_there_is_none(network):
    with pytest.raises(ModelCannot, match="shows no attention weights"):
        ask(as_model(network), PAIRS, "attention")
    assert "gradient" in attributions.names()
