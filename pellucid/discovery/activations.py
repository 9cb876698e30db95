"""The door `concept_activations`: how much of each learnt concept every text or word of some data has, as Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from pellucid.base.checks import one_of, quoted
from pellucid.base.errors import BadFile, BadInput, BadSetting
from pellucid.base.files import possible_path, whole_file
from pellucid.base.processes import Progress
from pellucid.discovery.record import LearntConcepts, check_same_model
from pellucid.discovery.states import TOGETHER, Level, piece_states, unit_states
from pellucid.drawing.terminal import progress_bar
from pellucid.explaining.inputs.examples import examples_for
from pellucid.explaining.inputs.models import model_from
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.results.storage import write_checked
from pellucid.run.model import Model
from pellucid.text.example import Example

Rows = Literal["text", "word"]
ROWS = get_args(Rows)
STAGE = "reading concepts"
ABOUT: list[tuple[str, pa.DataType]] = [("text", pa.int64()), ("id", pa.string())]
CONCEPT: list[tuple[str, pa.DataType]] = [("concept", pa.int32()), ("name", pa.string())]
PLACE: list[tuple[str, pa.DataType]] = [
    ("segment", pa.int32()),
    ("start", pa.int32()),
    ("end", pa.int32()),
    ("word", pa.string()),
]
SCHEMAS = {
    "text": pa.schema([*ABOUT, *CONCEPT, ("activation", pa.float32()), ("largest", pa.float32())]),
    "word": pa.schema([*ABOUT, *PLACE, *CONCEPT, ("activation", pa.float32())]),
}


def concept_activations(
    model: ModelSource,
    data: Data,
    learnt: LearntConcepts | str | Path,
    path: str | Path,
    *,
    rows: Rows = "text",
    text: str | Sequence[str] | None = None,
    progress: bool | Progress | None = None,
) -> Path:
    """Write the activation of each learnt concept in every text to a Parquet file, which any tool for tables reads.

    model: the one that the concepts are of; or a folder, a hub name.
    data: texts, or the name of a data set, a file or a folder.
    learnt: what `find_concepts` returned, or its folder.
    path: the file to write, ending in .parquet; texts are read and written some at a time, whatever their number.
    rows: "text", a row a text and concept, with the sum over its words and the largest of a word; or "word", a row a
        word (or piece, as the concepts were found) and concept, with its characters.
    text, progress: as in `explain`.

    Columns: text (its number, from 0), id, concept (its id), name, activation; of texts largest; of words segment,
    start, end, word. Returns the path. Raises `BadFile` for concepts of another model or a file that cannot be written,
    `BadSetting` for words of concepts that were found in whole texts.

    >>> concepts = pellucid.find_concepts("my-classifier", ["A good film."] * 40 + ["A dull film."] * 40, 1, n=2)
    >>> path = pellucid.concept_activations("my-classifier", ["A good film."], concepts, "activations.parquet")
    >>> import pyarrow.parquet
    >>> pyarrow.parquet.read_table(path).column_names
    ['text', 'id', 'concept', 'name', 'activation', 'largest']
    """
    one_of("rows", rows, ROWS)
    path = possible_path(path)
    if path.suffix != ".parquet":
        raise BadFile(f"{quoted(str(path))} does not end in .parquet; give such a name.")
    model = model_from(model)
    learnt = learnt if isinstance(learnt, LearntConcepts) else LearntConcepts.read(learnt)
    check_same_model(learnt, model.hash, model.name)
    if rows == "word" and learnt.level == "text":
        raise BadSetting("rows='word' is not possible: these concepts are of whole texts; give rows='text'.")
    examples = examples_for(model, data, names_data=True, strange="allowed", text=text)
    if not examples:
        raise BadInput("There is no text to read concepts in; give some.")
    with progress_bar(progress) as show_progress, whole_file(path) as temporary:
        write_checked(_tables(model, examples, learnt, rows, show_progress), SCHEMAS[rows], temporary)
    return path


def _tables(
    model: Model, examples: Sequence[Example], learnt: LearntConcepts, rows: Rows, progress: Progress
) -> Iterator[pa.Table]:
    """The rows of some texts at a time."""
    level: Level = learnt.level  # type: ignore[assignment]  # the record is checked
    for first in range(0, len(examples), TOGETHER):
        progress(STAGE, first, len(examples))
        batch = model.encode(examples[first : first + TOGETHER])
        columns: dict[str, list[Any]] = {name: [] for name in SCHEMAS[rows].names}
        for offset, pieces in enumerate(piece_states(model, batch, learnt.layer)):
            states, places = unit_states(batch, offset, pieces, level)
            values = learnt.dictionary.activations(states)
            add = _add_text if rows == "text" else _add_words
            add(columns, first + offset, batch.examples[offset], values, places, learnt)
        yield pa.table(columns, SCHEMAS[rows])
    progress(STAGE, len(examples), len(examples))


def _add_text(
    columns: dict[str, list[Any]],
    index: int,
    example: Example,
    values: np.ndarray,
    places: np.ndarray,
    learnt: LearntConcepts,
) -> None:
    _add_about(columns, index, example, 1, learnt)
    columns["activation"] += values.sum(0).tolist()
    columns["largest"] += values.max(0).tolist() if len(values) else [0.0] * len(learnt)


def _add_words(
    columns: dict[str, list[Any]],
    index: int,
    example: Example,
    values: np.ndarray,
    places: np.ndarray,
    learnt: LearntConcepts,
) -> None:
    count = len(learnt)
    _add_about(columns, index, example, len(values), learnt)
    for segment, start, end in places.tolist():
        columns["segment"] += [segment] * count
        columns["start"] += [start] * count
        columns["end"] += [end] * count
        columns["word"] += [example.segments[segment][start:end]] * count
    columns["activation"] += values.reshape(-1).tolist()


def _add_about(columns: dict[str, list[Any]], index: int, example: Example, units: int, learnt: LearntConcepts) -> None:
    count = units * len(learnt)
    columns["text"] += [index] * count
    columns["id"] += [example.id] * count
    columns["concept"] += [concept.id for concept in learnt.concepts] * units
    columns["name"] += [concept.name for concept in learnt.concepts] * units
