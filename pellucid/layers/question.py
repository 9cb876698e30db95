"""Which explanations a layer analysis needs of one training of one model, and the folder that keeps them part by
part.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pellucid.base.checks import listed, quoted
from pellucid.base.errors import BadFile, BadInput, BadSetting, ModelCannot
from pellucid.base.json_text import json_digest
from pellucid.base.kinds import STATE_VECTOR, attributions, diagnostics
from pellucid.base.output_folder import PARTS, prepare_folder, question_folder
from pellucid.base.packages import __version__
from pellucid.base.processes import Progress, silent
from pellucid.results.explanation import Explanation
from pellucid.results.explanation_record import example_record
from pellucid.results.storage import read, save
from pellucid.run.diagnostics import route_record
from pellucid.run.explaining import Request, explain_batch
from pellucid.run.hidden_target import HiddenState
from pellucid.run.packing import scheduler_for
from pellucid.text.example import Example
from pellucid.text.ranges import is_each, steps_of

PART = 4  # texts that are explained and written together: less than a minute of work


@dataclass(frozen=True)
class LayerQuestion:
    """request: one model, one method, the target. row: what the only row of a single layer is called, or None.

    each_step: a row for the state at each step of a text, in place of the target's positions.
    """

    request: Request
    examples: tuple[Example, ...]
    row: str | None = None
    each_step: bool = False

    @property
    def n_parts(self) -> int:
        """How many parts the texts are cut into."""
        return -(-len(self.examples) // PART)

    def part(self, index: int) -> tuple[Example, ...]:
        """The texts of one part."""
        return self.examples[index * PART : (index + 1) * PART]

    def explained(self, part_index: int) -> list[Explanation]:
        """The explanations of one part's texts, each with rows; they do not depend on other parts."""
        if self.each_step:
            return in_step_rows(self.request, self.part(part_index))
        model = self.request.model
        batch = model.encode(self.part(part_index))
        (explanations,) = explain_batch(self.request, batch, scheduler_for(model), silent).values()
        return [self._with_rows(explanation) for explanation in explanations]

    def facts(self) -> dict[str, object]:
        """Everything that the explanations depend on but the texts, in JSON's terms."""
        (call,) = self.request.calls
        rows: dict[str, object] = {"rows": "steps"} if self.each_step else {}
        return rows | {
            "version": __version__,
            "model": self.request.model_hash,
            **route_record(self.request.model),
            "method": call.entry.name,
            "settings": {name: repr(value) for name, value in call.settings.items()},
            "target": repr(self.request.target),
            "row": self.row,
            "seed": self.request.seed,
        }

    def _with_rows(self, explanation: Explanation) -> Explanation:
        """The explanation with a row of its own where one layer alone was explained."""
        if explanation.rows and explanation.rows[0][0] == "layer":
            return explanation
        if explanation.rows or self.row is None:
            raise BadSetting(_no_layers(explanation.method))
        return replace(explanation, rows=(("layer", (self.row,)),), scores=explanation.scores[None])


def layer_settings(method: str, layers: int | str) -> tuple[bool, dict[str, object]]:
    """Whether the method reads states as vectors, and else the setting that names its layers.

    Raises `BadSetting` for a method that explains no layer, with those that do.
    """
    entry = attributions.get(method)
    if _reads_states(entry.name):
        return True, {}
    if not _names_layers(method):
        raise BadSetting(_no_layers(entry.name))
    return False, {"layer": layers}


def check_layers(request: Request, layers: int | str, each_step: bool = False) -> None:
    """Raise `ModelCannot` for a model whose windows are joined, `BadSetting` where there is no such layer, or of steps
    one that has not read what was written.
    """
    model = request.model
    if "hidden_states" not in model.capabilities:
        raise ModelCannot(
            f"{model.name} shows no hidden states of layers; a model that joins windows or a function has none. Give a "
            "classifier whose texts fit one window."
        )
    if isinstance(layers, int) and not 0 <= layers <= model.n_layers:
        raise BadSetting(
            f"layers={layers} is no layer of {model.name}; give a number from 0 to {model.n_layers}, or all."
        )
    n_encoder = getattr(model, "n_encoder", 0)  # of a model that writes
    if each_step and isinstance(layers, int) and layers <= n_encoder > 0:
        raise BadSetting(
            f"layers={layers} is of the part of {model.name} that reads, and has no steps; with positions='each' give "
            f"a layer of the part that writes, {n_encoder + 1} to {model.n_layers}."
        )


def checked_target(positions: str | Sequence[int], layers: int | str) -> HiddenState:
    """The hidden states as a target; raises `BadSetting` for other layers or positions.

    positions "each" stands for the state at each step: they are put in later, and one layer must be named.
    """
    if is_each(positions) and (isinstance(layers, bool) or not isinstance(layers, int)):
        raise BadSetting(
            f"positions='each' makes a row for each step of one layer, and layers={quoted(layers)} names several or "
            f"none; give the number of one."
        )
    return HiddenState(layers, "last" if is_each(positions) else positions)  # type: ignore[arg-type]  # it checks them itself


def check_steps(method: str, positions: str | Sequence[int], reads_states: bool) -> bool:
    """Whether rows are steps; raises `BadSetting` for a method that reads no states, which cannot explain that of a
    step.
    """
    if is_each(positions) and not reads_states:
        names = [name for name in attributions.names() if _reads_states(name)]
        raise BadSetting(f"{method} explains no state of a step; with positions='each' give one of: {listed(names)}.")
    return is_each(positions)


def _names_layers(method: str) -> bool:
    return "layer" in attributions.get(method).defaults and attributions.get(method).facts["units"] != "span"


def _no_layers(method: str) -> str:
    fitting = [name for name in attributions.names() if _reads_states(name) or _names_layers(name)]
    return f"{method} gives no scores a layer. Methods that do: {', '.join(fitting)}."


def methods_of_all_layers() -> list[str]:
    """The methods that explain all layers at once: those that read states, and those whose layers have names."""
    names = attributions.names()
    return [
        name for name in names if _reads_states(name) or isinstance(attributions.get(name).defaults.get("layer"), str)
    ]


def _reads_states(method: str) -> bool:
    return bool(attributions.get(method).facts["reads"] == STATE_VECTOR)


# Explanations whose rows are time steps: the states at the pieces of a text, one after the other.
#
# Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", section 4.1;
# corrections.md A3.11.


def in_step_rows(request: Request, examples: Sequence[Example]) -> list[Explanation]:
    """For each text one explanation with a row a step; of diagnostics the worst of all steps.

    The request's target names the layer; its positions are replaced. Texts with a piece at the same number share
    passes. Raises `BadInput` for a text that the model reads in windows, whose steps have no state of their own.
    """
    assert isinstance(request.target, HiddenState)
    model, layer, part = request.model, request.target.layer, request.target.part
    batch = model.encode(examples)
    steps = [steps_of(units, bool(row.written)) for units, row in zip(batch.units, batch.rows, strict=True)]
    for example, row, of_text in zip(examples, batch.rows, steps, strict=True):
        if row.windows or not of_text:
            why = "is longer than the model reads at once" if row.windows else "has no piece"
            raise BadInput(f"Text {quoted(example.id)} {why}, so it has no steps; leave it out.")
    by_step: list[dict[int, Explanation]] = [{} for _ in examples]
    for piece in sorted({piece for of_text in steps for piece in of_text}):
        numbers = [index for index, of_text in enumerate(steps) if piece in of_text]
        of_step = replace(request, target=HiddenState(layer, (piece,), part))
        (explained,) = explain_batch(of_step, batch.select(numbers), scheduler_for(model), silent).values()
        for text_index, explanation in zip(numbers, explained, strict=True):
            by_step[text_index][piece] = explanation
    return [joined_steps([rows[piece] for piece in of_text]) for rows, of_text in zip(by_step, steps, strict=True)]


def joined_steps(rows: Sequence[Explanation]) -> Explanation:
    """One text's explanation with a row a step, numbered from 1; its target is that of the last step."""
    names = dict.fromkeys(name for row in rows for name in row.diagnostics)
    worst = {name: _worst(name)(row.diagnostics[name] for row in rows if name in row.diagnostics) for name in names}
    labels = tuple(str(index) for index in range(1, len(rows) + 1))
    return replace(
        rows[-1],
        rows=(("step", labels),),
        scores=np.stack([row.scores for row in rows]),
        diagnostics=worst,
        caveats=_caveats([caveat for row in rows for caveat in row.caveats]),
        row_diagnostics=tuple(row.diagnostics for row in rows),
        row_caveats=tuple(row.caveats for row in rows),
    )


def _caveats(sentences: Sequence[str]) -> tuple[str, ...]:
    """The caveats of all steps; of those that differ in numbers alone the first, and how many more there are."""
    alike: dict[str, list[str]] = {}
    for sentence in sentences:
        alike.setdefault(re.sub(r"[\d.,]*\d", "#", sentence), []).append(sentence)
    return tuple(f"{same[0]}{_more(same)}" for same in alike.values())


def _more(same: Sequence[str]) -> str:
    if len(same) == 1:
        return ""
    return f" So in {len(same)} steps" + (", with their own numbers." if len(set(same)) > 1 else ".")


def _worst(name: str) -> Callable[[Iterable[float]], float]:
    known = name in diagnostics.names() and diagnostics.get(name).facts["worst"] == "lowest"
    return min if known else max


# The explanations of a layer analysis, kept in a folder part by part; interrupted work goes on after its last part.
#
# question.json what is explained; a folder with another question is refused parts/00-00-0003.parquet the explanations
# of the fourth part's texts by the first training of the first model pellucid-manifest.json digests of these files,
# once there are all; see `base/output_folder.py`
#
# A part is there whole or not at all. Unfinished writes of a killed process are removed.

STAGE = "explaining layers"
Questions = Mapping[str, Sequence[LayerQuestion]]  # the model's name -> a question a training


@dataclass(frozen=True)
class LayerFolder:
    """The questions of one analysis, and the folder that keeps their explanations; None: they are kept in memory."""

    path: Path | None
    questions: Questions

    def explanations(self, progress: Progress) -> dict[str, list[list[Explanation]]]:
        """Model -> [training][text]; parts that are in the folder are read, the others computed and written."""
        if self.path is None:
            return self._explanations(progress)
        question = self._question()
        parts = [
            f"{PARTS}/{index:02d}-{training:02d}-{part:04d}.parquet"
            for index, questions in enumerate(self.questions.values())
            for training, layer_question in enumerate(questions)
            for part in range(layer_question.n_parts)
        ]
        folder = question_folder(self.path, "layers", question, parts)
        state = folder.begin()
        prepare_folder(self.path, question, "layer analysis")
        explanations = self._explanations(progress)
        folder.end(state)
        return explanations

    def _explanations(self, progress: Progress) -> dict[str, list[list[Explanation]]]:
        each = [question for questions in self.questions.values() for question in questions]
        total, done = sum(len(question.examples) for question in each), 0
        explanations: dict[str, list[list[Explanation]]] = {}
        for index, (name, questions) in enumerate(self.questions.items()):
            explanations[name] = []
            for training, question in enumerate(questions):
                of_training: list[Explanation] = []
                for part in range(question.n_parts):
                    of_training += self._part(question, f"{index:02d}-{training:02d}-{part:04d}", part)
                    progress(STAGE, done + len(of_training), total)
                explanations[name].append(of_training)
                done += len(of_training)
        return explanations

    def _part(self, question: LayerQuestion, name: str, part_index: int) -> list[Explanation]:
        if self.path is None:
            return question.explained(part_index)
        file = self.path / PARTS / f"{name}.parquet"
        if file.exists():
            explanations = read(file)
            _check_part(file, question, part_index, explanations)
            return explanations
        explanations = question.explained(part_index)
        save(explanations, file)
        return explanations

    def _question(self) -> dict[str, object]:
        examples = next(iter(self.questions.values()))[0].examples
        models = {name: [question.facts() for question in questions] for name, questions in self.questions.items()}
        texts = f"{len(examples)} with digest {json_digest([example_record(example) for example in examples])}"
        return {"texts": texts, "texts in a part": PART, "models": models}


def _check_part(file: Path, question: LayerQuestion, part_index: int, explanations: Sequence[Explanation]) -> None:
    """Raise `BadFile` where a part is of other texts or of another model."""
    same_texts = [explanation.example for explanation in explanations] == list(question.part(part_index))
    if not same_texts or {explanation.model_hash for explanation in explanations} != {question.request.model_hash}:
        raise BadFile(f"{file} is of other texts or of another model; remove it to have it made again.")
