"""Watching a training: every so many steps, what a method says of a few dev texts in the model as it is then.

Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", Figure 9, follow the
information that each layer keeps. Watching changes no byte of the training: the method runs on a view of the network,
in evaluation mode, and the random state is put back. What was seen stands beside the training, a file a step,
`watched/step-00000050.parquet`, in the form that `pellucid.read` reads; a training that goes on after an interruption
fills in what is missing.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import torch

from pellucid.base.checks import at_least, known, of_kind, quoted
from pellucid.base.errors import BadFile, BadSetting
from pellucid.base.files import check_folder, disk_errors, read_text, remove_unfinished, write_text
from pellucid.base.kinds import STATE_VECTOR
from pellucid.base.processes import silent
from pellucid.models.classifiers.classifier import Classifier
from pellucid.results.explanation import Explanation
from pellucid.results.storage import save
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.hidden_target import EVERY, HiddenState
from pellucid.run.packing import scheduler_for
from pellucid.run.readout import Positions
from pellucid.text.example import Example

FOLDER, ABOUT = "watched", "about.json"
Layers = Sequence[int] | Literal["all"]


@dataclass(frozen=True)
class Watch:
    """What is watched.

    every: steps from one look to the next, 1 or more; the new model and the last step are looked at too.
    n_texts: how many dev texts, evenly from first to last, 1 or more.
    method, settings: an attribution method and its settings.
    layers: numbers of layers, from 0, or "all".
    positions: which pieces' states, as in `HiddenState`; a method that reads a number needs one state, such as
        "pooled".

    Raises `BadSetting` for a value out of its range.
    """

    every: int
    n_texts: int = 8
    method: str = "retained_information"
    settings: Mapping[str, object] = field(default_factory=dict)
    layers: Layers = "all"
    positions: Positions = "all"

    def __post_init__(self) -> None:
        at_least("watch", of_kind("watch", self.every, int), 1)
        at_least("n_texts", of_kind("n_texts", self.n_texts, int), 1)
        of_kind("method", self.method, str)
        one_word = isinstance(self.layers, str)
        if (one_word and self.layers != EVERY) or (not one_word and not list(self.layers)):
            raise BadSetting(f"layers={quoted(self.layers)} is not possible; give numbers such as [0, 3], or 'all'.")

    def steps(self, total: int) -> list[int]:
        """After which steps of a training of so many the model is looked at."""
        return sorted({*range(0, total + 1, self.every), total})

    def targets(self, model: Classifier) -> list[HiddenState]:
        """What is explained: all layers at once where the method reads vectors, else layer by layer."""
        (call,) = method_calls([(self.method, dict(self.settings))], model)
        positions = self.positions if isinstance(self.positions, str) else tuple(self.positions)
        if self.layers == EVERY and call.entry.facts.get("reads") == STATE_VECTOR:
            return [HiddenState("all", positions)]
        layers = range(model.n_layers + 1) if isinstance(self.layers, str) else self.layers
        return [HiddenState(layer, positions) for layer in layers]

    def record(self) -> dict[str, object]:
        """Every field, as JSON can hold it."""
        listed = self.layers if isinstance(self.layers, str) else list(self.layers)
        positions = self.positions if isinstance(self.positions, str) else list(self.positions)
        schedule = {"every": self.every, "n_texts": self.n_texts, "method": self.method}
        return {**schedule, "settings": dict(self.settings), "layers": listed, "positions": positions}


def watch_of(every: int | None, settings: Mapping[str, object] | None) -> Watch | None:
    """The watch of a call of `train`; settings: fields of `Watch` by name. Raises `BadSetting` for settings without a
    watch.
    """
    if every is None:
        if settings:
            raise BadSetting("watch_settings say how a training is watched; give watch= too, such as watch=50.")
        return None
    names = set(Watch.__dataclass_fields__) - {"every"}
    for name in settings or {}:
        known("setting of watch", name, names)
    return Watch(every, **(settings or {}))  # type: ignore[arg-type]  # checked by the record


@dataclass(frozen=True)
class Watched:
    """What was seen of one training.

    watch: what is watched. path: the folder. fingerprint: names the run. total: steps of the training.
    """

    watch: Watch
    path: Path
    fingerprint: str
    total: int

    @property
    def about(self) -> dict[str, object]:
        """What the looks depend on besides the weights."""
        return {"run": self.fingerprint, "steps": self.total, **self.watch.record()}

    def file(self, step: int) -> Path:
        """Where the look after so many steps stands."""
        return self.path / f"step-{step:08d}.parquet"

    def begin(self, done: int) -> None:
        """Go on after so many steps; raises `BadFile` where the folder is of another watch, or looks before it are
        missing.
        """
        check_folder(self.path)
        about = self.path / ABOUT
        if about.exists():
            if json.loads(read_text(about)) != json.loads(json.dumps(self.about)):
                raise BadFile(
                    f"{self.path} is of a training that was watched otherwise; give another folder, or remove this one."
                )
        elif not done:
            with disk_errors("write", self.path):
                self.path.mkdir(parents=True, exist_ok=True)
            write_text(about, json.dumps(self.about, indent=1))
        missing = [step for step in self.watch.steps(self.total) if step < done and not self.file(step).exists()]
        if missing:
            raise BadFile(
                f"{self.path.parent} holds a training of which step {missing[0]} was not watched; train without watch, "
                f"or give another folder."
            )

    def look(self, step: int, model: Classifier, dev: Sequence[Example]) -> None:
        """Explain the sample in the model as it is, if this step is one to look at and was not looked at before."""
        if step not in self.watch.steps(self.total) or self.file(step).exists():
            return
        devices = [model.device] if model.device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            save(self._explanations(replace(model, name=f"step {step}"), dev), self.file(step))

    def _explanations(self, model: Classifier, dev: Sequence[Example]) -> list[Explanation]:
        """model: a view of its own, so that nothing that is kept with the trained one is tried on these texts."""
        calls = method_calls([(self.watch.method, dict(self.watch.settings))], model)
        batch = model.encode(sample(dev, self.watch.n_texts))
        return [
            explanation
            for target in self.watch.targets(model)
            for explanations in explain_batch(
                Request(model, calls, target, 0), batch, scheduler_for(model), silent
            ).values()
            for explanation in explanations
        ]

    def end(self) -> None:
        """Remove what killed writes left."""
        remove_unfinished(self.path)


def sample(dev: Sequence[Example], n_texts: int) -> list[Example]:
    """So many texts, evenly from first to last; all where there are fewer."""
    count = min(n_texts, len(dev))
    return [dev[index * len(dev) // count] for index in range(count)]
