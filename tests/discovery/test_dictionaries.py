"""Discoveries give what scikit-learn itself gives of the same states, and each state's activations are its own."""

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, FastICA, TruncatedSVD

from pellucid.base.errors import BadInput, BadSetting, UnknownName
from pellucid.base.kinds import discoveries
from pellucid.discovery import dictionaries
from pellucid.discovery.dictionaries import discovered, in_parts, random_directions
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


OF_LIBRARY = [name for name in discoveries.names() if name != "sae"]


@pytest.mark.parametrize("name", OF_LIBRARY)
def test_a_discovery_equals_scikit_learns_own(name):
    matrix = states()
    dictionary = discovered(matrix, name, N, 0)
    rebuilt = dictionary.reconstructed(dictionary.activations(matrix))
    np.testing.assert_allclose(rebuilt, of_library(name, matrix), atol=2e-3)
    assert discoveries.get(name).facts["signed"] or dictionary.activations(matrix).min() >= 0


@pytest.mark.parametrize("name", discoveries.names())
def test_activations_of_a_state_do_not_depend_on_its_neighbours_and_the_largest_concept_comes_first(name):
    matrix = states()
    dictionary = discovered(matrix, name, N, 0)
    activations = dictionary.activations(matrix)
    alone = np.concatenate([dictionary.activations(row[None]) for row in matrix[:20]])
    np.testing.assert_allclose(alone, activations[:20], atol=1e-5)
    sizes = (activations**2).mean(0) * (dictionary.atoms**2).sum(1)
    assert (np.diff(sizes) <= 1e-6).all()


def literal_autoencoder(matrix, n, seed, steps):
    """Top-k as Gao et al. write it, state by state, with gradients by hand and Adam as Kingma & Ba write it."""
    draws = torch.Generator().manual_seed(seed)
    mean = matrix.mean(0)
    scale = np.linalg.norm(matrix - mean, axis=1).mean()
    x = ((matrix - mean) / scale).astype(np.float64)
    atoms = x[torch.randint(len(x), (n,), generator=draws).numpy()]
    atoms = atoms + 1e-3 * torch.randn(atoms.shape, generator=draws).double().numpy()
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    values = [atoms, atoms.copy(), np.zeros(x.shape[1])]
    moments = [[np.zeros_like(value), np.zeros_like(value)] for value in values]
    for step in range(1, steps + 1):
        atoms, encoder, offset = values
        gradients = [np.zeros_like(value) for value in values]
        for state in x[torch.randint(len(x), (dictionaries.BATCH,), generator=draws).numpy()]:
            read = encoder @ (state - offset)
            top = np.argsort(-read)[: dictionaries.TOP]
            activations = np.array([max(read[k], 0) if k in top else 0 for k in range(n)])
            error = -2 * (state - offset - activations @ atoms) / dictionaries.BATCH
            back = (atoms @ error) * (activations > 0)
            gradients[0] += np.outer(activations, error)
            gradients[1] += np.outer(back, state - offset)
            gradients[2] += error - back @ encoder
        for value, gradient, (first, second) in zip(values, gradients, moments, strict=True):
            first += 0.1 * (gradient - first)
            second += 0.001 * (gradient**2 - second)
            rate = dictionaries.RATE / (1 - 0.9**step)
            value -= rate * first / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
        values[0] /= np.linalg.norm(values[0], axis=1, keepdims=True)
    return values[0] * scale, values[1] / scale, mean + values[2] * scale


def test_a_sparse_autoencoder_is_trained_as_its_literal_form(monkeypatch):
    monkeypatch.setattr(dictionaries, "TRAINING_STEPS", 20)
    monkeypatch.setattr(dictionaries, "BATCH", 16)
    matrix = states()
    ours = dictionaries.sae(matrix, 6, 0)
    atoms, encoder, offset = literal_autoencoder(matrix, 6, 0, 20)
    np.testing.assert_allclose(ours.atoms, atoms, atol=1e-4)
    np.testing.assert_allclose(ours.encoder, encoder, atol=1e-4)
    np.testing.assert_allclose(ours.offset, offset, atol=1e-4)


def test_a_sparse_autoencoder_finds_the_directions_that_states_are_sums_of():
    rng = np.random.default_rng(0)
    atoms = rng.normal(size=(20, 64))
    there = rng.exponential(size=(3000, 20)) * (rng.random((3000, 20)) < 0.15)
    matrix = (there @ atoms + 0.05 * rng.normal(size=(3000, 64))).astype(np.float32)
    dictionary = discovered(matrix, "sae", 20, 0)
    assert matched(dictionary.atoms, atoms).min() > 0.95
    active = (dictionary.activations(matrix) > 0).sum(1)
    assert active.max() <= dictionaries.TOP


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
