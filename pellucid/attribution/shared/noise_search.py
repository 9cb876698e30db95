"""The search for the noise that each piece of a text can bear while a hidden state stays near its value.

The loss, for one text of n pieces and a state of d dimensions (Guan et al. 2019, equation 7, corrections.md A3.4):

    L(sigma) = -sum_i log sigma_i + weight x E |Phi(x + noise) - s|² / sigma_S²,     weight = n / (rate x d)

Its derivative by log sigma_i is pull_i - 1, where pull_i = weight x E <noise_i, gradient of the squared distance>. For
a linear state, pull_i is quadratic in sigma_i, so half of (pull_i - 1) is Newton's step in log sigma_i.
"""

import math
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import torch
from torch import Tensor

from pellucid.run.forward_pass import ForwardPass
from pellucid.run.scheduler import Scheduler
from pellucid.run.state_scale import StateFunction

METHOD = "retained_information"
# Whole Newton steps come first and find the region, for all seeds together; later ones shrink, which averages the
# noise. After 19 steps a text is done if its search has settled: then 16 probes and 3 seeds make 98 evaluations.
SHARED_STEPS, STAGES = 8, (19, 38)
STILL = 0.1  # nats: a text whose last two quarters of steps differ by less, but for chance, has settled
# Nats. The search comes from below, in short steps: behind a layer norm, large noise drowns the other words' noise, so
# the loss has minima there too, in which words that the state holds look as if it ignored them. Single pulls may be
# enormous there, so falls are limited as well, as Adam limits them by dividing.
BELOW, LONGEST_RISE, LONGEST_FALL = 1.0, 0.35, 0.7
FARTHEST = 0.5  # nats between the steps' sigma and the one that their pulls name: farther, single pulls are enormous
WIDE = 2**62


@dataclass(frozen=True)
class SearchSettings:
    """As in `retained_information`."""

    rate: float
    n_seeds: int
    n_steps: int
    n_probes: int


@dataclass(frozen=True, eq=False)
class Jacobians:
    """What is known of the Jacobians of the states at the texts themselves, each row divided by sigma_S.

    squares: [example unit], the squared norm of the part that belongs to a unit. rows: for each example the whole
    Jacobian [dimension unit width] where it was computed, else None. counts: products with a Jacobian for each example.
    """

    squares: Tensor
    rows: tuple[Tensor | None, ...]
    counts: tuple[int, ...]


def squared_jacobians(run: ForwardPass, phi: StateFunction, deviations: Tensor, settings: SearchSettings) -> Jacobians:
    """By vector-Jacobian products: all unit vectors of a small state, else n_probes random vectors of signs."""
    shape = phi.states.shape[1:]
    dimensions = [int(count) * shape[1] for count in phi.real.sum(1)]
    counts = [min(settings.n_probes, dimension) for dimension in dimensions]
    owners = [example for example, count in enumerate(counts) for _ in range(count)]
    first = [sum(counts[:example]) for example in range(len(counts))]
    products: list[Tensor] = [torch.empty(0)] * len(owners)

    def multiply(numbers: list[int]) -> None:
        examples = [owners[index] for index in numbers]
        signs = _signs(run, counts, dimensions, set(examples))  # of these alone: of all they take much memory
        vectors = torch.zeros(len(numbers), *shape)
        for line, row, example in zip(vectors, numbers, examples, strict=True):
            vector = signs[example][row - first[example]]
            line[: len(vector) // shape[1]] = vector.view(-1, shape[1])
        length = max(run.batch.lengths[example] for example in examples)
        points = phi.points[examples, :length].requires_grad_()
        weights = (vectors.to(deviations.dtype) / deviations.cpu()).to(phi.states)
        (gradient,) = torch.autograd.grad(phi(examples, points), points, weights)
        for row, example, product in zip(numbers, examples, gradient, strict=True):
            of_example = product[: run.batch.lengths[example]].detach().float()
            products[row] = of_example if counts[example] == dimensions[example] else of_example.square().sum(-1)

    in_packs(run, owners, multiply)
    return _jacobians(run, products, counts, dimensions)


def _signs(
    run: ForwardPass, counts: Sequence[int], dimensions: Sequence[int], examples: AbstractSet[int]
) -> dict[int, Tensor]:
    """For each of these examples [probe dimension]: the unit vectors, or random signs, the same whenever they are
    drawn.
    """
    generators = run.generators(f"{METHOD} probes")
    vectors = {}
    for example in examples:
        count, dimension = counts[example], dimensions[example]
        drawn = torch.randint(0, 2, (count, dimension), generator=generators[example]) * 2.0 - 1.0
        vectors[example] = torch.eye(dimension) if count == dimension else drawn
    return vectors


def _jacobians(run: ForwardPass, products: list[Tensor], counts: Sequence[int], dimensions: Sequence[int]) -> Jacobians:
    squares = torch.zeros(len(counts), max(run.batch.lengths))
    rows: list[Tensor | None] = []
    of_examples = iter(products)
    for line, count, dimension in zip(squares, counts, dimensions, strict=True):
        of_example = torch.stack([next(of_examples) for _ in range(count)])
        whole = count == dimension
        rows.append(of_example if whole else None)
        line[: of_example.shape[1]] = of_example.square().sum((0, 2)).cpu() if whole else of_example.mean(0).cpu()
    return Jacobians(squares, tuple(rows), tuple(counts))


def in_packs(run: ForwardPass, owners: Sequence[int], work: Callable[[list[int]], None]) -> None:
    """Do work on numbers of points, in packs of half the scheduler's size; owners: the example of each point.

    A pass whose graph spans all blocks is most of the memory of the search.
    """
    packer = Scheduler(max(1, run.scheduler.tokens // 2), run.scheduler.packing)
    for pack in packer.packs_of([run.batch.rows[owner] for owner in owners]):
        run.scheduler.halving(pack, work)


class NoiseSearch:
    """Stochastic Newton steps in log sigma for all texts and seeds of a batch, each text by itself.

    log_sigma: [example seed unit]; the first steps are taken once, for all seeds. active: the texts that have not
        settled.
    history, pulls: log_sigma after each step, and the pulls that the step went by.
    steps: how many steps each text took. Noise is drawn anew from its seed in each step, so it takes no memory.
    """

    def __init__(
        self,
        run: ForwardPass,
        phi: StateFunction,
        deviations: Tensor,
        scale: float,
        settings: SearchSettings,
        jacobians: Jacobians,
    ) -> None:
        self.run, self.phi, self.settings, self.jacobians = run, phi, settings, jacobians
        self.deviations = deviations.to(run.model.device).to(torch.promote_types(phi.states.dtype, torch.float32))
        self.log_scale, self.step = math.log(scale), 0
        dimensions = phi.real.sum(1).cpu() * phi.states.shape[-1]
        self.weights = torch.tensor(run.batch.lengths) / (settings.rate * dimensions)
        closed_form = -0.5 * (2 * self.weights[:, None] * jacobians.squares).clamp_min(1e-30).log()
        start = closed_form.sub(BELOW).clamp_max(self.log_scale)
        self.log_sigma = start[:, None].repeat(1, settings.n_seeds, 1)
        self.history: list[Tensor] = []
        self.pulls: list[Tensor] = []
        self.active, self.steps = list(range(len(start))), [0] * len(start)
        self.shared_steps = min(SHARED_STEPS, settings.n_steps // 2)
        draws = (settings.n_seeds, settings.n_steps)
        self.seeds = torch.stack(
            [torch.randint(WIDE, draws, generator=generator) for generator in run.generators(METHOD)]
        )

    def run_until_settled(self) -> None:
        """Steps until every text has settled, or n_steps were taken."""
        while self.active and self.step < self.settings.n_steps:
            self.advance()
            if self.step in STAGES:
                self.active = [example for example in self.active if not self.has_settled(example)]

    def advance(self) -> None:
        """One step of every active text and seed."""
        size = min(1.0, (max(1, self.shared_steps) / (self.step + 1)) ** 0.75)
        pulls = self._pulls()
        self.pulls.append(pulls)
        move = (0.5 * size * (pulls - 1.0)).clamp(-LONGEST_RISE, LONGEST_FALL)
        log_sigma = self.log_sigma.clone()
        log_sigma[self.active] = (log_sigma - move).clamp_max(self.log_scale)[self.active]
        self.log_sigma = log_sigma
        self.history.append(log_sigma)
        self.step += 1
        for example in self.active:
            self.steps[example] = self.step

    def mean_of(self, first: float, last: float) -> Tensor:
        """[example seed unit]: log sigma, averaged over the steps between two shares of all steps of each text."""
        means = []
        for example, count in enumerate(self.steps):
            start = int(first * count)
            end = max(int(last * count), start + 1)
            means.append(torch.stack([step[example] for step in self.history[start:end]]).mean(0))
        return torch.stack(means)

    def estimate(self) -> Tensor:
        """[example seed unit]: log sigma, from the second half of each text's steps.

        For a linear state a pull is sigma² / (the sigma² that is searched) in the mean, so each step names 1 / sigma²
        without bias, and the steps' mean is taken. The mean of log sigma over steps would be too low by its variance,
        since steps balance sigma² and not its logarithm: 2 to 8 % for states of 24 to 384 dimensions.
        """
        estimates = []
        for example, count in enumerate(self.steps):
            half = range(max(1, count // 2), count)
            before = torch.stack([self.history[step - 1][example] for step in half])
            pulls = torch.stack([self.pulls[step][example] for step in half])
            centre = before.mean(0)
            at_centre = pulls * (2 * (centre - before)).exp()
            mean = at_centre.mean(0).clamp_min(1e-9)
            luck = at_centre.var(0, correction=0) / (len(half) * mean**2)  # lowers the mean's logarithm by its half
            correction = 0.5 * (mean.log() + (0.5 * luck).clamp_max(FARTHEST))
            estimates.append(centre - correction.clamp(-FARTHEST, FARTHEST))
        return torch.stack(estimates).clamp_max(self.log_scale)

    def has_settled(self, example: int) -> bool:
        """Whether log sigma of a text is the same in the last two quarters of its steps, but for the luck of the draws.

        That luck is each seed's own, so the seeds tell how much of the squared drift it makes; of a single seed all of
        it counts.
        """
        length = self.run.batch.lengths[example]
        drift = (self.mean_of(0.75, 1.0) - self.mean_of(0.5, 0.75))[example, :, :length]
        squares, n_seeds = drift.mean(0).square(), len(drift)
        if n_seeds > 1:
            squares = squares - drift.var(0) / n_seeds
        return float(squares.mean()) <= STILL**2

    def evaluations(self, example: int) -> float:
        """Runs of the blocks for one text."""
        shared = min(self.steps[example], self.shared_steps)
        separate = self.steps[example] - shared
        return float(self.jacobians.counts[example] + 2 * (shared + self.settings.n_seeds * separate))

    def weight_of_noise(self, example: int) -> float:
        """Lambda of equation 7."""
        return 1.0 / float(self.weights[example] * self.phi.points.shape[-1])

    def _pulls(self) -> Tensor:
        """[example seed unit]: an unbiased estimate of each pull, from two opposite draws of noise."""
        pulls = torch.zeros_like(self.log_sigma)
        n_seeds = 1 if self.step < self.shared_steps else self.settings.n_seeds
        owners = [example for example in self.active for _ in range(2 * n_seeds)]

        def add(numbers: list[int]) -> None:
            draws = [index % (2 * n_seeds) for index in numbers]
            estimates = self._estimates(
                [owners[index] for index in numbers],
                [draw // 2 for draw in draws],
                [1 - 2 * (draw % 2) for draw in draws],
            )
            for example, seed, pull in estimates:
                pulls[example, seed, : len(pull)] += 0.5 * pull

        in_packs(self.run, owners, add)
        return pulls if n_seeds > 1 else pulls[:, :1].expand_as(pulls)

    def _estimates(self, examples: list[int], seeds: list[int], signs: list[int]) -> list[tuple[int, int, Tensor]]:
        """(example, seed, [unit] pulls) of these draws."""
        lengths = [self.run.batch.lengths[example] for example in examples]
        noise = torch.zeros(len(examples), max(lengths), self.phi.points.shape[-1])
        for line, example, seed, sign, length in zip(noise, examples, seeds, signs, lengths, strict=True):
            generator = torch.Generator().manual_seed(int(self.seeds[example, seed, self.step]))
            drawn = torch.randn(length, noise.shape[-1], generator=generator, dtype=torch.float32) * sign
            line[:length] = drawn * self.log_sigma[example, seed, :length, None].exp()
        moved = self.phi.points[examples, : max(lengths)] + noise.to(self.phi.points)
        gradient = self._gradient(examples, moved).cpu()
        pulls = self.weights[examples, None] * (noise * gradient).sum(-1)
        return [
            (example, seed, pull[:length] - self._excess(example, example_noise[:length], seed))
            for example, seed, length, pull, example_noise in zip(examples, seeds, lengths, pulls, noise, strict=True)
        ]

    def _gradient(self, examples: list[int], points: Tensor) -> Tensor:
        """[row unit width]: the gradient of |Phi(point) - s|² / sigma_S² by the points, in float32 at least."""
        points = points.requires_grad_()
        apart = (self.phi(examples, points) - self.phi.states[examples]).to(self.deviations) / self.deviations
        (gradient,) = torch.autograd.grad(apart.square().sum(), points)
        return gradient.to(self.deviations)

    def _excess(self, example: int, noise: Tensor, seed: int) -> Tensor | float:
        """[unit]: how far these draws are above their mean in a linear state: a control variate, which takes the luck
        out.

        Only where the whole Jacobian is known; a linear state then needs no luck at all.
        """
        jacobian = self.jacobians.rows[example]
        if jacobian is None:
            return 0.0
        jacobian = jacobian.cpu()
        change = (jacobian * noise).sum((1, 2))
        drawn = ((change[:, None, None] * jacobian).sum(0) * noise).sum(-1)
        variance = (2 * self.log_sigma[example, seed, : len(noise)]).exp()
        return 2 * self.weights[example] * (drawn - variance * self.jacobians.squares[example, : len(noise)])
