"""Sparse autoencoders: a state as a sum of a few learnt directions, by three rules for which of them are active."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pellucid.base.kinds import discoveries
from pellucid.discovery.dictionaries import TOP, Dictionary, Encoding

UNSETTLED = 0.02  # of its loss: where it falls by more over the last tenth of the steps, it has not settled
STEPS, BATCH, RATE = 3000, 256, 3e-3
THRESHOLD_BATCHES = 100  # that the threshold of the batch rule is a mean over
BANDWIDTH = 0.1  # of the window around a threshold whose activations teach it; states have a mean length of 1
FIRST_THRESHOLD = 0.1
PENALTY = 0.02  # for each active concept of a state
Rule = Callable[[Tensor, Tensor], tuple[Tensor, Tensor | float]]
TINY = float(np.finfo(np.float32).tiny)


@dataclass(frozen=True, eq=False)
class TrainedAutoencoder:
    """Of states less their mean, with a mean length of 1.

    atoms, encoder: [concept width]. offset: [width]. thresholds: [concept], which the rule of batches leaves as they
    were. losses: by step.
    """

    atoms: Tensor
    encoder: Tensor
    offset: Tensor
    thresholds: Tensor
    losses: list[float]

    @property
    def settled(self) -> bool:
        """Whether the loss has stopped falling."""
        before, last = np.array(self.losses[-2 * (len(self.losses) // 10) :]).reshape(2, -1).mean(1)
        return bool(last > (1 - UNSETTLED) * before)

    def dictionary(self, mean: np.ndarray, scale: float, encoding: Encoding, thresholds: np.ndarray) -> Dictionary:
        """Of the states as they were; thresholds [concept] become 1, as the encoding "above" has them."""
        atoms, encoder = self.atoms.numpy() * thresholds[:, None], self.encoder.numpy() / thresholds[:, None]
        return Dictionary(atoms * scale, mean + self.offset.numpy() * scale, encoder / scale, encoding, self.settled)


@discoveries.add(signed=False)
def sae(states: np.ndarray, n: int, seed: int) -> Dictionary:
    """Sparse sums: a state as a sum of the four directions of a sparse autoencoder that it has most of.

    Source: Gao et al. (2024), "Scaling and evaluating sparse autoencoders", section 2.3 (top-k), with decoder
    directions of length 1; here the encoder begins as the decoder, whose directions are those of states at random.
    """
    centred, mean, scale = _of_length_one(states)
    trained = _trained(centred, n, seed, top_k)
    return trained.dictionary(mean, scale, "top", np.ones(n, np.float32))


@discoveries.add(signed=False)
def sae_batch_top_k(states: np.ndarray, n: int, seed: int) -> Dictionary:
    """Sparse sums: as `sae`, but four directions a state are a mean, so that some states have more and others fewer.

    In training the largest of a batch of states are active, later those above a threshold, the mean over batches of the
    smallest that was active. Source: Bussmann et al. (2024), "BatchTopK Sparse Autoencoders", section 2; here with the
    encoder's bias of `sae`.
    """
    centred, mean, scale = _of_length_one(states)
    trained = _trained(centred, n, seed, batch_top_k)
    threshold = smallest_active(trained, centred, seed)
    return trained.dictionary(mean, scale, "above", np.full(n, threshold, np.float32))


@discoveries.add(signed=False)
def sae_jump_relu(states: np.ndarray, n: int, seed: int) -> Dictionary:
    """Sparse sums: as `sae`, but a direction is active above a threshold of its own, which is learnt.

    Each active direction costs a penalty. Source: Rajamanoharan et al. (2024), "Jumping Ahead: Improving
    Reconstruction Fidelity with JumpReLU Sparse Autoencoders", sections 3 and 4; here with the encoder's bias of `sae`
    and with a wider window around thresholds, since states are thousands instead of billions.
    """
    centred, mean, scale = _of_length_one(states)
    trained = _trained(centred, n, seed, jump_relu)
    return trained.dictionary(mean, scale, "above", np.maximum(trained.thresholds.numpy(), TINY))


def _of_length_one(states: np.ndarray) -> tuple[Tensor, np.ndarray, float]:
    """States less their mean with a mean length of 1, the mean, and the mean length."""
    mean = states.mean(0)
    scale = max(float(np.linalg.norm(states - mean, axis=1).mean()), TINY)
    return torch.from_numpy((states - mean) / scale).float(), mean, scale


def top_k(read: Tensor, thresholds: Tensor) -> tuple[Tensor, float]:
    """[state concept]: the largest of each state, where they are above 0; no penalty."""
    smallest = read.topk(min(TOP, read.shape[1]), dim=1).values[:, -1:]
    return (read * (read >= smallest)).relu(), 0.0


def batch_top_k(read: Tensor, thresholds: Tensor) -> tuple[Tensor, float]:
    """[state concept]: the largest of all states, as many as `top_k` has, where they are above 0; no penalty."""
    smallest = read.flatten().topk(min(TOP, read.shape[1]) * len(read)).values[-1]
    return (read * (read >= smallest)).relu(), 0.0


def jump_relu(read: Tensor, thresholds: Tensor) -> tuple[Tensor, Tensor]:
    """[state concept]: those above their threshold; with the penalty for how many they are."""
    active = _Step.apply(read, thresholds)  # type: ignore[no-untyped-call]
    return _Jump.apply(read, thresholds), PENALTY * active.sum(1).mean()  # type: ignore[no-untyped-call]


class _Jump(torch.autograd.Function):
    """read where it is above the threshold, else 0; the threshold's gradient is a straight-through estimate."""

    @staticmethod
    def forward(context: Any, read: Tensor, thresholds: Tensor) -> Tensor:
        context.save_for_backward(read, thresholds)
        return read * (read > thresholds)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        read, thresholds = context.saved_tensors
        near = ((read - thresholds).abs() < BANDWIDTH / 2).to(read)
        return gradient * (read > thresholds), -(gradient * near * thresholds / BANDWIDTH).sum(0)


class _Step(torch.autograd.Function):
    """1 where read is above the threshold, else 0; the threshold's gradient is a straight-through estimate."""

    @staticmethod
    def forward(context: Any, read: Tensor, thresholds: Tensor) -> Tensor:
        context.save_for_backward(read, thresholds)
        return (read > thresholds).to(read)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[None, Tensor]:  # type: ignore[override]
        read, thresholds = context.saved_tensors
        near = ((read - thresholds).abs() < BANDWIDTH / 2).to(read)
        return None, -(gradient * near / BANDWIDTH).sum(0)


def _trained(states: Tensor, n: int, seed: int, rule: Rule) -> TrainedAutoencoder:
    """Train on batches drawn at random, with directions of length 1 after each step."""
    with torch.inference_mode(False), torch.enable_grad():
        draws = torch.Generator().manual_seed(seed)
        atoms = _first_directions(states, n, draws).requires_grad_()
        encoder = atoms.detach().clone().requires_grad_()
        offset = torch.zeros(states.shape[1], requires_grad=True)
        logs = torch.full((n,), FIRST_THRESHOLD).log().requires_grad_()  # thresholds stay above 0
        optimizer, losses = torch.optim.Adam([atoms, encoder, offset, logs], lr=RATE), []
        for _ in range(STEPS):
            batch = states[torch.randint(len(states), (BATCH,), generator=draws)]
            activations, penalty = rule((batch - offset) @ encoder.T, logs.exp())
            loss = (batch - offset - activations @ atoms).square().sum(1).mean() + penalty
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            with torch.no_grad():
                atoms.copy_(torch.nn.functional.normalize(atoms, dim=1))
            losses.append(float(loss.detach()))
    return TrainedAutoencoder(atoms.detach(), encoder.detach(), offset.detach(), logs.detach().exp(), losses)


def _first_directions(states: Tensor, n: int, draws: torch.Generator) -> Tensor:
    """[n width]: of states at random."""
    first = states[torch.randint(len(states), (n,), generator=draws)]
    first = first + 1e-3 * torch.randn(first.shape, generator=draws)  # also where states are equal
    return torch.nn.functional.normalize(first, dim=1)


def smallest_active(trained: TrainedAutoencoder, states: Tensor, seed: int) -> float:
    """The mean over batches of the smallest activation that is above 0."""
    draws, smallest = torch.Generator().manual_seed(seed), []
    for _ in range(THRESHOLD_BATCHES):
        batch = states[torch.randint(len(states), (BATCH,), generator=draws)]
        activations, _ = batch_top_k((batch - trained.offset) @ trained.encoder.T, trained.thresholds)
        smallest += [float(activations[activations > 0].min())] if (activations > 0).any() else []
    return max(float(np.mean(smallest)), TINY) if smallest else 1.0
