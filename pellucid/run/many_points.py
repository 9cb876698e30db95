"""The target's gradients at many points, such as those of a path: packed like rows, each point computed just in time.

Words that a model writes are targets of the same points: one pass forward serves all of them, and each has its own way back.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from torch import Tensor

from pellucid.run.forward_pass import ForwardPass
from pellucid.run.target import Explainable

SHARED = 2**26  # numbers in the sums of targets that share their passes: a quarter of a gigabyte in float32
Add = Callable[[Tensor, list[int], Tensor], None]  # sums, numbers of points, their gradients


@dataclass(frozen=True, eq=False)
class Points:
    """owners: the example of each point. at: numbers of points -> [point unit width], called when their pass begins, so memory
    does not grow with the number of points. layer: points are that layer's states (None: word embeddings)."""

    owners: Sequence[int]
    at: Callable[[list[int]], Tensor]
    layer: int | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal points: their owners, and what the first of each example is."""
        firsts = [self.owners.index(owner) for owner in dict.fromkeys(self.owners)]
        digest = blake2b(self.at(firsts).detach().float().cpu().numpy().tobytes(), digest_size=16)
        return (self.layer, tuple(self.owners), digest.digest())


@dataclass(eq=False)
class SharedPoints:
    """Targets that one method explains one after another, and sums of those whose turn has not come yet."""

    targets: Sequence[Explainable] = ()
    waiting: dict[tuple[object, ...], Tensor] = field(default_factory=dict)

    def sums(
        self, run: ForwardPass, target: Explainable, points: Points, start: Callable[[], Tensor], add: Add
    ) -> Tensor:
        """See `sums_at`; the sums of the targets that follow are made on the same passes."""
        number = next(number for number, one in enumerate(self.targets) if one is target)
        key = points.key
        if (number, *key) not in self.waiting:
            sums = [start()]
            together = self.targets[number : number + max(1, SHARED // max(1, sums[0].numel()))]
            sums += [start() for _ in together[1:]]
            for numbers, gradients in _gradients_of_all(run, together, points):
                for own, gradient in zip(sums, gradients, strict=True):
                    add(own, numbers, gradient)
            self.waiting |= {(number + place, *key): own for place, own in enumerate(sums)}
        return self.waiting.pop((number, *key))


def sums_at(
    run: ForwardPass, target: Explainable, points: Points, start: Callable[[], Tensor], add: Add
) -> Tensor:
    """Sums over all points of what is made of the target's gradients.

    start: a new tensor of zeros. add: adds to it what comes of the gradients [point unit width] of some points; both depend on
    the method alone and not on the target. Points of one text are neighbours in the packs, so there is little padding; a pass
    is cropped to its longest text.
    """
    shared = getattr(target, "shared_points", None)  # words have it
    if shared is not None:
        return shared.sums(run, target, points, start, add)
    sums = start()
    for numbers, (gradient,) in _gradients_of_all(run, [target], points):
        add(sums, numbers, gradient)
    return sums


def _gradients_of_all(
    run: ForwardPass, targets: Sequence[Explainable], points: Points
) -> Iterator[tuple[list[int], list[Tensor]]]:
    """For each pass: (numbers of its points, for each target their gradients [point unit width])."""

    def gradients(numbers: list[int]) -> tuple[list[int], list[Tensor]]:
        examples = [points.owners[number] for number in numbers]
        here = run.of(examples, points.at(numbers), points.layer)
        return numbers, [
            here.gradient(target.select(examples), points.layer, remember=False) for target in targets
        ]

    for pack in run.scheduler.packs_of([run.batch.rows[owner] for owner in points.owners]):
        yield from run.scheduler.halving(pack, gradients)
