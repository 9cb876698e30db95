"""Retained information as its paper optimises it: Adam on log sigma, one text, every step written out."""

import math

import torch
from torch import Tensor


def log_sigmas_by_adam(
    phi, points: Tensor, deviations: Tensor, scale: float, rate: float, steps: int, samples: int, seed: int
) -> Tensor:
    """[piece]: log sigma of one text, averaged over the last quarter of the steps.

    phi: [sample piece width] -> [sample dimension]. points: [piece width]. deviations: [dimension]. samples: a step.
    """
    generator = torch.Generator().manual_seed(seed)
    state = phi(points[None])[0].detach()
    weight = len(points) / (rate * len(state))
    log_sigma = torch.full((len(points),), math.log(0.01 * scale))
    first, second, last = torch.zeros_like(log_sigma), torch.zeros_like(log_sigma), []
    for step in range(steps):
        unknown = log_sigma.clone().requires_grad_()
        noise = torch.randn(samples, *points.shape, generator=generator) * unknown.exp()[:, None]
        distance = ((phi(points + noise) - state) / deviations).square().sum(1).mean()
        loss = -unknown.sum() + weight * distance
        (gradient,) = torch.autograd.grad(loss, unknown)
        first, second = 0.9 * first + 0.1 * gradient, 0.95 * second + 0.05 * gradient**2
        size = 0.05 * (1 + math.cos(math.pi * step / steps))
        move = first / (1 - 0.9 ** (step + 1)) / ((second / (1 - 0.95 ** (step + 1))).sqrt() + 1e-8)
        log_sigma = (log_sigma - size * move).clamp_max(math.log(scale))
        last = [*last, log_sigma] if step >= 3 * steps // 4 else last
    return torch.stack(last).mean(0)
