"""The target's gradients at many points, such as those of a path: packed like rows, each point computed just in time."""

from collections.abc import Callable, Iterator, Sequence

from torch import Tensor

from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.target import Explainable


def gradients_at(
    run: ForwardPass,
    target: Explainable,
    owners: Sequence[int],
    points: Callable[[list[int]], Tensor],
    layer: int | None = None,
) -> Iterator[tuple[list[int], Tensor]]:
    """For each pass: (numbers of its points, their gradients [point unit width]).

    owners: the example of each point. points: numbers -> [point unit width], called once for each pass, so memory does not
    grow with the number of points. layer: points are that layer's states (None: word embeddings). Points of one text are
    neighbours in the packs, so there is little padding; a pass is cropped to its longest text.
    """

    def gradient(numbers: list[int]) -> tuple[list[int], Tensor]:
        examples = [owners[number] for number in numbers]
        return numbers, run.of(examples, points(numbers), layer).gradient(target.select(examples), layer)

    for pack in run.scheduler.packs_of([run.batch.rows[owner] for owner in owners]):
        yield from run.scheduler.halving(pack, gradient)
