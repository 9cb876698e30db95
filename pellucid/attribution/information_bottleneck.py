"""The information bottleneck: how much of each piece's state must pass through noise for the answer to stay.

Schulz, Sixt, Tombari & Landgraf (2020), "Restricting the Flow: Information Bottlenecks for Attribution", per sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.base.checks import at_least
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import attributions, diagnostics
from pellucid.results.explanation import Explained
from pellucid.run.batch import Row
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores, check_layer
from pellucid.run.readout import LOGITS, Readout, StateReadout
from pellucid.run.rounding import widened
from pellucid.run.state_scale import StateScale, readout_scale
from pellucid.run.target import Explainable, ResolvedTarget
from pellucid.run.word import ResolvedWords

NAME = "information_bottleneck"
START = 5.0  # of alpha: at first nearly all of a state passes
MOMENTUM, SECOND_MOMENTUM = 0.9, 0.999
LAST, STILL = (
    1 / 3,
    0.25,
)  # settled: in the last third of the steps the information stays within a quarter of its largest
FEWEST = 4  # steps that the last third has at least
WIDE_SPREAD, LARGE_RISE = 0.25, 0.5  # of the largest score; nats


@attributions.add(
    needs={"gradient", "hidden_states"},
    cost="n_seeds x n_steps x n_samples runs of the blocks above the layer, with gradients",
    signed=False,
    random=True,
    usual=False,
    shares=False,
)
def information_bottleneck(
    run: ForwardPass,
    target: Explainable,
    *,
    layer: int | None = None,
    beta: float = 10.0,
    n_steps: int = 10,
    n_samples: int = 10,
    n_seeds: int = 2,
    rate: float = 1.0,
    reference: str | tuple[str, ...] = "pocket",
) -> Scores:
    """How many nats of each piece's state must pass for the explained class to keep its probability; 0 or more.

    In one layer each entry h of each state becomes lambda h + (1 - lambda) noise, with noise from the normal
    distribution of that entry over the reference texts. The lambdas minimise

        cross-entropy of the explained class  +  beta x mean of the information over all entries

    where an entry's information is the KL divergence of what passes from the noise alone. That is the paper's beta / k
    for k entries. A score is the sum over a piece's entries, special tokens' too; divide by log 2 for bits. The
    information is an upper bound; the answer may need less. For "A, not B" the two classes alone are compared; for a
    regression model the squared change of its value stands for the cross-entropy.

    layer: whose states get noise; None is half of the way up. beta: the price of information, above 0. n_steps: steps
    of Adam at this rate, from lambda = .99. n_samples: draws of noise a step. n_seeds: searches with noise of their
    own, whose scores are averaged. reference: the data set (its train texts), or a list of texts, for the noise.

    Diagnostics: `seed_spread`, `evaluations`, `converged` and `answer_rise`. Raises `BadSetting` for a hidden state as
    target.

    >>> explanation = pellucid.explain("my-classifier", "A good film.", "information_bottleneck")[0]
    >>> bool((explanation.scores >= 0).all()), explanation.diagnostics["evaluations"]
    (True, 200.0)
    """
    if not isinstance(target, ResolvedTarget | ResolvedWords):
        raise BadSetting(
            f"{NAME} explains a class or a word; for a hidden state, retained_information says what it holds."
        )
    for name, value in (("n_steps", n_steps), ("n_samples", n_samples), ("n_seeds", n_seeds)):
        at_least(name, value, 1)
    for name, setting in (("beta", beta), ("rate", rate)):
        at_least(name, setting, 1e-9)
    check_layer(run.model, layer)
    layer_index = max(1, run.model.n_layers // 2) if layer is None else layer
    scale = readout_scale(run.model, StateReadout(layer_index, "pooled"), reference)
    loss = _loss_of(run, target)
    searches = [_Search(run, loss, layer_index, scale, beta, n_samples, seed) for seed in range(n_seeds)]
    for search in searches:
        for _ in range(n_steps):
            search.advance(rate)
    of_seeds = torch.stack([search.information().sum(-1) for search in searches], 1)
    whole = loss.values(run.answers(loss.readout).double())
    diagnostics = tuple(
        _diagnostics([search.of_text(n) for search in searches], of_seeds[n, :, :length], float(whole[n]))
        | {"evaluations": float(n_seeds * n_steps * n_samples)}
        for n, length in enumerate(run.batch.lengths)
    )
    scores = of_seeds.mean(1)
    caveats = tuple(
        _caveats(of_text, float(scores[n, : run.batch.lengths[n]].max())) for n, of_text in enumerate(diagnostics)
    )
    return run.scores(scores, diagnostics=diagnostics, caveats=caveats)


@diagnostics.add(worst="highest")
def answer_rise(nats: float) -> str:
    """How much the cross-entropy of the explained class rises when no more than this information passes, in nats."""
    return ""


@dataclass(frozen=True, eq=False)
class _Loss:
    """The cross-entropy of the explained class, as a target. before: [example], the value of the text itself."""

    target: ResolvedTarget
    before: Tensor

    @property
    def readout(self) -> Readout:
        return LOGITS

    def values(self, logits: Tensor) -> Tensor:
        """[example logit] -> [example], in nats."""
        if self.target.problem == "regression":
            return (replace(self.target, output="logit").values(logits) - self.before.to(logits)).square()
        if self.target.against is not None:
            return -F.logsigmoid(self.target.values(logits))
        # A window's answer is judged by itself.
        return replace(self.target, output="loss", windows=None).values(logits)

    def values_of(self, example: int, logits: Tensor) -> Tensor:
        """[variant logit] -> [variant]: those of variants of one example."""
        return self.select([example] * len(logits)).values(logits)

    def select(self, indices: Sequence[int]) -> "_Loss":
        """The loss of these examples."""
        return _Loss(self.target.select(indices), self.before[list(indices)])

    def explained(self, example: int, answer: Tensor, labels: Sequence[str]) -> Explained:
        """That of the target."""
        return self.target.explained(example, answer, labels)

    def pieces_read(self, rows: Sequence[Row]) -> None:
        """Those that the head reads."""
        return


@dataclass(frozen=True, eq=False)
class _LossOfWords:
    """The cross-entropy of a written word, or of the word against its rival, as a target."""

    target: ResolvedWords

    @property
    def readout(self) -> Readout:
        return self.target.readout

    def values(self, answers: Tensor) -> Tensor:
        """[example piece] -> [example], in nats."""
        values = self.target.values(answers)
        return -F.logsigmoid(values) if self.target.readout.rivals else -values

    def values_of(self, example: int, answers: Tensor) -> Tensor:
        """[variant piece] -> [variant]: those of variants of one example."""
        return self.select([example] * len(answers)).values(answers)

    def select(self, indices: Sequence[int]) -> "_LossOfWords":
        """The loss of these examples."""
        return _LossOfWords(self.target.select(indices))

    def explained(self, example: int, answer: Tensor, labels: Sequence[str]) -> Explained:
        """That of the target."""
        return self.target.explained(example, answer, labels)

    def pieces_read(self, rows: Sequence[Row]) -> list[list[int]]:
        """Those of the target."""
        return self.target.pieces_read(rows)


def _loss_of(run: ForwardPass, target: ResolvedTarget | ResolvedWords) -> _Loss | _LossOfWords:
    if isinstance(target, ResolvedWords):
        return _LossOfWords(target)
    return _Loss(target, run.values(replace(target, output="logit")))


class _Search:
    """One search by Adam, for each text of a batch on its own; alpha: [example unit width], lambda is its sigmoid."""

    def __init__(
        self,
        run: ForwardPass,
        loss: _Loss | _LossOfWords,
        layer: int,
        scale: StateScale,
        beta: float,
        n_samples: int,
        seed: int,
    ) -> None:
        self.run, self.loss, self.layer, self.n_samples = run, loss, layer, n_samples
        self.states = widened(run.hidden[layer]).double()
        self.means, self.deviations = scale.means.to(self.states), scale.deviations.to(self.states)
        self.normal = (self.states - self.means) / self.deviations
        self.generators = run.generators(f"{NAME} {seed}")
        real = [torch.arange(self.states.shape[1]) < length for length in run.batch.lengths]
        self.real = torch.stack(real).to(self.states.device)[..., None].double()
        self.price = beta / (self.real.sum(1, keepdim=True) * self.states.shape[-1])
        self.alpha = torch.full_like(self.states, START)
        self.first, self.second = torch.zeros_like(self.alpha), torch.zeros_like(self.alpha)
        self.totals: list[Tensor] = []
        self.answers = torch.zeros(len(run.batch))

    def information(self) -> Tensor:
        """[example unit width], in nats: KL of what passes of each entry from noise alone; 0 in padding."""
        share = self.alpha.sigmoid()
        nats = F.softplus(self.alpha) + ((1 - share).square() + (share * self.normal).square() - 1) / 2
        return nats.clamp_min(0.0) * self.real

    def advance(self, rate: float) -> None:
        """One step."""
        share = self.alpha.sigmoid()
        of_answer, losses = torch.zeros_like(self.alpha), []
        for _ in range(self.n_samples):
            noise = self.means + self.deviations * self._draw()
            here = self.run.at((share * self.states + (1 - share) * noise).to(self.run.hidden[self.layer]), self.layer)
            of_answer += here.gradient(self.loss, self.layer).double() * (self.states - noise) / self.n_samples
            losses.append(here.values(self.loss).double().cpu())
        self.answers = torch.stack(losses).mean(0)
        of_answer *= share * (1 - share)
        of_nats = share - share * (1 - share).square() + share.square() * (1 - share) * self.normal.square()
        self._move((of_answer + self.price * of_nats) * self.real, rate)
        self.totals.append(self.information().sum((1, 2)).cpu())

    def _move(self, gradient: Tensor, rate: float) -> None:
        """One step of Adam."""
        step = len(self.totals) + 1
        self.first = MOMENTUM * self.first + (1 - MOMENTUM) * gradient
        self.second = SECOND_MOMENTUM * self.second + (1 - SECOND_MOMENTUM) * gradient.square()
        size = (self.second / (1 - SECOND_MOMENTUM**step)).sqrt() + 1e-8
        self.alpha = self.alpha - rate * self.first / (1 - MOMENTUM**step) / size

    def _draw(self) -> Tensor:
        """[example unit width]: normal noise, each text's from its own generator."""
        noise = torch.zeros(self.states.shape, dtype=torch.float64)
        for index, length in enumerate(self.run.batch.lengths):
            noise[index, :length] = torch.randn(
                length, noise.shape[-1], generator=self.generators[index], dtype=torch.float64
            )
        return noise.to(self.states.device)

    def of_text(self, index: int) -> tuple[float, float, float]:
        """The largest and the smallest information in the last third of the steps, and the loss at the last step."""
        count = max(FEWEST, round(LAST * len(self.totals)))
        totals = [float(of_step[index]) for of_step in self.totals[-count:]]
        return max(totals), min(totals), float(self.answers[index])


def _diagnostics(searches: list[tuple[float, float, float]], of_seeds: Tensor, whole: float) -> dict[str, float]:
    """searches: as `_Search.of_text`. of_seeds: [seed unit] of one text. whole: the loss of the text itself."""
    moved = max((largest - smallest) / max(largest, 1e-12) for largest, smallest, _ in searches)
    return {
        "seed_spread": float(of_seeds.std(0).mean()) if len(of_seeds) > 1 else 0.0,
        "converged": float(moved <= STILL),
        "answer_rise": sum(loss for _, _, loss in searches) / len(searches) - whole,
    }


def _caveats(diagnostics: dict[str, float], largest: float) -> tuple[str, ...]:
    caveats = []
    if not diagnostics["converged"]:
        caveats.append(
            "In the last third of the steps the information still changed by more than a quarter; n_steps=60 and "
            "rate=0.3 settle more often."
        )
    if diagnostics["seed_spread"] > WIDE_SPREAD * largest:
        caveats.append("Scores differ between seeds by more than a quarter of the largest; raise n_samples or n_seeds.")
    if diagnostics["answer_rise"] > LARGE_RISE:
        caveats.append(
            f"With this little information the loss of the answer rises by {diagnostics['answer_rise']:.1f} nats; "
            f"lower beta."
        )
    return tuple(caveats)
