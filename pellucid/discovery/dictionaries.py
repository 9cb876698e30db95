"""Discoveries: states of a layer as sums of a few directions, the concepts; by scikit-learn or a sparse autoencoder."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor

from pellucid.base.checks import between
from pellucid.base.errors import BadInput
from pellucid.base.kinds import discoveries

Encoding = Literal["linear", "nearest", "parts", "top"]
ENCODINGS = get_args(Encoding)
MOST_STEPS = 400  # of the searches that go step by step
TOP = 4  # concepts that a state of a sparse autoencoder has at most
UNSETTLED = 0.02  # of its loss: where it falls by more over the last tenth of the steps, it has not settled
TRAINING_STEPS, BATCH, RATE = 3000, 256, 3e-3  # of a sparse autoencoder


@dataclass(frozen=True, eq=False)
class Dictionary:
    """Concepts as directions: a state is about offset + activations @ atoms.

    atoms: [concept width]. offset: [width], a state without any concept. encoder: what activations are read with, as
        encoding says. encoding: "linear", (state - offset) @ encoder.T, [concept width]; "nearest", 1 for the nearest
        row of [concept width], 0 for the others; "parts", the least squares 0 or more of the state's positive and
        negative parts, side by side, by [concept 2 width]; "top", the four largest of the linear ones, where they are
        above 0, and 0 for the others. settled: whether the search came to an end.
    """

    atoms: np.ndarray
    offset: np.ndarray
    encoder: np.ndarray
    encoding: Encoding
    settled: bool = True

    def activations(self, states: np.ndarray) -> np.ndarray:
        """[state width] -> [state concept], in float32; those of a state do not depend on the states beside it."""
        if self.encoding in ("linear", "top"):
            read = (states.astype(np.float64) - self.offset) @ self.encoder.T.astype(np.float64)
            read = read if self.encoding == "linear" else _largest(read)
        elif self.encoding == "nearest":
            centres = self.encoder.astype(np.float64)
            distances = (centres**2).sum(1) - 2 * states.astype(np.float64) @ centres.T
            read = np.eye(len(centres))[distances.argmin(1)]
        else:
            read = _nonnegative(in_parts(states), self.encoder)
        return read.astype(np.float32)

    def part_weights(self, states: np.ndarray, concept: int) -> np.ndarray:
        """[state width] -> [state 2 width]: by what the parts of each state are multiplied for a concept's activation,
        as long as the same concepts are active; 0 where it is not. For concepts of parts alone.
        """
        active = self.activations(states) > 0
        weights = {key: self._inverse(np.frombuffer(key, bool), concept) for key in {row.tobytes() for row in active}}
        return (
            np.stack([weights[row.tobytes()] for row in active]) if len(active) else np.zeros((0, 2 * states.shape[1]))
        )

    def _inverse(self, active: np.ndarray, concept: int) -> np.ndarray:
        """[2 width]: a concept's row of the pseudo-inverse of those that are active; 0 where it is not."""
        encoder = self.encoder.astype(np.float64)
        if not active[concept]:
            return np.zeros(encoder.shape[1])
        inverse: np.ndarray = np.linalg.pinv(encoder[active].T)[np.flatnonzero(active).tolist().index(concept)]
        return inverse

    def reconstructed(self, activations: np.ndarray) -> np.ndarray:
        """[state concept] -> [state width]: what the concepts alone say of each state."""
        rebuilt: np.ndarray = self.offset + activations @ self.atoms
        return rebuilt

    def in_order(self, order: np.ndarray) -> "Dictionary":
        """The same concepts in another order, in float32, as they are saved."""
        atoms, encoder = (array[order].astype(np.float32) for array in (self.atoms, self.encoder))
        return replace(self, atoms=atoms, offset=self.offset.astype(np.float32), encoder=encoder)


def in_parts(states: np.ndarray) -> np.ndarray:
    """[state width] -> [state 2 width]: the positive parts, then the negative ones, all 0 or more."""
    return np.hstack([np.maximum(states, 0), np.maximum(-states, 0)])


def _largest(read: np.ndarray) -> np.ndarray:
    """[state concept]: the largest of each state that are above 0, and 0 for the others; of equal ones the first."""
    order = np.argsort(-read, axis=1, kind="stable")[:, :TOP]
    top = np.zeros_like(read)
    np.put_along_axis(top, order, np.maximum(np.take_along_axis(read, order, 1), 0), 1)
    return top


def _nonnegative(parts: np.ndarray, encoder: np.ndarray) -> np.ndarray:
    """[state concept]: argmin ||parts - c @ encoder|| over c of 0 or more, state by state, exactly.

    Lawson & Hanson (1974), "Solving Least Squares Problems", chapter 23; of the QR decomposition, which has as many
    rows as there are concepts.
    """
    from scipy.optimize import nnls

    orthogonal, triangle = np.linalg.qr(encoder.astype(np.float64).T)
    wanted = parts.astype(np.float64) @ orthogonal
    return np.stack([nnls(triangle, row)[0] for row in wanted]) if len(wanted) else np.zeros((0, len(encoder)))


@discoveries.add(signed=False)
def nmf(states: np.ndarray, n: int, seed: int) -> Dictionary:
    """Sums of parts: the positive and the negative parts of states as sums of concepts of 0 or more.

    Source: Lee & Seung (1999), "Learning the parts of objects by non-negative matrix factorization", equation 1, of
    states split as in Fel et al. (2023), "CRAFT", section 3.1, for states that are never below 0.
    """
    from sklearn.decomposition import NMF

    with _settling() as settled:
        model = NMF(n, init="nndsvda", random_state=seed, max_iter=MOST_STEPS, tol=1e-3).fit(in_parts(states))
    width, components = states.shape[1], model.components_
    atoms = components[:, :width] - components[:, width:]
    return Dictionary(atoms, np.zeros(width, states.dtype), components, "parts", all(settled))


@discoveries.add(signed=True)
def ica(states: np.ndarray, n: int, seed: int) -> Dictionary:
    """Independent directions, each turned so that its activations reach further above 0 than below.

    Source: Hyvärinen & Oja (2000), "Independent Component Analysis: Algorithms and Applications", section 6.
    """
    from sklearn.decomposition import FastICA

    with _settling() as settled:
        model = FastICA(n, whiten="unit-variance", random_state=seed, max_iter=MOST_STEPS).fit(states)
    activations = (states - model.mean_) @ model.components_.T
    signs = np.where((activations**3).mean(0) < 0, -1, 1).astype(states.dtype)[:, None]
    return Dictionary(signs * model.mixing_.T, model.mean_, signs * model.components_, "linear", all(settled))


@discoveries.add(signed=False)
def kmeans(states: np.ndarray, n: int, seed: int) -> Dictionary:
    """Groups of states that lie near each other; a state has the concept of its group and no other.

    Source: Lloyd (1982), "Least squares quantization in PCM", with first centres after Arthur & Vassilvitskii (2007).
    """
    from sklearn.cluster import KMeans

    with _settling() as settled:
        model = KMeans(n, n_init=3, random_state=seed, max_iter=MOST_STEPS).fit(states)
    mean = states.mean(0)
    return Dictionary(model.cluster_centers_ - mean, mean, model.cluster_centers_, "nearest", all(settled))


@discoveries.add(signed=True)
def svd(states: np.ndarray, n: int, seed: int) -> Dictionary:
    """The directions in which states vary most, each turned so that its activations reach further above 0 than below.

    Source: Eckart & Young (1936), "The approximation of one matrix by another of lower rank", of states less the mean.
    """
    from sklearn.decomposition import TruncatedSVD

    mean = states.mean(0)
    model = TruncatedSVD(n, random_state=seed).fit(states - mean)
    activations = (states - mean) @ model.components_.T
    signs = np.where((activations**3).mean(0) < 0, -1, 1).astype(states.dtype)[:, None]
    return Dictionary(signs * model.components_, mean, signs * model.components_, "linear")


@discoveries.add(signed=False)
def sae(states: np.ndarray, n: int, seed: int) -> Dictionary:
    """Sparse sums: a state as a sum of the four directions of a sparse autoencoder that it has most of.

    Source: Gao et al. (2024), "Scaling and evaluating sparse autoencoders", section 2.3 (top-k), with decoder
    directions of length 1; here the encoder begins as the decoder, whose directions are those of states at random.
    """
    mean = states.mean(0)
    scale = max(float(np.linalg.norm(states - mean, axis=1).mean()), np.finfo(np.float32).tiny)
    with torch.inference_mode(False), torch.enable_grad():
        centred = torch.from_numpy((states - mean) / scale).float()
        atoms, encoder, offset, losses = _trained(centred, n, seed)
    before, last = np.array(losses[-2 * (len(losses) // 10) :]).reshape(2, -1).mean(1)
    settled = bool(last > (1 - UNSETTLED) * before)
    return Dictionary(atoms * scale, mean + offset * scale, encoder / scale, "top", settled)


def _trained(states: Tensor, n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[float]]:
    """Directions [n width] and encoder [n width] of a sparse autoencoder, its offset [width], and the loss by step."""
    draws = torch.Generator().manual_seed(seed)
    first = states[torch.randint(len(states), (n,), generator=draws)]
    first = first + 1e-3 * torch.randn(first.shape, generator=draws)  # also where states are equal
    atoms = torch.nn.functional.normalize(first, dim=1).requires_grad_()
    encoder = atoms.detach().clone().requires_grad_()
    offset = torch.zeros(states.shape[1], requires_grad=True)
    optimizer, losses = torch.optim.Adam([atoms, encoder, offset], lr=RATE), []
    for _ in range(TRAINING_STEPS):
        batch = states[torch.randint(len(states), (BATCH,), generator=draws)]
        read = (batch - offset) @ encoder.T
        smallest = read.topk(min(TOP, n), dim=1).values[:, -1:]
        activations = (read * (read >= smallest)).relu()
        loss = (batch - offset - activations @ atoms).square().sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            atoms.copy_(torch.nn.functional.normalize(atoms, dim=1))
        losses.append(float(loss.detach()))
    return atoms.detach().numpy(), encoder.detach().numpy(), offset.detach().numpy(), losses


def random_dictionary(states: np.ndarray, n: int, seed: int) -> Dictionary:
    """n directions drawn with the spread of the states, in the place of concepts: what chance gives."""
    mean = states.mean(0)
    basis, _ = np.linalg.qr(random_directions(states, n, seed).T)
    return Dictionary(basis.T.astype(states.dtype), mean, basis.T.astype(states.dtype), "linear")


def random_directions(states: np.ndarray, n: int, seed: int) -> np.ndarray:
    """[n width]: directions of length 1, normal draws with the covariance of the states."""
    draws = np.random.default_rng(seed).standard_normal((n, len(states))).astype(states.dtype)
    directions = draws @ (states - states.mean(0))
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    return directions / np.maximum(lengths, np.finfo(states.dtype).tiny)


def discovered(states: np.ndarray, method: str, n: int, seed: int, what: str = "word") -> Dictionary:
    """n concepts of states [state width], those that make up most of the states first.

    what: what a state is of, for errors. Raises `UnknownName` for no discovery, `BadInput` for fewer states than
    concepts, states that are all alike, and more concepts than states have numbers.
    """
    between("n", n, 2, states.shape[1])
    if len(states) <= n:
        raise BadInput(f"{len(states):,} {what}s came for n={n} concepts; give more texts, or a smaller n.")
    if not np.isfinite(states).all():
        raise BadInput("The layer has states that are no finite numbers; choose another layer.")
    if np.ptp(states, axis=0).max() == 0:
        raise BadInput(f"The states of all {len(states):,} {what}s are the same; choose another layer, or other texts.")
    dictionary: Dictionary = discoveries.get(method).make(states, n, seed)
    sizes = (dictionary.activations(states).astype(np.float64) ** 2).mean(0) * (dictionary.atoms**2).sum(1)
    return dictionary.in_order(np.argsort(-sizes, kind="stable"))


@contextmanager
def _settling() -> Iterator[list[bool]]:
    """A list that gets False where the library warns that its search did not settle."""
    from sklearn.exceptions import ConvergenceWarning

    settled: list[bool] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield settled
    settled += [False for warning in caught if issubclass(warning.category, ConvergenceWarning)]
    _pass_on(caught)


def _pass_on(caught: list[Any]) -> None:
    """Warn of whatever else the library had to say; it divides by 0 where a group is empty."""
    from sklearn.exceptions import ConvergenceWarning

    for warning in caught:
        if not issubclass(warning.category, ConvergenceWarning | RuntimeWarning | FutureWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
