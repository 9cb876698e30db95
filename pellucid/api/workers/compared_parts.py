"""The parts of a comparison in several processes: each loads the model once and writes the parts that it computes to the folder."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch

from pellucid.api.workers.comparison_of import comparison_of
from pellucid.core.foundation.catalogue import Choice
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.progress import Progress
from pellucid.core.passes.model import Model
from pellucid.core.passes.target import Target
from pellucid.core.processes.side_by_side import Processes, Share
from pellucid.core.text.example import Example
from pellucid.core.writing.word import Word
from pellucid.evaluation.comparison.compared_part import STAGE
from pellucid.evaluation.comparison.comparison import Comparison
from pellucid.evaluation.comparison.comparison_folder import ComparisonFolder


@dataclass(frozen=True)
class ComparisonAgain:
    """What another process needs to ask the same question."""

    load: Callable[[], Model]
    examples: Sequence[Example]
    methods: Sequence[Choice] | None
    metrics: Sequence[Choice] | None
    target: Target | Word
    seed: int
    resamples: int

    def comparison(self) -> Comparison:
        """The comparison, of a model that was loaded for it."""
        return comparison_of(
            self.load(),
            self.examples,
            self.methods,
            self.metrics,
            target=self.target,
            seed=self.seed,
            resamples=self.resamples,
        )


def comparison_again(
    load: Callable[[], Model],
    comparison: Comparison,
    methods: Sequence[Choice] | None,
    metrics: Sequence[Choice] | None,
) -> ComparisonAgain:
    """How another process gets a comparison. load: how it gets the model."""
    request = comparison.request
    return ComparisonAgain(
        load,
        comparison.examples,
        methods,
        metrics,
        comparison.target,
        request.seed,
        comparison.resamples,
    )


def compute_parts(folder: ComparisonFolder, again: ComparisonAgain, workers: int, progress: Progress) -> None:
    """Compute the parts that the folder does not have yet. The folder is refused as by `ComparisonFolder.judged`."""
    comparison, missing = folder.comparison, folder.missing_parts()
    if not missing:
        return
    total = len(comparison.examples)
    finished = total - sum(len(comparison.part(number)) for number in missing)

    def report(done: float) -> None:
        progress(STAGE, finished + int(done / len(missing) * (total - finished)), total)

    begin = partial(_open, again, folder.path, comparison.question())
    threads = max(1, torch.get_num_threads() // workers)
    Processes(workers, threads, begin).run([partial(_compute, number) for number in missing], report)


_folder: ComparisonFolder | None = None  # in a worker


def _open(again: ComparisonAgain, path: Path, question: dict[str, object]) -> None:
    """Raises `BadSetting` where this process reads another question out of the same arguments."""
    global _folder
    _folder = ComparisonFolder(path, again.comparison())
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
