"""Discoveries give what scikit-learn itself gives of the same states, and each state's activations are its own."""

from functools import partial

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, FastICA, TruncatedSVD

from pellucid.base.errors import BadInput, BadSetting, UnknownName
from pellucid.base.kinds import discoveries
from pellucid.discovery import autoencoders, dictionaries
from pellucid.discovery.dictionaries import TOP, discovered, in_parts, random_directions
from pellucid.discovery.judges import matched

N = 4


def states(seed=0, count=400, width=12):
    """Sums of four directions, of which few are there at once, and noise."""
    rng = np.random.default_rng(seed)
    there = rng.exponential(size=(count, N)) * (rng.random((count, N)) < 0.4)
    return (there @ rng.normal(size=(N, width)) + 0.1 * rng.normal(size=(count, width))).astype(np.float32)


def of_library(name, matrix):
    """Activations and reconstruction by the library's own transform."""
    if name == "nmf":
        model = NMF(N, init="nndsvda", random_state=0, max_iter=400, tol=1e-3).fit(in_parts(matrix))
        model.set_params(tol=1e-5, max_iter=5000)
        rebuilt = model.inverse_transform(model.transform(in_parts(matrix)))
        return rebuilt[:, :12] - rebuilt[:, 12:]
    if name == "ica":
        model = FastICA(N, whiten="unit-variance", random_state=0, max_iter=400).fit(matrix)
        return model.inverse_transform(model.transform(matrix))
    if name == "svd":
        model = TruncatedSVD(N, random_state=0).fit(matrix - matrix.mean(0))
        return model.inverse_transform(model.transform(matrix - matrix.mean(0))) + matrix.mean(0)
    model = KMeans(N, n_init=3, random_state=0, max_iter=400).fit(matrix)
    return model.cluster_centers_[model.predict(matrix)]


OURS = ("semi_nmf", "sae", "sae_batch_top_k", "sae_jump_relu")
OF_LIBRARY = [name for name in discoveries.names() if name not in OURS]


@pytest.mark.parametrize("name", OF_LIBRARY)
def test_a_discovery_equals_scikit_learns_own(name):
    matrix = states()
    dictionary = discovered(matrix, name, N, 0)
    rebuilt = dictionary.reconstructed(dictionary.activations(matrix))
    np.testing.assert_allclose(rebuilt, of_library(name, matrix), atol=2e-3)
    assert discoveries.get(name).facts["signed"] or dictionary.activations(matrix).min() >= 0


@pytest.mark.parametrize("name", discoveries.names())
def test_activations_of_a_state_do_not_depend_on_its_neighbours_and_the_largest_concept_comes_first(name, monkeypatch):
    monkeypatch.setattr(autoencoders, "STEPS", 100)
    matrix = states()
    dictionary = discovered(matrix, name, N, 0)
    activations = dictionary.activations(matrix)
    alone = np.concatenate([dictionary.activations(row[None]) for row in matrix[:20]])
    np.testing.assert_allclose(alone, activations[:20], atol=1e-5)
    sizes = (activations**2).mean(0) * (dictionary.atoms**2).sum(1)
    assert (np.diff(sizes) <= 1e-6).all()


def literal_semi_nmf(x, weights, steps):
    """Ding, Li & Jordan, number by number: X = F G', F free, G of 0 or more; the states are the columns of X."""
    states, n = weights.shape
    f = x @ weights @ np.linalg.inv(weights.T @ weights)
    for _ in range(steps - 1):
        xf, ff, stepped = x.T @ f, f.T @ f, weights.copy()
        for i in range(states):
            for k in range(n):
                up = (abs(xf[i, k]) + xf[i, k]) / 2
                down = (abs(xf[i, k]) - xf[i, k]) / 2
                for m in range(n):
                    up += weights[i, m] * (abs(ff[m, k]) - ff[m, k]) / 2
                    down += weights[i, m] * (abs(ff[m, k]) + ff[m, k]) / 2
                stepped[i, k] = weights[i, k] * np.sqrt(up / down)
        weights = stepped
        f = x @ weights @ np.linalg.inv(weights.T @ weights)
    return f.T, ((x - f @ weights.T) ** 2).sum()


def reached(steps, errors):
    return len(errors) == steps


def test_semi_nmf_makes_the_steps_of_its_literal_form_and_each_lowers_the_error(monkeypatch):
    matrix = states(count=60)
    start = KMeans(N, n_init=3, random_state=0, max_iter=400).fit(matrix)
    weights = np.eye(N)[start.predict(matrix)] + 0.2
    errors = []
    for steps in (1, 2, 6):
        monkeypatch.setattr(dictionaries, "_has_settled", partial(reached, steps))
        ours = dictionaries.semi_nmf(matrix, N, 0)
        atoms, error = literal_semi_nmf(matrix.T.astype(float), weights, steps)
        np.testing.assert_allclose(ours.atoms, atoms, atol=1e-3)
        errors.append(error)
        assert ours.activations(matrix).min() >= 0
    assert errors[0] > errors[1] > errors[2]


def literal_top_k(read, thresholds):
    """Gao et al.: a state keeps its largest."""
    return np.array([[max(a, 0) if a in sorted(row)[-TOP:] else 0 for a in row] for row in read])


def literal_batch_top_k(read, thresholds):
    """Bussmann et al.: all states of the batch together keep the largest."""
    smallest = sorted(a for row in read for a in row)[-TOP * len(read)]
    return np.array([[max(a, 0) if a >= smallest else 0 for a in row] for row in read])


def literal_jump_relu(read, thresholds):
    """Rajamanoharan et al.: what is above its threshold stays as it is."""
    return np.array([[a if a > limit else 0 for a, limit in zip(row, thresholds, strict=True)] for row in read])


def threshold_gradients(read, thresholds, back, count):
    """Their estimate, number by number: only activations within half a window of the threshold tell of it."""
    total, window = np.zeros(len(thresholds)), autoencoders.BANDWIDTH
    for row, gradients in zip(read, back, strict=True):
        for k, limit in enumerate(thresholds):
            if abs((row[k] - limit) / window) < 0.5:
                total[k] += -(limit / window) * gradients[k]
                total[k] += autoencoders.PENALTY / count * -(1 / window)
    return total


RULES = {"sae": literal_top_k, "sae_batch_top_k": literal_batch_top_k, "sae_jump_relu": literal_jump_relu}


def literal_autoencoder(matrix, n, seed, steps, rule):
    """As Gao et al. write it, with gradients by hand and Adam as Kingma & Ba write it; the rule says what is active."""
    draws = torch.Generator().manual_seed(seed)
    mean = matrix.mean(0)
    scale = np.linalg.norm(matrix - mean, axis=1).mean()
    x = ((matrix - mean) / scale).astype(np.float64)
    atoms = x[torch.randint(len(x), (n,), generator=draws).numpy()]
    atoms = atoms + 1e-3 * torch.randn(atoms.shape, generator=draws).double().numpy()
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    values = [atoms, atoms.copy(), np.zeros(x.shape[1]), np.log(np.full(n, autoencoders.FIRST_THRESHOLD))]
    moments = [[np.zeros_like(value), np.zeros_like(value)] for value in values]
    for step in range(1, steps + 1):
        atoms, encoder, offset, logs = values
        batch = x[torch.randint(len(x), (autoencoders.BATCH,), generator=draws).numpy()] - offset
        read, thresholds = batch @ encoder.T, np.exp(logs)
        activations = rule(read, thresholds)
        error = -2 * (batch - activations @ atoms) / len(batch)
        back = (error @ atoms.T) * (activations > 0)
        gradients = [activations.T @ error, back.T @ batch, (error - back @ encoder).sum(0), np.zeros(n)]
        if rule is literal_jump_relu:
            gradients[3] = thresholds * threshold_gradients(read, thresholds, error @ atoms.T, len(batch))
        for value, gradient, (first, second) in zip(values, gradients, moments, strict=True):
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            rate = autoencoders.RATE / (1 - 0.9**step)
            value -= rate * first / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        values[0] /= np.linalg.norm(values[0], axis=1, keepdims=True)
    atoms, encoder, offset, logs = values
    if rule is literal_batch_top_k:
        logs = np.full(n, np.log(literal_threshold(x, encoder, offset, seed)))
    limits = np.ones((n, 1)) if rule is literal_top_k else np.exp(logs)[:, None]
    return limits * atoms * scale, encoder / scale / limits, mean + offset * scale


def literal_threshold(x, encoder, offset, seed):
    """The mean over batches of the smallest activation that is above 0."""
    draws, smallest = torch.Generator().manual_seed(seed), []
    for _ in range(autoencoders.THRESHOLD_BATCHES):
        batch = x[torch.randint(len(x), (autoencoders.BATCH,), generator=draws).numpy()]
        activations = literal_batch_top_k((batch - offset) @ encoder.T, None)
        smallest.append(min(a for row in activations for a in row if a > 0))
    return np.mean(smallest)


@pytest.mark.parametrize("name", RULES)
def test_a_sparse_autoencoder_is_trained_as_its_literal_form(name, monkeypatch):
    monkeypatch.setattr(autoencoders, "STEPS", 20)
    monkeypatch.setattr(autoencoders, "BATCH", 16)
    matrix = states()
    ours = discoveries.get(name).make(matrix, 6, 0)
    atoms, encoder, offset = literal_autoencoder(matrix, 6, 0, 20, RULES[name])
    np.testing.assert_allclose(ours.atoms, atoms, atol=1e-4)
    np.testing.assert_allclose(ours.encoder, encoder, atol=1e-4)
    np.testing.assert_allclose(ours.offset, offset, atol=1e-4)
    read = (matrix - ours.offset) @ ours.encoder.T
    active = literal_top_k(read, None) if name == "sae" else literal_jump_relu(read, np.ones(6))
    np.testing.assert_allclose(ours.activations(matrix), active, atol=1e-4)


@pytest.mark.parametrize("name", RULES)
def test_a_sparse_autoencoder_finds_the_directions_that_states_are_sums_of(name):
    rng = np.random.default_rng(0)
    atoms = rng.normal(size=(20, 64))
    there = rng.exponential(size=(3000, 20)) * (rng.random((3000, 20)) < 0.15)
    matrix = (there @ atoms + 0.05 * rng.normal(size=(3000, 64))).astype(np.float32)
    dictionary = discovered(matrix, name, 20, 0)
    assert matched(dictionary.atoms, atoms).mean() > 0.9
    active = (dictionary.activations(matrix) > 0).sum(1)
    assert active.max() <= TOP if name == "sae" else active.mean() <= 1.1 * TOP < active.max()


def test_directions_of_chance_lie_where_states_vary():
    matrix = np.zeros((100, 3), np.float32)
    matrix[:, 1] = np.arange(100)
    directions = random_directions(matrix, 5, 0)
    np.testing.assert_allclose(np.abs(directions), np.tile([0, 1, 0], (5, 1)), atol=1e-6)


@pytest.mark.parametrize(
    ("matrix", "method", "n", "error", "words"),
    [
        (states(count=4), "svd", 4, BadInput, "give more texts"),
        (np.zeros((50, 12), np.float32), "nmf", 4, BadInput, "are the same"),
        (np.full((50, 12), np.nan, np.float32), "ica", 4, BadInput, "no finite numbers"),
        (states(), "svd", 13, BadSetting, "from 2 to 12"),
        (states(), "pca", 4, UnknownName, "svd"),
    ],
)
def test_what_cannot_be_searched_ends_in_a_sentence(matrix, method, n, error, words):
    with pytest.raises(error, match=words):
        discovered(matrix, method, n, 0)
