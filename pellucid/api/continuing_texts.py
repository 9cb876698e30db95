"""The door `write`: what a translator or a language model writes after texts."""

from __future__ import annotations

from collections.abc import Sequence

from pellucid.api.inputs import any_model_from, examples_for
from pellucid.api.inputs.readings import Data, ModelSource
from pellucid.base.checks import whole
from pellucid.base.errors import BadInput, ModelCannot
from pellucid.base.wording import quoted
from pellucid.models.writing.continuing import Written, written_after
from pellucid.models.writing.writing_model import WritingModel
from pellucid.reports.terminal.progress_bar import progress_bar

MOST_BEAMS, MOST_PIECES = 64, 4096


def write(
    model: ModelSource,
    texts: Data,
    *,
    beam: int = 1,
    max_pieces: int = 128,
    text: str | Sequence[str] | None = None,
    progress: bool | None = None,
) -> list[Written]:
    """What a model writes after each text: a translation, an answer, a continuation.

    model: a translator or language model from `load`; or its folder or hub name.
    texts: a string, an `Example`, a list of them; a data frame, series or `datasets.Dataset`; a `pathlib.Path`.
    beam: how many beginnings the search follows at once, 1 to 64; 1 takes the likeliest piece each time.
    max_pieces: the most pieces of a written text, 1 to 4,096.
    text: the column of a table, where it has an unusual name.
    progress: draw a progress bar; None: when a terminal is watching.

    Each text is written alone and nothing is drawn at random, so neighbours and order change nothing. Returns for each text, in
    order, its source, what was written (text), and whether there was no more room for it (is_cut). Raises `ModelCannot` for a
    model that writes nothing, `BadInput` for a pair, `BadSetting` for other numbers.

    >>> pellucid.write("my-translator", "A good film.", max_pieces=5)[0].source
    'A good film.'
    """
    check_search(beam, max_pieces)
    writer = any_model_from(model)
    if not isinstance(writer, WritingModel):
        raise ModelCannot(f"{writer.name} writes no texts; give a translator or a language model.")
    examples = examples_for(writer, texts, text=text, strange="allowed")
    for example in examples:
        if len(example.segments) != 1:
            raise BadInput(
                f"Example {quoted(example.id)} is a pair; give the text alone, and the model writes the second one."
            )
    answers = []
    with progress_bar(progress) as show_progress:
        for number, example in enumerate(examples, 1):
            answers.append(written_after(writer, example.segments[0], beam, max_pieces))
            show_progress("writing", number, len(examples))
    return answers


def check_search(beam: int, max_pieces: int) -> None:
    """Raise `BadSetting` where no text can be written so; before a model is loaded."""
    whole("beam", beam, 1, MOST_BEAMS)
    whole("max_pieces", max_pieces, 1, MOST_PIECES)
