"""Texts explained by several methods, in this process or by several, each with a group of the texts at a time."""

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal

import torch

from pellucid.base.catalogue import Call, Choice
from pellucid.base.checks import reason
from pellucid.base.errors import (
    BadSetting,
    MissingPackage,
    ModelCannot,
    ParityBroken,
    PellucidError,
    ServiceAway,
    UnknownName,
)
from pellucid.base.processes import Processes, Progress, Share, silent
from pellucid.results.explanation import Explanation
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.hidden_target import StateTarget
from pellucid.run.labels import Labels
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.stitching import by_passage, with_passages
from pellucid.run.target import Target
from pellucid.run.word import Word
from pellucid.text.example import Example
from pellucid.text.passages import CHAT, KEEP, PLACE, Rest, turns_of

GROUP = 64  # texts; the numbers do not depend on how many workers share the groups
ENCODED = 4096  # texts whose pieces are in memory at once: those of a hundred thousand take .4 GB
EXPLANATIONS, FAILED = "explanations.parquet", "failed.json"
STAGE = "explaining"
Passages = Sequence[Sequence[str]]
OnError = Literal["raise", "keep"]


@dataclass(frozen=True)
class TextQuestion:
    """A question about texts, apart from the model and the texts: plain values, so that another process can ask it too.

    choices: methods. by_all: those that "all" stands for, which may fail. passages: whether each text comes with its
    passages. rest: what stands between them, "together" or as "words". on_error: whether a text with an error is left
    out ("keep"), and the others are explained.
    """

    choices: Sequence[Choice]
    by_all: frozenset[str]
    target: Target | StateTarget | Word | Labels
    seed: int
    passages: bool
    rest: Rest = "together"
    on_error: OnError = "raise"

    def request(self, model: Model) -> Request:
        """The request of a model; raises as `method_calls` does."""
        calls = method_calls(self.choices, model)
        return Request(model, [by_passage(call) for call in calls] if self.passages else calls, self.target, self.seed)


@dataclass
class ExplainedTexts:
    """by_method: title -> one explanation a text. failed: methods by "all" that do not work here -> why. failures: the
    place of a text without explanations -> why.
    """

    by_method: dict[str, list[Explanation]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    failures: dict[int, str] = field(default_factory=dict)

    def add(self, further: "ExplainedTexts") -> None:
        """Append the explanations of further texts; a method that failed for any of them has none."""
        self.failed |= further.failed
        self.failures |= further.failures
        for title, explanations in further.by_method.items():
            self.by_method.setdefault(title, []).extend(explanations)
        for title in [title for title in self.by_method if title.partition("(")[0] in self.failed]:
            del self.by_method[title]


OF_THE_QUESTION = (BadSetting, UnknownName, MissingPackage, ServiceAway)  # errors that no text is to blame for


def explained(
    question: TextQuestion,
    request: Request,
    examples: Sequence[Example],
    passages: Passages | None,
    progress: Progress,
) -> ExplainedTexts:
    """The explanations of all texts, in this process, group by group; where failures are kept, in small groups."""
    whole, count = ExplainedTexts(), len(examples)
    if question.on_error == "raise":
        for group in groups_of(count, ENCODED) or [range(0)]:  # no texts are explained by no explanations, too
            some, of_some = (
                examples[group.start : group.stop],
                None if passages is None else passages[group.start : group.stop],
            )
            whole.add(_explained_together(question, request, some, of_some, _shifted(progress, group.start, count)))
        return whole
    for group in groups_of(count):
        whole.add(_explained_or_failed(question, request, examples, passages, group))
        progress(STAGE, group.stop, count)
    return whole


def _shifted(progress: Progress, start: int, count: int) -> Progress:
    """The progress of a part of the texts as that of all of them; that of one text's edits stays."""
    return lambda stage, done, total: progress(stage, *((start + done, count) if stage == STAGE else (done, total)))


def groups_of(count: int, size: int = GROUP) -> list[range]:
    """The places of the texts that share passes."""
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


def _explained_or_failed(
    question: TextQuestion,
    request: Request,
    examples: Sequence[Example],
    passages: Passages | None,
    places: Sequence[int],
) -> ExplainedTexts:
    """Explain texts together; where that fails, one by one, and those that fail alone are failures."""
    of_places = None if passages is None else [passages[place] for place in places]
    try:
        return _explained_together(question, request, [examples[place] for place in places], of_places, silent)
    except OF_THE_QUESTION:
        raise
    except Exception as error:  # of the model's own code, too
        if len(places) == 1:
            sentence = str(error) if isinstance(error, PellucidError) else f"{type(error).__name__}: {reason(error)}"
            return ExplainedTexts(failures={places[0]: sentence})
    whole = ExplainedTexts()
    for place in places:
        whole.add(_explained_or_failed(question, request, examples, passages, [place]))
    return whole


def _explained_together(
    question: TextQuestion,
    request: Request,
    examples: Sequence[Example],
    passages: Passages | None,
    progress: Progress,
) -> ExplainedTexts:
    failed: dict[str, str] = {}

    def refused(call: Call, error: ModelCannot | ParityBroken) -> None:
        if call.entry.name not in question.by_all:
            raise error
        failed[call.entry.name] = f"does not work here: {error}"

    batch = request.model.encode(examples)
    batch = batch if passages is None else with_passages(batch, passages, question.rest)
    by_method = explain_batch(request, batch, scheduler_for(request.model), progress, refused)
    return ExplainedTexts(by_method, failed)


def explained_by_workers(
    question: TextQuestion,
    load: Callable[[], Model],
    model_hash: str,
    examples: Sequence[Example],
    passages: Passages | None,
    workers: int,
    progress: Progress,
) -> ExplainedTexts:
    """The same, the texts group by group, each group in one of several processes. load: how a process gets the model of
    that hash.
    """
    groups = groups_of(len(examples))
    with tempfile.TemporaryDirectory() as folder:
        tasks = [
            partial(
                _explain_group,
                question,
                [sent(examples[index]) for index in group],
                None if passages is None else [passages[index] for index in group],
                Path(folder) / str(place),
            )
            for place, group in enumerate(groups)
        ]
        threads = max(1, torch.get_num_threads() // workers)
        Processes(workers, threads, partial(_load, load, model_hash)).run(
            tasks, lambda done: progress(STAGE, int(done / len(groups) * len(examples)), len(examples))
        )
        return _read_groups([Path(folder) / str(index) for index in range(len(groups))])


def sent(example: Example) -> Example:
    """What another process needs of an example: its texts, its label, the turns of a chat and the place asked about."""
    meta = {name: example.meta[name] for name in (PLACE, KEEP) if name in example.meta}
    meta |= {CHAT: example.meta[CHAT]} if turns_of(example) else {}
    return replace(example, meta=meta, rationales=())


def _read_groups(folders: Sequence[Path]) -> ExplainedTexts:
    from pellucid.results.storage import read  # Arrow takes a tenth of a second to import

    whole = ExplainedTexts()
    for first, folder in zip(range(0, GROUP * len(folders), GROUP), folders, strict=True):
        failed, failures = json.loads((folder / FAILED).read_text(encoding="utf-8"))
        of_group = ExplainedTexts(failed=failed, failures={first + int(at): why for at, why in failures.items()})
        for saved in read(folder / EXPLANATIONS):
            of_group.by_method.setdefault(saved.method, []).append(saved)
        whole.add(of_group)
    return whole


_model: Model | None = None  # in a worker


def _load(load: Callable[[], Model], model_hash: str) -> None:
    """Raises `ModelCannot` where the files are those of another model than the one that was given."""
    global _model
    _model = load()
    if _model.hash != model_hash:
        raise ModelCannot(
            f"{_model.name} has other weights in its files than in memory, and workers load the files; save the model "
            f"first, or leave workers= away."
        )


def _explain_group(
    question: TextQuestion, examples: Sequence[Example], passages: Passages | None, folder: Path, share: Share
) -> None:
    assert _model is not None  # `_load` came first
    of_group = explained(
        question,
        question.request(_model),
        examples,
        passages,
        lambda stage, done, total: share(done / max(1, total)),
    )
    from pellucid.results.storage import save

    folder.mkdir()
    save([explanation for of_method in of_group.by_method.values() for explanation in of_method], folder / EXPLANATIONS)
    (folder / FAILED).write_text(json.dumps([of_group.failed, of_group.failures]), encoding="utf-8")
    share(1.0)
