"""The parts of a comparison in several processes: each loads the model once and writes the parts that it computes to the folder."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from pellucid.base.errors import BadSetting
from pellucid.base.processes import Processes, Share
from pellucid.base.progress import Progress
from pellucid.evaluation.comparison.compared_part import STAGE
from pellucid.evaluation.comparison.comparison import Comparison
from pellucid.evaluation.comparison.comparison_folder import ComparisonFolder
from pellucid.run.model import Model

Ask = Callable[
    [Model], Comparison
]  # the comparison of a model; `comparison_of` with all its other arguments, in a `partial`


def compute_parts(
    folder: ComparisonFolder, ask: Ask, load: Callable[[], Model], workers: int, progress: Progress
) -> None:
    """Compute the parts that the folder does not have yet. The folder is refused as by `ComparisonFolder.judged`.

    ask, load: how each process gets the comparison and its model.
    """
    comparison, missing = folder.comparison, folder.missing_parts()
    if not missing:
        return
    total = len(comparison.examples)
    finished = total - sum(len(comparison.part(number)) for number in missing)

    def report(done: float) -> None:
        progress(STAGE, finished + int(done / len(missing) * (total - finished)), total)

    begin = partial(_open, ask, load, folder.path, comparison.question())
    threads = max(1, torch.get_num_threads() // workers)
    Processes(workers, threads, begin).run([partial(_compute, number) for number in missing], report)


_folder: ComparisonFolder | None = None  # in a worker


def _open(ask: Ask, load: Callable[[], Model], path: Path, question: dict[str, object]) -> None:
    """Raises `BadSetting` where this process reads another question out of the same arguments."""
    global _folder
    _folder = ComparisonFolder(path, ask(load()))
    there = _folder.comparison.question()
    if other := sorted(name for name in question if there.get(name) != question[name]):
        raise BadSetting(
            f"A worker would compare something else ({', '.join(other)}): the model's files, or methods and metrics of this session, are "
            "not the same there; leave workers= away."
        )


def _compute(number: int, share: Share) -> None:
    assert _folder is not None  # `_open` came first
    part = _folder.comparison.part(number)
    # Progress comes as the number of examples that are done of all parts.
    _folder.compute(number, lambda stage, done, total: share((done - part.start) / len(part)))
    share(1.0)
